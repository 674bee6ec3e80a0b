/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.h - the application's other half: it inserts rows and deletes some.
 *
 * The write path: add, commit, add again.
 *
 *     BF.INSERT shield NOCREATE ITEMS id     before the row can be seen: nobody is refused
 *     INSERT INTO items ...; COMMIT
 *     BF.INSERT shield NOCREATE ITEMS id     once more: a rebuild that began in between
 *                                            knows the item (mostly free: no change)
 *
 * If the first add fails, the row is not written. A filter can't forget an item: what is
 * deleted answers "maybe" until the next rebuild. */
#ifndef WRITER_H
#define WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "rows.h"

/* The end of a row: its version since then, to tell whether it was inserted again. */
struct deletion {
    size_t row;
    uint32_t version;
    double committed; /* seconds() */
};

struct writer;

/* Starts a thread that makes `rate` changes a second until writer_stop(). */
struct writer *writer_start(struct rows *rows, unsigned rate);
void writer_stop(struct writer *w); /* waits until the last change is whole */
void writer_free(struct writer *w);

size_t writer_inserts(const struct writer *w); /* rows back again included */

/* Deletions so far, the oldest first. Those already there don't change. */
size_t writer_deletions(const struct writer *w);
const struct deletion *writer_deletion(const struct writer *w, size_t i);

/* Seconds that the slowest insert took, from its first add to its last. */
double writer_slowest(const struct writer *w);

#endif
