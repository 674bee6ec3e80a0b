/* SPDX-License-Identifier: BSD-3-Clause */

/* fixture_test.c - what RedisBloom and valkey-bloom wrote loads in every form it comes
 * in, answers as it did there, and goes back. */

#include "fixtures.h"
#include "harness.h"
#include "workspace.h"

/* Walks through the filters of all folders; the key "k" is gone each time. */
static void each_fixture(redisContext *c,
                         void (*visit)(redisContext *c, const struct folder *f,
                                       const struct json *filter)) {
    for (int i = 0; i < FOLDERS; i++)
        JSON_EACH(filter, json_need(folder_manifest(&folders[i]), "filters")) {
            call(c, "FLUSHALL");
            test_case("%s, filter %s", folders[i].path, json_text(filter, "name"));
            visit(c, &folders[i], filter);
        }
}

static void restore_and_compare(redisContext *c, const struct folder *f,
                                const struct json *filter) {
    CHECK_STR(restore_fixture(c, "k", f, filter), "OK");
    expect(c, f->maker == REDISBLOOM ? "MBbloom--" : "bloomfltr", "TYPE", "k");
    must_be_fixture(c, "k", filter);
}

TEST(every_payload_is_restored_and_answers_as_it_did) {
    test_time_limit(300);
    each_fixture(client(server_shared()), restore_and_compare);
}

/* The string of a bitmap may be compressed, which is the server's choice. */
static void restore_and_dump(redisContext *c, const struct folder *f,
                             const struct json *filter) {
    if (!f->exact) return;
    CHECK_STR(restore_fixture(c, "k", f, filter), "OK");
    struct file wanted =
        file_read(folder_file(f, json_text(json_need(filter, "dump"), "file")));
    struct file found = dump_body(c, "k");
    CHECK_MEM(found.bytes, found.length, wanted.bytes, wanted.length - 10);
}

TEST(a_dump_is_byte_for_byte_what_was_restored) {
    each_fixture(client(server_shared()), restore_and_dump);
}

static void restore_and_scandump(redisContext *c, const struct folder *f,
                                 const struct json *filter) {
    if (!f->exact || f->maker == VALKEYBLOOM || strstr(f->path, "2.2.0")) return;
    CHECK_STR(restore_fixture(c, "k", f, filter), "OK");
    const struct dump *d = dump_filter(c, "k");
    const struct json *pieces = json_need(filter, "scandump");
    CHECK_INT(d->npieces, pieces->count);
    size_t i = 0;
    JSON_EACH(piece, pieces) {
        struct file wanted = file_read(folder_file(f, json_text(piece, "file")));
        CHECK_INT(d->pieces[i].iterator, json_int(piece, "returned_iterator"));
        CHECK_MEM(d->pieces[i].bytes, d->pieces[i].len, wanted.bytes, wanted.length);
        i++;
    }
}

TEST(a_scandump_is_byte_for_byte_redisblooms) {
    each_fixture(client(server_shared()), restore_and_scandump);
}

static void must_equal_restored(redisContext *c, const char *key, const struct folder *f,
                                const struct json *filter) {
    CHECK_STR(restore_fixture(c, "restored", f, filter), "OK");
    struct file a = dump_body(c, key), b = dump_body(c, "restored");
    CHECK_MEM(a.bytes, a.length, b.bytes, b.length);
    CHECK_STR(call_text(c, "BF.DEBUG", key), call_text(c, "BF.DEBUG", "restored"));
}

static void load_and_compare(redisContext *c, const struct folder *f,
                             const struct json *filter) {
    load_fixture(c, "k", f, filter);
    must_equal_restored(c, "k", f, filter);
}

TEST(chunks_and_bf_load_make_the_same_filters) {
    each_fixture(client(server_shared()), load_and_compare);
}

/* RedisBloom's own chunks are of one layer; nothing keeps a client from cutting them
 * elsewhere. */
static void load_in_odd_pieces(redisContext *c, const struct folder *f,
                               const struct json *filter) {
    if (f->maker == VALKEYBLOOM) return;
    size_t room = 1 << 20, length = 0, step = 1 + random_below(700);
    char *all = malloc(room);
    test_defer(free, all);
    const struct json *header = json_need(filter, "scandump")->first;
    for (const struct json *piece = header->next; piece; piece = piece->next) {
        struct file bytes = file_read(folder_file(f, json_text(piece, "file")));
        memcpy(all + length, bytes.bytes, bytes.length);
        length += bytes.length;
    }
    struct file first = file_read(folder_file(f, json_text(header, "file")));
    struct piece p = {random_below(2) ? 0 : 1, first.bytes, first.length};
    CHECK_STR(load_piece(c, "k", &p), "OK");
    for (size_t at = 0; at < length; at += p.len) {
        p.len = length - at < step ? length - at : step;
        p.bytes = all + at;
        p.iterator = (long long)(at + p.len) + 1;
        expect(c, "#t", "BF.EXISTS", "k", "nobody at all");
        CHECK_STR(load_piece(c, "k", &p), "OK");
    }
    must_equal_restored(c, "k", f, filter);
}

TEST(chunks_of_any_size_make_the_same_filters) {
    each_fixture(client(server_shared()), load_in_odd_pieces);
}

static void restore_and_continue(redisContext *c, const struct folder *f,
                                 const struct json *filter) {
    if (!json_field(filter, "continuation")) return;
    CHECK_STR(restore_fixture(c, "k", f, filter), "OK");
    must_continue_alike(c, "k", f, filter);
}

TEST(a_loaded_filter_goes_on_as_it_would_have_there) {
    each_fixture(client(server_shared()), restore_and_continue);
}

/* -------------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------- */

static const char *directory_with(const char *from, const char *name) {
    char *directory = workspace_new_directory();
    test_defer(free, directory);
    struct file bytes = file_read(from);
    file_write(text_of("%s/%s", directory, name), bytes.bytes, bytes.length);
    return directory;
}

static void must_hold_the_folder(redisContext *c, const struct folder *f) {
    const struct json *filters = json_need(folder_manifest(f), "filters");
    CHECK_INT(call_int(c, "DBSIZE"), filters->count);
    JSON_EACH(filter, filters) {
        test_case("%s, filter %s", f->path, json_text(filter, "name"));
        must_equal_restored(c, json_text(filter, "key"), f, filter);
        call(c, "DEL", "restored");
    }
}

TEST(an_rdb_file_of_theirs_loads) {
    redisContext *shared = client(server_shared());
    for (int i = 0; i < FOLDERS; i++) {
        const struct folder *f = &folders[i];
        test_case("%s", f->path);
        if (!takes_rdb_version(shared, f->rdb_version)) continue;
        const char *directory = directory_with(folder_file(f, "dump.rdb"), "dump.rdb");
        struct server *s = server_start(.config = text_of("dir %s", directory));
        must_hold_the_folder(client(s), f);
        server_kill(s);
    }
}

/* Old AOF files have the header with iterator 0: RedisBloom itself loses them. */
TEST(an_aof_of_theirs_loads) {
    for (int i = 0; i < FOLDERS; i++) {
        const struct folder *f = &folders[i];
        test_case("%s", f->path);
        if (!f->has_aof) continue;
        const char *first = json_need(folder_manifest(f), "aof")->first->text;
        const char *directory = directory_with(folder_file(f, first), "appendonly.aof");
        struct server *s =
            server_start(.config = text_of("dir %s\nappendonly yes", directory));
        must_hold_the_folder(client(s), f);
        server_kill(s);
    }
}

/* Creations and adds as valkey-bloom puts them into its AOF and sends them to replicas. */
TEST(the_command_stream_of_valkeybloom_is_followed) {
    for (int i = 0; i < FOLDERS; i++) {
        const struct folder *f = &folders[i];
        if (f->maker != VALKEYBLOOM) continue;
        test_case("%s", f->path);
        const char *stream = folder_file(f, "stream_after_creates.aof");
        const char *directory = directory_with(stream, "appendonly.aof");
        struct server *s =
            server_start(.config = text_of("dir %s\nappendonly yes", directory));
        redisContext *c = client(s);
        expect(c, "bloomfltr", "TYPE", "repl_a");
        expect(c, "2", "BF.CARD", "repl_a");
        expect(c, "[1, 1, 0]", "BF.MEXISTS", "repl_a", "item:0", "item:1", "item:2");
        expect(c, "1", "BF.CARD", "repl_b");
        expect(c, "[nil]", "BF.INFO", "repl_c", "EXPANSION");
        expect(c, "[1, 1]", "BF.MEXISTS", "repl_d", "x", "y");
        expect(c, "[10]", "BF.INFO", "repl_d", "CAPACITY");
        server_kill(s);
    }
}

/* -------------------------------------------------------------------------
 * What is refused
 * ---------------------------------------------------------------------- */

TEST(a_pre_release_is_refused_with_a_reason) {
    needs(700, "way to survive a payload that a module refuses");
    struct server *s = server_start();
    redisContext *c = client(s);
    JSON_EACH(filter, json_need(folder_manifest(&prerelease), "filters")) {
        test_case("%s", json_text(filter, "name"));
        CHECK_STR(restore_fixture(c, "k", &prerelease, filter), "ERR Bad data format");
        expect(c, "0", "EXISTS", "k");
    }
    CHECK(text_matches(server_log(s), "*pre-release of valkey-bloom wrote it*"));
}

/* -------------------------------------------------------------------------
 * Filters made here
 * ---------------------------------------------------------------------- */

/* The words of a recipe's first command, without BF.RESERVE and the key. */
static void reserve_by_recipe(redisContext *c, const char *recipe) {
    char name[64], error[32], capacity[32], one[32] = "", two[32] = "";
    int words = sscanf(recipe, "BF.RESERVE %63s %31s %31s %31s %31s", name, error, capacity,
                       one, two);
    if (words == 5)
        expectf(c, "OK", "BF.RESERVE k %s %s %s %s KIND redisbloom", error, capacity, one,
                two);
    else if (words == 4)
        expectf(c, "OK", "BF.RESERVE k %s %s KIND redisbloom %s", error, capacity, one);
    else if (words == 3)
        expectf(c, "OK", "BF.RESERVE k %s %s KIND RedisBloom", error, capacity);
}

/* Each filter of today's RedisBloom, made here from nothing. */
TEST(a_filter_of_kind_redisbloom_is_byte_for_byte_redisblooms) {
    struct server *s = server_start(.module_args = "bf-kind redisbloom");
    redisContext *c = client(s);
    const struct folder *f = &folders[0];
    JSON_EACH(filter, json_need(folder_manifest(f), "filters")) {
        const char *recipe = json_text(json_need(filter, "commands")->first, "command");
        test_case("%s: %s", json_text(filter, "name"), recipe);
        call(c, "FLUSHALL");
        if (strncmp(recipe, "BF.INSERT", 9) == 0)
            expect(c, "[1]", "BF.INSERT", "k", "CAPACITY", "300", "ERROR", "0.005",
                   "EXPANSION", "3", "ITEMS", "item:0");
        else
            reserve_by_recipe(c, recipe);
        add_fixture_items(c, "k", filter);

        const struct dump *d = dump_filter(c, "k");
        size_t i = 0;
        JSON_EACH(piece, json_need(filter, "scandump")) {
            struct file wanted = file_read(folder_file(f, json_text(piece, "file")));
            CHECK_MEM(d->pieces[i].bytes, d->pieces[i].len, wanted.bytes, wanted.length);
            i++;
        }
        CHECK_INT(d->npieces, i);
        must_equal_restored(c, "k", f, filter);
        must_continue_alike(c, "k", f, filter);
    }
}
