/* SPDX-License-Identifier: BSD-3-Clause */

/* import_rebuild_test.c - bulwark import --rebuild: the next generation of a filter that
 * answers, built by somebody else. */

#include "exchange.h"
#include "files.h"
#include "fill.h"
#include "harness.h"
#include "states.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND "guava"

/* The bytes that a library would make of 0 ... items - 1, for a filter of 1000. */
static const char *built(redisContext *c, long items) {
    expect(c, "OK", "BF.RESERVE", "elsewhere", "0.01", "1000", "KIND", KIND);
    add_numbers(c, "elsewhere", 0, items);
    struct file bytes = exported(c, "elsewhere");
    CHECK_INT(call_int(c, "DEL", "elsewhere"), 1);
    return bytes_file(bytes.bytes, bytes.length);
}

/* A filter "k" that is ready and has 0 ... 499. */
static void make_live(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "KIND", KIND, "LOADING");
    add_numbers(c, "k", 0, 500);
    expect(c, "OK", "BF.READY", "k");
}

#define rebuild(s, command, ...)                                                           \
    exchange((s), "import", "k", KIND, "--settle", "0", "--prove", "1", "--rebuild",       \
             (command)__VA_OPT__(, ) __VA_ARGS__)

/* It ends with that code and sentence, and the filter is what it was. */
static void expect_no_rebuild(struct server *s, int code, const char *sentence,
                              const char *command, const char *option, const char *value) {
    redisContext *c = client(s);
    const char *before = filter_text(c, "k");
    struct outcome got = rebuild(s, command, option, value);
    if (!strstr(got.err, sentence)) FAIL("it said: %s", got.err);
    CHECK_INT(got.code, code);
    CHECK_STR(filter_text(c, "k"), before);
    CHECK(!is_rebuilding(c, "k"));
}

/* -------------------------------------------------------------------------
 * What comes meanwhile
 * ---------------------------------------------------------------------- */

TEST(what_is_added_while_a_filter_is_built_elsewhere_is_in_it) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *path = built(c, 600), *gate = text_of("%s.gate", path);
    make_live(c);
    CHECK(mkfifo(gate, 0600) == 0);
    struct program *p =
        program_start("import", "k", KIND, "-p", program_port(s), "--settle", "0",
                      "--prove", "599", "--rebuild", text_of("cat %s; cat %s", gate, path));
    WAIT_UNTIL(is_rebuilding(c, "k"));
    add_numbers(c, "k", 5000, 5100);
    file_write(gate, "", 0);
    CHECK_INT(program_wait(p), EXIT_DONE);
    int items = 0;
    sscanf(program_output(p), "k is ready: %*[^,], %d items\n", &items);
    CHECK_NEAR(items, 600, 30);
    CHECK_INT(count_missing(c, "k", 0, 600), 0);
    CHECK_INT(count_missing(c, "k", 5000, 5100), 0);
    expect(c, "absent", "BF.CHECK", "k", "nobody");
}

/* The bits of both generations don't add up: what was deleted is gone. */
TEST(what_is_built_takes_the_place_of_what_was) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *path = built(c, 300);
    make_live(c);
    struct outcome got = rebuild(s, text_of("cat %s", path), "--lease", "1000");
    CHECK_STR(got.err, "");
    CHECK_INT(count_missing(c, "k", 0, 300), 0);
    CHECK(count_missing(c, "k", 300, 500) > 180);
    CHECK(reply_field(call(c, "BF.INFO", "k", "FULL"), "Lease until ms")->integer > 0);
}

/* -------------------------------------------------------------------------
 * What goes wrong
 * ---------------------------------------------------------------------- */

TEST(a_build_that_fails_changes_nothing) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *good = built(c, 500), *few = built(c, 100), *none = built(c, 0);
    make_live(c);
    expect(c, "OK", "BF.RESERVE", "other", "0.01", "2000", "KIND", KIND);
    add_numbers(c, "other", 0, 600);
    struct file large = exported(c, "other");
    const char *other = bytes_file(large.bytes, large.length);

    expect_no_rebuild(s, EXIT_SOURCE, "ended with code 3", text_of("cat %s; exit 3", good),
                      NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "was ended by signal 9",
                      text_of("cat %s; kill -9 $$", good), NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "true printed nothing", "true", NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "nosuchcommand ended with code 127", "nosuchcommand",
                      NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "printed no filter of kind guava: it ends too early",
                      text_of("head -c 500 %s", good), NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE,
                      "printed no filter of kind guava: its strategy is unknown",
                      "seq 1 500", NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "ERR received bad data", text_of("cat %s", other),
                      NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "printed a filter without items",
                      text_of("cat %s", none), NULL, NULL);
    expect_no_rebuild(s, EXIT_SOURCE, "if that is right, give --fewer",
                      text_of("cat %s", few), NULL, NULL);
    expect_no_rebuild(s, EXIT_ITEMS,
                      "'nobody' is not among the items of the source: look at "
                      "--encode and --prove",
                      text_of("cat %s", good), "--prove", "nobody");
    CHECK_INT(rebuild(s, text_of("cat %s", few), "--fewer").code, EXIT_DONE);
}

/* Without one, everything would be absent if items became bytes in another way. */
TEST(what_has_items_is_committed_only_with_a_proof) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *path = built(c, 500), *none = built(c, 0), *no_lines = bytes_file("", 0);
    make_live(c);
    const char *before = filter_text(c, "k");
    struct outcome got = exchange(s, "import", "k", KIND, "--settle", "0", "--prove-file",
                                  no_lines, "--rebuild", text_of("cat %s", path));
    CHECK_INT(got.code, EXIT_SOURCE);
    CHECK_STR(got.err, text_of("bulwark: %s has no items: it proves nothing\n", no_lines));
    got = exchange(s, "import", "k", KIND, "--settle", "0", "--empty", "--rebuild",
                   text_of("cat %s", path));
    CHECK_INT(got.code, EXIT_SOURCE);
    CHECK(strstr(got.err, "printed a filter that has items: name some by --prove"));
    CHECK_STR(filter_text(c, "k"), before);
    got = exchange(s, "import", "k", KIND, "--settle", "0", "--empty", "--rebuild",
                   text_of("cat %s", none));
    CHECK_STR(got.err, "");
    expect(c, "absent", "BF.CHECK", "k", "1");
}

/* What is said of the bytes is no mere help for counting. (SEED and VARIANT go to START, so
 * that the proof fails if they are wrong.) */
TEST(what_is_said_beside_the_bytes_has_to_be_true) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    static const struct {
        const char *kind, *right[4], *wrong[4], *why;
    } all[] = {{"clickhouse",
                {"--hashes", "5", "--seed", "0"},
                {"--hashes", "7", "--seed", "0"},
                "its number of hashes is another"},
               {"crc32",
                {"--hashes", "6", "--bits", "9585"},
                {"--hashes", "6", "--bits", "9584"},
                "its size is another"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s: %s", all[i].kind, all[i].why);
        expect(c, "OK", "FLUSHALL");
        make_library(c, "k", all[i].kind, "raw", 1000);
        struct file bytes = exported(c, "k");
        const char *command = text_of("cat %s", bytes_file(bytes.bytes, bytes.length));
        const char *const *w = all[i].wrong, *const *r = all[i].right;
        struct outcome got =
            exchange(s, "import", "k", all[i].kind, "--settle", "0", "--prove", "1",
                     "--rebuild", command, w[0], w[1], w[2], w[3]);
        CHECK_INT(got.code, EXIT_SOURCE);
        if (!strstr(got.err, all[i].why)) FAIL("it said: %s", got.err);
        CHECK(!is_rebuilding(c, "k"));
        got = exchange(s, "import", "k", all[i].kind, "--settle", "0", "--prove", "1",
                       "--rebuild", command, r[0], r[1], r[2], r[3]);
        CHECK_STR(got.err, "");
    }
}

/* Whoever names the kind of what is built has not said that another's filter may go. */
TEST(a_filter_of_another_kind_stays_what_it_is_unless_told) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *path = built(c, 500);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "READY");
    expect_no_rebuild(s, EXIT_REFUSED,
                      "k is a filter of kind lines: if it is to become one of kind guava, "
                      "give --convert",
                      text_of("cat %s", path), NULL, NULL);
    CHECK_STR(rebuild(s, text_of("cat %s", path), "--convert").err, "");
    CHECK_STR(reply_field(call(c, "BF.INFO", "k", "FULL"), "Kind")->str, KIND);
}

TEST(a_signal_ends_the_build_and_drops_the_rebuild) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *pid = text_of("%s.pid", built(c, 500));
    make_live(c);
    const char *before = filter_text(c, "k");
    struct program *p = program_start("import", "k", KIND, "-p", program_port(s),
                                      "--settle", "0", "--prove", "1", "--rebuild",
                                      text_of("echo $$ >%s; exec sleep 600", pid));
    WAIT_UNTIL(access(pid, R_OK) == 0 && file_read(pid).length > 0);
    program_signal(p, SIGINT);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    CHECK(kill(atoi(file_read(pid).bytes), 0) != 0);
    CHECK_STR(filter_text(c, "k"), before);
    CHECK(!is_rebuilding(c, "k"));
}

TEST(a_rebuild_has_a_command_and_a_proof_and_no_file) {
    struct outcome got = program_run("import", "k", KIND, "/nowhere", "--rebuild", "true");
    CHECK_INT(got.code, EXIT_USAGE);
    CHECK_STR(got.err,
              "bulwark: with --rebuild there is no FILE: what COMMAND prints takes "
              "its place\n");
    CHECK_INT(program_run("import", "k", KIND).code, EXIT_USAGE);
    got = program_run("import", "k", KIND, "--rebuild", "true");
    CHECK_INT(got.code, EXIT_USAGE);
    CHECK(strstr(got.err, "--rebuild wants --prove or --prove-file"));
}

/* The command may take hours, and the server learns nothing of it. */
TEST(what_items_are_counted_by_is_asked_for_beforehand) {
    static const struct {
        const char *kind, *option, *value, *sentence;
    } all[] = {
        {"clickhouse", NULL, NULL, "--hashes is missing"},
        {"crc32", NULL, NULL, "--hashes and --bits are missing"},
        {"crc32", "--hashes", "5", "--bits is missing"},
        {"lines", NULL, NULL, "kind lines is none whose items can be counted (leveldb, "}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s: %s", all[i].kind, all[i].sentence);
        struct outcome got =
            program_run("import", "k", all[i].kind, "--rebuild", "true", "--prove", "1",
                        "--socket", "/nowhere", all[i].option, all[i].value);
        CHECK_INT(got.code, EXIT_USAGE);
        CHECK(strstr(got.err, all[i].sentence));
    }
}
