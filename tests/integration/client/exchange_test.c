/* SPDX-License-Identifier: BSD-3-Clause */

/* exchange_test.c - bulwark import and export: bytes as another library has them, whole or
 * not at all. */

#include "cluster.h"
#include "exchange.h"
#include "files.h"
#include "fill.h"
#include "harness.h"
#include "states.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a filter of 1000 items at 0.01 has beside its bytes. */
static const struct {
    const char *kind, *beside[5];
} kinds[] = {{"leveldb", {NULL}},
             {"clickhouse", {"--hashes", "5", "--seed", "0", NULL}},
             {"guava", {NULL}},
             {"crc32", {"--hashes", "6", "--bits", "9585", NULL}}};

#define KINDS (sizeof kinds / sizeof *kinds)

static struct outcome import_of(const struct server *s, size_t kind, const char *path) {
    const char *const *b = kinds[kind].beside;
    return program_run("import", "copy", kinds[kind].kind, path, "-p", program_port(s),
                       "--prove", "1", b[0], b[1], b[2], b[3]);
}

/* -------------------------------------------------------------------------
 * In and out
 * ---------------------------------------------------------------------- */

TEST(what_is_imported_is_exported_byte_for_byte) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    for (size_t i = 0; i < KINDS; i++) {
        test_case("%s", kinds[i].kind);
        expect(c, "OK", "FLUSHALL");
        make_library(c, "k", kinds[i].kind, "raw", 1000);
        struct file built = exported(c, "k");
        struct outcome got = import_of(s, i, bytes_file(built.bytes, built.length));
        CHECK_STR(got.err, "");
        CHECK_INT(got.code, EXIT_DONE);
        CHECK(strstr(got.out, "from now on BF.EXISTS says 0 to what isn't in it; BF.CHECK "
                              "and BF.GUARD say unknown until somebody vouches (BF.READY "
                              "copy)\n"));
        CHECK(!strstr(got.out, "nothing was proved"));
        CHECK_INT(count_missing(c, "copy", 0, 1000), 0);

        const char *path = bytes_file("old", 3);
        CHECK_INT(exchange(s, "export", "copy", path).code, EXIT_DONE);
        struct file written = file_read(path);
        CHECK_MEM(written.bytes, written.length, built.bytes, built.length);
    }
}

/* More than goes in one piece, and than any other answer has. */
TEST(a_large_filter_goes_through_pipes) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "20000000", "KIND", "guava");
    add_numbers(c, "k", 0, 100);
    struct file built = exported(c, "k");
    CHECK(built.length > (16u << 20));

    struct program *p =
        program_start("import", "copy", "guava", "-", "-p", program_port(s));
    CHECK(program_feed(p, built.bytes, built.length));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_DONE);

    const char *path = bytes_file("", 0);
    int status = system(text_of("${PROGRAM:-./bulwark} export copy - -p %s | cat >%s",
                                program_port(s), path));
    CHECK_INT(status, 0);
    struct file written = file_read(path);
    CHECK_MEM(written.bytes, written.length, built.bytes, built.length);
}

TEST(filters_are_found_wherever_their_slot_is) {
    struct cluster *all = cluster_start(.masters = 3);
    static const char *const keys[] = {"a", "b", "c"}; /* a node each */
    for (size_t i = 0; i < 3; i++) {
        redisContext *c = cluster_owner(all, keys[i]);
        make_library(c, keys[i], "guava", "raw", 100);
        struct file built = exported(c, keys[i]);
        CHECK_INT(call_int(c, "DEL", keys[i]), 1);
        struct outcome got = exchange(all->node[0], "import", keys[i], "guava",
                                      bytes_file(built.bytes, built.length), "-c");
        CHECK_STR(got.err, "");
        CHECK_INT(count_missing(cluster_owner(all, keys[i]), keys[i], 0, 100), 0);
        const char *both = text_of("{%s}:both", keys[i]);
        CHECK_INT(exchange(all->node[0], "merge", both, keys[i], "-c").code, EXIT_DONE);
        CHECK_INT(exchange(all->node[0], "covers", both, keys[i], "-c").code, EXIT_DONE);
    }
    struct outcome got = exchange(all->node[0], "covers", "a", "b", "-c");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "CROSSSLOT"));
}

/* -------------------------------------------------------------------------
 * Proofs and refusals
 * ---------------------------------------------------------------------- */

/* Whoever asks for text where numbers were hashed would be told "absent" for everything. */
TEST(a_wrong_encoding_is_found_by_an_item_that_must_be_there) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_library(c, "built", "guava", "int64", 100);
    struct file built = exported(c, "built");
    const char *path = bytes_file(built.bytes, built.length), *ids = numbers_file(0, 100);

    struct outcome got = exchange(s, "import", "k", "guava", path, "--prove", "42");
    CHECK_INT(got.code, EXIT_ITEMS);
    CHECK(strstr(got.err, "ERR item '42' is not in the data"));
    CHECK_INT(exchange(s, "import", "k", "guava", path, "--prove-file", ids).code,
              EXIT_ITEMS);
    CHECK_INT(call_int(c, "EXISTS", "k"), 0);

    got = exchange(s, "import", "k", "guava", path, "--encode", "int64", "--prove-file",
                   ids, "--prove", "42");
    CHECK_STR(got.err, "");
    CHECK_INT(count_missing(c, "k", 0, 100), 0);
}

/* It looks like a proof, and would let a wrong encoding pass. */
TEST(a_file_without_items_proves_nothing) {
    const char *none = bytes_file("", 0);
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_library(c, "built", "guava", "int64", 100);
    struct file built = exported(c, "built");
    const char *path = bytes_file(built.bytes, built.length);
    struct outcome got = exchange(s, "import", "k", "guava", path, "--encode", "int32",
                                  "--prove-file", none);
    CHECK_INT(got.code, EXIT_SOURCE);
    CHECK_STR(got.err, text_of("bulwark: %s has no items: it proves nothing\n", none));
    CHECK_INT(call_int(c, "EXISTS", "k"), 0);

    got = exchange(s, "import", "k", "guava", path, "--encode", "int32");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "nothing was proved (--prove)"));
}

TEST(what_the_server_refuses_is_said_in_its_own_words) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_library(c, "k", "guava", "raw", 100);
    struct file built = exported(c, "k");
    const char *whole = bytes_file(built.bytes, built.length),
               *cut = bytes_file(built.bytes, built.length - 1);
    static const struct {
        const char *words[6];
        int code;
    } all[] = {
        {{"k", "guava", "whole", "BUSYKEY"}, EXIT_REFUSED},
        {{"new", "guava", "cut", "ERR received bad data: it ends too early"}, EXIT_SOURCE},
        {{"new", "cuckoo", "whole", "ERR unknown kind 'cuckoo'"}, EXIT_REFUSED},
        {{"new", "crc32", "whole", "ERR kind 'crc32' needs HASHES"}, EXIT_REFUSED}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *const *w = all[i].words;
        test_case("%s", w[3]);
        struct outcome got =
            exchange(s, "import", w[0], w[1], strcmp(w[2], "cut") == 0 ? cut : whole);
        CHECK_INT(got.code, all[i].code);
        CHECK(strstr(got.err, text_of("BF.IMPORT for %s is refused: %s", w[0], w[3])));
    }
    CHECK_INT(call_int(c, "EXISTS", "new"), 0);
    CHECK(strstr(exchange(s, "export", "no", "/nowhere").err, "ERR not found"));
}

/* Such a server reads no further, and closes the connection. */
TEST(a_server_that_takes_no_word_so_long_says_why) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "5000000", "KIND", "guava");
    struct file built = exported(c, "k");
    const char *path = bytes_file(built.bytes, built.length);
    expect(c, "OK", "CONFIG", "SET", "proto-max-bulk-len", "1mb");
    struct outcome got = exchange(s, "import", "new", "guava", path);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "invalid bulk length"));

    expect(c, "OK", "CONFIG", "SET", "proto-max-bulk-len", "512mb");
    expect(c, "OK", "CONFIG", "SET", "requirepass", "secret");
    got = exchange(s, "import", "new", "guava", path);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "the server wants a password"));
}

TEST(a_file_that_is_no_filter_asks_no_server) {
    const char *empty = bytes_file("", 0), *large = bytes_file("", 0);
    CHECK(truncate(large, (512 << 20) + 1) == 0);
    const char *const all[][2] = {{"/nowhere", "there is no file /nowhere"},
                                  {"/", "/ is a directory"},
                                  {empty, "is empty"},
                                  {large,
                                   "is longer than 512 MB: a server takes no more at "
                                   "a time"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s", all[i][1]);
        struct outcome got =
            program_run("import", "k", "guava", all[i][0], "--socket", "/nowhere");
        CHECK_INT(got.code, EXIT_SOURCE);
        CHECK(strstr(got.err, all[i][1]));
    }
}

/* -------------------------------------------------------------------------
 * What is written
 * ---------------------------------------------------------------------- */

TEST(an_export_that_fails_leaves_the_file_as_it_was) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_library(c, "k", "guava", "raw", 100);
    expect(c, "OK", "BF.RESERVE", "native", "0.01", "100");
    const char *path = bytes_file("old", 3);
    CHECK(chmod(path, 0640) == 0);
    struct outcome got = exchange(s, "export", "native", path);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "ERR a filter of kind lines has no other form: use BF.SCANDUMP"));
    CHECK_STR(file_read(path).bytes, "old");

    CHECK_INT(exchange(s, "export", "k", path).code, EXIT_DONE);
    struct stat is;
    CHECK(stat(path, &is) == 0);
    CHECK_INT(is.st_mode & 0777, 0640);
    CHECK_STR(exchange(s, "export", "k", "/dev/full").err,
              "bulwark: can't write /dev/full: No space left on device\n");
    CHECK(stat("/dev/full", &is) == 0 && S_ISCHR(is.st_mode));
    CHECK_INT(exchange(s, "export", "k", "/nowhere/k").code, EXIT_REFUSED);
}

TEST(a_link_stays_one) {
    struct server *s = server_shared();
    make_library(client(s), "k", "guava", "raw", 100);
    const char *path = bytes_file("old", 3), *link = text_of("%s.link", path);
    CHECK(symlink(path, link) == 0);
    CHECK_INT(exchange(s, "export", "k", link).code, EXIT_DONE);
    struct stat is;
    CHECK(lstat(link, &is) == 0 && S_ISLNK(is.st_mode));
    CHECK(strcmp(file_read(path).bytes, "old") != 0);
}

TEST(no_filter_goes_to_a_terminal) {
    struct server *s = server_shared();
    make_library(client(s), "k", "guava", "raw", 100);
    struct program *p =
        program_start_on_terminal("export", "k", "-", "-p", program_port(s));
    CHECK_INT(program_wait(p), EXIT_USAGE);
    CHECK_STR(program_output(p), "");
}

/* -------------------------------------------------------------------------
 * Filters as sets
 * ---------------------------------------------------------------------- */

TEST(merge_and_covers_take_filters_for_sets) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "1000");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "1000", "LIKE", "a");
    expect(c, "OK", "BF.RESERVE", "other", "0.01", "1000");
    add_numbers(c, "a", 0, 500);
    add_numbers(c, "b", 400, 900);

    struct outcome got = exchange(s, "covers", "a", "b");
    CHECK_INT(got.code, EXIT_ITEMS);
    CHECK_STR(got.err, "bulwark: a lacks items of b\n");
    CHECK_STR(exchange(s, "merge", "a", "b").out, "a has the items of the other, too\n");
    CHECK_STR(exchange(s, "merge", "a", "b").out, "a had all of them before\n");
    CHECK_STR(exchange(s, "covers", "a", "b").out, "a has all items of b\n");
    CHECK_INT(count_missing(c, "a", 0, 900), 0);
    CHECK_INT(exchange(s, "covers", "b", "a").code, EXIT_ITEMS);

    got = exchange(s, "covers", "a", "other");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "ERR filters can't be compared: their secrets differ"));
    CHECK_INT(exchange(s, "merge", "a", "other").code, EXIT_REFUSED);
    CHECK_INT(exchange(s, "merge", "union", "a", "b").code, EXIT_DONE);
    CHECK_INT(count_missing(c, "union", 0, 900), 0);
}
