/* SPDX-License-Identifier: BSD-3-Clause */
/* redisbloom.h - facts about RedisBloom that its kind and its codec share. */
#ifndef BLOOM_REDISBLOOM_H
#define BLOOM_REDISBLOOM_H

#include <stdint.h>

#include "../../layer.h"

/* The options of a chain, as they are stored. RedisBloom has one more (2: the capacity is
 * given as bits), but no version ever stored a filter with it. */
#define REDISBLOOM_NOT_ROUNDED 1u /* bits are not rounded up to a power of two */
#define REDISBLOOM_HASH_64     4u /* otherwise the hash has 32 bits */
#define REDISBLOOM_NONSCALING  8u
#define REDISBLOOM_OPTIONS                                                                 \
    (REDISBLOOM_NOT_ROUNDED | REDISBLOOM_HASH_64 | REDISBLOOM_NONSCALING)

/* RedisBloom's defaults. */
#define REDISBLOOM_ERROR    0.01
#define REDISBLOOM_CAPACITY 100
#define REDISBLOOM_GROWTH   2

/* How many hashes a layer with these bits per item has, for up to 10^18 bits per item. */
uint64_t redisbloom_hashes(double bits_per_item);

/* A layer made before 2.2 has 2^n2 bits. 0: made by a later version. */
static inline unsigned redisbloom_n2(const struct layer *layer) {
    return layer->variant;
}

static inline double redisbloom_bits_per_item(const struct layer *layer) {
    return layer->parameter;
}

/* How many bits of a layer items can set. */
static inline uint64_t redisbloom_bits(const struct layer *layer) {
    unsigned n2 = redisbloom_n2(layer);
    return n2 ? UINT64_C(1) << n2 : 8 * layer->bytes;
}

#endif
