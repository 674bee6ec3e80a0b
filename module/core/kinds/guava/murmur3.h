/* SPDX-License-Identifier: BSD-3-Clause */
/* murmur3.h - Austin Appleby's MurmurHash3 for 64-bit processors, 128 bits, seed 0. */
#ifndef BLOOM_MURMUR3_H
#define BLOOM_MURMUR3_H

#include <stddef.h>
#include <stdint.h>

void murmur3_128(const void *bytes, size_t length, uint64_t out[2]);

#endif
