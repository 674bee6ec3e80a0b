/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_rows.h - a table with writers, the filter "k" in front of it with readers, and the
 * model that judges what the filter says.
 *
 *     GONE --- INSERT, add ---> TAKEN --- COMMIT, add ---> LIVE
 *       ^                        ^  |                       |
 *       +-- COMMIT or ROLLBACK --+  +--- ROLLBACK           |
 *                                ^                          |
 *                                +-------- DELETE ----------+
 *
 * A row is LIVE if it is committed: from then on `absent` is wrong, whatever died in the
 * meantime. TAKEN is what a writer has in hand, or doesn't know the end of, since its
 * database died: it asks when it is back. Writers keep the rules of
 * module/manual/shield.md: they add before they commit and after it, with NOCREATE, and
 * don't commit if the first add fails. Some insert first and then add, in a transaction as
 * long as it likes; others add first, and give up if the INSERT doesn't follow within
 * `gap`.
 *
 * Items are the rows' ids. */

#ifndef FILL_ROWS_H
#define FILL_ROWS_H

#include "database.h"
#include "server.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITERS = 4, ROWS_MAX = 1 << 20 };

struct writer {
    int session;  /* -1: none */
    long id;      /* of the row in hand; 0: none */
    bool unsure;  /* what became of that row */
    double until; /* the transaction isn't ended before this */
};

struct rows {
    struct database *database;
    struct server *server; /* NULL: it is down, or hangs: nobody asks */
    redisContext *c;       /* NULL: not connected */
    uint64_t random;
    bool quiet; /* no writer begins anything */
    double gap; /* seconds; 0: everybody inserts first */
    long next, live;
    unsigned char *state;
    struct writer writers[WRITERS];

    long asked, wrong;
    long first_wrong; /* a row that was denied */
    long strangers, strangers_denied;
};

/* The table "items" with so many rows that nobody has added. Owned by the test. */
struct rows *rows_make(struct database *d, long count, uint64_t seed);

long rows_below(struct rows *r, long limit); /* a random number */

/* From here on the filter is this server's. */
void rows_use(struct rows *r, struct server *s);

void rows_ask_some(struct rows *r);

/* A writer goes on, and a reader asks. */
void rows_step(struct rows *r);

/* All writers have ended what they were at. The database has to be up. */
void rows_end_writing(struct rows *r);

/* The ids of all rows but each `less`-th (0: all), a line each. Owned by the test. */
const char *rows_text(const struct rows *r, long less);

/* Asks for every row, and for strangers, of which hardly any may be there. */
void rows_ask_all(struct rows *r);

/* NULL if there is no answer; the caller frees it. */
redisReply *rows_call(struct rows *r, const char *format, ...);

#endif
