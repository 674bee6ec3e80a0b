/* SPDX-License-Identifier: BSD-3-Clause */

/* older_test.c - this build beside earlier ones: as their master, as their replica, and
 * with the files and dumps that one of them wrote and the other one reads. */

#include "older.h"

#include "files.h"
#include "harness.h"
#include "refusal.h"
#include "states.h"

static const char *const builds[] = {BEFORE_LIBRARIES, BEFORE_BEATS};
enum { BUILDS = sizeof builds / sizeof *builds, MEMBERS = 400 };

static const char *const native[] = {"lines", "redisbloom", "valkeybloom"};
enum { NATIVE = sizeof native / sizeof *native };

static struct server *start(const char *build, const char *config, const char *args) {
    const char *path = build ? older_module(build) : NULL;
    return server_start(.module = path, .config = config, .module_args = args);
}

/* What both of them can do: kinds that grow, states, and rebuilds, ended and under way. */
static void work(redisContext *c) {
    for (int i = 0; i < NATIVE; i++) {
        const char *key = text_of("%s", native[i]), *next = text_of("next %s", native[i]);
        expect(c, "OK", "BF.RESERVE", key, "0.01", "50", "KIND", native[i]);
        add_numbers(c, key, 0, MEMBERS);
        expect(c, "OK", "BF.RESERVE", next, "0.01", "50", "KIND", native[i], "LOADING");
        add_numbers(c, next, 0, MEMBERS);
        expect(c, "OK", "BF.READY", next);
        const char *token = start_rebuild(c, next);
        load_numbers(c, next, token, 0, MEMBERS / 2);
    }
    make_ready(c, "ready");
    add_numbers(c, "ready", 0, MEMBERS);
    const char *token = start_rebuild(c, "ready");
    load_numbers(c, "ready", token, 0, MEMBERS);
    expect(c, "OK", "BF.REBUILD", "ready", "COMMIT", token, text_of("%d", MEMBERS));
    expect(c, "OK", "BF.READY", "ready", "EX", "1000");
    expect(c, "OK", "BF.LOADING", "next redisbloom");
}

static void work_on(redisContext *c) {
    for (int i = 0; i < NATIVE; i++) {
        add_numbers(c, native[i], MEMBERS, 2 * MEMBERS);
        add_numbers(c, text_of("next %s", native[i]), MEMBERS, 2 * MEMBERS);
    }
    add_numbers(c, "ready", MEMBERS, 2 * MEMBERS);
}

static void check_members(redisContext *c, long upto) {
    for (int i = 0; i < NATIVE; i++) {
        CHECK_INT(count_missing(c, native[i], 0, upto), 0);
        CHECK_INT(count_missing(c, text_of("next %s", native[i]), 0, upto), 0);
    }
    CHECK_INT(count_missing(c, "ready", 0, upto), 0);
}

/* -------------------------------------------------------------------------
 * Replication
 * ---------------------------------------------------------------------- */

static void follows(const char *master, const char *replica) {
    struct pair p = pair_of(start(master, NULL, NULL), start(replica, NULL, NULL));
    work(p.m);
    follow(p.r, p.master);
    check_digests(p.m, p.r);
    work_on(p.m);
    check_pair(&p);
    check_members(p.r, 2 * MEMBERS);
    expect(p.m, "OK", "FLUSHALL");
    work(p.m);
    check_pair(&p);
    check_members(p.r, MEMBERS);
}

TEST_OF_OTHERS(a_replica_of_an_older_master_is_its_master) {
    for (int i = 0; i < BUILDS; i++) {
        test_case("%s", builds[i]);
        follows(builds[i], NULL);
    }
}

TEST_OF_OTHERS(an_older_replica_is_its_master) {
    for (int i = 0; i < BUILDS; i++) {
        test_case("%s", builds[i]);
        follows(NULL, builds[i]);
    }
}

/* Nodes are replaced one after the other, and the first of the new ones takes over. */
TEST_OF_OTHERS(an_older_master_is_succeeded_by_its_newer_replica) {
    for (int i = 0; i < BUILDS; i++) {
        test_case("%s", builds[i]);
        struct pair p = pair_linked(start(builds[i], NULL, NULL), start(NULL, NULL, NULL));
        work(p.m);
        wait_for_replica(p.m, p.r);
        expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
        CHECK_STR(said_of(p.r, "ready"), "unknown");
        follow(p.m, p.replica);
        work_on(p.r);
        wait_for_replica(p.r, p.m);
        check_digests(p.r, p.m);
        check_members(p.m, 2 * MEMBERS);
    }
}

TEST_OF_OTHERS(a_replica_that_hears_no_beats_from_its_older_master_denies_nobody) {
    struct pair p = pair_linked(start(BEFORE_BEATS, NULL, NULL),
                                start(NULL, NULL, "bf-trust failover,replica"));
    make_ready(p.m, "k");
    wait_for_replica(p.m, p.r);
    CHECK_STR(said_of(p.m, "k"), "absent");
    CHECK_STR(said_of(p.r, "k"), "unknown");
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_STR(said_of(p.r, "k"), "unknown");
    expect(p.r, "OK", "BF.READY", "k");
    CHECK_STR(said_of(p.r, "k"), "absent");
}

TEST_OF_OTHERS(an_older_replica_answers_a_beat_with_an_error_and_goes_on) {
    struct pair p = pair_linked(start(NULL, NULL, NULL), start(BEFORE_BEATS, NULL, NULL));
    make_ready(p.m, "k");
    WAIT_UNTIL(strstr(server_log(p.replica), "BF.BEAT") != NULL);
    expect(p.m, "1", "BF.ADD", "k", "carol");
    check_pair(&p);
    expect(p.r, "1", "BF.EXISTS", "k", "carol");
}

TEST_OF_OTHERS(an_older_replica_ends_at_a_kind_that_it_does_not_know) {
    static const char *const kinds[] = {"leveldb", "clickhouse", "guava", "crc32"};
    for (int i = 0; i < 4; i++) {
        test_case("%s", kinds[i]);
        struct pair p =
            pair_linked(start(NULL, NULL, NULL), start(BEFORE_LIBRARIES, NULL, NULL));
        p.replica->down_is_fine = true;
        expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", kinds[i]);
        server_wait_for_end(p.replica);
        CHECK(strstr(server_log(p.replica), "can't be applied") != NULL);
    }
}

/* Two filters that can be merged, and the merge: the second one's item comes late. */
static struct pair merge_before(const char *args) {
    struct pair p =
        pair_linked(start(NULL, NULL, args), start(BEFORE_LIBRARIES, NULL, args));
    make_ready(p.m, "k");
    expect(p.m, "1", "COPY", "k", "part");
    expect(p.m, "1", "BF.ADD", "part", "carol");
    check_pair(&p);
    expect(p.m, "1", "BF.MERGE", "k", "part");
    wait_for_replica(p.m, p.r);
    return p;
}

/* As the manual has it: this is why nobody merges before all replicas can. */
TEST_OF_OTHERS(an_older_replica_denies_what_was_merged_until_the_next_ready) {
    needs(602, "COPY");
    struct pair p = merge_before(TRUST_ALL);
    expect(p.m, "1", "BF.EXISTS", "k", "carol");
    WAIT_UNTIL(strstr(server_log(p.replica), "the filter is complete") != NULL);
    wait_for_belief(p.r, "k");
    expect(p.r, "absent", "BF.CHECK", "k", "carol");

    expect(p.m, "OK", "BF.READY", "k");
    wait_for_replica(p.m, p.r);
    expect(p.r, "unknown", "BF.CHECK", "k", "carol");
    expect(p.r, "1", "BF.EXISTS", "k", "carol");
}

/* What is made by a merge is a filter like another. */
TEST_OF_OTHERS(an_older_replica_takes_a_filter_that_a_merge_made) {
    needs(602, "COPY");
    struct pair p = merge_before(NULL);
    expect(p.m, "1", "BF.MERGE", "new", "k", "part");
    wait_for_replica(p.m, p.r);
    expect(p.r, "[1, 1]", "BF.MEXISTS", "new", "anna", "carol");
    expect(p.m, "OK", "BF.RESERVE", "alike", "0.01", "100", "LIKE", "new");
    expect(p.m, "1", "BF.ADD", "alike", "bob");
    wait_for_replica(p.m, p.r);
    CHECK_DUMP(dump_filter(p.r, "alike"), dump_filter(p.m, "alike"));
}

/* -------------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------- */

static const struct {
    const char *name, *config;
    void (*write)(redisContext *c);
} files[] = {
    {"an RDB file", NULL, save},
    {"an AOF", AOF_BY_COMMAND, NULL},
    {"a rewritten AOF", AOF_BY_COMMAND, rewrite_aof},
    {"an AOF that begins as an RDB file", AOF_BY_RDB, rewrite_aof},
};
enum { FILES = sizeof files / sizeof *files };

/* One writes, the other one reads and goes on, and the first one reads that. */
static void is_read(int file, const char *writer, const char *reader) {
    struct server *s = start(writer, files[file].config, NULL);
    redisContext *c = client(s);
    work(c);
    if (files[file].write) files[file].write(c);
    const char *content = call_text(c, "DEBUG", "DIGEST");

    s->options.module = reader ? older_module(reader) : NULL;
    c = restart_with(s, NULL);
    CHECK_STR(said_of(c, "ready"), "unknown");
    check_members(c, MEMBERS);
    work_on(c);
    if (files[file].write) files[file].write(c);

    s->options.module = writer ? older_module(writer) : NULL;
    c = restart_with(s, TRUST_ALL);
    check_members(c, 2 * MEMBERS);
    CHECK(strcmp(call_text(c, "DEBUG", "DIGEST"), content) != 0);
}

TEST_OF_OTHERS(files_are_read_by_older_and_newer_builds) {
    for (int i = 0; i < BUILDS; i++) {
        for (int file = 0; file < FILES; file++) {
            test_case("%s, %s", builds[i], files[file].name);
            is_read(file, builds[i], NULL);
            is_read(file, NULL, builds[i]);
        }
    }
}

/* The rest of the file would do without the filter. */
TEST_OF_OTHERS(
    an_older_build_does_not_start_without_a_filter_of_a_kind_that_it_does_not_know) {
    for (int file = 0; file < FILES; file++) {
        test_case("%s", files[file].name);
        struct server *s = start(NULL, files[file].config, NULL);
        redisContext *c = client(s);
        work(c);
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "guava");
        if (files[file].write) files[file].write(c);
        server_kill(s);
        const char *config = text_of(
            "%s\ndir %s\n", files[file].config ? files[file].config : "", s->directory);
        server_refusal(.module = older_module(BEFORE_LIBRARIES), .config = config);
    }
}

static bool file_has(const char *path, const char *text) {
    struct file file = file_read(path);
    return memmem(file.bytes, file.length, text, strlen(text)) != NULL;
}

/* A replica that lost its master has noted that in its file. */
TEST_OF_OTHERS(an_aof_that_notes_a_lost_master_ends_an_older_build) {
    struct pair p = pair_linked(start(NULL, NULL, NULL), start(NULL, AOF_BY_COMMAND, NULL));
    make_ready(p.m, "k");
    wait_for_replica(p.m, p.r);
    cut_link(p.m, p.r);
    WAIT_UNTIL(file_has(server_aof(p.replica), "BF.ADRIFT"));
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    server_kill(p.replica);
    const char *config = text_of(AOF_BY_COMMAND "dir %s\n", p.replica->directory);
    const char *log =
        server_refusal(.module = older_module(BEFORE_BEATS), .config = config);
    CHECK(strcasestr(log, "BF.ADRIFT") != NULL);
}

/* -------------------------------------------------------------------------
 * Dumps
 * ---------------------------------------------------------------------- */

static void are_exchanged(redisContext *from, redisContext *to) {
    for (int i = 0; i < NATIVE; i++) {
        const struct dump *d = dump_filter(from, native[i]);
        load_filter(to, "chunks", d);
        CHECK_DUMP(dump_filter(to, "chunks"), d);
        const redisReply *r = call(from, "DUMP", text_of("next %s", native[i]));
        expectf(to, "OK", "RESTORE restored 0 %b", r->str, r->len);
        CHECK_INT(count_missing(to, "chunks", 0, MEMBERS), 0);
        CHECK_INT(count_missing(to, "restored", 0, MEMBERS), 0);
        CHECK_STR(said_of(to, "restored"), "unknown");
        expect(to, "2", "DEL", "chunks", "restored");
    }
}

TEST_OF_OTHERS(dumps_are_exchanged_with_older_builds) {
    redisContext *newer = client(start(NULL, NULL, NULL));
    work(newer);
    for (int i = 0; i < BUILDS; i++) {
        test_case("%s", builds[i]);
        redisContext *older = client(start(builds[i], NULL, NULL));
        work(older);
        are_exchanged(older, newer);
        are_exchanged(newer, older);
    }
}

TEST_OF_OTHERS(an_older_build_refuses_a_dump_of_a_kind_that_it_does_not_know) {
    needs(700, "refusal of a payload that the server outlives");
    redisContext *newer = client(start(NULL, NULL, NULL));
    redisContext *older = client(start(BEFORE_LIBRARIES, NULL, NULL));
    expect(newer, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "leveldb");
    const redisReply *r = call(newer, "DUMP", "k");
    CHECK_INT(callf(older, "RESTORE k 0 %b", r->str, r->len)->type, REDIS_REPLY_ERROR);
    CHECK(strstr(load_piece(older, "k", &dump_filter(newer, "k")->pieces[0]), "ERR"));
    expect(older, "0", "EXISTS", "k");
}
