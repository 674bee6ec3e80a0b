/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_effect_test.c - what the shield's commands change is notified, propagated and
 * aborts a WATCH; what they only ask, or refuse, is not. */

#include "events.h"
#include "harness.h"
#include "states.h"

#include <unistd.h>

/* ---- notifications ---- */

TEST(vouching_is_notified) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "LOADING");
    CHECK_STR(events(l, c), "bf.reserve");
    expect(c, "1", "BF.ADD", "k", "anna");
    CHECK_STR(events(l, c), "bf.add");
    expect(c, "OK", "BF.READY", "k");
    CHECK_STR(events(l, c), "bf.ready");
    expect(c, "OK", "BF.READY", "k", "EX", "100", "XX");
    CHECK_STR(events(l, c), "bf.ready");
    expect(c, "OK", "BF.LOADING", "k");
    CHECK_STR(events(l, c), "bf.loading");

    expect(c, "OK", "BF.LOADING", "k");
    expect(c, "nil", "BF.READY", "k", "XX");
    expect_like(c, "(error) *", "BF.READY", "k", "EX", "0");
    CHECK_STR(events(l, c), "");
}

TEST(the_steps_of_a_rebuild_are_notified) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    start_rebuild(c, "k");
    CHECK_STR(events(l, c), "bf.reserve bf.rebuild");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    CHECK_STR(events(l, c), "bf.rebuild");
    const char *token = start_rebuild(c, "k");
    CHECK_STR(events(l, c), "bf.rebuild");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    CHECK_STR(events(l, c), "bf.rebuild");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    CHECK_STR(events(l, c), "bf.rebuild bf.ready");

    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, NO_REBUILD, "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, NO_REBUILD, "BF.REBUILD", "k", "ABORT");
    CHECK_STR(events(l, c), "");
}

TEST(an_add_over_capacity_is_notified) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2", "NONSCALING", "READY");
    expect(c, "[1, 1]", "BF.MADD", "k", "anna", "bob");
    events(l, c);
    expect(c, "1", "BF.ADD", "k", "carol");
    CHECK_STR(events(l, c), "bf.full bf.add");
    expect(c, "0", "BF.ADD", "k", "carol");
    CHECK_STR(events(l, c), "");
}

TEST(questions_to_a_shield_are_not_notified) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    events(l, c);
    call(c, "BF.CHECK", "k", "bob");
    call(c, "BF.MCHECK", "k", "anna", "bob");
    call(c, "BF.GUARD", "k", "cache", "bob");
    call(c, "BF.REBUILD", "k", "CHECK", token, "bob");
    call(c, "BF.INFO", "k", "FULL");
    CHECK_STR(events(l, c), "");
}

TEST(a_replica_notifies_of_the_same) {
    struct pair p = pair_linked(server_start(), server_start());
    redisContext *m = p.m, *r = p.r;
    redisContext *l = listener(p.replica);
    expect(m, "1", "BF.ADD", "k", "anna");
    expect(m, "OK", "BF.READY", "k");
    expect(m, "OK", "BF.LOADING", "k");
    const char *token = start_rebuild(m, "k");
    expect(m, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    wait_for_replica(m, r);
    CHECK(strstr(events(l, r),
                 "bf.add bf.ready bf.loading bf.rebuild bf.rebuild bf.rebuild "
                 "bf.ready") != NULL);
}

/* ---- the stream ---- */

static long long offset(redisContext *m) {
    return info_int(m, "replication", "master_repl_offset");
}

static void change_nothing(redisContext *m, const char *token) {
    call(m, "BF.CHECK", "k", "bob");
    call(m, "BF.MCHECK", "k", "anna", "bob");
    call(m, "BF.GUARD", "k", "cache", "bob");
    call(m, "BF.GUARD", "k", "none", "bob");
    call(m, "BF.REBUILD", "k", "CHECK", token, "bob");
    expect(m, "OK", "BF.LOADING", "loading");
    expect(m, "nil", "BF.READY", "loading", "XX");
    expect(m, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
    expect_like(m, REBUILDING, "BF.REBUILD", "k", "START");
    expect(m, NOT_FOUND, "BF.READY", "none");
    expect(m, NOT_FOUND, "BF.LOADING", "none");
    expect(m, "0", "BF.ADD", "loading", "anna");
}

/* A beat may come in between, once a second. */
TEST(what_changes_nothing_about_a_shield_is_not_propagated) {
    struct pair p = pair_linked(server_start(.config = "repl-ping-replica-period 3600"),
                                server_start());
    redisContext *m = p.m, *r = p.r;
    make_ready(m, "k");
    make_ready(m, "loading");
    expect(m, "OK", "BF.LOADING", "loading");
    expect(m, "OK", "SET", "cache", "value");
    const char *token = start_rebuild(m, "k");
    wait_for_replica(m, r);

    bool nothing_sent = false;
    for (int i = 0; i < 5 && !nothing_sent; i++) {
        long long before = offset(m);
        change_nothing(m, token);
        nothing_sent = offset(m) == before;
    }
    CHECK(nothing_sent);
}

/* A lease is sent as the moment at which it ends, and it is over there when it is here. */
TEST(a_lease_ends_on_the_replica_at_the_same_time) {
    struct pair p =
        pair_linked(server_start(), server_start(.module_args = "bf-trust replica"));
    redisContext *m = p.m, *r = p.r;
    expect(m, "1", "BF.ADD", "k", "anna");
    expect(m, "OK", "BF.READY", "k", "EX", "2");
    wait_for_replica(m, r);
    check_digests(m, r);
    WAIT_UNTIL(strcmp(said_of(m, "k"), "unknown") == 0);
    usleep(2000); /* clocks that count in ms differ by one */
    CHECK_STR(said_of(r, "k"), "unknown");
}

TEST(a_transaction_vouches_on_replicas_too) {
    struct pair p =
        pair_linked(server_start(), server_start(.module_args = "bf-trust replica"));
    redisContext *m = p.m, *r = p.r;
    expect(m, "OK", "MULTI");
    expect(m, "QUEUED", "BF.ADD", "k", "anna");
    expect(m, "QUEUED", "SET", "watermark", "17");
    expect(m, "QUEUED", "BF.READY", "k", "EX", "3600");
    expect(m, "[1, OK, OK]", "EXEC");
    expect(m, "OK", "EVAL",
           "redis.call('BF.ADD', KEYS[1], 'anna') "
           "return redis.call('BF.READY', KEYS[1])",
           "1", "by script");
    wait_for_belief(r, "k");
    CHECK_STR(said_of(r, "by script"), "absent");
    check_digests(m, r);
}

/* ---- WATCH and client-side caching ---- */

TEST(only_a_change_of_standing_aborts_a_watch) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "1", "BF.ADD", "k", "anna");
    CHECK(!survives_watch(s, "BF.READY", "k"));
    CHECK(!survives_watch(s, "BF.READY", "k", "EX", "100"));
    CHECK(!survives_watch(s, "BF.LOADING", "k"));
    CHECK(survives_watch(s, "BF.LOADING", "k"));
    CHECK(survives_watch(s, "BF.READY", "k", "XX"));
    CHECK(survives_watch(s, "BF.CHECK", "k", "anna"));
    CHECK(survives_watch(s, "BF.GUARD", "k", "cache", "anna"));
    CHECK(!survives_watch(s, "BF.REBUILD", "k", "START"));
    CHECK(survives_watch(s, "BF.REBUILD", "k", "START"));
    CHECK(!survives_watch(s, "BF.ADD", "k", "anna")); /* new to the next generation */
    CHECK(survives_watch(s, "BF.ADD", "k", "anna"));
    CHECK(!survives_watch(s, "BF.REBUILD", "k", "ABORT"));
    CHECK(survives_watch(s, "BF.REBUILD", "k", "ABORT"));
}

TEST(vouching_invalidates_what_a_client_caches) {
    struct server *s = server_shared();
    redisContext *writer = client(s), *reader = client_resp3(s);
    expect(writer, "1", "BF.ADD", "k", "anna");
    expect(reader, "OK", "CLIENT", "TRACKING", "ON");
    expect(reader, "unknown", "BF.CHECK", "k", "bob");
    expect(writer, "OK", "BF.READY", "k");
    expect_next(reader, ">[\"invalidate\", [\"k\"]]");
    expect(reader, "absent", "BF.CHECK", "k", "bob");
}

/* What is looked up for one answer must not be left behind for the next. */
TEST(a_writable_replica_renews_nothing_once_its_link_has_gone) {
    struct server *master = server_start();
    struct server *replica =
        server_start(.config = "replica-read-only no", .module_args = "bf-trust replica");
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_belief(r, "k");
    expect(r, "OK", "BF.READY", "k", "XX");

    cut_link(m, r);
    expect(r, "nil", "BF.READY", "k", "XX");
    CHECK_STR(unknown_by(r, "k"), "link_down");
    expect(r, "nil", "BF.READY", "k", "XX", "EX", "100");
    CHECK_STR(said_of(r, "k"), "unknown");
}
