/* SPDX-License-Identifier: BSD-3-Clause */

/* wait_test.c - WAIT and WAITAOF tell the truth after an add that found its item, and
 * after other commands that changed nothing, where bf-trust relies on them. */

#include "harness.h"
#include "states.h"

#define TRUST "bf-trust restart,failover,replica"

/* One that is ready, and one that may be merged into it. */
static void make_filters(redisContext *c) {
    make_ready(c, "k");
    expect(c, "OK", "BF.RESERVE", "part", "0.01", "100", "LIKE", "k");
    expect(c, "1", "BF.ADD", "part", "hugo");
}

static struct pair start_pair(const char *module_args) {
    struct pair p = pair_of(server_start(.module_args = module_args),
                            server_start(.module_args = module_args));
    make_filters(p.m);
    follow(p.r, p.master);
    return p;
}

/* What writers of one row may send, each on its own connection: the second finds it. */
static const struct {
    const char *argv[8];
} writes[] = {
    {{"BF.ADD", "k", "bob"}},
    {{"BF.MADD", "k", "carol", "dan"}},
    {{"BF.INSERT", "k", "NOCREATE", "ITEMS", "eve", "fred"}},
    {{"EVAL", "return redis.call('BF.ADD', KEYS[1], 'gina')", "1", "k"}},
    {{"BF.MERGE", "k", "part"}},
    {{"BF.LOADING", "k"}},
};

enum { WRITES = sizeof writes / sizeof *writes };

static void write_as(redisContext *c, int which) {
    int argc = 0;
    while (writes[which].argv[argc])
        argc++;
    CHECK(callv(c, argc, (const char **)writes[which].argv, NULL)->type !=
          REDIS_REPLY_ERROR);
}

/* Else it is a replica that has nothing, and is promoted. */
TEST(wait_counts_no_replica_that_lacks_what_the_command_found) {
    struct pair p = start_pair(TRUST);
    for (int i = 0; i < WRITES; i++) {
        test_case("%s", writes[i].argv[0]);
        server_pause(p.replica);
        write_as(client(p.master), i);
        redisContext *again = client(p.master);
        write_as(again, i);
        expect(again, "0", "WAIT", "1", "50");
        server_resume(p.replica);
        expect(again, "1", "WAIT", "1", "10000");
    }
}

TEST(wait_after_a_commit_that_comes_again_counts_no_replica_that_lacks_it) {
    struct pair p = start_pair(TRUST);
    const char *token = start_rebuild(p.m, "k");
    load_numbers(p.m, "k", token, 0, 10);
    wait_for_replica(p.m, p.r);
    server_pause(p.replica);
    expect(p.m, "OK", "BF.REBUILD", "k", "COMMIT", token, "10");
    redisContext *again = client(p.master);
    expect(again, "OK", "BF.REBUILD", "k", "COMMIT", token, "10");
    expect(again, "0", "WAIT", "1", "50");
    server_resume(p.replica);
    expect(again, "1", "WAIT", "1", "10000");
    check_digests(p.m, p.r);
}

/* The red button: a promoted replica that hasn't got it denies. */
TEST(a_loading_that_wait_has_confirmed_is_known_to_the_promoted_replica) {
    struct pair p = start_pair(TRUST);
    wait_for_belief(p.r, "k");
    expect(p.m, "OK", "BF.LOADING", "k");
    redisContext *again = client(p.master);
    expect(again, "OK", "BF.LOADING", "k");
    expect(again, "1", "WAIT", "1", "10000");
    server_kill(p.master);
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_STR(said_of(p.r, "k"), "unknown");
}

/* appendfsync is no, as in all tests: nothing is on the disk until somebody asks. */
TEST(waitaof_does_not_confirm_what_no_file_has) {
    needs(702, "WAITAOF");
    struct server *s = server_start(.config = AOF, .module_args = TRUST);
    redisContext *c = client(s);
    make_filters(c);
    for (int i = 0; i < WRITES; i++) {
        test_case("%s", writes[i].argv[0]);
        write_as(client(s), i);
        redisContext *again = client(s);
        write_as(again, i);
        expect(again, "[0, 0]", "WAITAOF", "1", "0", "50");
    }
}

/* ---- and nothing more than that ---- */

/* What a server sends that has had a replica, by its own count. */
static long long sent(redisContext *m) {
    return info_int(m, "replication", "master_repl_offset");
}

static struct pair start_left_alone(const char *module_args) {
    struct pair p = start_pair(module_args);
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    WAIT_UNTIL(info_int(p.m, "replication", "connected_slaves") == 0);
    return p;
}

TEST(without_a_word_in_bf_trust_nothing_is_sent_for_an_add_that_found_its_item) {
    struct pair p = start_left_alone("bf-trust restore");
    long long before = sent(p.m);
    expect(p.m, "0", "BF.ADD", "k", "anna");
    expect(p.m, "[0, 0]", "BF.MADD", "k", "anna", "anna");
    expect(p.m, "0", "BF.MERGE", "k", "k");
    CHECK_INT(sent(p.m), before);
}

TEST(nothing_is_sent_for_an_add_that_a_plain_filter_knows) {
    struct pair p = start_left_alone(TRUST);
    expect(p.m, "1", "BF.ADD", "plain", "anna");
    long long before = sent(p.m);
    expect(p.m, "0", "BF.ADD", "plain", "anna");
    expect(p.m, "0", "BF.MERGE", "plain", "plain");
    CHECK_INT(sent(p.m), before);
    expect(p.m, "0", "BF.ADD", "k", "anna");
    CHECK(sent(p.m) > before);
}

/* It is told of, but not an event. */
TEST(an_add_that_found_its_item_breaks_no_transaction) {
    struct pair p = start_pair(TRUST);
    expect(p.m, "OK", "WATCH", "k");
    expect(client(p.master), "0", "BF.ADD", "k", "anna");
    expect(client(p.master), "0", "BF.MERGE", "k", "k");
    expect(p.m, "OK", "MULTI");
    expect(p.m, "QUEUED", "PING");
    expect(p.m, "[PONG]", "EXEC");
}
