/* SPDX-License-Identifier: BSD-3-Clause */

/* clock_test.c - leases on servers whose wall clock is set back and forward: none lasts
 * longer than it was given for, and none that was seen to have ended comes back. */

#include "harness.h"
#include "states.h"

#define HOUR 3600

/* Nothing but the lease is in doubt. */
#define TRUST_REST "bf-trust restart,failover,restore"

static const char *doubt_of(redisContext *c, const char *key) {
    char *text = render(reply_field(call(c, "BF.INFO", key, "FULL"), "Doubt"));
    test_defer(free, text);
    return text;
}

static bool is_leased(redisContext *c, const char *key, const char *seconds) {
    expect(c, "OK", "BF.READY", key, "EX", seconds);
    return strcmp(said_of(c, key), "absent") == 0;
}

/* A short one may be over before it was looked at. */
static void make_leased(redisContext *c, const char *key, const char *seconds) {
    expect(c, "#t", "BF.ADD", key, "anna");
    WAIT_UNTIL(is_leased(c, key, seconds));
}

/* The clock is an hour fast for a moment, in which the filter is asked. */
static void show_another_hour(struct server *s, redisContext *c, const char *key) {
    server_set_clock(s, HOUR);
    CHECK_STR(said_of(c, key), "unknown");
    server_set_clock(s, 0);
}

TEST(a_lease_that_has_ended_stays_so_when_the_clock_is_set_back) {
    struct server *s = server_start(.preload = "clock");
    redisContext *c = client(s);
    make_leased(c, "k", "1");
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
    server_set_clock(s, -HOUR);
    CHECK_STR(said_of(c, "k"), "unknown");
    expect(c, "1", "BF.EXISTS", "k", "bob");
    expect(c, "nil", "BF.READY", "k", "XX", "EX", "100");
    CHECK_STR(said_of(c, "k"), "unknown");
    CHECK_STR(doubt_of(c, "k"), "[lease]");
    CHECK_INT(counted(c, "filters_ready_undoubted"), 0);

    expect(c, "OK", "BF.READY", "k", "EX", "100");
    CHECK_STR(said_of(c, "k"), "absent");
    CHECK_STR(doubt_of(c, "k"), "[]");
    CHECK_INT(counted(c, "filters_ready_undoubted"), 1);
}

TEST(a_renewal_sees_that_a_lease_has_ended) {
    struct server *s = server_start(.preload = "clock");
    redisContext *c = client(s);
    make_leased(c, "k", "1000");
    server_set_clock(s, HOUR);
    expect(c, "nil", "BF.READY", "k", "XX", "EX", "100");
    server_set_clock(s, 0);
    expect(c, "nil", "BF.READY", "k", "XX", "EX", "100");
    CHECK_STR(said_of(c, "k"), "unknown");
}

TEST(a_lease_ends_in_time_although_the_clock_was_set_back) {
    struct server *s = server_start(.preload = "clock");
    redisContext *c = client(s);
    make_leased(c, "long", "1000");
    make_leased(c, "k", "2");
    server_set_clock(s, -HOUR);
    CHECK_STR(said_of(c, "long"), "absent");
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
    expect(c, "nil", "BF.READY", "k", "XX", "EX", "100");
}

/* What is stored is seen by the restarted server, which trusts in everything else. */
static void ends_and_is_stored(const char *config, void (*store)(redisContext *c)) {
    struct server *s =
        server_start(.preload = "clock", .config = config, .module_args = TRUST_REST);
    redisContext *c = client(s);
    make_leased(c, "ended", "1000");
    make_leased(c, "good", "10000");
    show_another_hour(s, c, "ended");
    CHECK_STR(said_of(c, "ended"), "unknown");
    store(c);
    c = restart_with(s, TRUST_REST);
    CHECK_STR(said_of(c, "good"), "absent");
    CHECK_STR(said_of(c, "ended"), "unknown");
    CHECK_STR(doubt_of(c, "ended"), "[restart, lease]");
}

TEST(an_ended_lease_is_saved_as_one) {
    ends_and_is_stored(NULL, save);
    ends_and_is_stored(AOF_BY_COMMAND, rewrite_aof);
    ends_and_is_stored(AOF_BY_RDB, rewrite_aof);
}

/* Saving looks at the clocks. */
TEST(a_lease_that_nobody_saw_end_is_saved_as_ended) {
    struct server *s = server_start(.preload = "clock", .module_args = TRUST_REST);
    redisContext *c = client(s);
    make_leased(c, "k", "1");
    make_leased(c, "asked", "1");
    server_set_clock(s, -HOUR);
    WAIT_UNTIL(strcmp(said_of(c, "asked"), "unknown") == 0);
    expect(c, "OK", "SAVE");
    c = restart_with(s, TRUST_REST);
    CHECK_STR(said_of(c, "k"), "unknown");
}

TEST(a_file_that_is_loaded_by_a_slow_clock_gives_no_more_time_than_was_given) {
    struct server *s = server_start(.preload = "clock", .module_args = TRUST_REST);
    redisContext *c = client(s);
    make_leased(c, "long", "1000");
    make_leased(c, "k", "4");
    expect(c, "OK", "SAVE");
    server_set_clock(s, -HOUR);
    c = restart_with(s, TRUST_REST);
    CHECK_STR(said_of(c, "long"), "absent");
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
}

TEST(a_lease_ends_on_a_replica_by_its_own_clocks) {
    struct pair p =
        pair_linked(server_start(),
                    server_start(.preload = "clock", .module_args = "bf-trust replica"));
    redisContext *m = p.m, *r = p.r;
    expect(m, "1", "BF.ADD", "k", "anna");
    expect(m, "OK", "BF.READY", "k", "EX", "1000");
    wait_for_belief(r, "k");
    show_another_hour(p.replica, r, "k");
    CHECK_STR(said_of(r, "k"), "unknown");
    CHECK_STR(said_of(m, "k"), "absent");

    expect(m, "OK", "BF.READY", "k", "EX", "1000", "XX");
    wait_for_replica(m, r);
    CHECK_STR(said_of(r, "k"), "absent");
    expect(m, "OK", "BF.READY", "k", "EX", "2", "XX");
    wait_for_replica(m, r);
    server_set_clock(p.replica, -HOUR);
    WAIT_UNTIL(strcmp(said_of(r, "k"), "unknown") == 0);
}

/* It says "unknown" for a cause of its own, and sees the end of the lease all the same. */
TEST(a_promoted_replica_knows_that_a_lease_has_ended) {
    struct pair p = pair_linked(
        server_start(), server_start(.preload = "clock", .module_args = TRUST_REST));
    redisContext *m = p.m, *r = p.r;
    expect(m, "1", "BF.ADD", "k", "anna");
    expect(m, "OK", "BF.READY", "k", "EX", "1000");
    wait_for_replica(m, r);
    show_another_hour(p.replica, r, "k");
    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_STR(said_of(r, "k"), "unknown");
}
