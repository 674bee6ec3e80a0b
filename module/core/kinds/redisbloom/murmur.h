/* SPDX-License-Identifier: BSD-3-Clause */
/* murmur.h - Austin Appleby's MurmurHash2, 64 bits ("64A") and 32 bits.
 *
 * Only for filters that RedisBloom made: anyone who knows one item can make others that
 * hash alike under every seed. */
#ifndef BLOOM_MURMUR_H
#define BLOOM_MURMUR_H

#include <stddef.h>
#include <stdint.h>

uint64_t murmur64(const void *bytes, size_t length, uint64_t seed);
uint32_t murmur32(const void *bytes, size_t length, uint32_t seed);

#endif
