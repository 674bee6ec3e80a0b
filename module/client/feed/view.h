/* SPDX-License-Identifier: BSD-3-Clause */
/* view.h - how the stream sees the table: which table has the name, which columns items are
 * made of, what the publication leaves out.
 *
 * Rows that the publication leaves out don't come, and nothing in the stream says so, while
 * beats go on coming. So each beat is followed by a look at the catalogues, in a
 * transaction that begins after the beat's has ended: what it finds unchanged was so for
 * all that was committed before the beat. What was changed, and then changed back, counts
 * as changed: objects have other numbers then, and a publication was written by another
 * transaction. */
#ifndef FEED_VIEW_H
#define FEED_VIEW_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"

struct view {
    uint64_t number; /* another if anything was changed; 0: rows may not come */
    char why[256];   /* they may not */
    bool announced;  /* the trigger of `announce` is there, or isn't wanted */
};

/* A statement that gives a row of VIEW_COLUMNS. What has the number `known` was seen to be
 * in order, and is asked about no further; 0: nothing is known. NULL: a name is no text in
 * the connection's encoding. Free it. */
#define VIEW_COLUMNS 3
char *view_sql(PGconn *connection, const struct feed_config *c, uint64_t known);
void view_read(const PGresult *r, const struct feed_config *c, struct view *out);

#endif
