/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - memory over time, and whether it creeps.
 *
 * A server that evicts is always full, so a leak shows as less room for rows: the bytes
 * that a row takes, all but filters divided by the number of rows, would rise. What the
 * server's statistics don't see shows in what the system says it holds. Compared are looks
 * two seconds after each fill of the largest filter, which is the same state again and
 * again: the median of the first third with that of the last, without a warm-up. */
#ifndef MEMORY_H
#define MEMORY_H

#include "soak.h"

/* While the server is empty, and when all is prepared. */
void memory_before(const struct soak *s);
void memory_start(struct soak *s);

/* Writes a line; to be called every second. */
void memory_look(struct soak *s);

/* A table of first and last third. Whether nothing creeps; *enough: there was something to
 * compare. */
bool memory_tell(bool *enough);

/* Whether nothing of filters is left when all keys are gone. To be called when nobody asks
 * any more. */
bool memory_all_comes_back(const struct soak *s);

/* What happened in the whole run. */
struct turnover {
    double evicted, expired, filters_evicted; /* Redis 6.0 doesn't count the last */
    double full_syncs;
};
struct turnover memory_turnover(const struct soak *s);

#endif
