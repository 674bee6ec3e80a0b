/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_forms_test.c - filters in every state, in every form in which a filter is kept or
 * sent: what may be denied afterwards, and that no doubt is lost on the way. */

#include "harness.h"
#include "states.h"

enum kept {
    NEVER,     /* denied: nobody has vouched */
    IF_TRUSTED /* denied: somebody has */
};

static const struct {
    const char *key;
    enum kept kept;
} filters[] = {
    {"plain", NEVER},         {"loading", NEVER},        {"first fill", NEVER},
    {"ready", IF_TRUSTED},    {"leased", IF_TRUSTED},    {"redisbloom", IF_TRUSTED},
    {"rebuilt", IF_TRUSTED},  {"restarted", IF_TRUSTED}, {"failed over", IF_TRUSTED},
    {"restored", IF_TRUSTED}, {"run out", NEVER},
};

enum { FILTERS = sizeof filters / sizeof *filters };

/* Those that are in doubt, and whether the server is told to trust in it. */
static bool is_doubted(const char *key) {
    return !strcmp(key, "restarted") || !strcmp(key, "failed over") ||
           !strcmp(key, "restored");
}

static void make_restored(redisContext *c, const char *from, const char *to) {
    const redisReply *dump = call(c, "DUMP", from);
    expectf(c, "OK", "RESTORE %s 0 %b", to, dump->str, dump->len);
}

/* Promotes the server, so that "failed over" and "restarted" are in doubt there, and then
 * makes the others. */
static redisContext *fill(struct server *s) {
    struct server *former = server_start();
    redisContext *f = client(former), *c = client(s);
    make_ready(f, "restarted");
    expect(f, "OK", "SAVE");
    f = restart_with(former, NULL);
    make_ready(f, "failed over");
    follow(c, former);
    wait_for_beat(c, "failed over");
    server_kill(former);
    expect(c, "OK", "REPLICAOF", "NO", "ONE");

    expect(c, "1", "BF.ADD", "plain", "anna");
    expect(c, "1", "BF.ADD", "loading", "anna");
    expect(c, "OK", "BF.LOADING", "loading");
    start_rebuild(c, "first fill");
    expect(c, "1", "BF.ADD", "first fill", "anna");
    make_ready(c, "ready");
    make_ready(c, "leased");
    expect(c, "OK", "BF.READY", "leased", "EX", "3600");
    make_ready(c, "run out");
    expect(c, "OK", "BF.READY", "run out", "PXAT", "1");
    expect(c, "OK", "BF.RESERVE", "redisbloom", "0.01", "50", "KIND", "redisbloom");
    make_ready(c, "redisbloom");
    make_ready(c, "rebuilt");
    load_numbers(c, "rebuilt", start_rebuild(c, "rebuilt"), 0, 500);
    make_restored(c, "ready", "restored");
    return c;
}

/* What a server that trusts, or doesn't, says of each of them. */
static void expect_denials(redisContext *c, bool trusting) {
    if (trusting) wait_for_belief(c, "ready");
    for (int i = 0; i < FILTERS; i++) {
        const char *key = filters[i].key;
        bool denies = trusting && filters[i].kept == IF_TRUSTED;
        test_case("%s, %s", key, trusting ? "trusting" : "not trusting");
        CHECK_STR(said_of(c, key), denies ? "absent" : "unknown");
        expect(c, "maybe", "BF.CHECK", key, "anna");
        bool exists_denies = denies || strcmp(key, "plain") == 0;
        expect(c, exists_denies ? "#f" : "#t", "BF.EXISTS", key, "never added");
    }
}

/* Nothing has happened to them but what made them. */
TEST(doubt_is_of_the_filters_that_went_through_it) {
    redisContext *c = fill(server_start());
    for (int i = 0; i < FILTERS; i++) {
        const char *key = filters[i].key;
        bool denies = filters[i].kept == IF_TRUSTED && !is_doubted(key);
        test_case("%s", key);
        CHECK_STR(said_of(c, key), denies ? "absent" : "unknown");
    }
    CHECK_INT(counted(c, "unknown_restart"), 1);
    CHECK_INT(counted(c, "unknown_failover"), 1);
    CHECK_INT(counted(c, "unknown_restore"), 1);
    CHECK_INT(counted(c, "unknown_lease"), 1);
}

TEST(a_server_that_trusts_denies_at_once) {
    expect_denials(fill(server_start(.module_args = TRUST_ALL)), true);
}

/* ---- files ---- */

static void survives_restarts(const char *config, void (*write)(redisContext *c)) {
    struct server *s = server_start(.config = config);
    redisContext *c = fill(s);
    if (write) write(c);
    const char *digest = call_text(c, "DEBUG", "DIGEST");
    for (int i = 0; i < 3; i++) {
        c = restart_with(s, i == 1 ? TRUST_ALL : NULL);
        CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
        expect_denials(c, i == 1);
    }
}

TEST(states_survive_an_rdb_file) {
    survives_restarts("save ''", save);
}

TEST(states_survive_an_aof) {
    survives_restarts(AOF_BY_COMMAND, NULL);
}

TEST(states_survive_a_rewritten_aof) {
    survives_restarts(AOF_BY_COMMAND, rewrite_aof);
}

TEST(states_survive_an_aof_with_preamble) {
    survives_restarts(AOF_BY_RDB, rewrite_aof);
}

/* Of which the AOF has commands on top of an RDB file. */
TEST(states_survive_an_aof_begun_with_preamble) {
    survives_restarts(AOF_BY_RDB, NULL);
}

/* Under the trust in everything else, the doubt that each of the three has is doubt still:
 * it has not become another one. */
static void keeps_its_doubts(const char *config, void (*write)(redisContext *c)) {
    static const struct {
        const char *key, *trust;
    } doubts[] = {
        {"restarted", "bf-trust failover,replica,restore"},
        {"failed over", "bf-trust restart,replica,restore"},
        {"restored", "bf-trust restart,failover,replica"},
    };
    struct server *s = server_start(.config = config);
    redisContext *c = fill(s);
    if (write) write(c);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            test_case("%s, %s, round %d", doubts[i].key, doubts[i].trust, round);
            c = restart_with(s, doubts[i].trust);
            CHECK_STR(said_of(c, doubts[i].key), "unknown");
            CHECK_STR(said_of(c, "ready"), i == 0 ? "unknown" : "absent");
        }
        if (write) write(c);
    }
}

TEST(no_doubt_is_lost_in_an_rdb_file) {
    keeps_its_doubts("save ''", save);
}

TEST(no_doubt_is_lost_in_an_aof) {
    keeps_its_doubts(AOF_BY_COMMAND, NULL);
}

TEST(no_doubt_is_lost_in_a_rewritten_aof) {
    keeps_its_doubts(AOF_BY_COMMAND, rewrite_aof);
}

TEST(no_doubt_is_lost_in_an_aof_with_preamble) {
    keeps_its_doubts(AOF_BY_RDB, rewrite_aof);
}

TEST(no_doubt_is_lost_in_an_aof_begun_with_preamble) {
    keeps_its_doubts(AOF_BY_RDB, NULL);
}

/* In the AOF that is a BF.PROMOTED among the commands. */
TEST(a_promotion_is_doubt_after_a_restart_too) {
    struct server *s = server_start(.config = AOF_BY_COMMAND, .module_args = "bf-trust "
                                                                             "restart");
    struct server *master = server_start();
    redisContext *m = client(master), *c = client(s);
    make_ready(m, "before");
    follow(c, master);
    make_ready(m, "while following");
    wait_for_replica(m, c);
    server_kill(master);
    expect(c, "OK", "REPLICAOF", "NO", "ONE");
    make_ready(c, "after");
    static const char *const keys[] = {"before", "while following"};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            test_case("%s, restarted %d times", keys[k], i);
            CHECK_STR(said_of(c, keys[k]), "unknown");
        }
        wait_for_belief(c, "after");
        c = restart_with(s, "bf-trust restart");
    }
}

/* ---- full and partial sync ---- */

/* The replica trusts in its master, and in nothing else. */
TEST(a_full_sync_brings_states_and_doubts) {
    struct server *master = server_start();
    struct server *replica = server_start(.module_args = "bf-trust replica");
    struct server *trusting = server_start(.module_args = TRUST_ALL);
    struct server *wary = server_start();
    redisContext *m = fill(master);
    redisContext *r = client(replica), *t = client(trusting), *w = client(wary);
    follow(r, master);
    follow(t, master);
    follow(w, master);
    check_digests(m, r);
    wait_for_belief(r, "ready");
    for (int i = 0; i < FILTERS; i++) {
        const char *key = filters[i].key;
        test_case("%s", key);
        CHECK_STR(said_of(r, key), said_of(m, key));
    }
    wait_for_belief(t, "ready");
    expect_denials(t, true);
    expect_denials(w, false);
}

TEST(a_partial_sync_brings_what_was_vouched_for) {
    struct pair p =
        pair_linked(server_start(), server_start(.module_args = "bf-trust replica"));
    redisContext *m = p.m, *r = p.r;
    call(m, "CLIENT", "KILL", "TYPE", "replica");
    make_ready(m, "ready");
    make_ready(m, "leased");
    expect(m, "OK", "BF.READY", "leased", "EX", "3600");
    make_ready(m, "loading");
    expect(m, "OK", "BF.LOADING", "loading");
    expect(m, "1", "BF.ADD", "plain", "anna");
    make_restored(m, "ready", "restored");
    wait_for_replica(m, r);
    CHECK_INT(info_int(m, "stats", "sync_full"), 1);
    check_digests(m, r);

    wait_for_belief(r, "ready");
    static const char *const keys[] = {"ready", "leased", "loading", "plain", "restored"};
    for (int i = 0; i < 5; i++) {
        test_case("%s", keys[i]);
        CHECK_STR(said_of(r, keys[i]), said_of(m, keys[i]));
    }
}

/* Nor in the file that the replica writes. */
TEST(a_full_sync_does_not_launder_doubt) {
    static const char *const configs[] = {AOF_BY_COMMAND, AOF_BY_RDB};
    for (int i = 0; i < 2; i++) {
        test_case("%s", configs[i]);
        struct server *master = server_start();
        struct server *s = server_start(.config = configs[i]);
        redisContext *m = fill(master), *c = client(s);
        follow(c, master);
        server_kill(master);
        expect(c, "OK", "REPLICAOF", "NO", "ONE");
        expect_denials(c, false);
        c = restart_with(s, "bf-trust failover,replica,restore");
        CHECK_STR(said_of(c, "restarted"), "unknown");
        c = restart_with(s, "bf-trust restart,failover,replica");
        CHECK_STR(said_of(c, "restored"), "unknown");
        c = restart_with(s, "bf-trust restart,replica,restore");
        CHECK_STR(said_of(c, "failed over"), "unknown");
        (void)m;
    }
}

/* ---- DUMP, COPY, RENAME ---- */

static void restore_all(redisContext *c) {
    for (int i = 0; i < FILTERS; i++) {
        const redisReply *dump = call(c, "DUMP", filters[i].key);
        expectf(c, "OK", "RESTORE %s 0 %b REPLACE", filters[i].key, dump->str, dump->len);
    }
}

TEST(what_is_restored_is_in_doubt) {
    redisContext *c = fill(server_start());
    restore_all(c);
    expect_denials(c, false);
    c = fill(server_start(.module_args = TRUST_ALL));
    restore_all(c);
    expect_denials(c, true);
}

TEST(what_is_restored_keeps_the_doubt_it_had) {
    redisContext *c = fill(server_start(.module_args = "bf-trust restore"));
    CHECK_STR(said_of(c, "restored"), "absent");
    restore_all(c);
    CHECK_STR(said_of(c, "ready"), "absent");
    CHECK_STR(said_of(c, "restarted"), "unknown");
    CHECK_STR(said_of(c, "failed over"), "unknown");
}

/* Where it looks like a part of the file. */
TEST(a_restore_that_is_replayed_is_in_doubt) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    make_ready(c, "ready");
    make_restored(c, "ready", "restored");
    c = restart_with(s, "bf-trust restart,failover,replica");
    CHECK_STR(said_of(c, "restored"), "unknown");
    CHECK_STR(said_of(c, "ready"), "absent");
}

/* A replica gets the RESTORE too. */
TEST(a_restore_is_in_doubt_on_replicas_too) {
    struct pair p = pair_linked(server_start(),
                                server_start(.module_args = "bf-trust replica,restart"));
    redisContext *m = p.m, *r = p.r;
    make_ready(m, "ready");
    make_restored(m, "ready", "restored");
    wait_for_belief(r, "ready");
    CHECK_STR(said_of(r, "restored"), "unknown");
    expect(m, "OK", "BF.READY", "restored");
    wait_for_replica(m, r);
    CHECK_STR(said_of(r, "restored"), "absent");
    check_digests(m, r);
}

TEST(a_copy_is_plain_whatever_it_is_a_copy_of) {
    needs(602, "COPY");
    redisContext *c = fill(server_start(.module_args = TRUST_ALL));
    for (int i = 0; i < FILTERS; i++) {
        test_case("%s", filters[i].key);
        expect(c, "1", "COPY", filters[i].key, "copied", "REPLACE");
        CHECK_STR(said_of(c, "copied"), "unknown");
        expect(c, "0", "BF.EXISTS", "copied", "never added");
        expect(c, "maybe", "BF.CHECK", "copied", "anna");
    }
}

TEST(a_rename_keeps_state_and_doubt) {
    redisContext *c = fill(server_start());
    for (int i = 0; i < FILTERS; i++) {
        test_case("%s", filters[i].key);
        const char *said = said_of(c, filters[i].key);
        expect(c, "OK", "RENAME", filters[i].key, "renamed");
        CHECK_STR(said_of(c, "renamed"), said);
        expect(c, "maybe", "BF.CHECK", "renamed", "anna");
    }
}

TEST(swapped_databases_keep_state_and_doubt) {
    redisContext *c = fill(server_start());
    const char *ready = said_of(c, "ready"), *restored = said_of(c, "restored");
    expect(c, "OK", "SWAPDB", "0", "1");
    CHECK_STR(said_of(c, "ready"), "unknown");
    expect(c, "OK", "SELECT", "1");
    CHECK_STR(said_of(c, "ready"), ready);
    CHECK_STR(said_of(c, "restored"), restored);
}

/* ---- the end of doubt ---- */

TEST(vouching_ends_every_doubt) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = fill(s);
    for (int i = 0; i < FILTERS; i++) {
        test_case("%s", filters[i].key);
        expect(c, "OK", "BF.READY", filters[i].key);
        CHECK_STR(said_of(c, filters[i].key), "absent");
    }
    c = restart_with(s, "bf-trust restart");
    for (int i = 0; i < FILTERS; i++) {
        test_case("%s, restarted", filters[i].key);
        CHECK_STR(said_of(c, filters[i].key), "absent");
    }
}
