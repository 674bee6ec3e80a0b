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
 *     database_send(writer, "INSERT INTO users VALUES (102)");
 *     if (database_answers_within(writer, 0.5)) ...
 *
 * It listens on a unix socket in its own directory; with .tcp = true also at 127.0.0.1.
 * PostgreSQL refuses to be root: if the tests are, it runs as `nobody`. What is started is
 * build/deps/postgres, or with .version = 17 build/deps/postgres-17; a machine for which
 * there is none skips the test. Needs no libpq. */

#ifndef DATABASE_H
#define DATABASE_H

#include <stdbool.h>
#include <sys/types.h>

struct database_options {
    bool unused;          /* Lets database_start() be called without any option. */
    int version;          /* 0: that of POSTGRES=18 in the environment, or any. */
    bool standby;         /* It recovers for ever: a standby, whose primary is silent. */
    bool tcp;             /* It listens at d->port, too. */
    bool other_system;    /* Its system identifier is no other database's. */
    const char *config;   /* Further lines of postgresql.conf; may be NULL. */
    const char *encoding; /* NULL: UTF8. */
    const char *certificates; /* A folder: over TCP it speaks TLS alone, as localhost, with
                                 whoever has a certificate of the role's name. */
};

struct database {
    pid_t pid; /* 0 while it is down. */
    int version;
    int port;           /* In the name of its socket, even if it listens at none. */
    char *directory;    /* The data is in data/. */
    char conninfo[512]; /* What libpq takes. */
};

#define database_start(...)                                                                \
    database_start_with((struct database_options){.unused = 0, __VA_ARGS__})

/* It answers when this returns, and ends with the test. */
struct database *database_start_with(struct database_options options);

/* One for all tests of the process, whose schema `public` is empty, with wal_level =
 * logical, no publication and no slot: a start takes seconds. Not for tests that end it, or
 * set what lasts. */
struct database *database_shared(void);
struct database *database_shared_of(int version);

/* Whoever uses them loses them. */
void database_drop_slots(struct database *d);

/* kill -9 of the server; its sessions' processes notice and end. */
void database_kill(struct database *d);
/* "Fast": it ends its sessions, and saves. */
void database_stop(struct database *d);
void database_start_again(struct database *d);

/* All its processes hang, or go on. */
void database_pause(struct database *d);
void database_resume(struct database *d);

/* It is down, recovers as a standby would, and is promoted: another timeline. */
void database_promote(struct database *d);

/* It takes over the other's data, under its own address; the other is gone. */
void database_become(struct database *d, struct database *other);

/* It is down, and so is the copy. */
struct database *database_copy(struct database *d);

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

/* The two halves of database_try(): the statements are on their way; their answer, or part
 * of it, has come, or the session has ended; NULL as there. */
bool database_send(int session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool database_answers_within(int session, double seconds);
char *database_receive(int session);

/* The same as database_say() in a session of its own. */
const char *database_run(struct database *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
