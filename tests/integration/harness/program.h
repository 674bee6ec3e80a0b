/* SPDX-License-Identifier: BSD-3-Clause */

/* program.h - runs ./bulwark, the program under test, as a shell would.
 *
 *     struct outcome got = program_run("list", "-p", program_port(s), "--json");
 *     CHECK_INT(got.code, 0);
 *
 *     struct program *p = program_start("fill", "users", "--from", "-", ...);
 *     program_feed(p, "1\n2\n", 4);
 *     WAIT_UNTIL(strstr(program_errors(p), "2 items"));
 *     program_signal(p, SIGINT);
 *     CHECK_INT(program_wait(p), 7);
 *
 * PROGRAM names the binary (default: ./bulwark). Its standard input is a pipe, empty for
 * program_run(); what it prints goes to files, so that it never waits for the test. On a
 * terminal its output is one of 80 by 24, or of fewer columns.
 *
 * When the test ends, it ends. A sanitizer's report among its errors fails the test. */

#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "server.h"

struct program {
    pid_t pid;       /* 0 once it has ended */
    int status;      /* as from waitpid, then */
    int input;       /* -1: closed */
    int terminal;    /* -1: none */
    char *directory; /* where "out" and "err" are */
};

/* What a run has come to. Texts belong to the test. */
struct outcome {
    int code; /* the exit code; 128 and the signal's number if one ended it, as in shells */
    const char *out, *err;
};

/* Arguments are C strings, without the program's own name. */
#define program_run(...)   program_run_with((const char *[]){__VA_ARGS__, NULL})
#define program_start(...) program_start_with((const char *[]){__VA_ARGS__, NULL})
#define program_start_on_terminal(...)                                                     \
    program_start_on_terminal_with((const char *[]){__VA_ARGS__, NULL}, 80)
#define program_start_on_narrow_terminal(columns, ...)                                     \
    program_start_on_terminal_with((const char *[]){__VA_ARGS__, NULL}, (columns))

struct outcome program_run_with(const char *const *arguments);
struct program *program_start_with(const char *const *arguments);
struct program *program_start_on_terminal_with(const char *const *arguments, int columns);

/* Waits until it has read it, but for what fits into a pipe. False: it reads no more. */
bool program_feed(struct program *p, const void *bytes, size_t length);
void program_end_input(struct program *p);

void program_signal(struct program *p, int number);
bool program_is_running(struct program *p);

/* Whether it has said to the system that it wants to know of that signal. */
bool program_catches(const struct program *p, int number);

/* Until it has ended by itself, for two minutes; returns outcome's code. */
int program_wait(struct program *p);

/* What it has printed so far. */
const char *program_output(struct program *p);
const char *program_errors(struct program *p);

/* A server's port, as text. */
const char *program_port(const struct server *s);

#endif
