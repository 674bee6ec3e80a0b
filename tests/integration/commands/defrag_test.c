/* SPDX-License-Identifier: BSD-3-Clause */

/* defrag_test.c - active defragmentation moves filters, and they stay what they are.
 *
 * Memory that is given back is overwritten at once, so that a pointer to the old place
 * finds garbage there. Only a server that was built with its own jemalloc can move
 * anything: make defrag. */

#include "files.h"
#include "harness.h"
#include "states.h"
#include "zoo.h"

enum { COPIES = 200, NAMES = 100, MIB = 1 << 20, LARGE = 16 << 10 };

/* At every trace of fragmentation; so little at a time that chains of many layers are moved
 * in several goes. */
#define EAGER                                                                              \
    "active-defrag-ignore-bytes 1\nactive-defrag-threshold-lower 1\n"                      \
    "active-defrag-threshold-upper 20\nactive-defrag-cycle-min 1\n"                        \
    "active-defrag-cycle-max 2\nactive-defrag-max-scan-fields 10\nhz 500\n"

static void without_junk(void *unused) {
    (void)unused;
    unsetenv("JE_MALLOC_CONF");
}

static struct server *start(const char *config) {
    setenv("JE_MALLOC_CONF", "junk:true", 1);
    test_defer(without_junk, NULL);
    return server_start(.config = config);
}

static void defragment(redisContext *c, const char *yes_or_no) {
    const redisReply *r = call(c, "CONFIG", "SET", "activedefrag", yes_or_no);
    if (r->type == REDIS_REPLY_ERROR) SKIP("this server can't: %s", r->str);
}

static void needs_defrag(redisContext *c) {
    defragment(c, "yes");
    defragment(c, "no");
}

/* Bytes that are nobody's, in pages that are in use. */
static long long fragmented(redisContext *c) {
    return info_int(c, "memory", "allocator_frag_bytes");
}

static long long moved(redisContext *c) {
    return info_int(c, "stats", "active_defrag_key_hits");
}

/* ---- what was moved ---- */

/* A chain that is moved in several steps. */
static void make_long(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "long", "0.01", "10", "EXPANSION", "1", "KIND",
           "redisbloom");
    add_numbers(c, "long", 0, 1000);
    CHECK(reply_field(call(c, "BF.INFO", "long"), "Number of filters")->integer > 64);
}

/* Names of all filters but the large ones: no allocator moves large blocks. */
static int list_small(redisContext *c, const char *names[NAMES]) {
    const redisReply *keys = call(c, "KEYS", "*");
    int n = 0;
    for (size_t i = 0; i < keys->elements && n < NAMES; i++)
        if (call_int(c, "MEMORY", "USAGE", keys->element[i]->str) < LARGE)
            names[n++] = keys->element[i]->str;
    return n;
}

/* Copies of all these side by side, every second of them deleted. One of those that stay
 * takes the place of its original. */
static void fragment(redisContext *c) {
    const char *names[NAMES];
    int n = list_small(c, names);
    for (int i = 0; i < COPIES; i++)
        for (int k = 0; k < n; k++)
            expect(c, "1", "COPY", names[k], text_of("%s#%d", names[k], i));
    for (int i = 1; i < COPIES; i += 2)
        for (int k = 0; k < n; k++)
            expect(c, "1", "DEL", text_of("%s#%d", names[k], i));
    for (int k = 0; k < n; k++)
        expect(c, "OK", "RENAME", text_of("%s#%d", names[k], COPIES / 2), names[k]);
}

TEST(filters_that_are_moved_stay_what_they_are) {
    struct server *s = start(EAGER);
    redisContext *c = client(s);
    needs_defrag(c);
    zoo_fill(c);
    make_long(c);
    fragment(c);
    WAIT_UNTIL(fragmented(c) > 4 * MIB);
    long long before = fragmented(c), bytes = counted(c, "bytes");
    const char *digest = call_text(c, "DEBUG", "DIGEST");

    defragment(c, "yes");
    WAIT_UNTIL(moved(c) > 0);
    call(c, "BGSAVE");
    wait_for_bgsave(c);
    WAIT_UNTIL(fragmented(c) < before / 2);
    defragment(c, "no");
    printf("  %lld bytes were fragmented, %lld are; %lld keys and %lld pieces were moved\n",
           before, fragmented(c), moved(c), info_int(c, "stats", "active_defrag_hits"));

    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    CHECK_INT(counted(c, "bytes"), bytes);
    zoo_check_members(c);
    CHECK_INT(count_missing(c, "long", 0, 1000), 0);
    c = restart_with(s, TRUST_ALL);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
}

/* ---- what goes on meanwhile ---- */

enum { REBUILDS = 2000, KEPT = 4, ROWS = 20 };

/* Ready filters with a rebuild that has half of its rows; every fourth one is kept. */
static void fragment_rebuilds(redisContext *c, const char *tokens[REBUILDS]) {
    for (int i = 0; i < REBUILDS; i++) {
        const char *key = text_of("k%d", i);
        make_ready(c, key);
        add_numbers(c, key, 0, ROWS);
        tokens[i] = start_rebuild(c, key);
        load_numbers(c, key, tokens[i], 0, ROWS / 2);
    }
    for (int i = 0; i < REBUILDS; i++)
        if (i % KEPT != 0) callf(c, "DEL k%d", i);
}

static const char *added_to(long n) {
    return text_of("k%ld", n * KEPT % REBUILDS);
}

/* Few, as they would fill the gaps. Each server moves what it has at its own pace. Returns
 * how many there are. */
static long add_until_moved(const struct pair *p) {
    long n = 0;
    while (moved(p->m) < REBUILDS / KEPT / 2 || moved(p->r) < REBUILDS / KEPT / 2) {
        expect_like(p->m, "*", "BF.ADD", added_to(n), text_of("added %ld", n));
        n++;
    }
    return n;
}

static void end_rebuilds(redisContext *c, const char *tokens[REBUILDS]) {
    for (int i = 0; i < REBUILDS; i += KEPT) {
        const char *key = text_of("k%d", i);
        load_numbers(c, key, tokens[i], ROWS / 2, ROWS);
        expect(c, "OK", "BF.REBUILD", key, "COMMIT", tokens[i], text_of("%d", ROWS));
    }
}

static void check_rebuilt(redisContext *c, long added) {
    int denying = 0;
    for (int i = 0; i < REBUILDS; i += KEPT) {
        const char *key = text_of("k%d", i);
        CHECK_INT(count_missing(c, key, 0, ROWS), 0);
        denying += strcmp(said_of(c, key), "absent") == 0;
    }
    CHECK(denying > REBUILDS / KEPT * 9 / 10); /* all but a few errors */
    for (long n = 0; n < added; n++)
        expect(c, "maybe", "BF.CHECK", added_to(n), text_of("added %ld", n));
}

TEST(adds_and_rebuilds_go_on_while_their_filters_are_moved) {
    struct pair p = pair_linked(start(EAGER), start(EAGER));
    const char *tokens[REBUILDS];
    needs_defrag(p.m);
    fragment_rebuilds(p.m, tokens);
    wait_for_replica(p.m, p.r);

    defragment(p.m, "yes");
    defragment(p.r, "yes");
    long added = add_until_moved(&p);
    end_rebuilds(p.m, tokens);
    check_rebuilt(p.m, added);
    check_pair(&p);
    save(p.m);
    p.m = restart_with(p.master, TRUST_ALL);
    check_rebuilt(p.m, added);
}

/* ---- while a file is loaded ---- */

#define APPENDED AOF_BY_COMMAND EAGER

/* The server looks after its memory at each thousandth command, and after a second for the
 * first time. */
static void append_pauses(FILE *aof) {
    for (int i = 0; i < 2; i++) {
        fprintf(aof, "*3\r\n$5\r\nDEBUG\r\n$5\r\nSLEEP\r\n$1\r\n2\r\n");
        for (int k = 0; k < 2000; k++)
            fprintf(aof, "*3\r\n$3\r\nSET\r\n$6\r\nfiller\r\n$5\r\nvalue\r\n");
    }
}

static void append_deletion(FILE *aof, const char *key) {
    fprintf(aof, "*2\r\n$3\r\nDEL\r\n$%zu\r\n%s\r\n", strlen(key), key);
}

/* A filter that is nearly alone in its pages; the copies around it go. */
static void make_lonely(redisContext *c, const char *key) {
    expect(c, "1", "BF.ADD", "copied", "anna");
    for (int i = 0; i < COPIES; i++) {
        expectf(c, "1", "COPY copied copy:%d", i);
        if (i == COPIES / 2) make_ready(c, key);
    }
    for (int i = 0; i < COPIES; i++)
        if (i % 8 != 0) expectf(c, "1", "DEL copy:%d", i);
}

TEST(a_filter_that_is_moved_while_it_is_loaded_is_named_only_if_it_stays) {
    struct server *s = start(APPENDED);
    redisContext *c = client(s);
    needs_defrag(c);
    make_ready(c, "stays");
    make_lonely(c, "gone");
    server_kill(s);
    FILE *aof = fopen(server_aof(s), "a");
    append_pauses(aof);
    for (int i = 0; i < COPIES; i += 8)
        append_deletion(aof, text_of("copy:%d", i));
    append_deletion(aof, "gone");
    fclose(aof);

    s->options.config = APPENDED "activedefrag yes\n";
    server_start_again(s);
    if (moved(client(s)) < COPIES / 16) SKIP("this server moves nothing while it loads");
    CHECK(strstr(server_log(s), "They are: stays."));
}
