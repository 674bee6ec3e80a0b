/* SPDX-License-Identifier: BSD-3-Clause */

/* promotion_test.c - what a promotion tells, when it may be told, and replicas that have
 * not got the filter that their master speaks of. */

#include "harness.h"
#include "states.h"

#define TRUSTING "bf-trust replica,failover"

static void start_pair(struct server *s[2], redisContext *c[2], const char *config,
                       const char *trust) {
    s[0] = server_start(.config = "appendonly yes");
    s[1] = server_start(.config = config, .module_args = trust);
    c[0] = client(s[0]);
    c[1] = client(s[1]);
    follow(c[1], s[0]);
    expect(c[0], "1", "BF.ADD", "k", "anna");
    expect(c[0], "OK", "BF.READY", "k");
    wait_for_belief(c[1], "k");
}

/* A replica of a replica: only with bf-max-lag it may be believed. */
static redisContext *replica_of(const struct server *master) {
    redisContext *t = client(server_start(.module_args = "bf-trust replica bf-max-lag 60"));
    follow(t, master);
    wait_for_belief(t, "k");
    return t;
}

/* Believed as a replica, and nobody has said anything since: the promotion alone does it. */
TEST(a_promotion_makes_ready_filters_doubtful) {
    struct server *s[2];
    redisContext *c[2];
    start_pair(s, c, "appendonly no", "bf-trust replica");
    expect(c[1], "absent", "BF.CHECK", "k", "bob");

    expect(c[1], "OK", "REPLICAOF", "NO", "ONE");
    expect(c[1], "unknown", "BF.CHECK", "k", "bob");
    CHECK_STR(unknown_by(c[1], "k"), "failover");
    expect(c[1], "OK", "BF.READY", "k");
    expect(c[1], "absent", "BF.CHECK", "k", "bob");
}

/* What is sent while clients are paused ends the server. */
TEST(a_node_is_promoted_while_clients_are_paused) {
    needs(700, "CLIENT PAUSE of writes");
    struct server *s[2];
    redisContext *c[2];
    start_pair(s, c, "appendonly yes\nappendfsync always", TRUSTING);
    redisContext *t = replica_of(s[1]);
    expect(c[1], "OK", "CLIENT", "PAUSE", "300", "WRITE");
    expect(c[1], "OK", "REPLICAOF", "NO", "ONE");
    expect(c[1], "0", "BF.ADD", "k", "anna"); /* when the pause is over */
    WAIT_UNTIL(strcmp(unknown_by(t, "k"), "failover") == 0);
    server_kill(s[0]);
    server_kill(s[1]);
    s[1]->options.module_args = "bf-trust restart";
    server_start_again(s[1]);
    expect(client(s[1]), "unknown", "BF.CHECK", "k", "bob");
}

/* Else the doubt of the promotion, coming later, would undo what was said after it. */
TEST(a_promotion_is_told_before_what_follows_it) {
    struct server *s[2];
    redisContext *c[2];
    start_pair(s, c, "appendonly yes", TRUSTING);
    redisContext *t = replica_of(s[1]);

    post(c[1], "REPLICAOF", "NO", "ONE");
    post(c[1], "BF.READY", "k");
    expect_next(c[1], "OK");
    expect_next(c[1], "OK");
    wait_for_replica(c[1], t);
    wait_for_belief(t, "k");
}

/* Replicas learn of it, too: they may lack what the promoted node had not got. */
TEST(a_replica_of_the_promoted_node_doubts_as_well) {
    struct server *s[2];
    redisContext *c[2];
    start_pair(s, c, "appendonly yes", TRUSTING);
    redisContext *t = replica_of(s[1]);

    expect(c[1], "OK", "REPLICAOF", "NO", "ONE");
    WAIT_UNTIL(strcmp(unknown_by(t, "k"), "failover") == 0);
}

/* It evicted its filter, and made another one of the next add. */
static void lose_and_go_on(redisContext *c[2]) {
    expect(c[1], "OK", "CONFIG", "SET", "replica-read-only", "no");
    expect(c[1], "1", "DEL", "k");
    expect(c[0], "1", "BF.ADD", "k", "carol");
    wait_for_replica(c[0], c[1]);
}

TEST(a_replica_that_lost_the_filter_does_not_believe_that_it_is_ready) {
    struct server *s[2];
    redisContext *c[2];
    start_pair(s, c, "appendonly yes", TRUSTING);
    lose_and_go_on(c);
    expect(c[0], "OK", "BF.READY", "k", "EX", "100");
    wait_for_replica(c[0], c[1]);
    expect(c[1], "unknown", "BF.CHECK", "k", "anna");
    expect(c[1], "1", "BF.EXISTS", "k", "anna");
    expect(c[1], "OK", "REPLICAOF", "NO", "ONE");
    expect(c[1], "unknown", "BF.CHECK", "k", "anna");
}

TEST(a_replica_that_lost_the_filter_outlives_its_rebuild) {
    struct server *s[2];
    redisContext *c[2];
    start_pair(s, c, "appendonly yes", TRUSTING);
    expect(c[1], "OK", "CONFIG", "SET", "replica-read-only", "no");
    expect(c[1], "1", "DEL", "k");
    const char *token = call(c[0], "BF.REBUILD", "k", "START")->str;
    expect(c[0], "1", "BF.ADD", "k", "carol");
    expect(c[0], "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c[0], "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c[0], "OK", "BF.READY", "k", "EX", "100");
    wait_for_replica(c[0], c[1]);
    expect(c[1], "unknown", "BF.CHECK", "k", "anna");
    expect(c[1], "1", "BF.EXISTS", "k", "anna");
}

/* The next add makes another one there, which must not deny what it has not got. */
TEST(a_replica_that_lost_a_loading_filter_denies_nobody) {
    static const char maybe[] = "bf-missing-key maybe";
    struct pair p = pair_linked(server_start(.module_args = maybe),
                                server_start(.module_args = maybe, .config = AOF_BY_COMMAND
                                                                   "replica-read-only no"));
    redisContext *m = p.m, *r = p.r;
    expect(m, "OK", "BF.RESERVE", "k", "0.01", "100", "LOADING");
    expect(m, "1", "BF.ADD", "k", "anna");
    wait_for_replica(m, r);

    expect(r, "1", "DEL", "k");
    expect(m, "[1]", "BF.INSERT", "k", "NOCREATE", "ITEMS", "carol");
    wait_for_replica(m, r);
    expect(r, "1", "BF.CARD", "k");
    expect(r, "1", "BF.EXISTS", "k", "anna");

    r = restart_with(p.replica, maybe);
    expect(r, "1", "BF.EXISTS", "k", "anna");
}
