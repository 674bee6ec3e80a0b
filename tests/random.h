/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h - the one generator of numbers in tests/: splitmix64 (Steele, Lea, Flood: Fast
 * splittable pseudorandom number generators, 2014).
 *
 * Any seed will do, it has 64 bits of state and no weak bits. A program that takes its
 * seed from the clock prints it: check.c, fuzz/driver.c and the torture test do. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

#define RANDOM_STEP UINT64_C(0x9E3779B97F4A7C15)

/* What the generator gives at this state: numbers 0, 1, 2, ... become random ones. */
static inline uint64_t scatter(uint64_t n) {
    n += RANDOM_STEP;
    n = (n ^ n >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    n = (n ^ n >> 27) * UINT64_C(0x94D049BB133111EB);
    return n ^ n >> 31;
}

/* The next number. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t n = scatter(*state);
    *state += RANDOM_STEP;
    return n;
}

#endif
