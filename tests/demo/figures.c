/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"

#include <time.h>

/* No other thread writes it: no need for a locked addition. */
void tally_count(struct tally *t, enum count what) {
    unsigned long n = atomic_load_explicit(&t->counts[what], memory_order_relaxed);
    atomic_store_explicit(&t->counts[what], n + 1, memory_order_relaxed);
}

void tally_wait(struct tally *t, double wait) {
    size_t i = wait_step(wait);
    unsigned n = atomic_load_explicit(&t->waits[i], memory_order_relaxed);
    atomic_store_explicit(&t->waits[i], n + 1, memory_order_relaxed);
}

void sum_add(struct sum *s, const struct tally *t) {
    for (size_t i = 0; i < COUNTS; i++)
        s->counts[i] += atomic_load_explicit(&t->counts[i], memory_order_relaxed);
    for (size_t i = 0; i < WAIT_STEPS; i++)
        s->waits[i] += atomic_load_explicit(&t->waits[i], memory_order_relaxed);
}

struct sum sum_minus(const struct sum *later, const struct sum *earlier) {
    struct sum d;
    for (size_t i = 0; i < COUNTS; i++)
        d.counts[i] = later->counts[i] - earlier->counts[i];
    for (size_t i = 0; i < WAIT_STEPS; i++)
        d.waits[i] = later->waits[i] - earlier->waits[i];
    return d;
}

double sum_quantile(const struct sum *s, double share) {
    return wait_quantile(s->waits, share);
}

double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
