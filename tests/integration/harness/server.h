/* SPDX-License-Identifier: BSD-3-Clause */

/* server.h - real servers, started for a test and always stopped.
 *
 *     struct server *master = server_start(.config = "appendonly yes");
 *     struct server *plain = server_start(.without_module = true);
 *     struct server *shared = server_shared();
 *
 * SERVER names the binary (default: redis-server from PATH), MODULE the module
 * (default: ./bulwark.so). Each server listens on 127.0.0.1 at a free port, runs
 * in its own directory with its own config file, and answers when server_start()
 * returns. What it prints goes to a file there.
 *
 * When the test ends, its servers end and their directories go. A server that
 * died without being asked to, or whose log holds a crash or sanitizer report
 * (its children's included), fails the test; a failed test shows the last lines
 * of each server's log. */

#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "product.h"

struct server_options {
    bool unused; /* Lets server_start() be called without any option. */
    bool without_module;
    bool sentinel;           /* not a server but a sentinel; without_module, too */
    const char *module;      /* its path; NULL: MODULE */
    const char *module_args; /* What follows the module's path; may be NULL. */
    const char *config;      /* Further config lines; may be NULL. */
    const char *preload; /* "clock": tests/preload/clock.c; "disk,clock"; may be NULL. */
};

struct server {
    int port;
    pid_t pid; /* 0 while it is down. */
    char *directory;
    struct server_options options; /* Change them before server_start_again(). */
    bool down_is_fine;             /* The test ended it. */
    int exit_status;               /* As from waitpid, once it is down. */
    off_t log_start;               /* What the log held when the test began. */
};

/* -------------------------------------------------------------------------
 * Life and death
 * ---------------------------------------------------------------------- */

#define server_start(...)                                                                  \
    server_start_with((struct server_options){.unused = 0, __VA_ARGS__})

struct server *server_start_with(struct server_options options);

/* The server that the tests of one file share, started by the first that asks,
 * emptied by FLUSHALL for each. A test that changes its settings puts them back.
 * A failed test takes it along: the next one gets a fresh server. */
struct server *server_shared(void);

/* A server that is expected to give up during its start: returns its log, owned
 * by the test. Fails if it comes up. */
#define server_refusal(...)                                                                \
    server_refusal_with((struct server_options){.unused = 0, __VA_ARGS__})

const char *server_refusal_with(struct server_options options);

void server_kill(struct server *s);     /* -9, its children with it */
void server_shutdown(struct server *s); /* SIGTERM; saves if save points are set.
                                           Fails if it does not exit with 0 */
void server_pause(struct server *s);    /* SIGSTOP: the host hangs */
void server_resume(struct server *s);

/* Sets the wall clock of a server with .preload = "clock" fast by `seconds`, or slow if
 * negative. Returns when the server shows that; it stays so over restarts. */
void server_set_clock(struct server *s, long long seconds);

/* Same port, same directory, s->options as they are by now. */
void server_start_again(struct server *s);

/* For a test that expects the server to end by itself: waits until it has. */
void server_wait_for_end(struct server *s);

/* In its directory: takes a small disk's room, until it is started again. See disk.h. */
#define SERVER_FILLER "filler"

/* Path of a file in its directory, owned by the test. */
const char *server_file(const struct server *s, const char *name);

/* The object that tests/preload/NAME.c becomes, for what isn't preloaded: a module. Owned
 * by the test. */
const char *server_preload_path(const char *name);

/* Path of the file that commands are appended to, owned by the test. Fails if there is
 * none. */
const char *server_aof(const struct server *s);

/* A port that nobody listens at, for whatever else a test starts. */
int server_free_port(void);

/* What it has printed since the test began, owned by the test. */
const char *server_log(const struct server *s);

#endif
