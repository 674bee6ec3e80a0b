/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - an item's bytes and a secret become 64 bits.
 *
 * SipHash-1-3: Aumasson and Bernstein's SipHash (2012) with one round a word and
 * three at the end. Each native filter has a random secret of its own, so
 * that nobody who doesn't know it can choose items that collide. */
#ifndef BLOOM_HASH_H
#define BLOOM_HASH_H

#include <stddef.h>
#include <stdint.h>

struct item {
    const void *bytes;
    size_t length;
};

/* The 128-bit key of the hash. Anyone who knows it can choose items that the filter
 * takes for others. */
struct secret {
    uint64_t k0, k1;
};

uint64_t siphash13(const struct secret *secret, const void *bytes, size_t length);

/* Four at once in less than the time of two: items with equally many whole words of
 * 8 bytes. Only for processors with AVX2: see lines.c, which asks. */
void siphash13_four(const struct secret *secret, const struct item items[4],
                    uint64_t hashes[4]);

/* The hash of a word, as 8 bytes, and the bytes behind it, as one message. */
uint64_t siphash13_after(const struct secret *secret, uint64_t word, const void *bytes,
                         size_t length);

#endif
