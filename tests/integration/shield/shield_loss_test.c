/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_loss_test.c - filters and adds that get lost: what was added is never called
 * "absent" because of it. Adds that there is no room for are in shield_room_test.c. */

#include "harness.h"
#include "states.h"

#include <unistd.h>

#define LOST "acknowledged, and lost"

static const char *said_of_lost(redisContext *c) {
    return call_text(c, "BF.CHECK", "k", LOST);
}

/* ---- filters that go ---- */

/* The only key with a time to live, so it is the first to go. */
static void evict(redisContext *c) {
    char value[1000];
    memset(value, 'x', sizeof value);
    expect(c, "1", "EXPIRE", "k", "100000");
    expect(c, "OK", "CONFIG", "SET", "maxmemory-policy", "volatile-ttl");
    long long used = info_int(c, "memory", "used_memory");
    char limit[24];
    snprintf(limit, sizeof limit, "%lld", used + 300000);
    expect(c, "OK", "CONFIG", "SET", "maxmemory", limit);
    for (int i = 0; i < 5000 && call_int(c, "EXISTS", "k"); i++)
        callf(c, "SET filler:%d %b", i, value, sizeof value);
    expect(c, "0", "EXISTS", "k");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
}

TEST(an_add_after_an_eviction_denies_nobody) {
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "1", "BF.ADD", "k", LOST);
    evict(c);
    CHECK_STR(said_of_lost(c), "unknown");
    expect(c, "1", "BF.ADD", "k", "bob");
    CHECK_STR(said_of_lost(c), "unknown");
    expect(c, "maybe", "BF.CHECK", "k", "bob");
    expect(c, "nil", "BF.READY", "k", "XX", "EX", "100");
    CHECK_STR(said_of_lost(c), "unknown");
}

TEST(an_add_after_an_eviction_denies_nobody_to_exists) {
    redisContext *c = client(server_start(.module_args = "bf-missing-key maybe"));
    make_ready(c, "k");
    expect(c, "1", "BF.ADD", "k", LOST);
    evict(c);
    expect(c, "1", "BF.EXISTS", "k", LOST);
    expect(c, "1", "BF.ADD", "k", "bob");
    expect(c, "1", "BF.EXISTS", "k", LOST);
    CHECK_STR(said_of_lost(c), "unknown");
}

TEST(a_writer_who_may_not_create_is_told_of_the_loss) {
    redisContext *c = client(server_start());
    make_ready(c, "k");
    evict(c);
    expect(c, NOT_FOUND, "BF.INSERT", "k", "NOCREATE", "ITEMS", "bob");
    expect(c, "0", "EXISTS", "k");
}

static long long losses(redisContext *c) {
    return counted(c, "ready_evicted") + counted(c, "ready_expired") +
           counted(c, "ready_deleted") + counted(c, "ready_flushed");
}

/* Where a module isn't told what has expired, it was deleted. */
static void expect_losses(redisContext *c, long long evicted, long long expired,
                          long long deleted, long long flushed) {
    if (!server_tells_of_expiry()) {
        deleted += expired;
        expired = 0;
    }
    WAIT_UNTIL(losses(c) == evicted + expired + deleted + flushed);
    CHECK_INT(counted(c, "ready_evicted"), evicted);
    CHECK_INT(counted(c, "ready_expired"), expired);
    CHECK_INT(counted(c, "ready_deleted"), deleted);
    CHECK_INT(counted(c, "ready_flushed"), flushed);
}

/* A count that comes late is there with one of a filter that is freed after it. */
static void expect_no_losses(redisContext *c) {
    make_ready(c, "marker");
    expect(c, "1", "DEL", "marker");
    expect_losses(c, 0, 0, 1, 0);
}

TEST(info_tells_how_ready_filters_were_lost) {
    needs(602, "unlinking");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    evict(c);
    expect_losses(c, 1, 0, 0, 0);

    make_ready(c, "k");
    expect(c, "1", "PEXPIRE", "k", "10");
    WAIT_UNTIL(call_int(c, "EXISTS", "k") == 0);
    expect_losses(c, 1, 1, 0, 0);

    make_ready(c, "k");
    expect(c, "1", "DEL", "k");
    expect_losses(c, 1, 1, 1, 0);
    make_ready(c, "k");
    expect(c, "1", "UNLINK", "k");
    expect_losses(c, 1, 1, 2, 0);
    make_ready(c, "k");
    expect(c, "OK", "SET", "k", "x");
    expect_losses(c, 1, 1, 3, 0);

    expect(c, "OK", "FLUSHALL");
    make_ready(c, "a");
    make_ready(c, "b");
    expect(c, "OK", "FLUSHALL");
    expect_losses(c, 1, 1, 3, 2);
    make_ready(c, "k");
    expect(c, "OK", "FLUSHDB", "ASYNC");
    expect_losses(c, 1, 1, 3, 3);
}

static void expect_told(struct server *s, const char *words) {
    test_case("%s", words);
    WAIT_UNTIL(strstr(server_log(s), words) != NULL);
}

/* Another thread is busy with a set of a million members before it comes to the filter. */
TEST(an_expired_filter_that_is_freed_later_is_counted_then_and_once) {
    needs(602, "unlinking");
    if (!server_tells_of_expiry()) SKIP("what expires was deleted here");
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "other");
    expect(c, "OK", "CONFIG", "SET", "lazyfree-lazy-expire", "yes");
    expect(c, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0");
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "10000000", "READY");
    expect(c, "nil", "EVAL",
           "for i = 1, 1000 do local t = {} for j = 1, 1000 do t[j] = i .. ':' .. j end "
           "redis.call('SADD', KEYS[1], unpack(t)) end",
           "1", "set");
    expect(c, "1", "PEXPIRE", "k", "1");
    usleep(10000);
    post(c, "UNLINK", "set");
    post(c, "EXISTS", "k");
    post(c, "SELECT", "5");
    post(c, "FLUSHDB", "ASYNC");
    post(c, "SELECT", "0");
    const char *replies[] = {"1", "0", "OK", "OK", "OK"};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++)
        expect_next(c, replies[i]);
    expect(c, "1", "DEL", "other");
    CHECK(info_int(c, "memory", "lazyfree_pending_objects") > 0);
    CHECK_INT(counted(c, "ready_deleted"), 1);
    CHECK_INT(losses(c), 1);
    expect_losses(c, 0, 1, 1, 0);
}

/* Gives k a text that expires before the server has come round to its timers since the
 * command that was posted, with its reply. */
static void expire_at_once(redisContext *c, const char *reply) {
    post(c, "SET", "k", "x", "PX", "1");
    post(c, "DEBUG", "SLEEP", "0.01");
    post(c, "GET", "k");
    expect_next(c, reply);
    expect_next(c, "OK");
    expect_next(c, "OK");
    expect_next(c, "nil");
}

/* Only the filter was one, whatever INFO and the log call it. */
TEST(what_expires_under_the_name_of_a_deleted_filter_is_no_second_loss) {
    needs(602, "unlinking");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "1", "DEL", "k");
    expect(c, "OK", "SET", "k", "x", "PX", "10");
    WAIT_UNTIL(call_int(c, "EXISTS", "k") == 0);
    expect_losses(c, 0, 0, 1, 0);

    make_ready(c, "k");
    make_ready(c, "other");
    post(c, "DEL", "k");
    expire_at_once(c, "1");
    expect(c, "1", "DEL", "other");
    WAIT_UNTIL(losses(c) >= 3);
    expect(c, "PONG", "PING"); /* The timers have been there since. */
    CHECK_INT(losses(c), 3);
}

TEST(a_filter_that_was_renamed_is_not_lost_with_its_old_name) {
    needs(602, "unlinking");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    post(c, "RENAME", "k", "renamed");
    expire_at_once(c, "OK");
    expect_no_losses(c);
    expect(c, "1", "DEL", "renamed");
    expect_losses(c, 0, 0, 2, 0);
}

/* Some versions of Valkey move a client to the database of a key whose event a module
 * hears: here that of the second x, which has expired. */
TEST(a_client_stays_in_its_database) {
    needs(602, "COPY");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "1", "DEL", "k");
    expect(c, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0");
    expect(c, "OK", "SET", "x", "1");
    expect(c, "OK", "SELECT", "1");
    expect(c, "OK", "SET", "x", "2", "PX", "1");
    expect(c, "OK", "SELECT", "0");
    usleep(10000);
    expect(c, "1", "COPY", "x", "x", "DB", "1");
    expect(c, "1", "MOVE", "x", "2");
    CHECK(strstr(call_text(c, "CLIENT", "INFO"), " db=0 ") != NULL);
}

TEST(the_log_names_a_ready_filter_that_is_lost) {
    needs(602, "unlinking");
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    evict(c);
    expect_told(s, "The ready filter k was evicted: ");

    make_ready(c, "short-lived");
    expect(c, "1", "PEXPIRE", "short-lived", "10");
    WAIT_UNTIL(call_int(c, "EXISTS", "short-lived") == 0);
    expect_told(s, server_tells_of_expiry() ? "The ready filter short-lived has expired: "
                                            : "The ready filter short-lived was deleted: ");

    make_ready(c, "before");
    callf(c, "RENAME before %b", "af\0ter", (size_t)6);
    callf(c, "DEL %b", "af\0ter", (size_t)6);
    expect_told(s, "The ready filter af?ter was deleted: ");

    expect(c, "OK", "BF.RESERVE", "at birth", "0.01", "100", "READY");
    expect(c, "OK", "FLUSHALL");
    expect_told(s, "The ready filter at birth was flushed: ");
}

/* Flushed in the background, too, and where the filter came from a file. */
TEST(the_log_names_one_of_many_that_are_lost) {
    needs(602, "unlinking");
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "SAVE");
    c = restart_with(s, NULL);
    expect(c, "OK", "FLUSHDB", "ASYNC");
    expect_told(s, "The ready filter k was flushed: ");

    for (int i = 0; i < 50; i++) {
        char key[24];
        snprintf(key, sizeof key, "many %d", i);
        make_ready(c, key);
    }
    expect(c, "OK", "FLUSHALL");
    expect_told(s, " ready filters are lost (0 evicted, 0 expired, 0 deleted, ");
    expect_told(s, " flushed), many ");
}

TEST(the_log_tells_of_no_loss_that_is_none) {
    needs(602, "unlinking");
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "DEBUG", "RELOAD");
    expect(c, "OK", "RENAME", "k", "renamed");
    expect(c, "1", "BF.ADD", "plain", "anna");
    expect(c, "1", "DEL", "plain");
    make_ready(c, "last");
    expect(c, "1", "DEL", "last");
    expect_told(s, "The ready filter last was deleted");
    CHECK(strstr(server_log(s), "flushed") == NULL);
    CHECK(strstr(server_log(s), "lost") == NULL);

    size_t before = strlen(server_log(s));
    c = restart_with(s, NULL);
    expect_losses(c, 0, 0, 0, 0);
    make_ready(c, "marker");
    expect(c, "1", "DEL", "marker");
    expect_told(s, "The ready filter marker was deleted");
    CHECK(strstr(server_log(s) + before, "The ready filter last") == NULL);
}

TEST(what_is_not_lost_is_not_counted) {
    needs(602, "unlinking");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "OK", "RENAME", "k", "renamed");
    expect(c, "1", "MOVE", "renamed", "1");
    expect(c, "1", "BF.ADD", "plain", "anna");
    expect(c, "1", "DEL", "plain");
    expect(c, "1", "BF.ADD", "loading", "anna");
    expect(c, "OK", "BF.LOADING", "loading");
    expect(c, "OK", "FLUSHDB");
    expect_no_losses(c);
}

/* A rename is an unlink too: the server says so. */
TEST(a_flush_of_what_was_renamed_is_a_flush) {
    needs(602, "unlinking");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "OK", "RENAME", "k", "renamed");
    expect(c, "OK", "FLUSHALL");
    expect_losses(c, 0, 0, 0, 1);
    make_ready(c, "k");
    expect(c, "OK", "RENAME", "k", "renamed");
    expect(c, "1", "DEL", "renamed");
    expect_losses(c, 0, 0, 1, 1);
}

/* Which is what an operator would be woken for. */
static void sync_fully(const char *config) {
    struct server *one = server_start(), *other = server_start();
    struct server *s = server_start(.config = config);
    redisContext *c = client(s), *o = client(one);
    test_case("%s", config);
    make_ready(o, "k");
    make_ready(client(other), "k");
    follow(c, one);
    expect(o, "OK", "RENAME", "k", "renamed");
    wait_for_replica(o, c);
    follow(c, other);
    WAIT_UNTIL(counted(c, "filters_ready") == 1); /* Another thread may free the first. */
    expect(c, "OK", "REPLICAOF", "NO", "ONE");
    expect_no_losses(c);
}

TEST(a_full_sync_is_no_flush) {
    needs(602, "unlinking");
    sync_fully("repl-diskless-load disabled");
    sync_fully("repl-diskless-load swapdb");
}

/* It saves, flushes and loads; the flushes before it are none of its own. */
TEST(a_reload_is_no_flush) {
    needs(602, "unlinking");
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "OK", "RENAME", "k", "renamed");
    expect(c, "OK", "DEBUG", "RELOAD");
    expect(c, "1", "EXISTS", "renamed");
    expect_no_losses(c);

    post(c, "FLUSHALL");
    post(c, "DEBUG", "RELOAD");
    expect_next(c, "OK");
    expect_next(c, "OK");
    expect_losses(c, 0, 0, 1, 1);
    make_ready(c, "k");
    expect(c, "OK", "FLUSHALL");
    expect_losses(c, 0, 0, 1, 2); /* some servers free in the background */
    expect(c, "OK", "DEBUG", "RELOAD", "NOFLUSH");
    expect_losses(c, 0, 0, 1, 2);
    make_ready(c, "k");
    post(c, "FLUSHALL", "ASYNC");
    post(c, "DEBUG", "RELOAD");
    expect_next(c, "OK");
    expect_next(c, "OK");
    expect_losses(c, 0, 0, 1, 3);
}

/* ---- adds that get lost ---- */

TEST(a_restart_from_an_older_file_denies_nobody) {
    struct server *s = server_start(.config = "save ''");
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "SAVE");
    expect(c, "1", "BF.ADD", "k", LOST);
    c = restart_with(s, NULL);
    CHECK_STR(said_of_lost(c), "unknown");
    expect(c, "1", "BF.EXISTS", "k", LOST);
    expect(c, "nil", "BF.READY", "k", "XX", "EX", "100");
    expect(c, "maybe", "BF.CHECK", "k", "anna");

    expect(c, "1", "BF.ADD", "k", LOST);
    expect(c, "OK", "BF.READY", "k");
    CHECK_STR(said_of(c, "k"), "absent");
}

TEST(a_promoted_replica_with_a_blocked_link_denies_nobody) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_beat(r, "k");
    cut_link(m, r);
    expect(m, "1", "BF.ADD", "k", LOST);
    server_kill(master);
    CHECK_STR(said_of_lost(r), "unknown");
    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_STR(said_of_lost(r), "unknown");
    expect(r, "1", "BF.EXISTS", "k", LOST);
    expect(r, "nil", "BF.READY", "k", "XX", "EX", "100");
    CHECK_INT(counted(r, "unknown_failover"), 1);
}

/* It has no link, and so it may lack what its own file lacks. */
TEST(a_replica_promoted_without_a_link_since_its_restart_counts_as_restarted) {
    struct server *master = server_start();
    struct server *replica = server_start(.config = "save ''");
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    expect(r, "OK", "SAVE");
    expect(m, "1", "BF.ADD", "k", LOST);
    wait_for_replica(m, r);
    server_kill(master);

    char config[64];
    snprintf(config, sizeof config, "save ''\nreplicaof 127.0.0.1 %d\n", master->port);
    replica->options.config = config;
    r = restart_with(replica, "bf-trust failover,replica,restore");
    CHECK_STR(said_of_lost(r), "unknown");
    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_STR(said_of_lost(r), "unknown");
    CHECK_INT(counted(r, "unknown_restart"), 1);
    replica->options.config = NULL;
}

TEST(a_replica_denies_nobody) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    CHECK_STR(said_of(r, "k"), "unknown");
    expect(r, "1", "BF.EXISTS", "k", "never added");
    expect(r, "maybe", "BF.CHECK", "k", "anna");
}

/* The question is in its socket before the add is. */
TEST(a_lagging_replica_denies_nobody) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    for (int i = 0; i < 20; i++) {
        char item[24];
        snprintf(item, sizeof item, "late:%d", i);
        server_pause(replica);
        post(r, "BF.CHECK", "k", item);
        post(r, "BF.EXISTS", "k", item);
        CHECK(redisBufferWrite(r, NULL) == REDIS_OK);
        expect(m, "1", "BF.ADD", "k", item);
        server_resume(replica);

        redisReply *reply = NULL;
        CHECK(redisGetReply(r, (void **)&reply) == REDIS_OK);
        bool absent = strcmp(reply->str, "absent") == 0;
        freeReplyObject(reply);
        CHECK(!absent);
        expect_next(r, "1");
    }
}

/* What the operator answers for is what has been applied there. */
TEST(with_trust_in_replicas_what_was_applied_is_not_denied) {
    struct server *master = server_start();
    struct server *replica = server_start(.module_args = "bf-trust replica");
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_belief(r, "k");
    for (int i = 0; i < 50; i++) {
        char item[24];
        snprintf(item, sizeof item, "late:%d", i);
        expect(m, "1", "BF.ADD", "k", item);
        expect(m, "1", "WAIT", "1", "10000");
        expect(r, "maybe", "BF.CHECK", "k", item);
    }
}

TEST(a_replica_without_its_master_denies_nobody_whatever_is_trusted) {
    struct server *master = server_start();
    struct server *replica = server_start(.module_args = TRUST_ALL);
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_belief(r, "k");
    cut_link(m, r);
    long long before = counted(r, "unknown_link_down");
    CHECK_STR(said_of(r, "k"), "unknown");
    expect(r, "1", "BF.EXISTS", "k", "never added");
    CHECK_INT(counted(r, "unknown_link_down"), before + 1);

    mend_link(m, r);
    wait_for_belief(r, "k");
}

TEST(a_master_that_hangs_is_noticed_by_its_replica) {
    struct server *master = server_start();
    struct server *replica =
        server_start(.config = "repl-timeout 2", .module_args = TRUST_ALL);
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_belief(r, "k");
    server_pause(master);
    WAIT_UNTIL(strcmp(said_of(r, "k"), "unknown") == 0);
    server_resume(master);
    WAIT_UNTIL(strcmp(said_of(r, "k"), "absent") == 0);
}

/* It knows nothing of its successor, but its lease ends. */
TEST(an_isolated_old_master_denies_nobody_when_its_lease_has_ended) {
    struct server *old = server_start(), *promoted = server_start();
    redisContext *o = client(old), *p = client(promoted);
    expect(o, "1", "BF.ADD", "k", "anna");
    expect(o, "OK", "BF.READY", "k", "EX", "2");
    follow(p, old);
    cut_link(o, p);
    expect(p, "OK", "REPLICAOF", "NO", "ONE");
    expect(p, "1", "BF.ADD", "k", LOST);
    expect(p, "OK", "BF.READY", "k", "EX", "3600");

    WAIT_UNTIL(strcmp(said_of_lost(o), "unknown") == 0);
    expect(o, "1", "BF.EXISTS", "k", LOST);
    expect(o, "nil", "BF.READY", "k", "XX", "EX", "100");
    CHECK_STR(said_of_lost(p), "maybe");
    CHECK_STR(said_of(p, "k"), "absent");
}

/* A replica of the promoted one hears of the promotion; the old doubt is not forgotten. */
TEST(a_replica_of_the_promoted_node_is_in_doubt_too) {
    struct server *master = server_start(), *middle = server_start();
    struct server *last =
        server_start(.module_args = "bf-trust replica,restart,restore bf-max-lag 60");
    redisContext *m = client(master), *c = client(middle), *l = client(last);
    make_ready(m, "k");
    follow(c, master);
    follow(l, middle);
    wait_for_belief(l, "k");
    server_kill(master);
    expect(c, "OK", "REPLICAOF", "NO", "ONE");
    wait_for_replica(c, l);
    WAIT_UNTIL(strcmp(said_of(l, "k"), "unknown") == 0);
    expect(c, "OK", "BF.READY", "k");
    wait_for_belief(l, "k");
}

TEST(only_a_master_tells_of_a_promotion) {
    redisContext *c = client(server_shared());
    make_ready(c, "k");
    expect(c, "(error) ERR only a master or an append-only file may send this",
           "BF.PROMOTED");
    expect(c, WRONG_ARITY("bf.promoted"), "bf.promoted", "x");
    CHECK_STR(said_of(c, "k"), "absent");
}
