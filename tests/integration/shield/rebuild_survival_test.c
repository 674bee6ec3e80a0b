/* SPDX-License-Identifier: BSD-3-Clause */

/* rebuild_survival_test.c - what becomes of a rebuild that is under way: on replicas, in
 * files, over restarts and promotions, and under a dump. */

#include "harness.h"
#include "kind.h"
#include "states.h"

#include <unistd.h>

/* A ready filter that is being rebuilt: the next generation has grown several times, and
 * has items that came as adds. */
static const char *fill(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "100");
    add_numbers(c, "k", 0, 500);
    expect(c, "OK", "BF.READY", "k");
    const char *token = call(c, "BF.REBUILD", "k", "START", "CAPACITY", "50")->str;
    CHECK_INT(load_numbers(c, "k", token, 0, 450), 450);
    add_numbers(c, "k", 500, 1000);
    return token;
}

/* The rest is loaded, and the swap is made. */
static void finish(redisContext *c, const char *token) {
    CHECK_INT(load_numbers(c, "k", token, 450, 500), 500);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "500");
    CHECK_INT(count_missing(c, "k", 0, 1000), 0);
    expect(c, "absent", "BF.CHECK", "k", "never added");
}

static void expect_interrupted(redisContext *c, const char *token) {
    expect_refusal(c, INTERRUPTED, "BF.REBUILD", "k", "LOAD", token, "x");
    expect_refusal(c, INTERRUPTED, "BF.REBUILD", "k", "CHECK", token, "x");
    expect_refusal(c, INTERRUPTED, "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "unknown", "BF.CHECK", "k", "never added");
}

/* ---- replicas ---- */

TEST(a_replica_follows_a_rebuild_step_by_step) {
    struct pair p = pair_linked(server_start(), server_start());
    redisContext *m = p.m, *r = p.r;
    const char *token = fill(m);
    wait_for_replica(m, r);
    check_digests(m, r);
    CHECK_INT(count_missing(r, "k", 0, 1000), 0);

    finish(m, token);
    wait_for_replica(m, r);
    check_digests(m, r);
    CHECK_STR(key_state(r, "k"), key_state(m, "k"));

    start_rebuild(m, "k");
    expect(m, "OK", "BF.REBUILD", "k", "ABORT");
    wait_for_replica(m, r);
    check_digests(m, r);
}

TEST(a_replica_comes_in_the_middle_of_a_rebuild) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    const char *token = fill(m);
    follow(r, master);
    check_digests(m, r);
    finish(m, token);
    wait_for_replica(m, r);
    check_digests(m, r);
}

TEST(a_replica_that_was_away_catches_up_with_a_rebuild) {
    struct pair p = pair_linked(server_start(), server_start());
    redisContext *m = p.m, *r = p.r;
    call(m, "CLIENT", "KILL", "TYPE", "replica");
    finish(m, fill(m));
    wait_for_replica(m, r);
    check_digests(m, r);
    CHECK_INT(info_int(m, "stats", "sync_full"), 1);
}

TEST(a_replica_follows_a_replacement_and_a_commit_of_nothing) {
    struct server *master = server_start(.config = AOF_BY_COMMAND);
    struct server *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    follow(r, master);
    make_ready(m, "k");
    const char *token = start_rebuild(m, "k");
    load_numbers(m, "k", token, 0, 100);
    sleep(1);
    token = call(m, "BF.REBUILD", "k", "START", "REPLACE", "1", "EMPTY")->str;
    wait_for_replica(m, r);
    check_digests(m, r);
    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "0");
    wait_for_replica(m, r);
    check_digests(m, r);
    CHECK(strstr(server_log(replica), "sent by the master or the AOF") == NULL);

    m = restart_with(master, "bf-trust restart");
    expect(m, "absent", "BF.CHECK", "k", "anna");
    CHECK(strstr(server_log(master), "sent by the master or the AOF") == NULL);
}

/* What was said was said to another process, and items may be lost since. */
TEST(after_a_restart_a_commit_of_nothing_is_refused) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    make_ready(c, "k");
    const char *token = call(c, "BF.REBUILD", "k", "START", "EMPTY")->str;
    c = restart_with(s, NULL);
    expect_refusal(c, INTERRUPTED, "BF.REBUILD", "k", "COMMIT", token, "0");
    c = restart_with(s, TRUST_ALL);
    expect_refusal(c, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
}

/* How long ago its last LOAD came is not stored. */
TEST(a_rebuild_that_has_just_come_from_disk_is_not_replaced) {
    struct server *s = server_start(.config = AOF_BY_RDB, .module_args = TRUST_ALL);
    redisContext *c = client(s);
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    load_numbers(c, "k", token, 0, 10);
    rewrite_aof(c);
    sleep(4);
    c = restart_with(s, TRUST_ALL);
    expect_refusal(c, REBUILDING, "BF.REBUILD", "k", "START", "REPLACE", "4");
}

TEST(every_kind_is_rebuilt_on_replicas_too) {
    struct pair p = pair_linked(server_start(), server_start());
    redisContext *m = p.m, *r = p.r;
    for (size_t i = 0; i < KINDS * KINDS; i++) {
        const char *from = kinds[i / KINDS]->name, *to = kinds[i % KINDS]->name;
        test_case("from %s to %s", from, to);
        call(m, "DEL", "k");
        expect(m, "OK", "BF.RESERVE", "k", "0.01", "50", "KIND", from);
        add_numbers(m, "k", 0, 300);
        const char *token =
            call(m, "BF.REBUILD", "k", "START", "KIND", to, "CAPACITY", "20")->str;
        add_numbers(m, "k", 300, 600);
        load_numbers(m, "k", token, 0, 300);
        wait_for_replica(m, r);
        check_digests(m, r);
        expect(m, "OK", "DEBUG", "RELOAD");
        check_digests(m, r);
        expect(m, "OK", "BF.REBUILD", "k", "ABORT");
        token = call(m, "BF.REBUILD", "k", "START", "KIND", to, "CAPACITY", "20")->str;
        load_numbers(m, "k", token, 0, 600);
        expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "600");
        wait_for_replica(m, r);
        check_digests(m, r);
        CHECK_INT(count_missing(r, "k", 0, 600), 0);
    }
}

/* ---- files ---- */

TEST(a_reload_in_the_middle_of_a_rebuild_changes_no_bit) {
    redisContext *c = client(server_start(.module_args = TRUST_ALL));
    const char *token = fill(c), *digest = call_text(c, "DEBUG", "DIGEST");
    expect(c, "OK", "DEBUG", "RELOAD");
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);

    finish(c, token);
    digest = call_text(c, "DEBUG", "DIGEST");
    expect(c, "OK", "DEBUG", "RELOAD");
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
}

static void is_the_same_from_the_aof(const char *config, bool rewrite) {
    struct server *s = server_start(.config = config, .module_args = TRUST_ALL);
    redisContext *c = client(s);
    const char *token = fill(c), *digest = call_text(c, "DEBUG", "DIGEST");
    if (rewrite) rewrite_aof(c);
    c = restart_with(s, TRUST_ALL);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);

    finish(c, token);
    digest = call_text(c, "DEBUG", "DIGEST");
    c = restart_with(s, TRUST_ALL);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    expect(c, "absent", "BF.CHECK", "k", "never added");
}

TEST(an_aof_has_a_rebuild_as_it_went) {
    is_the_same_from_the_aof(AOF_BY_COMMAND, false);
}

TEST(a_rewritten_aof_has_the_rebuild_under_way) {
    is_the_same_from_the_aof(AOF_BY_COMMAND, true);
}

TEST(a_rewritten_aof_with_preamble_has_the_rebuild_under_way) {
    is_the_same_from_the_aof(AOF_BY_RDB, true);
}

TEST(a_rewritten_aof_has_rebuilds_of_every_kind) {
    struct server *s = server_start(.config = AOF_BY_COMMAND, .module_args = TRUST_ALL);
    redisContext *c = client(s);
    for (size_t i = 0; i < KINDS * KINDS; i++) {
        const char *from = kinds[i / KINDS]->name, *to = kinds[i % KINDS]->name;
        char key[16];
        snprintf(key, sizeof key, "k%zu", i);
        expect(c, "OK", "BF.RESERVE", key, "0.01", "50", "KIND", from);
        add_numbers(c, key, 0, 300);
        const char *token = call(c, "BF.REBUILD", key, "START", "KIND", to)->str;
        load_numbers(c, key, token, 0, 200);
    }
    start_rebuild(c, "first fill");
    const char *digest = call_text(c, "DEBUG", "DIGEST");
    rewrite_aof(c);
    c = restart_with(s, TRUST_ALL);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    CHECK_INT(counted(c, "rebuilds"), KINDS * KINDS + 1);
}

/* ---- restarts and promotions ---- */

TEST(a_loader_that_goes_on_after_a_restart_is_stopped) {
    struct server *s = server_start();
    redisContext *c = client(s);
    const char *token = fill(c);
    expect(c, "OK", "SAVE");
    c = restart_with(s, NULL);
    expect_interrupted(c, token);
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "LOAD", token, "x");
}

TEST(start_clears_an_interrupted_rebuild) {
    struct server *s = server_start();
    redisContext *c = client(s);
    const char *old = fill(c);
    expect(c, "OK", "SAVE");
    c = restart_with(s, NULL);
    const char *token = start_rebuild(c, "k");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "LOAD", old, "x");
    load_numbers(c, "k", token, 0, 500);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "500");
    expect(c, "absent", "BF.CHECK", "k", "never added");
    CHECK_INT(count_missing(c, "k", 0, 500), 0);
}

/* What counted before the restart may not be all that was sent. */
TEST(an_interrupted_rebuild_stays_so_over_another_restart) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    const char *token = fill(c);
    c = restart_with(s, NULL);
    expect_interrupted(c, token);
    rewrite_aof(c);
    c = restart_with(s, NULL);
    expect_interrupted(c, token);
}

TEST(with_trust_in_restarts_a_rebuild_goes_on) {
    struct server *s = server_start();
    redisContext *c = client(s);
    const char *token = fill(c);
    expect(c, "OK", "SAVE");
    c = restart_with(s, "bf-trust failover,restore");
    expect_interrupted(c, token);
    c = restart_with(s, "bf-trust restart");
    expect_refusal(c, REBUILDING, "BF.REBUILD", "k", "START");
    finish(c, token);
}

static void promote_in_a_rebuild(const char *trust, redisContext **c, const char **token) {
    struct server *master = server_start();
    struct server *replica = server_start(.module_args = trust);
    redisContext *m = client(master);
    *c = client(replica);
    follow(*c, master);
    *token = fill(m);
    make_ready(m, "heard of");
    wait_for_replica(m, *c);
    wait_for_beat(*c, "heard of"); /* else it counts as restarted, too */
    server_kill(master);
    expect(*c, "OK", "REPLICAOF", "NO", "ONE");
}

TEST(a_promotion_interrupts_a_rebuild) {
    redisContext *c;
    const char *token;
    promote_in_a_rebuild("bf-trust restart,restore", &c, &token);
    expect_interrupted(c, token);
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
}

TEST(with_trust_in_failovers_a_rebuild_goes_on) {
    redisContext *c;
    const char *token;
    promote_in_a_rebuild("bf-trust failover", &c, &token);
    finish(c, token);
}

TEST(a_dump_restores_the_rebuild_interrupted) {
    redisContext *c = client(server_start());
    const char *token = fill(c);
    const redisReply *dump = call(c, "DUMP", "k");
    expect(c, "OK", "RENAME", "k", "original");
    expectf(c, "OK", "RESTORE k 0 %b", dump->str, dump->len);
    expect_interrupted(c, token);
    CHECK_INT(load_numbers(c, "original", token, 450, 500), 500);
}

TEST(a_rename_takes_the_rebuild_along) {
    redisContext *c = client(server_start());
    const char *token = fill(c);
    expect(c, "OK", "RENAME", "k", "elsewhere");
    expect_refusal(c, NOT_FOUND, "BF.REBUILD", "k", "LOAD", token, "x");
    expect(c, "OK", "RENAME", "elsewhere", "k");
    finish(c, token);
}

TEST(a_copy_has_no_rebuild) {
    needs(602, "COPY");
    redisContext *c = client(server_start());
    const char *token = fill(c);
    expect(c, "1", "COPY", "k", "copied");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "copied", "LOAD", token, "x");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "copied", "COMMIT", token, "1");
    CHECK_INT(count_missing(c, "copied", 0, 1000), 0);
    finish(c, token);
}

/* ---- dumps by pieces ---- */

/* Of the same size, so that the pieces would fit. */
TEST(pieces_from_before_and_after_a_commit_are_not_put_together) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "2000000");
    add_numbers(c, "k", 0, 1000);
    const struct dump *before = dump_filter(c, "k");
    CHECK(before->npieces > 3);

    const char *token = start_rebuild(c, "k");
    load_numbers(c, "k", token, 0, 1000);
    CHECK_DUMP(dump_filter(c, "k"), before);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1000");
    const struct dump *after = dump_filter(c, "k");
    CHECK_INT(after->npieces, before->npieces);

    load_pieces(c, "copied", before, 0, 2);
    for (size_t i = 1; i < after->npieces; i++)
        CHECK_STR(load_piece(c, "copied", &after->pieces[i]), "ERR received bad data");
    expect(c, "unknown", "BF.CHECK", "copied", "never added");
    expect(c, "1", "BF.EXISTS", "copied", "never added");
    load_pieces(c, "copied", before, 2, before->npieces);
    CHECK_DUMP(dump_filter(c, "copied"), before);
}

/* Pieces for the second chain come from a master or an AOF only. */
TEST(clients_bring_no_pieces_to_a_rebuild) {
    redisContext *c = client(server_start());
    fill(c);
    const struct dump *d = dump_filter(c, "k");
    for (size_t i = 0; i < d->npieces; i++) {
        char iterator[24];
        snprintf(iterator, sizeof iterator, "%lld", d->pieces[i].iterator);
        const redisReply *r = callf(c, "BF.LOADCHUNK k %s %b", iterator, d->pieces[i].bytes,
                                    d->pieces[i].len);
        CHECK_INT(r->type, REDIS_REPLY_ERROR);
    }
    CHECK_DUMP(dump_filter(c, "k"), d);
}
