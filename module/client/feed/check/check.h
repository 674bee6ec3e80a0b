/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - the parts of `bulwark feed check`. Each looks at one thing, says what it has
 * found, a line a finding, and changes nothing.
 *
 *     ok       PostgreSQL 15.4, a primary
 *     warning  max_slot_wal_keep_size has no limit: ...
 *     error    the role feeder may not read the column id: ... */
#ifndef FEED_CHECK_H
#define FEED_CHECK_H

#include <libpq-fe.h>

#include "feed/config.h"
#include "server/nodes.h"

struct check {
    const struct feed_config *config;
    unsigned errors, warnings;

    PGconn *connection; /* NULL: there is none */
    int version;        /* 150018 */
    char table[24];     /* its oid, as text; "": not found */
    bool partitioned;
    uint64_t rows; /* about */
};

enum check_word { CHECK_OK, CHECK_WARNING, CHECK_ERROR };

void check_say(struct check *k, enum check_word word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Asks PostgreSQL; NULL, and an error is said, if it refuses. Names of the configuration
 * are settings of the session, bulwark.*, as in `feed sql`. */
PGresult *check_ask(struct check *k, const char *sql);

/* Of the first row, by the column's name. */
const char *check_text(const PGresult *r, const char *column); /* "" is NULL, too */
bool check_true(const PGresult *r, const char *column);
long long check_number(const PGresult *r, const char *column);

void check_database(struct check *k);    /* connects: version, settings, rights */
void check_table(struct check *k);       /* the table, its key, its columns */
void check_publication(struct check *k); /* publication and slot */
void check_announce(struct check *k);    /* the trigger, if there is to be one */
void check_sample(struct check *k);      /* some rows, as items */
void check_server(struct check *k);      /* the filter's server */

/* What the feed does on the node that has these keys, tried without doing it. */
struct check_keys {
    const char *filter, *state;
    const char *fill; /* where a loader keeps how far it is */
};
void check_rights(struct check *k, struct node *node, const struct check_keys *keys);

#endif
