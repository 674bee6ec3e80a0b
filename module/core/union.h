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

/* What makes them incomparable, in words that follow "their", or NULL. */
const char *union_difference(const struct chain *a, const struct chain *b);

/* Of chains that are comparable and complete. */
bool union_covers(const struct chain *all, const struct chain *part);

/* Sets the bits of `from`, and counts the items anew, by the bits: there are at least as
 * many as in either, and at most as many as in both. True if a bit was clear. */
bool union_add(struct chain *into, const struct chain *from);

#endif
