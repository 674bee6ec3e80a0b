/* SPDX-License-Identifier: BSD-3-Clause */
#include "murmur3.h"

#include "bytes.h"

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static inline uint64_t rotate(uint64_t v, unsigned by) {
    return v << by | v >> (64 - by);
}

static inline uint64_t mix_first(uint64_t word) {
    return rotate(word * C1, 31) * C2;
}

static inline uint64_t mix_second(uint64_t word) {
    return rotate(word * C2, 33) * C1;
}

static inline uint64_t finish(uint64_t v) {
    v = (v ^ v >> 33) * UINT64_C(0xff51afd7ed558ccd);
    v = (v ^ v >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return v ^ v >> 33;
}

void murmur3_128(const void *bytes, size_t length, uint64_t out[2]) {
    const unsigned char *at = bytes;
    uint64_t a = 0, b = 0;
    for (size_t blocks = length / 16; blocks > 0; blocks--, at += 16) {
        a = (rotate(a ^ mix_first(load_u64(at)), 27) + b) * 5 + 0x52dce729;
        b = (rotate(b ^ mix_second(load_u64(at + 8)), 31) + a) * 5 + 0x38495ab5;
    }

    /* What is left, filled up with zeros, which change nothing. */
    unsigned char rest[16] = {0};
    if (length % 16 > 0) memcpy(rest, at, length % 16);
    a ^= mix_first(load_u64(rest));
    b ^= mix_second(load_u64(rest + 8));

    a ^= length;
    b ^= length;
    a += b;
    b += a;
    a = finish(a);
    b = finish(b);
    out[0] = a + b;
    out[1] = a + 2 * b;
}
