/* SPDX-License-Identifier: BSD-3-Clause */

/* database.h - a real PostgreSQL, started for a test and always stopped.
 *
 *     struct database *d = database_start(.config = "max_prepared_transactions = 2");
 *     database_run(d, "CREATE TABLE users AS SELECT generate_series(1, %d) AS id", 100);
 *     ... "bulwark", "fill", "users", "--pg", d->conninfo, "--table", "users" ...
 *
 *     int writer = database_connect(d);          a session that stays open
 *     database_say(writer, "BEGIN; INSERT INTO users VALUES (101)");
 *
 * It listens on a unix socket in its own directory and on no port. PostgreSQL refuses to be
 * root: if the tests are, it runs as `nobody`. build/deps/postgres is what is started; a
 * machine for which there is none skips the test. Needs no libpq. */

#ifndef DATABASE_H
#define DATABASE_H

#include <stdbool.h>
#include <sys/types.h>

struct database_options {
    bool unused;          /* Lets database_start() be called without any option. */
    bool standby;         /* It recovers for ever: a standby, whose primary is silent. */
    const char *config;   /* Further lines of postgresql.conf; may be NULL. */
    const char *encoding; /* NULL: UTF8. */
};

struct database {
    pid_t pid; /* 0 while it is down. */
    char *directory;
    char conninfo[512]; /* What libpq takes. */
};

#define database_start(...)                                                                \
    database_start_with((struct database_options){.unused = 0, __VA_ARGS__})

/* It answers when this returns, and ends with the test. */
struct database *database_start_with(struct database_options options);

/* One for all tests of the process, whose schema `public` is empty: a start takes seconds.
 * Not for tests that end it, or set what lasts. */
struct database *database_shared(void);

/* kill -9 of the server; its sessions' processes notice and end. */
void database_kill(struct database *d);
void database_start_again(struct database *d);

/* A session, as a file descriptor. It is closed when the test ends, if not before. */
int database_connect(struct database *d);

/* What the statements of the text gave: the first column of each row, a line each. Owned by
 * the test. An error of PostgreSQL fails it. */
const char *database_say(int session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For what dies under the caller, who closes and frees: -1 if it takes no connection; NULL
 * after an error, or when the session has ended. */
int database_try_to_connect(struct database *d);
char *database_try(int session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same as database_say() in a session of its own. */
const char *database_run(struct database *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
