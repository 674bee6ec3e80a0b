/* SPDX-License-Identifier: BSD-3-Clause */

/* spread.h - a filter in parts over a cluster, as an application sees it: an item belongs
 * to one part, a part to whoever has its slot.
 *
 * What part and tag are is computed here once more, from their definition, and not by the
 * code under test. */

#ifndef SPREAD_H
#define SPREAD_H

#include "cluster.h"

#define SPREAD_PARTS 128

struct spread {
    struct cluster *all;
    unsigned parts;
    char key[SPREAD_PARTS][40];
};

/* The filter "k"; with 0 parts it is that key alone. */
struct spread *spread_of(struct cluster *all, unsigned parts);

unsigned spread_part(const struct spread *s, long item);
redisContext *spread_owner(const struct spread *s, unsigned part);

/* As a writer does. */
void spread_add(const struct spread *s, long from, long to);

struct answers {
    long absent, maybe, unknown;
};
struct answers spread_ask(const struct spread *s, long from, long to);

/* The numbers are all there, nothing is unknown, and of other numbers hardly any is. */
#define spread_check(s, from, to) spread_check_at(__FILE__, __LINE__, (s), (from), (to))
void spread_check_at(const char *file, int line, const struct spread *s, long from,
                     long to);

/* Asks for one item as a reader who gives up after a moment; true if it is said to be
 * absent. */
bool spread_denies(const struct spread *s, long item);

#endif
