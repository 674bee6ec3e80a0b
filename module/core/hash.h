/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - an item's bytes and a secret become 64 bits.
 *
 * SipHash-1-3 is Aumasson and Bernstein's SipHash (2012) with one round a word and three at
 * the end. Each native filter has a random secret of its own: without it, nobody can choose
 * items that collide. */
#ifndef BLOOM_HASH_H
#define BLOOM_HASH_H

#include <stddef.h>
#include <stdint.h>

struct item {
    const void *bytes;
    size_t length;
};

/* The 128-bit key of the hash. Anyone who knows it can choose items that the filter
 * confuses with others. */
struct secret {
    uint64_t k0, k1;
};

uint64_t siphash13(const struct secret *secret, const void *bytes, size_t length);

/* Hashes four items at once in less than the time of two. All four must have the same
 * number of whole 8-byte words. Only for processors with AVX2; lines.c checks. */
void siphash13_four(const struct secret *secret, const struct item items[4],
                    uint64_t hashes[4]);

/* Hashes one message that consists of a word, as 8 bytes, and then the bytes. */
uint64_t siphash13_after(const struct secret *secret, uint64_t word, const void *bytes,
                         size_t length);

#endif
