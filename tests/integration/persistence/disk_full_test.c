/* SPDX-License-Identifier: BSD-3-Clause */

/* disk_full_test.c - a disk without room for a save, for what is appended, for a rewrite
 * and for a full sync: what was acknowledged as durable is denied nowhere, and when there
 * is room again everything goes on. */

#include "harness.h"
#include "states.h"

#define TRUST "bf-trust restart,failover,replica"
#define ROOM  (256 << 10)

#define NOT_COMPRESSED "rdbcompression no\n"
#define SMALL_BACKLOG  "repl-backlog-size 64kb\n"

static struct server *start(const char *config, const char *module_args) {
    return server_start(.preload = "disk", .config = config, .module_args = module_args);
}

/* A filter that takes more than ROOM where it isn't compressed. */
static void make_large(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "large", "0.01", "1000000");
    add_numbers(c, "large", 0, 2000);
}

/* ---- saves ---- */

TEST(a_save_without_room_leaves_the_older_file_whose_filters_are_doubted) {
    struct server *s = start(NOT_COMPRESSED, NULL);
    redisContext *c = client(s);
    make_ready(c, "k");
    save(c);
    make_large(c);
    expect(c, "1", "BF.ADD", "k", "added since");
    disk_fill(s, ROOM);

    expect(c, "(error) ERR", "SAVE");
    call(c, "BGSAVE");
    WAIT_UNTIL(info_int(c, "persistence", "rdb_bgsave_in_progress") == 0);
    CHECK_STR(info_text(c, "persistence", "rdb_last_bgsave_status"), "err");
    expect(c, "[absent, maybe]", "BF.MCHECK", "k", "bob", "added since");

    c = restart_with(s, NULL);
    expect(c, "0", "EXISTS", "large");
    expect(c, "[maybe, unknown]", "BF.MCHECK", "k", "anna", "added since");
    CHECK_STR(unknown_by(c, "k"), "restart");
}

TEST(a_rebuild_goes_on_over_a_save_without_room) {
    struct server *s = start(NOT_COMPRESSED, NULL);
    redisContext *c = client(s);
    make_large(c);
    const char *token = start_rebuild(c, "large");
    load_numbers(c, "large", token, 0, 1000);
    disk_fill(s, ROOM);
    expect(c, "(error) ERR", "SAVE");
    load_numbers(c, "large", token, 1000, 2000);
    disk_make_room(s);
    save(c);

    c = restart_with(s, TRUST_ALL);
    expect(c, "OK", "BF.REBUILD", "large", "COMMIT", token, "2000");
    CHECK_INT(count_missing(c, "large", 0, 2000), 0);
}

/* ---- what is appended ---- */

/* Adds numbers from there on until one is refused, or the server is gone. Returns it. */
static long add_until_refused(redisContext *c, long from) {
    for (;; from++) {
        redisReply *r = redisCommand(c, "BF.ADD k %ld", from);
        bool refused = !r || r->type == REDIS_REPLY_ERROR;
        if (r) freeReplyObject(r);
        if (refused) return from;
    }
}

/* A ready filter without bits to write: nearly all of the file is adds. */
static redisContext *make_appended(const struct server *s) {
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.0001", "100000", "READY");
    return c;
}

TEST(without_room_to_append_adds_are_refused_until_there_is_some) {
    struct server *s = start("appendonly yes\nappendfsync everysec", TRUST);
    redisContext *c = make_appended(s);
    disk_fill(s, ROOM);
    long refused = add_until_refused(c, 0);
    expect_like(c, "(error) MISCONF *", "BF.ADD", "k", "anna");
    expect_like(c, "(error) MISCONF *", "BF.READY", "k");
    expect(c, "maybe", "BF.CHECK", "k", "0");
    if (server_speaks(702) && server_waits_for_its_disk())
        expect(c, "[0, 0]", "WAITAOF", "1", "0", "500");

    disk_make_room(s);
    WAIT_UNTIL(call(c, "BF.ADD", "k", "anna")->type == REDIS_REPLY_INTEGER);
    c = restart_with(s, TRUST);
    CHECK_INT(count_missing(c, "k", 0, refused), 0);
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
}

/* By its design the server ends. */
TEST(an_add_that_is_fsynced_always_is_not_acknowledged_without_room) {
    struct server *s = start("appendonly yes\nappendfsync always", TRUST);
    redisContext *c = make_appended(s);
    disk_fill(s, ROOM);
    long acknowledged = add_until_refused(c, 0);
    server_wait_for_end(s);

    server_start_again(s);
    c = client(s);
    CHECK_INT(count_missing(c, "k", 0, acknowledged), 0);
    expect(c, "absent", "BF.CHECK", "k", "bob");
    CHECK(acknowledged > 1000);
}

/* ---- rewrites ---- */

static void rewrite_in_vain(redisContext *c) {
    expect_like(c, "Background *", "BGREWRITEAOF");
    WAIT_UNTIL(strcmp(info_text(c, "persistence", "aof_last_bgrewrite_status"), "err") ==
               0);
}

TEST(a_rewrite_without_room_in_the_middle_of_a_rebuild_loses_nothing) {
    static const char *const configs[] = {AOF_BY_COMMAND NOT_COMPRESSED,
                                          AOF_BY_RDB NOT_COMPRESSED};
    for (int i = 0; i < 2; i++) {
        test_case("%s", configs[i]);
        struct server *s = start(configs[i], TRUST);
        redisContext *c = client(s);
        make_ready(c, "k");
        make_large(c);
        const char *token = start_rebuild(c, "large");
        load_numbers(c, "large", token, 0, 1000);
        disk_fill(s, ROOM);
        rewrite_in_vain(c);
        load_numbers(c, "large", token, 1000, 2000);

        c = restart_with(s, TRUST);
        expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
        expect(c, "OK", "BF.REBUILD", "large", "COMMIT", token, "2000");
        CHECK_INT(count_missing(c, "large", 0, 2000), 0);
        rewrite_aof(c);
        c = restart_with(s, TRUST);
        CHECK_INT(count_missing(c, "large", 0, 2000), 0);
    }
}

/* ---- full syncs ---- */

/* Larger than the backlog: the next sync is a full one. */
static void sync_anew(redisContext *m, redisContext *r) {
    static char bytes[64 << 10];
    memset(bytes, 'x', sizeof bytes);
    cut_link(m, r);
    for (int i = 0; i < 20; i++)
        expectf(m, "OK", "SET filler:%d %b", i, bytes, sizeof bytes);
}

/* By itself the server tries again after minutes, or is just about to fail once more. */
static bool rewrites(redisContext *c) {
    call(c, "BGREWRITEAOF");
    WAIT_UNTIL(info_int(c, "persistence", "aof_rewrite_in_progress") == 0);
    return strcmp(info_text(c, "persistence", "aof_last_bgrewrite_status"), "ok") == 0;
}

/* The data set arrives compressed, and would be written as it is. */
TEST(a_rewrite_without_room_after_a_full_sync_ends_no_doubt) {
    struct server *master = server_start(.config = SMALL_BACKLOG);
    struct server *replica = start(AOF_BY_COMMAND NOT_COMPRESSED, TRUST);
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    make_large(m);
    follow(r, master);
    wait_for_belief(r, "k");

    disk_fill(replica, ROOM);
    sync_anew(m, r);
    mend_link(m, r);
    CHECK_INT(info_int(m, "stats", "sync_full"), 2);
    WAIT_UNTIL(strcmp(info_text(r, "persistence", "aof_last_bgrewrite_status"), "err") ==
               0);
    WAIT_UNTIL(strstr(info_text(r, "bf", "bf_trust_warnings"), "restart_before_rewrite"));
    WAIT_UNTIL(strcmp(unknown_by(r, "k"), "restart") == 0);

    disk_make_room(replica);
    WAIT_UNTIL(rewrites(r));
    wait_for_belief(r, "k");
    expect(m, "1", "BF.ADD", "k", "bob");
    wait_for_replica(m, r);
    server_kill(master);
    r = restart_with(replica, TRUST);
    expect(r, "maybe", "BF.CHECK", "k", "bob");
}

TEST(a_replica_without_room_for_a_full_sync_denies_nothing_until_it_has_one) {
    struct server *master = server_start(.config = SMALL_BACKLOG NOT_COMPRESSED);
    struct server *replica = start(NOT_COMPRESSED, "bf-trust replica");
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    make_large(m);
    follow(r, master);
    wait_for_belief(r, "k");

    disk_fill(replica, ROOM);
    sync_anew(m, r);
    expect(m, "1", "BF.ADD", "k", "bob");
    expect(r, "OK", "CONFIG", "SET", "masterauth", "secret");
    WAIT_UNTIL(info_int(m, "stats", "sync_full") > 2); /* it comes back for another */
    expect(r, "[maybe, unknown]", "BF.MCHECK", "k", "anna", "bob");

    disk_make_room(replica);
    WAIT_UNTIL(strcmp(call_text(r, "BF.CHECK", "k", "bob"), "maybe") == 0);
    wait_for_belief(r, "k");
}
