/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_partial_test.c - a filter of which not all bytes have come, declared to be
 * loading: it denies nothing, in no form, until it is complete and vouched for. */

#include "harness.h"
#include "kind.h"
#include "states.h"

/* "k0", "k1" ..., and the originals. */
static void fill(redisContext *c) {
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i]->name;
        char key[16];
        snprintf(key, sizeof key, "k%zu", i);
        expect(c, "OK", "BF.RESERVE", kind, "0.01", "2000000", "KIND", kind);
        add_numbers(c, kind, 0, 1000);
        load_pieces(c, key, dump_filter(c, kind), 0, 2);
        expect(c, "OK", "BF.LOADING", key);
        expect_refusal(c, PARTIAL, "BF.READY", key);
        expect_refusal(c, PARTIAL, "BF.REBUILD", key, "START");
        expect_refusal(c, PARTIAL, "BF.ADD", key, "anna");
    }
}

static void complete(redisContext *c) {
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i]->name;
        char key[16];
        snprintf(key, sizeof key, "k%zu", i);
        test_case("%s", kind);
        CHECK_STR(said_of(c, key), "unknown");
        CHECK_INT(count_missing(c, key, 0, 2000), 0);
        const struct dump *d = dump_filter(c, kind);
        load_pieces(c, key, d, 2, d->npieces);
        CHECK_STR(said_of(c, key), "unknown");
        expect(c, "1", "BF.EXISTS", key, "never added");
        expect(c, "1", "BF.ADD", key, "anna");
        expect(c, "OK", "BF.READY", key);
        CHECK_STR(said_of(c, key), "absent");
        CHECK_INT(count_missing(c, key, 0, 1000), 0);
    }
}

TEST(a_partial_filter_may_be_declared_loading) {
    redisContext *c = client(server_start());
    fill(c);
    complete(c);
}

static void survives(const char *config, void (*write)(redisContext *c)) {
    struct server *s = server_start(.config = config);
    redisContext *c = client(s);
    fill(c);
    if (write) write(c);
    const char *digest = call_text(c, "DEBUG", "DIGEST");
    c = restart_with(s, NULL);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    complete(c);
}

TEST(a_partial_loading_filter_survives_an_rdb_file) {
    survives("save ''", save);
}

TEST(a_partial_loading_filter_survives_an_aof) {
    survives(AOF_BY_COMMAND, NULL);
}

TEST(a_partial_loading_filter_survives_a_rewritten_aof) {
    survives(AOF_BY_COMMAND, rewrite_aof);
}

TEST(a_partial_loading_filter_is_the_same_on_replicas) {
    struct server *master = server_start(), *early = server_start(), *late = server_start();
    redisContext *m = client(master), *e = client(early), *l = client(late);
    follow(e, master);
    fill(m);
    follow(l, master);
    wait_for_replica(m, e);
    check_digests(m, e);
    check_digests(m, l);
    complete(m);
    wait_for_replica(m, e);
    wait_for_replica(m, l);
    check_digests(m, e);
    check_digests(m, l);
}
