/* SPDX-License-Identifier: BSD-3-Clause */
#include "gauge.h"

void gauge_wait(struct gauge *g, double wait) {
    atomic_fetch_add_explicit(&g->counts[wait_step(wait)], 1, memory_order_relaxed);
    gauge_longest(&g->longest, wait);
}

void gauge_read(struct gauge *g, uint64_t counts[WAIT_STEPS]) {
    for (size_t i = 0; i < WAIT_STEPS; i++)
        counts[i] = atomic_load_explicit(&g->counts[i], memory_order_relaxed);
}

void gauge_longest(_Atomic double *longest, double wait) {
    double seen = atomic_load(longest);
    while (wait > seen && !atomic_compare_exchange_weak(longest, &seen, wait))
        ;
}
