/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres.h - the database: a PostgreSQL of our own, and what is asked of it.
 *
 *     items(id bigint primary key, name text)       ids are random-looking: no run of
 *                                                   numbers tells which exist
 *
 * It listens on a socket in its private directory and on no port. Nothing of its data
 * is meant to last, so it does not wait for the disk (fsync off); reads don't either way.
 * A connection belongs to one thread. An error of the database ends the demo. */
#ifndef POSTGRES_H
#define POSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct database; /* a connection */

/* Starts it with a table of `rows` rows. */
void postgres_start(size_t rows);
void postgres_stop(void);

/* The same, a PostgreSQL 17 whose changes can be followed. */
void postgres_start_for_feed(size_t rows);

const char *postgres_conninfo(void);

/* Statements that give nothing back, by its superuser. */
void postgres_run(const char *sql);

struct database *database_open(void);
void database_close(struct database *db);

/* The query that everything is about: one row by its key. NULL: there is none. The name
 * is valid until the next call. */
const char *database_find(struct database *db, int64_t id);

/* Each a transaction, committed when the call returns. */
void database_insert(struct database *db, int64_t id);
void database_delete(struct database *db, int64_t id);

size_t database_count(struct database *db);

/* PostgreSQL's version, as it says it. */
const char *database_version(struct database *db);

/* Some rows at a time, as text. */
struct batch {
    size_t n;
    const char *const *ids;
    const char *const *names; /* NULL if not asked for */
    const size_t *lengths;    /* of the ids */
};

#define BATCH_ROWS 1000

/* All rows of one snapshot, which is taken by database_snapshot(), in batches of
 * BATCH_ROWS. The order is that of the table, the same in each run of the demo.
 * Batches are valid until the next call. */
enum columns { IDS, IDS_AND_NAMES, SOME_IDS };
void database_snapshot(struct database *db, enum columns columns);
bool database_next(struct database *db, struct batch *b);
void database_end_snapshot(struct database *db);

#endif
