/* SPDX-License-Identifier: BSD-3-Clause */

/* trust_test.c - what the server's settings say against bf-trust, and files that end before
 * their time. */

#include "harness.h"
#include "states.h"

static bool warns(redisContext *c, const char *word) {
    const char *words = info_text(c, "bf", "bf_trust_warnings");
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

static int times_in(const char *log, const char *text) {
    int n = 0;
    while ((log = strstr(log, text))) {
        n++;
        log++;
    }
    return n;
}

static void set(redisContext *c, const char *name, const char *value) {
    expect(c, "OK", "CONFIG", "SET", name, value);
}

/* ---- warnings ---- */

TEST(trust_in_restarts_without_a_file_that_keeps_all_is_warned_of) {
    struct server *s = server_start(.module_args = "bf-trust restart");
    redisContext *c = client(s);
    CHECK(!warns(c, "restart_without_aof")); /* nothing to deny yet */
    make_ready(c, "k");
    WAIT_UNTIL(warns(c, "restart_without_aof"));
    CHECK_INT(times_in(server_log(s), "there is no append-only file"), 1);

    set(c, "appendonly", "yes");
    WAIT_UNTIL(!warns(c, "restart_without_aof") && warns(c, "restart_without_fsync"));
    set(c, "appendfsync", "always");
    set(c, "no-appendfsync-on-rewrite", "yes");
    WAIT_UNTIL(!warns(c, "restart_without_fsync") &&
               warns(c, "restart_without_fsync_on_rewrite"));
    set(c, "no-appendfsync-on-rewrite", "no");
    WAIT_UNTIL(*info_text(c, "bf", "bf_trust_warnings") == '\0');
    set(c, "appendonly", "no");
    WAIT_UNTIL(warns(c, "restart_without_aof"));
    CHECK_INT(times_in(server_log(s), "there is no append-only file"), 1);

    expect(c, "1", "DEL", "k");
    WAIT_UNTIL(*info_text(c, "bf", "bf_trust_warnings") == '\0');
}

/* Where its answer is true. */
TEST(a_writer_that_sends_waitaof_needs_no_fsync_of_every_write) {
    needs(702, "WAITAOF");
    redisContext *c =
        client(server_start(.config = AOF, .module_args = "bf-trust restart"));
    make_ready(c, "k");
    WAIT_UNTIL(warns(c, "restart_without_fsync"));
    call(c, "WAITAOF", "0", "0", "1");
    double until = seconds_now() + 2;
    WAIT_UNTIL(seconds_now() > until || !warns(c, "restart_without_fsync"));
    CHECK(warns(c, "restart_without_fsync") == !server_waits_for_its_disk());
}

TEST(trust_in_failovers_is_warned_of_while_nobody_waits) {
    struct server *s = server_start(.module_args = "bf-trust restart,failover");
    redisContext *c = client(s);
    make_ready(c, "k");
    WAIT_UNTIL(warns(c, "failover_without_wait"));
    CHECK_STR(info_text(c, "bf", "bf_trust_warnings"),
              "restart_without_aof,failover_without_wait");
    CHECK_INT(times_in(server_log(s), "no client sends WAIT"), 1);
    set(c, "min-replicas-to-write", "1");
    WAIT_UNTIL(!warns(c, "failover_without_wait"));
    set(c, "min-replicas-to-write", "0");
    WAIT_UNTIL(warns(c, "failover_without_wait"));
    call(c, "WAIT", "0", "1");
    WAIT_UNTIL(!warns(c, "failover_without_wait"));
}

TEST(without_a_word_there_is_no_warning) {
    needs(700, "settings of modules");
    redisContext *c = client(server_start(.module_args = "bf-trust restart"));
    make_ready(c, "k");
    WAIT_UNTIL(warns(c, "restart_without_aof"));
    set(c, setting("bf-trust"), "");
    WAIT_UNTIL(*info_text(c, "bf", "bf_trust_warnings") == '\0');
}

/* ---- the old file of a replica that was synchronised ---- */

#define DURABLE AOF "appendfsync always\nrepl-backlog-size 16kb\n"
#define TRUST   "bf-trust restart,failover,replica"

/* Its append-only file, or one of them, holds that text. */
static bool file_has(const struct server *s, const char *text) {
    char command[512];
    snprintf(command, sizeof command, "grep -aqr '%s' '%s' --include='*aof*'", text,
             s->directory);
    return system(command) == 0;
}

/* A master with the filter k, and its replica that trusts. */
static struct pair start_pair(const char *config) {
    struct pair p = pair_of(server_start(.config = config),
                            server_start(.config = config, .module_args = TRUST));
    make_ready(p.m, "k");
    follow(p.r, p.master);
    return p;
}

/* The link comes back, but what was missed is more than the backlog holds. */
static void sync_anew(redisContext *m, redisContext *r) {
    cut_link(m, r);
    static char bytes[64 << 10];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 20; i++)
        expectf(m, "OK", "SET filler:%d %b", i, bytes, sizeof bytes);
    mend_link(m, r);
}

/* The file is right from the moment of the sync on, so nothing needs to be in doubt. */
static bool file_is_the_sync(const struct server *s) {
    return strstr(server_log(s), "Reused RDB file") != NULL;
}

/* It starts from its file of before the sync, in which the filter was ready. */
TEST(a_file_from_before_a_full_sync_is_not_trusted_and_warned_of_until_it_is_rewritten) {
    struct pair p = start_pair(DURABLE);
    redisContext *m = p.m, *r = p.r;
    rewrite_aof(r);
    wait_for_belief(r, "k");
    CHECK(!warns(r, "restart_before_rewrite"));

    set(r, "rdb-key-save-delay", "200000"); /* for each of 21 */
    sync_anew(m, r);
    if (file_is_the_sync(p.replica))
        SKIP("%s makes its file of what it was sent", server_name());
    WAIT_UNTIL(warns(r, "restart_before_rewrite"));
    WAIT_UNTIL(strcmp(unknown_by(r, "k"), "restart") == 0);
    WAIT_UNTIL(!warns(r, "restart_before_rewrite"));
    wait_for_belief(r, "k");
}

TEST(a_promoted_replica_that_dies_before_its_file_is_rewritten_denies_nothing_it_took) {
    struct pair p = start_pair(DURABLE);
    redisContext *m = p.m, *r = p.r;
    rewrite_aof(r);
    wait_for_belief(r, "k");

    set(r, "rdb-key-save-delay", "1000000");
    sync_anew(m, r);
    CHECK_INT(info_int(m, "stats", "sync_full"), 2);
    server_kill(p.master);
    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    expect(r, "1", "BF.ADD", "k", "taken");
    expect(r, "OK", "BF.READY", "k");
    if (!file_is_the_sync(p.replica))
        CHECK_STR(unknown_by(r, "k"), "restart"); /* as long as it lasts */

    r = restart_with(p.replica, TRUST);
    const char *said = call_text(r, "BF.CHECK", "k", "taken");
    test_case("%s", said);
    CHECK(strcmp(said, "unknown") == 0 || strcmp(said, "maybe") == 0);
}

/* A rewrite leaves the note out. */
TEST(a_file_that_is_rewritten_without_the_master_ends_adrift_too) {
    static const char *const configs[] = {AOF_BY_COMMAND, AOF_BY_RDB};
    for (int i = 0; i < 2; i++) {
        test_case("%s", configs[i]);
        struct server *master = server_start(.config = AOF);
        struct server *replica = server_start(.config = configs[i], .module_args = TRUST);
        redisContext *m = client(master), *r = client(replica);
        make_ready(m, "k");
        follow(r, master);
        cut_link(m, r);
        rewrite_aof(r);
        r = restart_with(replica, TRUST);
        CHECK_STR(unknown_by(r, "k"), "restore");
    }
}

/* What is vouched for after the start is not of the old file. */
TEST(a_start_from_a_file_that_ends_adrift_is_doubt_of_what_was_in_it_only) {
    struct server *master = server_start(.config = AOF);
    struct server *replica = server_start(.config = AOF, .module_args = TRUST);
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "old");
    make_ready(m, "new");
    follow(r, master);
    cut_link(m, r);
    WAIT_UNTIL(file_has(replica, "BF.ADRIFT"));
    r = restart_with(replica, TRUST);
    CHECK_STR(unknown_by(r, "old"), "restore");
    expect(r, "OK", "BF.READY", "new");
    for (int i = 0; i < 2; i++) {
        r = restart_with(replica, TRUST);
        CHECK_STR(unknown_by(r, "old"), "restore");
        CHECK_STR(said_of(r, "new"), "absent");
    }
}

TEST(a_link_that_comes_back_without_a_full_sync_leaves_no_doubt_in_the_file) {
    struct pair p = start_pair(AOF);
    redisContext *m = p.m, *r = p.r;
    cut_link(m, r);
    mend_link(m, r);
    wait_for_belief(r, "k");
    r = restart_with(p.replica, TRUST);
    CHECK_STR(said_of(r, "k"), "absent");
}

/* What had been noted in the file of before is not in the new one. */
TEST(a_file_that_is_begun_anew_gets_its_own_notes) {
    struct pair p = start_pair(DURABLE);
    redisContext *m = p.m, *r = p.r;
    cut_link(m, r);
    WAIT_UNTIL(file_has(p.replica, "BF.ADRIFT"));
    set(r, "appendonly", "no");
    mend_link(m, r);
    wait_for_belief(r, "k");
    set(r, "appendonly", "yes");
    wait_for_rewrite(r);
    CHECK(!file_has(p.replica, "BF.ADRIFT"));

    set(r, "masterauth", "");
    set(r, "rdb-key-save-delay", "1000000");
    sync_anew(m, r);
    expect(m, "1", "BF.ADD", "k", "bob");
    expect(m, "1", "WAIT", "1", "0");
    bool is_right = file_is_the_sync(p.replica);
    r = restart_with(p.replica, TRUST);
    CHECK_STR(unknown_by(r, "k"), is_right ? "" : "restore");
    CHECK_STR(call_text(r, "BF.CHECK", "k", "bob"), is_right ? "maybe" : "unknown");
}

TEST(a_replica_that_is_promoted_with_its_own_data_has_a_file_that_is_right) {
    struct pair p = start_pair(AOF);
    redisContext *r = p.r;
    wait_for_belief(r, "k");
    server_kill(p.master);
    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    wait_for_belief(r, "k");
    r = restart_with(p.replica, TRUST);
    CHECK_STR(said_of(r, "k"), "absent");
}

TEST(only_a_file_tells_that_it_ends_adrift) {
    redisContext *c = client(server_shared());
    expect(c, "(error) ERR only a master or an append-only file may send this", "BF.ADRIFT",
           "1");
}
