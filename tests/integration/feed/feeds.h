/* SPDX-License-Identifier: BSD-3-Clause */

/* feeds.h - `bulwark feed`, run for a test: it keeps the filter "k" of the table "users".
 *
 *     struct feed *f = feed_start(.database = d, .server = s);    a DBA ran its SQL; it
 *     feed_wait(f);                                               ... vouches
 *     feed_kill(f);
 *     feed_start_again(f); */

#ifndef FEEDS_H
#define FEEDS_H

#include "database.h"
#include "integration/client/spread.h"
#include "program.h"
#include "proxy.h"
#include "server.h"

#define FEED_LEASE 1.0 /* seconds; the shortest that there is */

/* What the slot keeps, if a test waits until it has gone: seconds. */
#define FEED_KEEP      5.0
#define FEED_KEEP_TEXT "5s"

struct feed_rules {
    struct database *database;
    struct server *server;     /* It is waited for there. */
    struct proxy *to_database; /* NULL: directly */
    struct proxy *to_server;
    const char *lines;           /* Further lines of its configuration; may be NULL. */
    const char *item;            /* NULL: {id} */
    const char *lease;           /* NULL: FEED_LEASE */
    const char *keep;            /* NULL: longer than any test */
    bool sized;                  /* It finds the capacity by itself; else 1M. */
    const struct spread *spread; /* of the filter, if it has parts */
    const char *address; /* Lines that say where the server is; NULL: server = ... */
    bool without_sql;    /* Nobody runs its SQL. */
    bool without_run;    /* Nobody runs it. */
};

struct feed {
    struct feed_rules rules;
    const char *config; /* the file */
    struct program *program;
    redisContext *link; /* to the server; NULL: none */
};

/* A database that can be followed, also through a proxy, and may be ended. */
struct database *feed_database(int version);

/* A table of numbers, empty. */
struct database *feed_table(struct database *d);

#define feed_start(...) feed_start_with((struct feed_rules){__VA_ARGS__})
struct feed *feed_start_with(struct feed_rules rules);

/* It vouches: what was never there is absent; and has noted that it does. */
void feed_wait(struct feed *f);
bool feed_vouches(struct feed *f);

/* The state of the filter at this key names its generation, and what the loader wrote down
 * is gone. A feed that is killed after COMMIT and before this fills the filter anew. */
bool feed_has_noted(redisContext *c, const char *key);

void feed_kill(struct feed *f);
void feed_start_again(struct feed *f);

/* It has ended by a signal, in good order. */
void feed_end(struct feed *f);

/* The process that serves its stream. */
pid_t feed_walsender(struct feed *f);

/* What it has in memory, in kB. */
long feed_memory(struct feed *f);

/* A line of its log that has this in it, since it was started last. */
bool feed_said(struct feed *f, const char *words);

#endif
