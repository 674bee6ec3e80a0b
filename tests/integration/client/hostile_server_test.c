/* SPDX-License-Identifier: BSD-3-Clause */

/* hostile_server_test.c - servers that hang, drip, send without end or make things up: none
 * is waited for longer than was said, and a signal is heard meanwhile. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "looks.h"
#include "states.h"

#include <signal.h>

/* More than a reply may have. */
#define FLOOD (20u << 20)

/* Where it begins to send a byte now and then, without end: in the answer to ... */
static const struct {
    const char *step, *bytes, *options[4];
} drips[] = {
    {"AUTH", "+", {"--pass", "x"}},
    {"CLUSTER SLOTS", "+", {"-c"}},
    {"BF.INFO", "+", {NULL}},
    {"START", "*0\r\n+", {NULL}},
};

#define DRIPS (sizeof drips / sizeof *drips)

static struct program *fill_from(const char *port, const char *timeout,
                                 const char *const *options) {
    const char *line[16] = {"fill",      "k",    "-p",     port,
                            "--settle",  "0",    "--from", numbers_file(0, 9),
                            "--timeout", timeout};
    for (size_t i = 0; options[i]; i++)
        line[10 + i] = options[i];
    return program_start_with(line);
}

TEST(a_server_that_drips_is_given_up) {
    for (size_t i = 0; i < DRIPS; i++) {
        test_case("%s", drips[i].step);
        const char *port = stand_in_without_end(drips[i].bytes, strlen(drips[i].bytes));
        struct program *p = fill_from(port, "1s", drips[i].options);
        CHECK_INT(program_wait(p), EXIT_SERVER);
        CHECK(text_matches(program_errors(p), "bulwark: *\n"));
    }
}

/* It would be waited for an hour. */
TEST(a_signal_is_heard_while_a_server_hangs) {
    for (size_t i = 0; i < DRIPS; i++) {
        test_case("%s", drips[i].step);
        const char *port = stand_in_without_end(drips[i].bytes, strlen(drips[i].bytes));
        struct program *p = fill_from(port, "1h", drips[i].options);
        WAIT_UNTIL(program_catches(p, SIGTERM));
        program_signal(p, SIGTERM);
        CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
        CHECK(strstr(program_errors(p), "interrupted"));
    }
}

TEST(a_reply_that_is_longer_than_any_should_be_is_not_taken_in) {
    static const char begun[] = "$1500000000\r\n";
    char *flood = malloc(FLOOD);
    test_defer(free, flood);
    memset(flood, 'x', FLOOD);
    memcpy(flood, begun, strlen(begun));
    struct outcome got = program_run("list", "-p", stand_in(flood, FLOOD));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "its reply is longer than any should be"));
}

/* Each time that it is asked it is a second older, as it should be, and never ends. */
TEST(a_rebuild_that_does_not_end_is_not_waited_for_without_end) {
    const char *says = "*0\r\n";
    for (int age = 0; age < 60; age++)
        says = text_of("%s-ERR rebuild under way, begun %d seconds ago, last LOAD %d "
                       "seconds ago\r\n",
                       says, age, age);
    struct program *p = fill_from(stand_in(says, strlen(says)), "1s",
                                  (const char *const[]){"--stale", "1s", NULL});
    CHECK_INT(program_wait(p), EXIT_BUSY);
    CHECK(strstr(program_errors(p), "doesn't end"));
}

/* A sanitizer would say what is wrong with sums of them. */
TEST(a_rebuild_of_an_impossible_age_is_refused) {
    static const char says[] =
        "*0\r\n-ERR rebuild under way, begun 9223372036854775807 seconds ago, last LOAD "
        "9223372036854775807 seconds ago\r\n";
    struct program *p = fill_from(stand_in(says, strlen(says)), "1s",
                                  (const char *const[]){"--stale", "1s", NULL});
    CHECK(program_wait(p) != EXIT_DONE);
}

/* It would stand in the middle of each LOAD. */
TEST(a_token_that_is_none_is_refused) {
    static const char says[] = "*0\r\n$16\r\n0123456\r\n9abcdef\r\n";
    struct program *p =
        fill_from(stand_in(says, strlen(says)), "1s", (const char *const[]){NULL});
    CHECK_INT(program_wait(p), EXIT_REFUSED);
    CHECK(strstr(program_errors(p), "no token came"));
}

/* ---- what is said of it ---- */

TEST(a_password_is_in_no_sentence) {
    struct server *s = server_start(.config = "rename-command AUTH AUTHX");
    const char *port = program_port(s);
    const char *const lines[][9] = {
        {"fill", "k", "-p", port, "--from", "/dev/null", "--capacity", "9"},
        {"list", "-p", port},
        {"list", "-p", port, "--json"},
        {"metrics", "-p", port, "--once"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        test_case("%s", lines[i][0]);
        const char *line[11] = {0};
        memcpy(line, lines[i], sizeof lines[i]);
        size_t n = 0;
        while (line[n])
            n++;
        line[n] = "--pass", line[n + 1] = "hunter2";
        struct outcome got = program_run_with(line);
        CHECK(got.code != EXIT_DONE);
        CHECK(strstr(text_of("%s%s", got.out, got.err), "(ERR unknown command)"));
        CHECK(!strstr(got.out, "hunter") && !strstr(got.err, "hunter"));
    }
}

TEST(what_is_no_option_is_not_told_in_full) {
    struct outcome got = program_run("list", "-ahunter2");
    CHECK_INT(got.code, EXIT_USAGE);
    CHECK(strstr(got.err, "list takes no option -a"));
    CHECK(!strstr(got.err, "hunter"));
}
