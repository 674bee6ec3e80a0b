/* SPDX-License-Identifier: BSD-3-Clause */
/* union.h - two chains as sets: does one hold all of the other, and both in one.
 *
 *     into   0 1 1 0 0 1 0 0        covers: no bit of `from` is missing in `into`
 *     from   0 1 0 0 1 0 0 0        union:  the bits of both
 *
 * That means something only if both would set the same bits for an item: they are of one
 * kind, under one secret, and have layers of the same sizes. */
#ifndef BLOOM_UNION_H
#define BLOOM_UNION_H

#include <stdbool.h>

#include "chain.h"

/* An empty chain that is comparable to this one. Refuses BLOOM_NO_MEMORY; *out is then
 * NULL. */
enum bloom_status union_alike(const struct chain *c, uint64_t identity, struct chain **out);

/* What makes them incomparable, in words that follow "their", or NULL. */
const char *union_difference(const struct chain *a, const struct chain *b);

/* Of chains that are comparable and complete. */
bool union_covers(const struct chain *all, const struct chain *part);

/* Counts the items of a layer anew, by the bits, after `others` more have come into it, of
 * which some may have been there: at least as many as either, at most as many as both. */
void union_count(const struct kind *kind, struct layer *layer, uint64_t others);

/* Sets the bits of `from`, and counts the items anew. True if a bit was clear. Then, if
 * `changed` isn't NULL, changed[i] becomes 1 for the i-th `piece` bytes of the joined
 * arrays in which one was. `piece` is not 0. */
bool union_add(struct chain *into, const struct chain *from, uint8_t *changed,
               uint64_t piece);

#endif
