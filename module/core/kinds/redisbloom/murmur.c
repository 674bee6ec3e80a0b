/* SPDX-License-Identifier: BSD-3-Clause */
#include "murmur.h"

#include "bytes.h"

#define BY_64 UINT64_C(0xc6a4a7935bd1e995)
#define BY_32 UINT32_C(0x5bd1e995)

static inline uint64_t mix64(uint64_t word) {
    word *= BY_64;
    word ^= word >> 47;
    return word * BY_64;
}

static inline uint32_t mix32(uint32_t word) {
    word *= BY_32;
    word ^= word >> 24;
    return word * BY_32;
}

/* The n < 8 bytes that don't fill a whole word, lowest first. */
static inline uint64_t rest_of(const unsigned char *at, size_t n) {
    uint64_t word = 0;
    while (n-- > 0)
        word = word << 8 | at[n];
    return word;
}

uint64_t murmur64(const void *bytes, size_t length, uint64_t seed) {
    const unsigned char *at = bytes;
    uint64_t h = seed ^ length * BY_64;

    for (size_t words = length / 8; words > 0; words--, at += 8)
        h = (h ^ mix64(load_u64(at))) * BY_64;
    if (length & 7) h = (h ^ rest_of(at, length & 7)) * BY_64;

    h = (h ^ h >> 47) * BY_64;
    return h ^ h >> 47;
}

/* Only the low 32 bits of the length are used. */
uint32_t murmur32(const void *bytes, size_t length, uint32_t seed) {
    const unsigned char *at = bytes;
    uint32_t h = seed ^ (uint32_t)length;

    for (size_t words = length / 4; words > 0; words--, at += 4)
        h = h * BY_32 ^ mix32(load_u32(at));
    if (length & 3) h = (h ^ (uint32_t)rest_of(at, length & 3)) * BY_32;

    h = (h ^ h >> 13) * BY_32;
    return h ^ h >> 15;
}
