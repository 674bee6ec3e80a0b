/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.h - what a fuzz target is made of.
 *
 * A target is a function of bytes that ends the program when something is wrong:
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
 *     void fuzz_seeds(fuzz_emit *emit);         its first corpus, made by code
 *     size_t LLVMFuzzerCustomMutator(...);      if it knows better than chance
 *
 * It is linked with libFuzzer (clang -fsanitize=fuzzer) or with driver.c, which
 * replays files and mutates by itself. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Changes some bytes by chance. libFuzzer's, or the driver's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* The seeds of the target, each under a name that says what it is. */
typedef void fuzz_emit(const char *name, const uint8_t *bytes, size_t length);
void fuzz_seeds(fuzz_emit *emit);

/* A fact that must hold whatever the bytes are. */
#define MUST(fact) ((fact) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #fact))

_Noreturn static inline void fuzz_failed(const char *file, int line, const char *fact) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, fact);
    abort();
}

/* ---- an input that is read from its start ---- */

struct feed {
    const uint8_t *at;
    size_t left;
};

/* The next n bytes, or as many as there are. */
static inline struct feed feed_part(struct feed *in, size_t n) {
    if (n > in->left) n = in->left;
    struct feed part = {in->at, n};
    in->at += n;
    in->left -= n;
    return part;
}

/* The next number of that many bytes, lowest first. What isn't there reads as 0. */
static inline uint64_t feed_number(struct feed *in, unsigned bytes) {
    struct feed part = feed_part(in, bytes);
    uint64_t n = 0;
    for (size_t i = 0; i < part.left; i++)
        n |= (uint64_t)part.at[i] << (8 * i);
    return n;
}

/* ---- chance that follows from a seed ---- */

struct dice {
    uint64_t state;
};

static inline uint64_t roll(struct dice *d) {
    return random_next(&d->state);
}

/* A limit of 0 stands for 2^64. */
static inline uint64_t roll_below(struct dice *d, uint64_t limit) {
    return limit > 0 ? roll(d) % limit : roll(d);
}

#endif
