/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h - numbers in memory, lowest byte first, at any address.
 *
 * Bit arrays and stored forms are the same bytes on every machine. A little-endian machine
 * reads them as they are, a big-endian one swaps them. */
#ifndef BLOOM_BYTES_H
#define BLOOM_BYTES_H

#if __SIZEOF_POINTER__ < 8
#error "a filter may be larger than 4 GB: a processor with 64-bit addresses is needed"
#endif

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE16(v) (v)
#define LITTLE32(v) (v)
#define LITTLE64(v) (v)
#else
#define LITTLE16(v) __builtin_bswap16(v)
#define LITTLE32(v) __builtin_bswap32(v)
#define LITTLE64(v) __builtin_bswap64(v)
#endif

static inline uint64_t load_u64(const unsigned char *at) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return LITTLE64(v);
}

static inline void store_u64(unsigned char *at, uint64_t v) {
    v = LITTLE64(v);
    memcpy(at, &v, sizeof v);
}

static inline uint32_t load_u32(const unsigned char *at) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return LITTLE32(v);
}

static inline void store_u32(unsigned char *at, uint32_t v) {
    v = LITTLE32(v);
    memcpy(at, &v, sizeof v);
}

static inline uint16_t load_u16(const unsigned char *at) {
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return LITTLE16(v);
}

static inline void store_u16(unsigned char *at, uint16_t v) {
    v = LITTLE16(v);
    memcpy(at, &v, sizeof v);
}

/* The number of bits set. Plain x86-64 has no instruction for it, and gcc's builtin is a
 * call there, three times as slow. */
static inline unsigned ones_u64(uint64_t v) {
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    v = (v + (v >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
}

static inline double load_f64(const unsigned char *at) {
    uint64_t bits = load_u64(at);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline void store_f64(unsigned char *at, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    store_u64(at, bits);
}

#endif
