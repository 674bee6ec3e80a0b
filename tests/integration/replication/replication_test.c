/* SPDX-License-Identifier: BSD-3-Clause */

/* replication_test.c - a replica is its master, byte by byte. */

#include "harness.h"
#include "states.h"
#include "zoo.h"

#include <unistd.h>

/* What a replica would have made by itself would not be what the master made. */
#define OTHER_SETTINGS                                                                     \
    "bf-error-rate 0.3 bf-initial-size 7 bf-expansion-factor 0 bf-max-filter-bytes 1"

/* The replica has other settings. */
static struct pair pair_with(const char *master_config, const char *replica_config) {
    return pair_of(server_start(.config = master_config),
                   server_start(.config = replica_config, .module_args = OTHER_SETTINGS));
}

static struct pair linked_pair(void) {
    struct pair p = pair_with(NULL, NULL);
    follow(p.r, p.master);
    return p;
}

static void check_equal(const struct pair *p) {
    check_pair(p);
    CHECK_STR(zoo_state(p->r), zoo_state(p->m));
}

/* -------------------------------------------------------------------------
 * Full sync
 * ---------------------------------------------------------------------- */

/* Returns the replica. */
static struct server *syncs_the_zoo(const char *master_config, const char *replica_config) {
    struct pair p = pair_with(master_config, replica_config);
    zoo_fill(p.m);

    follow(p.r, p.master);

    check_equal(&p);
    zoo_check_members(p.r);
    zoo_check_partial(p.m);
    return p.replica;
}

TEST(a_full_sync_by_disk_changes_no_bit) {
    syncs_the_zoo("repl-diskless-sync no", NULL);
}

TEST(a_diskless_full_sync_changes_no_bit) {
    syncs_the_zoo("repl-diskless-sync yes", "repl-diskless-load disabled");
}

TEST(a_full_sync_that_swaps_databases_changes_no_bit) {
    struct server *replica =
        syncs_the_zoo("repl-diskless-sync yes", "repl-diskless-load swapdb");
    CHECK((strstr(server_log(replica), "to parser") != NULL) == server_swaps_databases());
}

TEST(a_full_sync_without_any_disk_changes_no_bit) {
    struct server *replica =
        syncs_the_zoo("repl-diskless-sync yes", "repl-diskless-load on-empty-db");
    CHECK(strstr(server_log(replica), "to parser") != NULL);
}

TEST(a_partial_filter_is_completed_through_the_stream) {
    struct pair p = pair_with(NULL, NULL);
    zoo_fill(p.m);
    follow(p.r, p.master);

    zoo_complete_partial(p.m);
    add_numbers(p.m, "partial", 5000, 10000);

    check_equal(&p);
    CHECK_INT(count_missing(p.r, "partial", 0, 10000), 0);
}

/* The stream of what happened while the snapshot was under way comes on top of it. */
TEST(adds_during_a_full_sync_arrive) {
    struct pair p = pair_with(NULL, NULL);
    zoo_fill(p.m);
    expectf(p.r, "OK", "REPLICAOF 127.0.0.1 %d", p.master->port);
    add_numbers(p.m, "grown", 6000, 40000);
    expect(p.m, "1", "BF.ADD", "new", "anna");

    check_equal(&p);
    CHECK_INT(count_missing(p.r, "grown", 0, 40000), 0);
}

/* -------------------------------------------------------------------------
 * The stream
 * ---------------------------------------------------------------------- */

TEST(the_stream_carries_every_filter) {
    struct pair p = linked_pair();
    zoo_fill(p.m);
    check_equal(&p);
    zoo_check_members(p.m);
}

TEST(a_filter_grows_on_the_replica_as_on_the_master) {
    struct pair p = linked_pair();
    expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "10");
    for (long i = 0; i < 5000; i++)
        callf(p.m, "BF.ADD k %ld", i);
    check_equal(&p);
    CHECK_INT(count_missing(p.r, "k", 0, 5000), 0);
}

TEST(a_filter_made_by_an_add_is_the_same_on_both_sides) {
    struct pair p = linked_pair();
    expect(p.m, "1", "BF.ADD", "by add", "anna");
    expect(p.m, "[1, 0]", "BF.MADD", "by madd", "anna", "anna");
    expect(p.m, "[1]", "BF.INSERT", "by insert", "CAPACITY", "50", "ITEMS", "anna");
    add_numbers(p.m, "by add", 0, 1000);
    add_numbers(p.m, "by madd", 0, 1000);
    add_numbers(p.m, "by insert", 0, 1000);
    check_equal(&p);
}

TEST(a_transaction_is_replicated_with_what_it_did) {
    struct pair p = linked_pair();
    expect(p.m, "OK", "MULTI");
    expect(p.m, "QUEUED", "BF.ADD", "k", "anna");
    expect(p.m, "QUEUED", "BF.ADD", "k", "anna");
    expect(p.m, "QUEUED", "BF.RESERVE", "reserved", "0.01", "2");
    expect(p.m, "QUEUED", "BF.MADD", "reserved", "a", "b", "c", "d", "e");
    expect(p.m, "QUEUED", "SET", "string", "x");
    expect(p.m, "[1, 0, OK, [1, 1, 1, 1, 1], OK]", "EXEC");
    check_equal(&p);
}

TEST(scripts_are_replicated_with_what_they_did) {
    struct pair p = linked_pair();
    expect(p.m, "[1, 0, [1, 1, 0], 1]", "EVAL",
           "return {redis.call('BF.ADD', KEYS[1], 'a'), redis.call('BF.ADD', KEYS[1], 'a'),"
           " redis.call('BF.MADD', KEYS[1], 'b', 'c', 'b'),"
           " redis.call('BF.EXISTS', KEYS[1], 'b')}",
           "1", "k");
    check_equal(&p);
}

TEST(a_script_that_grows_a_filter_is_replicated) {
    struct pair p = linked_pair();
    expect(p.m, "nil", "EVAL", "for i = 1, 2000 do redis.call('BF.ADD', KEYS[1], i) end",
           "1", "k");
    check_equal(&p);
    CHECK_INT(count_missing(p.r, "k", 1, 2001), 0);
}

TEST(scripts_see_booleans_as_their_protocol_has_them) {
    redisContext *c = client(server_start());
    expect(c, "1", "EVAL", "return redis.call('BF.ADD', KEYS[1], 'a')", "1", "k");
    expect(c, "\"number\"", "EVAL", "return type(redis.call('BF.EXISTS', KEYS[1], 'a'))",
           "1", "k");
    expect(c, server_speaks(700) ? "\"boolean\"" : "\"number\"", "EVAL",
           "redis.setresp(3); return type(redis.call('BF.EXISTS', KEYS[1], 'a'))", "1",
           "k");
}

TEST(an_error_in_a_script_is_an_error) {
    redisContext *c = client(server_start());
    expect_like(c, "(error) *error rate must be in the range (0.000000, 1.000000)*", "EVAL",
                "return redis.call('BF.RESERVE', KEYS[1], 2, 100)", "1", "k");
    expect(c, "0", "EXISTS", "k");
}

TEST(functions_are_replicated_with_what_they_did) {
    needs(700, "functions");
    struct pair p = linked_pair();
    expect(p.m, "\"lib\"", "FUNCTION", "LOAD",
           "#!lua name=lib\n"
           "redis.register_function('fill', function(keys, args)\n"
           "  for i = 1, tonumber(args[1]) do redis.call('BF.ADD', keys[1], i) end\n"
           "  return redis.call('BF.CARD', keys[1]) end)\n");
    CHECK(call_int(p.m, "FCALL", "fill", "1", "k", "1000") > 950);
    check_equal(&p);
}

TEST(wait_counts_a_replica_that_has_the_add) {
    struct pair p = linked_pair();
    expect(p.m, "1", "BF.ADD", "k", "anna");
    expect(p.m, "1", "WAIT", "1", "10000");
    expect(p.r, "1", "BF.EXISTS", "k", "anna");
}

TEST(a_replica_takes_no_writes_from_clients) {
    struct pair p = linked_pair();
    expect(p.m, "1", "BF.ADD", "k", "anna");
    wait_for_replica(p.m, p.r);
    expect_like(p.r, "(error) READONLY *", "BF.ADD", "k", "bob");
    expect_like(p.r, "(error) READONLY *", "BF.RESERVE", "l", "0.01", "100");
    expect_like(p.r, "(error) READONLY *", "BF.LOADCHUNK", "l", "1", "x");
}

/* An item that goes into a filter that has just expired goes into a new filter, on
 * both sides. */
TEST(an_add_to_an_expired_filter_makes_a_new_one_everywhere) {
    struct pair p = linked_pair();
    expect(p.m, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0");
    expect(p.m, "[1, 1]", "BF.MADD", "k", "anna", "bob");
    expect(p.m, "1", "PEXPIRE", "k", "1");
    usleep(5000);

    expect(p.m, "1", "BF.ADD", "k", "anna");

    check_equal(&p);
    expect(p.r, "[1, 0]", "BF.MEXISTS", "k", "anna", "bob");
    expect(p.r, "-1", "TTL", "k");
}

TEST(expiry_and_deletion_reach_the_replica) {
    struct pair p = linked_pair();
    expect(p.m, "1", "BF.ADD", "short", "anna");
    expect(p.m, "1", "BF.ADD", "gone", "anna");
    expect(p.m, "1", "PEXPIRE", "short", "20");
    expect(p.m, "1", "UNLINK", "gone");
    WAIT_UNTIL(call_int(p.m, "EXISTS", "short") == 0);
    check_equal(&p);
    WAIT_UNTIL(info_int(p.r, "bf", "bf_filters") == 0);
}

/* Its master has accepted the items: refusing them would be a false "no". */
TEST(a_replica_without_memory_follows_all_the_same) {
    struct pair p = linked_pair();
    expect(p.r, "OK", "CONFIG", "SET", "maxmemory", "1");
    zoo_fill(p.m);
    expect(p.m, "1", "BF.ADD", "k", "anna");
    add_numbers(p.m, "k", 0, 10000);
    check_equal(&p);
    zoo_check_members(p.r);
}

/* -------------------------------------------------------------------------
 * Chains of replicas, aof on the replica
 * ---------------------------------------------------------------------- */

TEST(a_replica_of_a_replica_is_the_same) {
    struct pair p = linked_pair();
    struct pair next = pair_linked(p.replica, server_start());

    zoo_fill(p.m);

    check_equal(&p);
    check_equal(&next);
}

TEST(the_aof_of_a_replica_replays_to_the_same) {
    struct pair p = pair_with(NULL, "appendonly yes\naof-use-rdb-preamble no");
    follow(p.r, p.master);
    zoo_fill(p.m);
    check_equal(&p);

    server_kill(p.replica);
    server_start_again(p.replica);

    CHECK_STR(zoo_state(client(p.replica)), zoo_state(p.m));
}
