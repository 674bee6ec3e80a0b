/* SPDX-License-Identifier: BSD-3-Clause */
/* gauge.h - waits that some threads count while another looks at them. */
#ifndef GAUGE_H
#define GAUGE_H

#include <stdatomic.h>

#include "waits.h"

struct gauge {
    atomic_ulong counts[WAIT_STEPS];
    _Atomic double longest; /* seconds, since somebody took it */
};

void gauge_wait(struct gauge *g, double wait);

/* A copy of the counts. */
void gauge_read(struct gauge *g, uint64_t counts[WAIT_STEPS]);

/* Keeps the larger of two numbers. */
void gauge_longest(_Atomic double *longest, double wait);

#endif
