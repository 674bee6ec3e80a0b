/* SPDX-License-Identifier: BSD-3-Clause */

/* program_test.c - what program.h promises, shown with programs of every machine. */

#include "harness.h"

#include <signal.h>
#include <unistd.h>

static void put_back(void *before) {
    if (before)
        setenv("PROGRAM", before, 1);
    else
        unsetenv("PROGRAM");
}

static void run_shell_instead(void) {
    test_defer(put_back, getenv("PROGRAM"));
    setenv("PROGRAM", "/bin/sh", 1);
}

TEST_OF_OTHERS(a_program_gives_back_what_it_printed_and_its_exit_code) {
    run_shell_instead();
    struct outcome got = program_run("-c", "cat; echo out; echo err >&2; exit 5");
    CHECK_INT(got.code, 5);
    CHECK_STR(got.out, "out\n");
    CHECK_STR(got.err, "err\n");
}

TEST_OF_OTHERS(a_program_is_fed_and_signalled) {
    run_shell_instead();
    struct program *p = program_start("-c", "read line; echo got $line; exec cat");
    CHECK(program_feed(p, "anna\n", 5));
    WAIT_UNTIL(strcmp(program_output(p), "got anna\n") == 0);
    program_signal(p, SIGKILL);
    CHECK_INT(program_wait(p), 128 + SIGKILL);
    CHECK(!program_feed(p, "more", 4));
}

TEST_OF_OTHERS(a_program_may_have_a_terminal) {
    run_shell_instead();
    struct program *p = program_start_on_terminal("-c", "test -t 1 && stty size <&1");
    CHECK_INT(program_wait(p), 0);
    CHECK_STR(program_output(p), "24 80\r\n");
}
