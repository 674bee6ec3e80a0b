/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.h - a histogram of waits whose steps are 3 % apart.
 *
 * The waits of any stretch of time are the difference of two copies of the counts. */
#ifndef WAITS_H
#define WAITS_H

#include <stddef.h>
#include <stdint.h>

/* 32 steps an octave, from 1 us to about 30 s. */
#define WAIT_STEPS_PER_OCTAVE 32
#define WAIT_STEPS            (25 * WAIT_STEPS_PER_OCTAVE)

/* The step of a wait, in seconds. */
size_t wait_step(double wait);

/* The wait that a share of those counted did not exceed, in seconds; 0: there are none. */
double wait_quantile(const uint64_t counts[WAIT_STEPS], double share);

#endif
