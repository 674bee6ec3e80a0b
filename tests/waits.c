/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits.h"

#include <math.h>

size_t wait_step(double wait) {
    double step = log2(wait * 1e6) * WAIT_STEPS_PER_OCTAVE;
    if (!(step > 0)) return 0;
    return step > WAIT_STEPS - 1 ? WAIT_STEPS - 1 : (size_t)step;
}

double wait_quantile(const uint64_t counts[WAIT_STEPS], double share) {
    uint64_t all = 0, so_far = 0;
    for (size_t i = 0; i < WAIT_STEPS; i++)
        all += counts[i];
    if (all == 0) return 0;
    size_t i = 0;
    while ((so_far += counts[i]) < share * (double)all && i < WAIT_STEPS - 1)
        i++;
    return exp2((double)(i + 1) / WAIT_STEPS_PER_OCTAVE) * 1e-6; /* the step's upper end */
}
