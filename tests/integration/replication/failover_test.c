/* SPDX-License-Identifier: BSD-3-Clause */

/* failover_test.c - links that break, masters that die, replicas that take over. */

#include "harness.h"
#include "states.h"
#include "zoo.h"

static void check_same(redisContext *a, redisContext *b) {
    CHECK_STR(zoo_state(b), zoo_state(a));
    check_digests(a, b);
}

TEST(a_promoted_replica_goes_on_and_takes_the_old_master_back) {
    struct server *a = server_start(.module_args = "bf-initial-size 50");
    struct server *b = server_start(.module_args = "bf-initial-size 70");
    redisContext *ca = client(a), *cb = client(b);
    zoo_fill(ca);
    follow(cb, a);
    expect(ca, "1", "BF.ADD", "before", "anna");
    wait_for_replica(ca, cb);

    server_kill(a);
    expect(cb, "OK", "REPLICAOF", "NO", "ONE");
    add_numbers(cb, "grown", 6000, 20000);
    expect(cb, "1", "BF.ADD", "after", "bob");
    zoo_complete_partial(cb);

    server_start_again(a);
    ca = client(a);
    follow(ca, b);
    check_same(cb, ca);
    CHECK_INT(count_missing(ca, "grown", 0, 20000), 0);
    expect(ca, "1", "BF.EXISTS", "before", "anna");
}

TEST(roles_change_back_and_forth) {
    struct server *s[2] = {server_start(), server_start()};
    redisContext *c[2] = {client(s[0]), client(s[1])};
    follow(c[1], s[0]);
    for (int turn = 0; turn < 4; turn++) {
        int master = turn % 2, replica = !master;
        expect(c[master], "OK", "REPLICAOF", "NO", "ONE");
        follow(c[replica], s[master]);
        add_numbers(c[master], "k", turn * 1000, (turn + 1) * 1000);
        wait_for_replica(c[master], c[replica]);
        check_same(c[master], c[replica]);
    }
    CHECK_INT(count_missing(c[0], "k", 0, 4000), 0);
}

TEST(a_replica_that_was_away_catches_up_from_the_backlog) {
    struct server *a = server_start(), *b = server_start(.config = "repl-timeout 2");
    redisContext *ca = client(a), *cb = client(b);
    follow(cb, a);
    add_numbers(ca, "k", 0, 1000);
    wait_for_replica(ca, cb);

    call(ca, "CLIENT", "KILL", "TYPE", "replica");
    add_numbers(ca, "k", 1000, 5000);

    wait_for_replica(ca, cb);
    check_same(ca, cb);
    CHECK_INT(info_int(ca, "stats", "sync_full"), 1);
}

TEST(a_replica_that_restarts_is_the_same_afterwards) {
    struct server *a = server_start(), *b = server_start();
    redisContext *ca = client(a), *cb = client(b);
    zoo_fill(ca);
    follow(cb, a);
    expect(cb, "OK", "SAVE");

    server_kill(b);
    add_numbers(ca, "grown", 6000, 10000);
    server_start_again(b);
    cb = client(b);
    follow(cb, a);

    check_same(ca, cb);
}

/* The transfer takes seconds, as every key is delayed, and the master dies in the
 * middle of it. The replica must live, and take a full sync from another one. */
static void survives_a_broken_sync(const char *replica_config) {
    struct server *a = server_start(.config = "repl-diskless-sync yes");
    struct server *b = server_start(.config = replica_config);
    struct server *other = server_start();
    redisContext *ca = client(a), *cb = client(b);
    for (int i = 0; i < 300; i++)
        expectf(ca, "OK", "BF.RESERVE filler:%d 0.01 20000", i);
    add_numbers(ca, "filler:7", 0, 20000);
    expect(client(other), "1", "BF.ADD", "k", "anna");
    expect(ca, "OK", "CONFIG", "SET", "rdb-key-save-delay", "30000");

    expectf(cb, "OK", "REPLICAOF 127.0.0.1 %d", a->port);
    WAIT_UNTIL(strstr(server_log(b), "Loading DB in memory") != NULL ||
               strstr(server_log(b), "receiving streamed RDB") != NULL);
    server_kill(a);

    WAIT_UNTIL(strcmp(info_text(cb, "persistence", "loading"), "0") == 0);
    expect(cb, "PONG", "PING");
    follow(cb, other);
    check_same(client(other), cb);
}

TEST(a_diskless_load_that_breaks_leaves_the_replica_alive) {
    survives_a_broken_sync("repl-diskless-load swapdb");
}

TEST(a_full_sync_that_breaks_leaves_the_replica_alive) {
    survives_a_broken_sync("repl-diskless-load disabled");
}

TEST(a_master_that_hangs_and_comes_back_finds_an_equal_replica) {
    struct server *a = server_start(), *b = server_start();
    redisContext *ca = client(a), *cb = client(b);
    follow(cb, a);
    server_pause(b);
    add_numbers(ca, "k", 0, 20000);
    server_resume(b);
    wait_for_replica(ca, cb);
    check_same(ca, cb);
}
