/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_room_test.c - adds that there is no room for: a filter that somebody relies on
 * takes them all the same, over capacity. */

#include "harness.h"
#include "kind.h"
#include "states.h"

static bool told_of_overfull(const struct server *s) {
    return strstr(server_log(s), "is over capacity") != NULL;
}

/* Takes a hundred more items than it has room for, in every way of adding. */
static void takes_too_many(redisContext *c, const char *key, long full) {
    long long overfull = counted(c, "overfull_adds");
    expectf(c, "1", "BF.ADD %s %ld", key, full);
    expectf(c, "[1, 1]", "BF.MADD %s %ld %ld", key, full + 1, full + 2);
    expectf(c, "[1]", "BF.INSERT %s NOCREATE ITEMS %ld", key, full + 3);
    add_numbers(c, key, full + 4, full + 100);
    CHECK_INT(count_missing(c, key, 0, full + 100), 0);
    long long more = counted(c, "overfull_adds") - overfull;
    CHECK(more > 90 && more <= 100); /* The others were false positives. */
}

TEST(a_full_ready_filter_takes_every_add) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "100", "NONSCALING");
    add_numbers(c, "k", 0, 100);
    expect(c, FULL, "BF.ADD", "k", "100");
    expect(c, "OK", "BF.READY", "k");
    CHECK(!told_of_overfull(s));

    takes_too_many(c, "k", 100);
    CHECK(told_of_overfull(s));
    CHECK_STR(said_of(c, "k"), "absent");
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer, 1);
}

TEST(a_full_filter_takes_every_add_in_each_state_but_plain) {
    redisContext *c = client(server_start());
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i]->exceeds) continue; /* it is never full */
        test_case("%s", kinds[i]->name);
        expect(c, "OK", "BF.RESERVE", "k", "0.000001", "1000", "NONSCALING", "KIND",
               kinds[i]->name);
        add_numbers(c, "k", 0, 1000);
        expect(c, FULL, "BF.ADD", "k", "1000");
        expect(c, "OK", "BF.LOADING", "k");
        takes_too_many(c, "k", 1000);
        expect(c, "OK", "BF.READY", "k");
        takes_too_many(c, "k", 1100);
        expect(c, "OK", "BF.READY", "k", "PXAT", "1");
        takes_too_many(c, "k", 1200);
        const redisReply *dump = call(c, "DUMP", "k");
        expectf(c, "OK", "RESTORE k 0 %b REPLACE", dump->str, dump->len);
        takes_too_many(c, "k", 1300);
        expect(c, "1", "DEL", "k");
    }
}

TEST(the_log_tells_of_an_overfull_filter_once) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "10", "NONSCALING", "READY");
    add_numbers(c, "k", 0, 1000);
    const char *first = strstr(server_log(s), "is over capacity");
    CHECK(first != NULL);
    CHECK(strstr(first + 1, "is over capacity") == NULL);
}

TEST(at_the_limit_of_one_filter_a_ready_one_takes_every_add) {
    redisContext *c = client(server_start(.module_args = "bf-max-filter-bytes 4096"));
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "300");
    add_numbers(c, "k", 0, 900);
    expect(c, NO_MEMORY, "BF.ADD", "k", "900");
    expect(c, "OK", "BF.READY", "k");
    takes_too_many(c, "k", 900);
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer, 2);
    CHECK_STR(said_of(c, "k"), "absent");
}

/* And grows again as soon as it may. */
TEST(over_maxmemory_a_ready_filter_takes_every_add) {
    redisContext *c = client(server_start(.config = "maxmemory-policy noeviction"));
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "100", "READY");
    add_numbers(c, "k", 0, 100);
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    expect_like(c, "(error) OOM *", "SET", "string", "x");
    takes_too_many(c, "k", 100);
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer, 1);

    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    add_numbers(c, "k", 200, 1000);
    CHECK(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer > 1);
    CHECK_INT(count_missing(c, "k", 0, 1000), 0);
}

TEST(over_maxmemory_a_shield_is_asked_vouched_for_and_rebuilt) {
    redisContext *c = client(server_start());
    make_ready(c, "k");
    make_ready(c, "other");
    const char *token = start_rebuild(c, "k");
    expect(c, "OK", "SET", "c", "value");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    expect(c, "absent", "BF.CHECK", "k", "bob");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "k", "c", "bob");
    expect(c, "OK", "BF.LOADING", "other");
    expect(c, "OK", "BF.READY", "other", "EX", "100");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "absent", "BF.CHECK", "k", "bob");
}

/* Adds over capacity, a growth after them, and a rebuild that is too small. */
TEST(a_replica_is_as_full_as_its_master) {
    struct pair p = pair_linked(server_start(), server_start());
    redisContext *m = p.m, *r = p.r;
    expect(m, "OK", "BF.RESERVE", "full", "0.001", "100", "NONSCALING", "READY");
    add_numbers(m, "full", 0, 500);
    expect(m, "OK", "BF.RESERVE", "k", "0.001", "100", "READY");
    add_numbers(m, "k", 0, 100);
    expect(m, "OK", "CONFIG", "SET", "maxmemory", "1");
    add_numbers(m, "k", 100, 400);
    expect(m, "OK", "CONFIG", "SET", "maxmemory", "0");
    add_numbers(m, "k", 400, 2000);
    const char *token =
        call(m, "BF.REBUILD", "full", "START", "CAPACITY", "10", "NONSCALING")->str;
    load_numbers(m, "full", token, 0, 100);
    add_numbers(m, "full", 500, 600);
    wait_for_replica(m, r);
    check_digests(m, r);

    expect(m, "OK", "DEBUG", "RELOAD");
    check_digests(m, r);
    expect(m, "OK", "BF.REBUILD", "full", "ABORT");
    wait_for_replica(m, r);
    CHECK_STR(key_state(r, "full"), key_state(m, "full"));
    CHECK_STR(key_state(r, "k"), key_state(m, "k"));
    CHECK_INT(count_missing(m, "k", 0, 2000), 0);
}

/* The limit is the replica's own, and none to what its master sends. */
TEST(a_replica_with_less_room_takes_every_add) {
    struct pair p =
        pair_linked(server_start(), server_start(.module_args = "bf-max-filter-bytes 1"));
    redisContext *m = p.m, *r = p.r;
    expect(m, "OK", "BF.RESERVE", "k", "0.001", "100", "READY");
    const char *token = start_rebuild(m, "k");
    add_numbers(m, "k", 0, 2000);
    load_numbers(m, "k", token, 0, 1000);
    wait_for_replica(m, r);
    check_digests(m, r);
}
