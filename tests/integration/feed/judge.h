/* SPDX-License-Identifier: BSD-3-Clause */

/* judge.h - finds out whether a row that is there is denied, while a test does its worst.
 *
 *     struct judge *j = judge_start(.database = d, .servers = {s}, .lease = 1);
 *     judge_wait_for_rows(j, 100);           as many more
 *     ...
 *     struct verdict v = judge_end(j);       fails the test if a row was denied too late
 *
 * Writers, a thread each, commit one row after the other by plain SQL. Each asks PostgreSQL
 * all the while, on a second connection, and as soon as the row is visible it asks
 * BF.CHECK, on all servers. A sweeper asks for all rows again and again from there on:
 * those that were denied in each of its turns, the others in a circle.
 *
 * How long a row was denied, by the monotonic clock:
 *
 *     look: no        look: yes           BF.CHECK: absent
 *     |-----|         |-----|             |------|
 *     unseen          ^     seen          asked  told
 *           became visible somewhere      ^ answered somewhere
 *            |<---------------------------->|            the truth
 *                           |<----------->|              at least: asked - seen
 *     |<------------------------------------------>|     at most: told - unseen
 *
 * A row is late if it was denied for longer than the lease for certain, that is, by "at
 * least": no slow machine makes it so. "At most" is what figures say. */

#ifndef JUDGE_H
#define JUDGE_H

#include "database.h"
#include "integration/client/spread.h"
#include "server.h"

#define JUDGE_SERVERS 6
#define JUDGE_WRITERS 4

struct judge_rules {
    struct database *database;
    struct server *servers[JUDGE_SERVERS]; /* All are asked. */
    const struct spread *spread;           /* NULL: the key "k", on each of them. */
    double lease;                          /* seconds */
    int writers;                           /* 0: 2 */

    /* The item is the number that stands for each %1$ld, and for $1 in a look. */
    const char *write; /* NULL: INSERT INTO users VALUES (%1$ld) */
    const char *look;  /* Gives a row once it is visible; NULL: by users.id */

    bool exact;     /* Nothing may be denied at all. */
    bool may_fault; /* Lateness fails no test: see verdict.late. */
};

struct verdict {
    long rows;                               /* that became visible */
    long absent, maybe, unknown, speechless; /* first answers */
    long denials;                            /* answers "absent" in all */
    long late;                               /* rows */
    double at_least, at_most;                /* the longest time that a row was denied */
    double longest_write;                    /* seconds that a statement took */
    long refused;                            /* statements that failed */
};

struct judge;

#define judge_start(...) judge_start_with((struct judge_rules){__VA_ARGS__})
struct judge *judge_start_with(struct judge_rules rules);

/* Stops it, shows the verdict, and fails the test if that is a bad one. */
struct verdict judge_end(struct judge *j);

struct verdict judge_so_far(struct judge *j);
void judge_wait_for_rows(struct judge *j, long more);

/* No writer is between two statements, until judge_go_on(). */
void judge_rest(struct judge *j);
void judge_go_on(struct judge *j);

/* The rows that there are by now are gone, for good. */
void judge_forget(struct judge *j);

#endif
