/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - the module's sections of INFO.
 *
 * Filters may be freed on another thread, and INFO is also written while the
 * server crashes: the numbers are atomics, and reading them takes no lock and
 * no memory. */
#ifndef BULWARK_STATS_H
#define BULWARK_STATS_H

#include <stdatomic.h>

#include "core/filter.h"
#include "server.h"

typedef _Atomic uint64_t counter;

/* Counted on the main thread only; no other thread writes them. */
struct counters {
    counter exists_no, exists_maybe, maybe, by_cause[CAUSES]; /* as struct tally */
    counter hits;           /* what BF.GUARD found in the cache */
    counter contradictions; /* items in the cache that the filter denies */
    counter growths;
    counter overfull; /* adds that went in over capacity */
};

extern struct counters stats_counters;

static inline void stats_count(counter *c, uint64_t n) {
    uint64_t sum = atomic_load_explicit(c, memory_order_relaxed) + n;
    atomic_store_explicit(c, sum, memory_order_relaxed);
}

/* To be called, on any thread, when a filter has come or is about to go. Also around every
 * change of its state, its chains or their layers: went() before, came() after. */
void stats_filter_came(struct filter *f);
void stats_filter_went(struct filter *f);
void stats_items_came(uint64_t n);

/* To be called when every filter vouched for so far has come into doubt. */
void stats_era_ended(void);

/* The number of filters in state ready, and of those that are declared: loading, ready, or
 * in a state of a later version. */
uint64_t stats_ready_filters(void);
uint64_t stats_declared_filters(void);

/* The cause's name in INFO: "restart". */
const char *stats_cause_name(enum cause cause);

int stats_register(RedisModuleCtx *ctx);

#endif
