/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres.h - PostgreSQL (10 and later) as a source of items.
 *
 *     postgres.c            what is read, and how many; COPY's rows
 *     postgres_session.c    connects, asks, says what PostgreSQL said
 *     postgres_table.c      a table: is it there, can it be read by its key
 *     postgres_writers.c    which transactions are under way: mark() and settled()
 *     feed/rows.c           items that are made of a row's columns
 *
 * A table whose column has a unique index of its own is read in chunks:
 *
 *     key   1 ............ 200000 ............ 612044 ............ end
 *           | a transaction | a transaction    | ...: each about a second
 *
 * so no snapshot is held for long, and a lost connection is taken up after the last key
 * that came. What this guarantees: a key that is in the table when begin() is called, and
 * stays, comes. Not so one that comes in later, be it by INSERT or because a row's key is
 * changed: it may lie before the key that was reached. Whoever writes it adds it to the
 * filter.
 *
 * Anything else is one COPY in one transaction. All are read-only, and with row_security
 * off: a policy that would hide rows from us is then an error, and no row is missed
 * silently. Limits of time that a role has for its applications' statements don't hold:
 * they would end a long COPY, as they would end a dump. What is set is set for a
 * transaction, not for the session: behind a pooler, others get it. */
#ifndef CLIENT_POSTGRES_H
#define CLIENT_POSTGRES_H

#include <libpq-fe.h>

#include "source.h"

struct postgres {
    struct source source;
    const struct settings *settings;
    const char *sets; /* statements of SET LOCAL for each transaction */
    PGconn *connection;
    bool lost; /* the last failure was that the connection, or the server, went away */
    int64_t give_up; /* clock: when to stop looking for it; 0: it is there */
    int64_t heard;   /* clock: when something came, or it was seen to be alive */

    char *from;     /* the quoted table, or (the query) */
    char *column;   /* quoted; NULL for a query. With an item: the key's, in their order */
    char *item;     /* what the item is made of; NULL: it is the column */
    char *only;     /* which rows have an item; NULL: all */
    char *table_id; /* its oid, as text */
    bool by_key;

    /* The last that came, as libpq gave it. It is decoded, and `length` long; or, with an
     * item, these are the key's columns as COPY writes them, with tabs between. */
    char *row;
    size_t length;
    uint64_t rows; /* in this pass */
    bool copying;

    uint64_t chunk, chunk_rows; /* rows asked for, rows that came */
    int64_t chunk_began;

    uint64_t mark; /* all transactions with an id below it have to end */
};

/* ---- postgres.c ---- */

/* Opens what look() finds out: it fills from, column, by_key and what else there is to
 * read. `sets` are statements of SET LOCAL for each transaction, or "". */
typedef bool (*postgres_look)(struct postgres *p, const void *what, struct failure *f);
struct source *postgres_open_as(const struct settings *s, postgres_look look,
                                const void *what, const char *sets, struct failure *f);

/* How many rows: counted if they are few, else the planner's estimate. */
bool postgres_count(struct postgres *p, struct failure *f);

/* ---- postgres_session.c ---- */

/* The first connection: one try. */
bool postgres_connect(struct postgres *p, struct failure *f);

/* What is under way at the server ends, too. */
void postgres_hang_up(struct postgres *p);

/* After a failure: true if the connection was lost and there is another, so that what
 * failed can be tried again. It is looked for until --timeout has passed without a row. */
bool postgres_again(struct postgres *p, struct failure *f);

/* One statement; NULL after a failure. A COPY has begun when this returns. */
PGresult *postgres_ask(struct postgres *p, const char *sql, int n,
                       const char *const values[], struct failure *f);

/* The one value of the answer, to be freed; "" for NULL. */
char *postgres_value(struct postgres *p, const char *sql, struct failure *f);

/* `more` is a further statement of SET LOCAL, or "". */
bool postgres_begin_reading(struct postgres *p, const char *more, struct failure *f);
bool postgres_end_reading(struct postgres *p, struct failure *f);

/* Until there is an answer, a signal, or no server any more. */
bool postgres_wait(struct postgres *p, struct failure *f);

/* A COPY or a count may rightly be silent for long. False: for --timeout nothing has come,
 * and the server answers nobody else either. */
bool postgres_is_there(struct postgres *p, struct failure *f);

/* Fills the failure with what PostgreSQL said; NULL: about the connection. Frees it. */
bool postgres_fail(struct postgres *p, PGresult *said, struct failure *f);

/* ---- postgres_table.c ---- */

/* Fills from, column, table_id and by_key. */
bool postgres_find_table(struct postgres *p, struct failure *f);
bool postgres_same_table(struct postgres *p, struct failure *f);

/* ---- postgres_writers.c ---- */

bool postgres_mark(struct source *s, struct failure *f);
bool postgres_settled(struct source *s, char *waits, size_t room, struct failure *f);

#endif
