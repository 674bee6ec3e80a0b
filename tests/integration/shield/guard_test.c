/* SPDX-License-Identifier: BSD-3-Clause */

/* guard_test.c - BF.GUARD: the cache, and if there is nothing in it the filter. */

#include "harness.h"
#include "states.h"

#include <unistd.h>

TRANSCRIPT(guard_gives_what_is_cached) {
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "f", "c", "anna");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "f", "c", "bob");
}

TRANSCRIPT(guard_asks_the_filter_when_nothing_is_cached) {
    make_ready(c, "f");
    expect(c, "[maybe, nil]", "BF.GUARD", "f", "c", "anna");
    expect(c, "[absent, nil]", "BF.GUARD", "f", "c", "bob");
    expect(c, "OK", "BF.LOADING", "f");
    expect(c, "[maybe, nil]", "BF.GUARD", "f", "c", "anna");
    expect(c, "[unknown, nil]", "BF.GUARD", "f", "c", "bob");
}

TRANSCRIPT(guard_knows_nothing_without_a_filter) {
    expect(c, "[unknown, nil]", "BF.GUARD", "none", "c", "anna");
    expect(c, "#t", "BF.ADD", "plain", "anna");
    expect(c, "[unknown, nil]", "BF.GUARD", "plain", "c", "bob");
    expect(c, "OK", "SET", "c", "value");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "none", "c", "anna");
    expect(c, "0", "EXISTS", "none");
}

TRANSCRIPT(an_empty_string_is_a_hit) {
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "", "NX", "EX", "100");
    expect(c, "[hit, \"\"]", "BF.GUARD", "f", "c", "bob");
}

TRANSCRIPT(guard_gives_numbers_and_bytes_as_get_does) {
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "12345");
    expect(c, "[hit, \"12345\"]", "BF.GUARD", "f", "c", "bob");
    expect(c, "OK", "SET", "c", "-9223372036854775808");
    expect(c, "[hit, \"-9223372036854775808\"]", "BF.GUARD", "f", "c", "bob");
    expect(c, "5", "APPEND", "appended", "a b c");
    expect(c, "[hit, \"a b c\"]", "BF.GUARD", "f", "appended", "bob");

    static const char bytes[] = {0, '\r', '\n', (char)0xff};
    expectf(c, "OK", "SET c %b", bytes, sizeof bytes);
    expect(c, "[hit, \"\\x00\\x0d\\x0a\\xff\"]", "BF.GUARD", "f", "c", "bob");

    size_t length = 1000000;
    char *large = malloc(length);
    test_defer(free, large);
    memset(large, 'x', length);
    expectf(c, "OK", "SET c %b", large, length);
    const redisReply *r = call(c, "BF.GUARD", "f", "c", "bob");
    CHECK_MEM(r->element[1]->str, r->element[1]->len, large, length);
}

TRANSCRIPT(what_has_expired_is_no_hit) {
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value", "PX", "20");
    usleep(40000);
    expect(c, "[absent, nil]", "BF.GUARD", "f", "c", "bob");
    expect(c, "OK", "SET", "c", "value", "EX", "100");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "f", "c", "bob");
}

TRANSCRIPT(guard_refuses_a_cache_that_is_no_string) {
    make_ready(c, "f");
    expect(c, "1", "LPUSH", "list", "x");
    expect(c, "1", "HSET", "hash", "field", "x");
    expect_refusal(c, WRONGTYPE, "BF.GUARD", "f", "list", "anna");
    expect_refusal(c, WRONGTYPE, "BF.GUARD", "f", "hash", "bob");
    expect_refusal(c, WRONGTYPE, "BF.GUARD", "f", "f", "anna");
}

TRANSCRIPT(guard_refuses_a_filter_that_is_none) {
    expect(c, "OK", "SET", "string", "x");
    expect_refusal(c, WRONGTYPE, "BF.GUARD", "string", "c", "anna");
    expect(c, "OK", "SET", "c", "value");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "string", "c", "anna");
}

TRANSCRIPT(guard_wants_its_arguments) {
    expect(c, WRONG_ARITY("bf.guard"), "bf.guard");
    expect(c, WRONG_ARITY("bf.guard"), "bf.guard", "f", "c");
    expect(c, WRONG_ARITY("bf.guard"), "bf.guard", "f", "c", "anna", "bob");
}

TRANSCRIPT(guard_works_in_scripts_and_transactions) {
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value");
    expect(c, "\"value\"", "EVAL",
           "return redis.call('BF.GUARD', KEYS[1], KEYS[2], 'x')[2]", "2", "f", "c");
    expect(c, "OK", "MULTI");
    expect(c, "QUEUED", "BF.GUARD", "f", "c", "bob");
    expect(c, "QUEUED", "BF.GUARD", "f", "none", "bob");
    expect(c, "[[hit, \"value\"], [absent, nil]]", "EXEC");
}

TRANSCRIPT(guard_changes_nothing) {
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value");
    long long before = changes(c);
    call(c, "BF.GUARD", "f", "c", "anna");
    call(c, "BF.GUARD", "f", "none", "bob");
    CHECK_INT(changes(c), before);
}

/* ---- what is counted ---- */

static long long hits(redisContext *c) {
    return info_int(c, "stats", "keyspace_hits");
}

static long long misses(redisContext *c) {
    return info_int(c, "stats", "keyspace_misses");
}

TEST(guard_counts_as_a_get_of_the_cache_key) {
    redisContext *c = client(server_start());
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value");
    long long hit = hits(c), miss = misses(c);
    call(c, "BF.GUARD", "f", "none", "bob");
    CHECK_INT(misses(c), miss + 1);
    if (server_speaks(702)) CHECK_INT(hits(c), hit);

    hit = hits(c), miss = misses(c);
    for (int i = 0; i < 10; i++)
        call(c, "BF.GUARD", "f", "c", "anna");
    CHECK_INT(misses(c), miss);
    if (server_speaks(702)) CHECK_INT(hits(c), hit + 10);

    hit = hits(c), miss = misses(c);
    call(c, "BF.GUARD", "no filter", "none", "bob");
    if (server_speaks(702)) CHECK_INT(misses(c), miss + 1);
    CHECK_INT(hits(c), hit);
}

TEST(a_read_by_guard_keeps_the_cache_key_young) {
    redisContext *c = client(server_start());
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value");
    WAIT_UNTIL(call_int(c, "OBJECT", "IDLETIME", "c") >= 1);
    call(c, "BF.GUARD", "f", "c", "anna");
    CHECK_INT(call_int(c, "OBJECT", "IDLETIME", "c"), 0);
}

TEST(a_look_at_the_filter_keeps_it_young) {
    redisContext *c = client(server_start());
    make_ready(c, "f");
    WAIT_UNTIL(call_int(c, "OBJECT", "IDLETIME", "f") >= 1);
    call(c, "BF.GUARD", "f", "none", "anna");
    CHECK_INT(call_int(c, "OBJECT", "IDLETIME", "f"), 0);
}

/* One hit in 64 is looked at. */
TEST(cached_yet_denied_is_counted) {
    redisContext *c = client(server_start());
    make_ready(c, "f");
    expect(c, "1", "BF.ADD", "plain", "anna");
    expect(c, "OK", "SET", "c", "value");

    for (int i = 0; i < 640; i++)
        call(c, "BF.GUARD", "f", "c", "anna");
    CHECK_INT(counted(c, "contradictions"), 0);
    for (int i = 0; i < 640; i++)
        call(c, "BF.GUARD", "plain", "c", "bob");
    CHECK_INT(counted(c, "contradictions"), 0);
    for (int i = 0; i < 640; i++)
        call(c, "BF.GUARD", "f", "c", "bob");
    CHECK_INT(counted(c, "contradictions"), 10);
    CHECK_INT(counted(c, "absent_answers"), 0);
}

/* A look that nobody asked for must not be an error either. */
TEST(a_look_at_what_is_no_filter_is_harmless) {
    redisContext *c = client(server_start());
    expect(c, "OK", "SET", "string", "x");
    expect(c, "OK", "SET", "c", "value");
    for (int i = 0; i < 130; i++) {
        expect(c, "[hit, \"value\"]", "BF.GUARD", "string", "c", "bob");
        expect(c, "[hit, \"value\"]", "BF.GUARD", "none", "c", "bob");
    }
    CHECK_INT(counted(c, "contradictions"), 0);
}

/* ---- clusters, replicas, users ---- */

static redisContext *cluster_of_one(void) {
    redisContext *c = client(server_start(.config = "cluster-enabled yes"));
    for (int slot = 0; slot < 16384; slot += 1024) {
        const char *argv[1026] = {"CLUSTER", "ADDSLOTS"};
        char numbers[1024][8];
        for (int i = 0; i < 1024; i++) {
            snprintf(numbers[i], sizeof numbers[i], "%d", slot + i);
            argv[i + 2] = numbers[i];
        }
        callv(c, 1026, argv, NULL);
    }
    WAIT_UNTIL(strstr(call_text(c, "CLUSTER", "INFO"), "cluster_state:ok") != NULL);
    return c;
}

TEST(in_a_cluster_filter_and_cache_key_are_in_one_slot) {
    redisContext *c = cluster_of_one();
    make_ready(c, "filter");
    make_ready(c, "{users}filter");
    expect(c, "OK", "SET", "{users}:17", "value");

    expect_like(c, "(error) CROSSSLOT *", "BF.GUARD", "filter", "{users}:17", "17");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "{users}filter", "{users}:17", "17");
    expect(c, "[absent, nil]", "BF.GUARD", "{users}filter", "{users}:18", "18");
    expect(c, "[maybe, nil]", "BF.GUARD", "{users}filter", "{users}:19", "anna");
}

TEST(guard_asks_a_replica_as_check_does) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "f");
    expect(m, "OK", "SET", "c", "value");
    follow(r, master);
    expect(r, "[hit, \"value\"]", "BF.GUARD", "f", "c", "bob");
    expect(r, "[unknown, nil]", "BF.GUARD", "f", "none", "bob");
    expect(r, "[maybe, nil]", "BF.GUARD", "f", "none", "anna");
}

TEST(guard_needs_leave_to_read_both_keys) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "f");
    expect(c, "OK", "SET", "c", "value");
    expect(c, "OK", "ACL", "SETUSER", "tester", "on", ">secret", "~f", "+bf.guard");
    redisContext *user = client(s);
    expect(user, "OK", "AUTH", "tester", "secret");
    expect_like(user, "(error) NOPERM *", "BF.GUARD", "f", "c", "bob");
    expect_like(user, "(error) NOPERM *", "BF.GUARD", "c", "f", "bob");
    expect(c, "OK", "ACL", "SETUSER", "tester", "~c");
    expect(user, "[hit, \"value\"]", "BF.GUARD", "f", "c", "bob");
    expect(c, "1", "ACL", "DELUSER", "tester");
}
