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
    expect_no_rebuild(s, EXIT_SOURCE, "is empty", "true", NULL, NULL);
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
