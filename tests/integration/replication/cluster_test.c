/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_test.c - filters that move to another node of a cluster while they grow. */
#include "cluster.h"
#include "harness.h"
#include "states.h"

/* Two nodes; the first has all slots. */
static void start_cluster(struct server **first, struct server **second) {
    *first = server_start(.config = CLUSTER);
    *second = server_start(.config = CLUSTER);
    join_cluster(*first, *second);
}

TEST(a_filter_moves_with_its_slot_key_by_key) {
    struct server *from, *to;
    start_cluster(&from, &to);
    redisContext *a = client(from), *b = client(to);
    add_numbers(a, "k", 0, 3000);
    long long slot = slot_of(a, "k");
    const char *id_a = id_of(a), *id_b = id_of(b);
    const struct dump *before = dump_filter(a, "k");

    expectf(b, "OK", "CLUSTER SETSLOT %lld IMPORTING %s", slot, id_a);
    expectf(a, "OK", "CLUSTER SETSLOT %lld MIGRATING %s", slot, id_b);
    expectf(a, "OK", "MIGRATE 127.0.0.1 %d k 0 5000", to->port);
    expectf(b, "OK", "CLUSTER SETSLOT %lld NODE %s", slot, id_b);
    expectf(a, "OK", "CLUSTER SETSLOT %lld NODE %s", slot, id_b);

    CHECK_DUMP(dump_filter(b, "k"), before);
    CHECK_INT(count_missing(b, "k", 0, 3000), 0);
}

/* Three keys that are nowhere together, and three that are. */
TEST(filters_are_compared_and_merged_within_one_slot) {
    struct server *from, *to;
    start_cluster(&from, &to);
    redisContext *a = client(from);
    static const char *const crossed = "(error) CROSSSLOT *";
    expect(a, "1", "BF.ADD", "a", "anna");
    expect(a, "1", "BF.ADD", "b", "bob");
    expect_like(a, crossed, "BF.COVERS", "a", "b");
    expect_like(a, crossed, "BF.MERGE", "c", "a");
    expect_like(a, crossed, "BF.MERGE", "a", "a", "b");
    expect_like(a, crossed, "BF.RESERVE", "c", "0.01", "100", "LIKE", "a");
    expect_like(a, crossed, "BF.RESERVE", "c", "0.01", "100", "READY", "like", "a");
    expect(a, "OK", "BF.RESERVE", "c", "0.01", "100");

    expect(a, "1", "BF.ADD", "{t}a", "anna");
    expect(a, "OK", "BF.RESERVE", "{t}b", "0.01", "100", "LIKE", "{t}a");
    expect(a, "1", "BF.MERGE", "{t}b", "{t}a");
    expect(a, "1", "BF.MERGE", "{t}c", "{t}a", "{t}b");
    expect(a, "1", "BF.COVERS", "{t}c", "{t}a");

    redisContext *b = client(to);
    expect_like(b, "(error) MOVED *", "BF.RESERVE", "{t}d", "0.01", "100", "LIKE", "{t}a");
    expect_like(b, "(error) *", "BF.RESERVE", "{t}d");
    expect_like(b, "(error) *", "BF.RESERVE");
}

/* One made, and one that has more every time. */
static void merge_on_the_way(redisContext *c) {
    long long items = call_int(c, "BF.CARD", "{k}part");
    add_numbers(c, "{k}part", (long)items, (long)items + 50);
    call(c, "BF.MERGE", "{k}new", "{k}part");
}

/* Snapshots take a second for each key, so that the adds arrive in between. */
TEST(a_filter_grows_while_its_slot_is_moved) {
    if (server_flavour() != VALKEY || server_version() < 900)
        SKIP("%s moves no slots by itself", server_name());
    struct server *from, *to;
    start_cluster(&from, &to);
    redisContext *a = client(from), *b = client(to);
    const char *id_b = id_of(b);
    add_numbers(a, "k", 0, 100);
    expect(a, "OK", "CONFIG", "SET", "rdb-key-save-delay", "1000000");

    long long slot = slot_of(a, "k"), added = 100;
    expectf(a, "OK", "CLUSTER MIGRATESLOTS SLOTSRANGE %lld %lld NODE %s", slot, slot, id_b);
    for (const redisReply *r;
         r = callf(a, "BF.ADD k %lld", added), r->type == REDIS_REPLY_INTEGER;) {
        added++;
        if (added % 500 == 0) merge_on_the_way(a);
    }

    WAIT_UNTIL(strstr(call_text(a, "CLUSTER", "GETSLOTMIGRATIONS"), "\"success\"") != NULL);
    CHECK(added > 1000);
    CHECK_INT(count_missing(b, "{k}new", 0, 50), 0);
    CHECK(!strstr(server_log(to), "Refused"));
    CHECK(reply_field(call(b, "BF.INFO", "k"), "Number of filters")->integer > 2);
    CHECK_INT(count_missing(b, "k", 0, added), 0);
}

/* Redis hands slots over with RESTORE, and drops its copy whatever that answers. */
TEST(a_limit_at_the_target_loses_no_filter_that_is_moved) {
    if (server_flavour() != REDIS || server_version() < 804)
        SKIP("%s moves no slots by itself", server_name());
    struct server *from, *to;
    start_cluster(&from, &to);
    redisContext *a = client(from), *b = client(to);
    expect(b, "OK", "CONFIG", "SET", setting("bf-max-filter-bytes"), "1");
    add_numbers(a, "k", 0, 3000);

    hand_slot_over(a, b, slot_of(a, "k"));
    CHECK_INT(count_missing(b, "k", 0, 3000), 0);
}

/* Whatever the server moves slots with: no filter gets lost, and none denies at its new
 * place what it would not have denied at the old one. */
static void moves_with_state(const char *how_it_is, const char *stranger) {
    struct server *from, *to;
    start_cluster(&from, &to);
    redisContext *a = client(from), *b = client(to);
    add_numbers(a, "k", 0, 3000);
    expect(a, "OK", "BF.READY", "k");
    long long items = call_int(a, "BF.CARD", "k");
    const char *token = call(a, "BF.REBUILD", "k", "START")->str;
    expect(a, "2", "BF.REBUILD", "k", "LOAD", token, "1", "2");

    hand_slot_over(a, b, slot_of(a, "k"));
    expect(b, stranger, "BF.CHECK", "k", "stranger");
    expect(b, "maybe", "BF.CHECK", "k", "7");
    CHECK_INT(call_int(b, "BF.CARD", "k"), items);
    expect(b, how_it_is, "BF.REBUILD", "k", "LOAD", token, "3");
}

TEST(a_ready_filter_moves_with_its_slot_as_it_is) {
    if (server_flavour() != VALKEY || server_version() < 900)
        SKIP("%s moves no slots by itself", server_name());
    moves_with_state("3", "absent");
}

TEST(a_ready_filter_that_was_moved_by_restore_is_in_doubt) {
    if (server_flavour() != REDIS || server_version() < 804)
        SKIP("%s moves no slots by itself", server_name());
    moves_with_state("(error) ERR rebuild interrupted, start again", "unknown");
}

/* A real flush before and after, on both sides. */
TEST(a_slot_that_moves_away_is_no_flush) {
    if (!hands_slots_over()) SKIP("%s moves no slots by itself", server_name());
    struct server *from, *to;
    start_cluster(&from, &to);
    redisContext *a = client(from), *b = client(to);
    make_ready(a, "k");
    expect(a, "OK", "FLUSHALL");
    make_ready(a, "k");
    hand_slot_over(a, b, slot_of(a, "k"));
    WAIT_UNTIL(counted(a, "filters_ready") == 0);
    CHECK_INT(counted(a, "ready_flushed"), 1);
    CHECK_INT(counted(b, "ready_flushed"), 0);
    expect(b, "OK", "FLUSHALL");
    WAIT_UNTIL(counted(b, "ready_flushed") == 1);
}
