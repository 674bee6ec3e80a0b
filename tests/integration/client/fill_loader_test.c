/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_loader_test.c - bulwark fill beside other loaders, alive and dead, and when it is
 * told to stop. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "states.h"

#include <signal.h>

/* A fill of k that has begun and waits for more items. */
static struct program *half_a_fill(struct server *s, redisContext *c) {
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000", "--batch", "1");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    CHECK(program_feed(p, "half\n", 5));
    WAIT_UNTIL(received(c, "k") == 1);
    return p;
}

TEST(a_signal_undoes_what_was_begun) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_old(c);
    const char *before = filter_text(c, "k");
    for (int i = 0; i < 3; i++) {
        struct program *p = half_a_fill(s, c);
        program_signal(p, signals[i]);
        CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
        CHECK_STR(filter_text(c, "k"), before);
        CHECK(!is_rebuilding(c, "k"));
    }
}

/* timeout(1) sends it to the program, and then to its group. */
TEST(a_signal_that_is_sent_twice_at_once_is_one) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_old(c);
    struct program *p = half_a_fill(s, c);
    program_signal(p, SIGSTOP);
    program_signal(p, SIGTERM);
    program_signal(p, SIGINT);
    program_signal(p, SIGCONT);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    CHECK(!is_rebuilding(c, "k"));
}

TEST(a_signal_ends_the_settling_too) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_old(c);
    struct program *p = fill_start(s, "--from", numbers_file(0, 9), "--settle", "1h");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    program_signal(p, SIGTERM);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    CHECK(!is_rebuilding(c, "k"));
}

TEST(a_fill_waits_for_writers_before_it_reads) {
    struct server *s = server_shared();
    double began = seconds_now();
    expect_filled(s, "--from", numbers_file(0, 9), "--settle", "700ms");
    CHECK(seconds_now() - began >= 0.7);
}

TEST(another_loader_at_work_is_not_disturbed) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *token = start_rebuild(c, "k");
    struct program *p = fill_start(s, "--from", numbers_file(0, 9));
    long at = 0;
    for (; program_is_running(p); at++)
        CHECK_INT(load_numbers(c, "k", token, at, at + 1), at + 1);
    CHECK_INT(program_wait(p), EXIT_BUSY);
    CHECK(strstr(program_errors(p), "another loader is filling k"));
    expectf(c, "OK", "BF.REBUILD k COMMIT %s %ld", token, at);
}

TEST(a_dead_loader_is_replaced_when_it_has_been_silent_for_long_enough) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *token = start_rebuild(c, "k");
    load_numbers(c, "k", token, 0, 10);
    double began = seconds_now();
    struct outcome got = fill(s, "--from", numbers_file(100, 200), "--stale", "3s");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(seconds_now() - began > 1.5);
    CHECK(strstr(got.err, "there is a rebuild of another loader, silent for"));
    CHECK(strstr(got.err, "(--stale), or once it is ended by BF.REBUILD k ABORT\n"));
    CHECK(strstr(got.out, " items in ") && strstr(got.out, ", waiting to begin for "));
    check_holds(c, "k", 100, 200);
    CHECK(count_missing(c, "k", 0, 10) > 5);
}

TEST(a_killed_fill_is_followed_by_one_that_ends_right) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_old(c);
    struct program *p = half_a_fill(s, c);
    program_signal(p, SIGKILL);
    program_wait(p);
    CHECK(is_rebuilding(c, "k"));
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "1", "half");
    expect_filled(s, "--from", numbers_file(500, 700), "--stale", "1s");
    check_holds(c, "k", 500, 700);
}

TEST(at_once_means_whoever_is_at_work) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *token = start_rebuild(c, "k");
    expect_filled(s, "--from", numbers_file(0, 100), "--stale", "0");
    expect(c, NO_REBUILD, "BF.REBUILD", "k", "COMMIT", token, "0");
    check_holds(c, "k", 0, 100);
}

TEST(a_fill_that_settles_is_not_taken_for_dead_by_another_like_it) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *ids = numbers_file(0, 9);
    struct program *p = fill_start(s, "--from", ids, "--settle", "4s", "--stale", "2s");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    struct program *q = fill_start(s, "--from", ids, "--settle", "4s", "--stale", "2s");
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK_STR(program_errors(p), "");
    int code = program_wait(q);
    CHECK(code == EXIT_DONE || code == EXIT_BUSY);
}

/* The server takes the rebuild for interrupted; the file can be read again. */
TEST(a_rebuild_that_was_told_loading_begins_again) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    struct program *p = fill_start(s, "--from", numbers_file(0, 1000), "--settle", "3s");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    expect(c, "OK", "BF.LOADING", "k");
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(strstr(program_errors(p), "begins again"));
    check_holds(c, "k", 0, 1000);
}

TEST(a_pipe_cannot_be_read_again_and_that_is_told) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    struct program *p = half_a_fill(s, c);
    expect(c, "OK", "BF.LOADING", "k");
    CHECK(program_feed(p, "more\n", 5));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_SERVER);
    CHECK(strstr(program_errors(p), "run this once more"));
    CHECK_STR(unknown_by(c, "k"), "loading");
}

/* What was loaded is gone, and so is the filter, since there are no files. */
TEST(a_server_that_restarts_during_a_fill_is_filled_all_the_same) {
    struct server *s = server_start();
    struct program *p = fill_start(s, "--from", numbers_file(0, 200000), "--settle", "2s");
    redisContext *c = client(s);
    WAIT_UNTIL(is_rebuilding(c, "k"));
    server_kill(s);
    server_start_again(s);
    CHECK_INT(program_wait(p), EXIT_DONE);
    check_holds(client(s), "k", 0, 200000);
}

TEST(a_server_that_hangs_for_a_while_is_waited_for) {
    struct server *s = server_start();
    redisContext *c = client(s);
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    server_pause(s);
    CHECK(program_feed(p, "1\n2\n", 4));
    program_end_input(p);
    usleep(700000);
    CHECK(program_is_running(p));
    server_resume(s);
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(c, "[maybe, maybe, absent]", "BF.MCHECK", "k", "1", "2", "3");
}

TEST(a_server_that_hangs_for_too_long_ends_the_fill) {
    struct server *s = server_start();
    redisContext *c = client(s);
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000", "--batch", "1",
                                   "--timeout", "2s");
    CHECK(program_feed(p, "half\n", 5));
    WAIT_UNTIL(received(c, "k") == 1); /* So it knows of its rebuild. */
    server_pause(s);
    CHECK(program_feed(p, "1\n2\n", 4));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_SERVER);
    CHECK(strstr(program_errors(p), "could not be undone: the next run does"));
    server_resume(s);
}
