/* SPDX-License-Identifier: BSD-3-Clause */

/* resources_test.c - maxmemory under every policy, no descriptors left, very many
 * filters. */

#include <sys/resource.h>

#include "harness.h"
#include "states.h"

enum { MIB = 1 << 20 };

/* ---- maxmemory ---- */

/* Of all servers: which of them this one has, it says itself. */
static const char *const policies[] = {
    "noeviction",   "allkeys-lru",  "allkeys-lfu",  "allkeys-lrm",     "allkeys-random",
    "volatile-lru", "volatile-lfu", "volatile-lrm", "volatile-random", "volatile-ttl",
};

enum { FILTERS = 40, ROUNDS = 3000 };

/* Filters of each state among strings that fill the server, half of all with a time to
 * live. Each add's item is the number of its round. */
static void add_while_it_is_full(redisContext *c, bool *added) {
    static char bytes[4000];
    memset(bytes, 'x', sizeof bytes - 1);
    for (int i = 0; i < ROUNDS; i++) {
        callf(c, "SET filler:%d %s%s", i, bytes, "");
        if (i % 2) callf(c, "EXPIRE filler:%d 100000", i);
        const redisReply *r = callf(c, "BF.ADD k%d %d", i % FILTERS, i);
        added[i] = r->type == REDIS_REPLY_INTEGER;
        if (i < 2 * FILTERS && i % 4 == 0) callf(c, "BF.READY k%d", i % FILTERS);
        if (i < 2 * FILTERS && i % 2 == 0) callf(c, "EXPIRE k%d 100000", i % FILTERS);
    }
}

TEST(under_no_policy_is_an_acknowledged_item_denied) {
    redisContext *c = client(server_start());
    static bool added[ROUNDS];
    int tried = 0;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        test_case("%s", policies[p]);
        expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
        expect(c, "OK", "FLUSHALL");
        const redisReply *r = call(c, "CONFIG", "SET", "maxmemory-policy", policies[p]);
        if (r->type == REDIS_REPLY_ERROR) continue;
        tried++;
        callf(c, "CONFIG SET maxmemory %lld", info_int(c, "memory", "used_memory") + MIB);
        add_while_it_is_full(c, added);
        long long evicted = info_int(c, "stats", "evicted_keys");
        CHECK((evicted > 0) == (strcmp(policies[p], "noeviction") != 0));
        for (int i = 0; i < ROUNDS; i++)
            if (added[i]) {
                const redisReply *said = callf(c, "BF.CHECK k%d %d", i % FILTERS, i);
                if (strcmp(said->str, "absent") == 0) FAIL("item %d is denied", i);
            }
        expect(c, "OK", "CONFIG", "RESETSTAT");
    }
    CHECK(tried >= 8);
}

/* ---- descriptors ---- */

/* Of those that it had, which is the result. */
static rlim_t leave_descriptors(const struct server *s, rlim_t most) {
    struct rlimit limit;
    CHECK_INT(prlimit(s->pid, RLIMIT_NOFILE, NULL, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = most;
    CHECK_INT(prlimit(s->pid, RLIMIT_NOFILE, &limit, NULL), 0);
    return before;
}

/* Who is connected goes on; a save and a rewrite fail. */
TEST(without_descriptors_filters_go_on) {
    struct server *s = server_start(.config = AOF, .module_args = TRUST_ALL);
    redisContext *c = client(s);
    make_ready(c, "k");
    rlim_t before = leave_descriptors(s, 3);

    CHECK_INT(call(c, "SAVE")->type, REDIS_REPLY_ERROR);
    CHECK_INT(call(c, "BGREWRITEAOF")->type, REDIS_REPLY_ERROR);
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.ADD", "k", "bob");
    load_numbers(c, "k", token, 0, 10);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "10");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "7", "anna");

    leave_descriptors(s, before);
    rewrite_aof(c);
    c = restart_with(s, TRUST_ALL);
    expect(c, "[maybe, maybe, absent]", "BF.MCHECK", "k", "7", "bob", "anna");
}

/* ---- very many filters ---- */

static void make_many(redisContext *c, int filters) {
    for (int i = 0; i < filters; i++)
        redisAppendCommand(c, "BF.INSERT k:%d CAPACITY 100 ITEMS %d", i, i);
    for (int i = 0; i < filters; i++)
        expect_next(c, "[1]");
}

/* Less than a kilobyte for each, the key included. */
TEST(very_many_filters_are_kept_shown_saved_and_loaded) {
    const int filters = getenv("LONG") ? 100000 : 10000;
    struct server *s = server_start();
    redisContext *c = client(s);
    long long empty = info_int(c, "memory", "used_memory");
    make_many(c, filters);
    long long each = (info_int(c, "memory", "used_memory") - empty) / filters;
    double start = seconds_now();
    CHECK_INT(info_int(c, "bf", "bf_filters"), filters);
    double shown = seconds_now();
    save(c);
    double saved = seconds_now();
    const char *digest = call_text(c, "DEBUG", "DIGEST");
    double stopped = seconds_now();
    c = restart_with(s, TRUST_ALL);
    double loaded = seconds_now();

    printf("  %d filters: %lld bytes each, INFO %.2f ms, SAVE %.2f s, restart %.2f s\n",
           filters, each, (shown - start) * 1e3, saved - shown, loaded - stopped);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    CHECK_INT(info_int(c, "bf", "bf_filters"), filters);
    CHECK(each < 1024);
}
