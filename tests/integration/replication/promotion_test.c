/* SPDX-License-Identifier: BSD-3-Clause */

/* promotion_test.c - what a promotion tells, when it may be told, and replicas that have
 * not got the filter that their master speaks of. */

#include "harness.h"
#include "states.h"

#define TRUSTING "bf-trust replica,failover"

static struct pair start_pair(const char *config, const char *trust) {
    struct pair p = pair_of(server_start(.config = "appendonly yes"),
                            server_start(.config = config, .module_args = trust));
    follow(p.r, p.master);
    expect(p.m, "1", "BF.ADD", "k", "anna");
    expect(p.m, "OK", "BF.READY", "k");
    wait_for_belief(p.r, "k");
    return p;
}

/* A replica of a replica: only with bf-max-lag it may be believed. */
static redisContext *replica_of(const struct server *master) {
    redisContext *t = client(server_start(.module_args = "bf-trust replica bf-max-lag 60"));
    follow(t, master);
    wait_for_belief(t, "k");
    return t;
}

/* Believed as a replica, and nobody has said anything since: the promotion alone does
 * it. */
TEST(a_promotion_makes_ready_filters_doubtful) {
    struct pair p = start_pair("appendonly no", "bf-trust replica");
    expect(p.r, "absent", "BF.CHECK", "k", "bob");

    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    expect(p.r, "unknown", "BF.CHECK", "k", "bob");
    CHECK_STR(unknown_by(p.r, "k"), "failover");
    expect(p.r, "OK", "BF.READY", "k");
    expect(p.r, "absent", "BF.CHECK", "k", "bob");
}

/* The second promotion is to be told while the first, which went out with an add, still
 * waits to be: all of it comes in one write. */
TEST(a_node_is_promoted_twice_in_one_moment) {
    struct pair p = start_pair("save ''", "bf-trust replica");
    static const char *const commands[] = {"REPLICAOF NO ONE", "BF.ADD k bob",
                                           "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE",
                                           "BF.CHECK k bob"};
    for (int i = 0; i < 5; i++)
        CHECK_INT(redisAppendCommand(p.r, commands[i]), REDIS_OK);
    for (int i = 0; i < 5; i++) {
        redisReply *r = NULL;
        CHECK_INT(redisGetReply(p.r, (void **)&r), REDIS_OK);
        CHECK(r->type != REDIS_REPLY_ERROR);
        freeReplyObject(r);
    }
    CHECK_STR(unknown_by(p.r, "k"), "failover");
}

/* What is sent while clients are paused ends the server. */
TEST(a_node_is_promoted_while_clients_are_paused) {
    needs(700, "CLIENT PAUSE of writes");
    struct pair p = start_pair("appendonly yes\nappendfsync always", TRUSTING);
    redisContext *t = replica_of(p.replica);
    expect(p.r, "OK", "CLIENT", "PAUSE", "300", "WRITE");
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    expect(p.r, "0", "BF.ADD", "k", "anna"); /* when the pause is over */
    WAIT_UNTIL(strcmp(unknown_by(t, "k"), "failover") == 0);
    server_kill(p.master);
    server_kill(p.replica);
    p.replica->options.module_args = "bf-trust restart";
    server_start_again(p.replica);
    expect(client(p.replica), "unknown", "BF.CHECK", "k", "bob");
}

/* Else the doubt of the promotion, coming later, would undo what was said after it. */
TEST(a_promotion_is_told_before_what_follows_it) {
    struct pair p = start_pair("appendonly yes", TRUSTING);
    redisContext *t = replica_of(p.replica);

    post(p.r, "REPLICAOF", "NO", "ONE");
    post(p.r, "BF.READY", "k");
    expect_next(p.r, "OK");
    expect_next(p.r, "OK");
    wait_for_replica(p.r, t);
    wait_for_belief(t, "k");
}

/* Replicas learn of it, too: they may lack what the promoted node had not got. */
TEST(a_replica_of_the_promoted_node_doubts_as_well) {
    struct pair p = start_pair("appendonly yes", TRUSTING);
    redisContext *t = replica_of(p.replica);

    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    WAIT_UNTIL(strcmp(unknown_by(t, "k"), "failover") == 0);
}

/* It evicted its filter, and made another one of the next add. */
static void lose_and_go_on(const struct pair *p) {
    expect(p->r, "OK", "CONFIG", "SET", "replica-read-only", "no");
    expect(p->r, "1", "DEL", "k");
    expect(p->m, "1", "BF.ADD", "k", "carol");
    wait_for_replica(p->m, p->r);
}

TEST(a_replica_that_lost_the_filter_does_not_believe_that_it_is_ready) {
    struct pair p = start_pair("appendonly yes", TRUSTING);
    lose_and_go_on(&p);
    expect(p.m, "OK", "BF.READY", "k", "EX", "100");
    wait_for_replica(p.m, p.r);
    expect(p.r, "unknown", "BF.CHECK", "k", "anna");
    expect(p.r, "1", "BF.EXISTS", "k", "anna");
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    expect(p.r, "unknown", "BF.CHECK", "k", "anna");
}

TEST(a_replica_that_lost_the_filter_outlives_its_rebuild) {
    struct pair p = start_pair("appendonly yes", TRUSTING);
    expect(p.r, "OK", "CONFIG", "SET", "replica-read-only", "no");
    expect(p.r, "1", "DEL", "k");
    const char *token = call(p.m, "BF.REBUILD", "k", "START")->str;
    expect(p.m, "1", "BF.ADD", "k", "carol");
    expect(p.m, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(p.m, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(p.m, "OK", "BF.READY", "k", "EX", "100");
    wait_for_replica(p.m, p.r);
    expect(p.r, "unknown", "BF.CHECK", "k", "anna");
    expect(p.r, "1", "BF.EXISTS", "k", "anna");
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
