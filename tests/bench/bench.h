/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - what both benchmarks share: clocks, random items, and who measured.
 *
 * Figures are meant to be compared within one run, never between machines. The
 * least of several rounds counts: noise of a shared machine only ever adds. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "random.h"

/* Seconds since some moment in the past. */
double seconds(void);

/* Counts of some fast clock, and how long one takes. A reading waits until what
 * stands before it is done. */
static inline uint64_t ticks(void) {
#ifdef __x86_64__
    __builtin_ia32_lfence();
    uint64_t t = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return t;
#else
    return (uint64_t)(seconds() * 1e9);
#endif
}
double ns_per_tick(void);

/* Ends the program unless it was built to be measured. */
void refuse_slow_build(void);

/* A variable of the environment, if it is set. */
const char *variable(const char *name, const char *otherwise);

/* The whole path of a module. Ends the program if there is none. */
const char *module_path(const char *module);

/* QUICK=1: a minute, up to a million items. */
bool is_quick(void);

/* Machine, system, compiler and its flags, a line each after the prefix. */
void describe_build(FILE *out, const char *prefix);

/* build/bench/NAME for writing. Ends the program if it can't be made. */
FILE *open_results(const char *name);

/* Keeps this thread on one processor, if there are two or more. */
void pin_to(int processor);

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
