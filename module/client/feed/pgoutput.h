/* SPDX-License-Identifier: BSD-3-Clause */
/* pgoutput.h - reads the messages of PostgreSQL's logical replication, protocol version 1.
 *
 * A transaction comes whole, when it commits, in the order of commits:
 *
 *     BEGIN  (RELATION)  INSERT  UPDATE  DELETE  ...  COMMIT  BEGIN ...  MESSAGE  BEGIN ...
 *
 * A RELATION describes a table, by a number, before its first row. A MESSAGE is what
 * pg_logical_emit_message() said: inside its transaction, or, if it is not transactional,
 * where it was said.
 *
 * Pure functions over bytes that are not trusted: texts point into them, have no NUL behind
 * them unless they are names, and last as long as they do. */
#ifndef FEED_PGOUTPUT_H
#define FEED_PGOUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PostgreSQL has tables of at most 1600. */
#define PGOUTPUT_COLUMNS_MAX 1600

struct pgoutput_value {
    enum pgoutput_value_kind {
        PGOUTPUT_NULL,
        PGOUTPUT_UNCHANGED, /* a long value that an UPDATE left alone isn't sent */
        PGOUTPUT_TEXT,
    } kind;
    const char *text;
    size_t length;
};

struct pgoutput {
    enum pgoutput_type {
        PGOUTPUT_BEGIN,
        PGOUTPUT_COMMIT,
        PGOUTPUT_RELATION,
        PGOUTPUT_INSERT,
        PGOUTPUT_UPDATE,
        PGOUTPUT_DELETE,
        PGOUTPUT_TRUNCATE,
        PGOUTPUT_MESSAGE,
        PGOUTPUT_OTHER, /* origins and types: nobody needs them */
    } type;

    uint64_t end; /* BEGIN: where the commit stands in the WAL. COMMIT: where it ends */

    uint32_t relation;              /* RELATION, INSERT, UPDATE, DELETE */
    const unsigned char *relations; /* TRUNCATE: of nrelations tables, see pgoutput_has() */
    size_t nrelations;
    const char *schema, *name; /* RELATION */

    /* RELATION: the columns' names, which end with NUL. INSERT, UPDATE: the new row.
     * DELETE: none. */
    size_t ncolumns;
    const char *columns[PGOUTPUT_COLUMNS_MAX];
    struct pgoutput_value values[PGOUTPUT_COLUMNS_MAX];

    /* UPDATE: the row as it was, if its identity has changed, or is FULL; NULLs but for the
     * identity's columns. 0: it didn't come. */
    size_t nold;
    struct pgoutput_value old[PGOUTPUT_COLUMNS_MAX];

    bool transactional;           /* MESSAGE */
    uint64_t at;                  /* MESSAGE: its place in the WAL */
    const char *prefix, *content; /* MESSAGE; content has `length` bytes */
    size_t length;
};

/* Whether a TRUNCATE empties this table. */
bool pgoutput_has(const struct pgoutput *truncate, uint32_t relation);

/* False: no message of this protocol. */
bool pgoutput_read(const void *bytes, size_t length, struct pgoutput *out);

#endif
