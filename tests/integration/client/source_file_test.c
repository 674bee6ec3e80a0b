/* SPDX-License-Identifier: BSD-3-Clause */

/* source_file_test.c - bulwark fill --from: which items the lines of a file are, and the
 * values of a CSV file; and what is refused. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "items.h"
#include "states.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ITEM_MAX (64 << 10)

/* ---- lines ---- */

TEST(each_line_is_an_item) {
    static const struct good cases[] = {
        {"lines end with LF", {NULL}, BYTES("1\n2\n"), "1|2"},
        {"the last may lack its end", {NULL}, BYTES("1\n23"), "1|23"},
        {"one without an end is all there is", {NULL}, BYTES("1"), "1"},
        {"spaces belong to the item", {NULL}, BYTES(" 1 \n2 3\n"), " 1 |2 3"},
        {"quotes and commas, too", {NULL}, BYTES("\"1\",2\n"), "\"1\",2"},
        {"bytes above ASCII",
         {NULL},
         BYTES("\xc3\xa9\n\xff\xfe\x80\n"),
         "\xc3\xa9|\xff\xfe\x80"},
        {"a byte order mark is skipped",
         {NULL},
         BYTES("\xef\xbb\xbf"
               "1\n2\n"),
         "1|2"},
        {"but only before the first",
         {NULL},
         BYTES("1\n\xef\xbb\xbf"
               "2\n"),
         "1|\xef\xbb\xbf"
         "2"},
        {"half of one is an item", {NULL}, BYTES("\xef\xbb"), "\xef\xbb"},
        {"and all is, if binary",
         {"--binary"},
         BYTES("\xef\xbb\xbf"
               "1\n"),
         "\xef\xbb\xbf"
         "1"},
        {"a CR and a tab are bytes, if binary", {"--binary"}, BYTES("1\r\n\t\n"), "1\r|\t"},
        {"empty lines are items, if binary", {"--binary"}, BYTES("1\n\n2\n"), "1||2"},
        {"NUL ends an item",
         {"--null"},
         BYTES("1\0"
               "2\0"),
         "1|2"},
        {"the last may lack it",
         {"--null"},
         BYTES("1\0"
               "2"),
         "1|2"},
        {"a newline is a byte then",
         {"--null", "--binary"},
         BYTES("1\n2\0"
               "3\0"),
         "1\n2|3"},
        {"a template puts bytes around each",
         {"--item", "<{}>"},
         BYTES("1\n2\n"),
         "<1>|<2>"},
    };
    EXPECT_ITEMS(cases);
}

TEST(a_line_that_is_a_mistake_stops_the_fill) {
    static const struct bad cases[] = {
        {"an empty line",
         {NULL},
         BYTES("1\n\n3\n"),
         EXIT_ITEMS,
         "row 2: \"\" is empty*: 1 value of*"},
        {"an empty line at the end",
         {NULL},
         BYTES("1\n\n"),
         EXIT_ITEMS,
         "row 2: \"\" is empty*"},
        {"an empty item of those that NUL ends",
         {"-0"},
         BYTES("1\0\0"),
         EXIT_ITEMS,
         "row 2: \"\" is empty*"},
        {"CR LF",
         {NULL},
         BYTES("1\r\n2\r\n"),
         EXIT_ITEMS,
         "row 1: \"1\\x0d\" ends with a CR*row 2:*: 2 values of*"},
        {"a NUL",
         {NULL},
         BYTES("1\n2\0x\n"),
         EXIT_ITEMS,
         "row 2: \"2\\x00x\" has a NUL byte*: 1 value of*"},
        {"a tab", {NULL}, BYTES("1\n2\tx\n"), EXIT_ITEMS, "row 2: \"2\\x09x\" has a tab*"},
        {"a newline where NUL ends items",
         {"-0"},
         BYTES("a\nb\0c\0"),
         EXIT_ITEMS,
         "row 1: \"a\\x0ab\" has a newline*"},
        {"an escape",
         {NULL},
         BYTES("\x1b[1m\n"),
         EXIT_ITEMS,
         "row 1: \"\\x1b[1m\" has a control character*"},
        {"an escape of one byte",
         {NULL},
         BYTES("\x9b"
               "2J\x01\n"),
         EXIT_ITEMS,
         "row 1: \"\\x9b2J\\x01\" has a control character*"},
        {"a DEL behind eight bytes",
         {NULL},
         BYTES("12345678\x7f\n"),
         EXIT_ITEMS,
         "row 1: \"12345678\\x7f\" has a control*"},
        {"a DEL in eight bytes",
         {NULL},
         BYTES("1234567\x7f\n"),
         EXIT_ITEMS,
         "row 1: \"1234567\\x7f\" has a control*"},
        {"UTF-16",
         {NULL},
         BYTES("\xff\xfe"
               "1\0\n\0"),
         EXIT_ITEMS,
         "row 1:*has a NUL byte*row 2:*"},
        {"only a byte order mark",
         {NULL},
         BYTES("\xef\xbb\xbf"),
         EXIT_SOURCE,
         "*has no items*--empty*"},
        {"ten are shown, all are counted",
         {NULL},
         BYTES("\n\n\n\n\n\n\n\n\n\n\n\n"),
         EXIT_ITEMS,
         "row 1: \"\" is empty\nrow 2: *\nrow 10: \"\" is empty\nbulwark: 12 values of*"},
    };
    EXPECT_REFUSED(cases);
}

/* Buffers are larger than an item may be, and smaller than these. */
TEST(an_item_has_64_kib_at_most) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    size_t length = 1 << 20;
    char *bytes = malloc(length);
    test_defer(free, bytes);
    memset(bytes, 'x', length);
    memcpy(bytes, "1\n", 2);
    memcpy(bytes + length - 3, "\n3\n", 3);
    for (int i = 0; i < 2; i++) {
        const char *binary = i ? "--binary" : NULL;
        struct outcome got = fill(s, "--from", bytes_file(bytes, length), binary);
        CHECK_INT(got.code, EXIT_ITEMS);
        CHECK(text_matches(
            got.err, "row 2: \"xxx*...\" is longer than 64 KiB\nbulwark: 1 value of*"));
        CHECK_INT(fill(s, "--from", bytes_file(bytes + 2, ITEM_MAX + 1), binary).code,
                  EXIT_ITEMS);
        call(c, "DEL", "k");
        expect_filled(s, "--from", bytes_file(bytes + 2, ITEM_MAX), "--item", "{}!",
                      binary);
        bytes[2 + ITEM_MAX] = '!';
        expectf(c, "maybe", "BF.CHECK k %b", bytes + 2, (size_t)ITEM_MAX + 1);
        bytes[2 + ITEM_MAX] = 'x';
    }
}

static int unread(const struct program *p) {
    int bytes = 0;
    CHECK(ioctl(p->input, FIONREAD, &bytes) == 0);
    return bytes;
}

/* What has come of it might still be an item. */
TEST(one_byte_too_many_is_noticed_though_it_comes_later) {
    struct server *s = server_shared();
    char *bytes = malloc(ITEM_MAX);
    test_defer(free, bytes);
    memset(bytes, 'x', ITEM_MAX);
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000");
    CHECK(program_feed(p, bytes, ITEM_MAX));
    WAIT_UNTIL(unread(p) == 0);
    CHECK(program_feed(p, "x\n", 2));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_ITEMS);
}

TEST(options_of_files_that_contradict_each_other_are_refused) {
    static const struct bad cases[] = {
        {"columns are counted from 1",
         {"--csv", "0"},
         BYTES("1\n"),
         EXIT_USAGE,
         "*--csv wants a column's number*"},
        {"and have no names",
         {"--csv", "id"},
         BYTES("1\n"),
         EXIT_USAGE,
         "*--csv wants a column's number, from 1, not 'id'*"},
        {"lines have no header",
         {"--header"},
         BYTES("1\n"),
         EXIT_USAGE,
         "*--header is for --csv*"},
        {"rows don't end with NUL",
         {"--csv", "1", "--null"},
         BYTES("1\n"),
         EXIT_USAGE,
         "*--null is for lines*"},
        {"a file has no standby",
         {"--standby"},
         BYTES("1\n"),
         EXIT_USAGE,
         "*--standby is for --pg*"},
        {"nor a query",
         {"--query", "SELECT 1"},
         BYTES("1\n"),
         EXIT_USAGE,
         "*want --pg, not --from*"},
    };
    EXPECT_REFUSED(cases);
}

/* ---- files, and what is none ---- */

static void restore(void *program) {
    if (program)
        setenv("PROGRAM", program, 1);
    else
        unsetenv("PROGRAM");
    free(program);
}

/* Until the test ends the program is run by this shell script, in which $P is itself. */
static void run_by(const char *script) {
    const char *program = getenv("PROGRAM");
    const char *text =
        text_of("#!/bin/sh\nP=%s\n%s\n", program ? program : "./bulwark", script);
    const char *path = bytes_file(text, strlen(text));
    CHECK(chmod(path, 0755) == 0);
    test_defer(restore, program ? strdup(program) : NULL);
    setenv("PROGRAM", path, 1);
}

TEST(a_file_that_is_the_standard_input_is_read_from_where_it_stands) {
    struct server *s = server_shared();
    run_by(text_of("{ read -r first; exec $P \"$@\"; } <%s", numbers_file(0, 100000)));
    struct outcome got = fill(s, "--from", "-", "--json", "--error", "0.000001");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "\"items\": 99999") || strstr(got.out, "\"items\":99999"));
    expect(client(s), "[absent, maybe, maybe]", "BF.MCHECK", "k", "0", "1", "99999");
}

TEST(a_fifo_is_read_until_nobody_writes_any_more) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *path = text_of("%s.fifo", bytes_file("", 0));
    CHECK(mkfifo(path, 0600) == 0);
    expect_unfilled(s, EXIT_USAGE, "* can't be counted beforehand: give --capacity*",
                    "--from", "/dev/null");
    struct program *p = fill_start(s, "--from", path, "--capacity", "1000", "--csv", "1");
    int first = open(path, O_WRONLY | O_CLOEXEC), second = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(first >= 0 && second >= 0);
    CHECK(write(first, "1,a\n2", 5) == 5);
    close(first);
    WAIT_UNTIL(received(c, "k") == 1);
    CHECK(write(second, "3,b\n", 4) == 4);
    close(second);
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(c, "[maybe, maybe, absent, absent]", "BF.MCHECK", "k", "1", "23", "2", "3");
}

TEST(what_is_no_file_is_refused) {
    struct server *s = server_shared();
    make_old(client(s));
    expect_unfilled(s, EXIT_SOURCE, "there is no file /nowhere/ids*", "--from",
                    "/nowhere/ids");
    expect_unfilled(s, EXIT_SOURCE, "/tmp is a directory: --from wants a file*", "--from",
                    "/tmp");
    expect_unfilled(s, EXIT_SOURCE, "there is no file *", "--from", "");
}

/* Root may read everything, but for this capability. */
TEST(a_file_that_this_user_may_not_read_is_refused) {
    struct server *s = server_shared();
    make_old(client(s));
    const char *path = numbers_file(0, 9);
    CHECK(chmod(path, 0) == 0);
    if (geteuid() == 0)
        run_by("exec setpriv --bounding-set -dac_override,-dac_read_search $P \"$@\"");
    expect_unfilled(s, EXIT_SOURCE, "this user may not read *items*", "--from", path);
}

/* Another's rebuild holds it up after it has counted the file, and before it reads. */
static void change_while_it_is_read(const char *path, int flags, const char *bytes,
                                    bool sets_back_its_time) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_old(c);
    const char *before = filter_text(c, "k"), *token = start_rebuild(c, "k");
    struct program *p = fill_start(s, "--from", path);
    WAIT_UNTIL(strstr(program_errors(p), "there is a rebuild of another loader"));
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
    struct stat was;
    CHECK_INT(fstat(fd, &was), 0);
    CHECK(write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    const struct timespec times[] = {was.st_atim, was.st_mtim};
    if (sets_back_its_time) CHECK_INT(futimens(fd, times), 0);
    close(fd);
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
    CHECK_INT(program_wait(p), EXIT_SOURCE);
    CHECK(strstr(program_errors(p), "was changed while it was read"));
    CHECK(!is_rebuilding(c, "k"));
    CHECK_STR(filter_text(c, "k"), before);
}

TEST(a_file_that_grows_while_it_is_read_is_refused) {
    change_while_it_is_read(numbers_file(0, 1000), O_APPEND, "1000\n", false);
}

TEST(a_file_that_is_written_anew_while_it_is_read_is_refused) {
    change_while_it_is_read(numbers_file(0, 1000), 0, "9\n8\n", false);
}

TEST(a_file_whose_time_is_set_back_after_a_change_is_refused) {
    change_while_it_is_read(numbers_file(0, 1000), 0, "9\n8\n", true);
}

/* Whoever writes into a pipe may die in the middle, which looks like an end. */
TEST(a_pipe_that_breaks_off_is_noticed_if_its_end_is_expected) {
    struct server *s = server_shared();
    make_old(client(s));
    static const struct {
        const char *bytes;
        int code;
    } cases[] = {{"1\n2\nTHE END\n", EXIT_DONE}, {"1\n2\n", EXIT_ITEMS}};
    for (int i = 0; i < 2; i++) {
        struct program *p = fill_start(s, "--from", "-", "--capacity", "1000", "--error",
                                       "0.000001", "--expect", "THE END");
        CHECK(program_feed(p, cases[i].bytes, strlen(cases[i].bytes)));
        program_end_input(p);
        CHECK_INT(program_wait(p), cases[i].code);
    }
}
