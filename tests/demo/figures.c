/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"

#include <math.h>
#include <time.h>

/* No other thread writes it: no need for a locked addition. */
void tally_count(struct tally *t, enum count what) {
    unsigned long n = atomic_load_explicit(&t->counts[what], memory_order_relaxed);
    atomic_store_explicit(&t->counts[what], n + 1, memory_order_relaxed);
}

void tally_wait(struct tally *t, double wait) {
    double step = log2(wait * 1e6) * STEPS_PER_OCTAVE;
    size_t i = step < 0 ? 0 : step > STEPS - 1 ? STEPS - 1 : (size_t)step;
    unsigned n = atomic_load_explicit(&t->waits[i], memory_order_relaxed);
    atomic_store_explicit(&t->waits[i], n + 1, memory_order_relaxed);
}

void sum_add(struct sum *s, const struct tally *t) {
    for (size_t i = 0; i < COUNTS; i++)
        s->counts[i] += atomic_load_explicit(&t->counts[i], memory_order_relaxed);
    for (size_t i = 0; i < STEPS; i++)
        s->waits[i] += atomic_load_explicit(&t->waits[i], memory_order_relaxed);
}

struct sum sum_minus(const struct sum *later, const struct sum *earlier) {
    struct sum d;
    for (size_t i = 0; i < COUNTS; i++)
        d.counts[i] = later->counts[i] - earlier->counts[i];
    for (size_t i = 0; i < STEPS; i++)
        d.waits[i] = later->waits[i] - earlier->waits[i];
    return d;
}

double sum_quantile(const struct sum *s, double share) {
    uint64_t all = 0, so_far = 0;
    for (size_t i = 0; i < STEPS; i++)
        all += s->waits[i];
    if (all == 0) return 0;
    size_t i = 0;
    while ((so_far += s->waits[i]) < share * (double)all && i < STEPS - 1)
        i++;
    return exp2((double)(i + 1) / STEPS_PER_OCTAVE) * 1e-6; /* the step's upper end */
}

double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
