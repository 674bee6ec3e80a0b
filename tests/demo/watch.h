/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.h - looks at the traffic twice a second until it has ended.
 *
 * Shows it, and writes a line for each look to a file for the plot. Keeps the sums that
 * the table is made of. */
#ifndef WATCH_H
#define WATCH_H

#include <stdio.h>

#include "cache.h"
#include "figures.h"
#include "traffic.h"

struct seen {
    struct sum quiet, attack; /* before the attack and since */
    double quiet_seconds, attack_seconds;
    struct cache_state cache; /* at the end */
    double most_memory;
};

/* remark() may be NULL. csv may be NULL; its columns:
 * way, second, queries/s, reads/s, attacks/s, hit share, p50 s, p99 s, bytes, evicted */
struct seen watch(struct traffic *t, const struct plan *plan, const char *title,
                  const char *(*remark)(void *context), void *context, FILE *csv);

/* A count of a stretch of time as a rate. */
double rate(const struct sum *s, enum count what, double stretch);

/* Of the reads, those that the cache answered. */
double hit_share(const struct sum *s);

#endif
