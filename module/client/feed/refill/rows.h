/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - the feed's table as a source of items, written as the stream writes them.
 *
 *     item = user:{id}, and id is a unique key      the key:  1, 2, 3 ...    in chunks
 *     item = sku:{shop}:{sku}, of several columns,  keys beside items:
 *            or of a column that is no key          1 sku:7:a, 2 sku:7:b     in chunks
 *     a table without a unique key                  items                    one COPY
 *
 * A key is a unique index whose columns are never NULL and can be compared as text (see
 * postgres_table.c); the primary key if there are several. A row with a NULL in its item
 * has none. format() writes a value as its type's output function does, and so does the
 * stream: char(n) has its spaces, a bool is t or f. */
#ifndef FEED_ROWS_H
#define FEED_ROWS_H

#include "feed/config.h"
#include "source/item.h"
#include "source/source.h"

/* Also what the source's values lack of an item. `s` says where, as for postgres_open(). */
struct source *rows_open(const struct feed_config *c, const struct settings *s,
                         struct item_template *lacks, struct failure *f);

/* A number for which table is read, by which key, into which items: another table of the
 * same name has another. */
uint64_t rows_identity(const struct source *s, const struct feed_config *c);

#endif
