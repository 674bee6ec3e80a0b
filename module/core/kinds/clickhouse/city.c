/* SPDX-License-Identifier: BSD-3-Clause */
#include "city.h"

#include "bytes.h"

#define K0  UINT64_C(0xc3a5c85c97cb3127)
#define K1  UINT64_C(0xb492b66fbe98f273)
#define K2  UINT64_C(0x9ae16a3b2f90404f)
#define K3  UINT64_C(0xc949d7c7509e6557)
#define MUL UINT64_C(0x9ddfea08eb382d69)

#define BLOCK 64

struct pair {
    uint64_t first, second;
};

static inline uint64_t rotate(uint64_t v, unsigned by) {
    return v >> by | v << (64 - by);
}

static inline uint64_t fold(uint64_t v) {
    return v ^ v >> 47;
}

/* 128 bits become 64. */
static inline uint64_t join(uint64_t u, uint64_t v) {
    uint64_t a = fold((u ^ v) * MUL);
    return fold((v ^ a) * MUL) * MUL;
}

static uint64_t of_16(const unsigned char *s, size_t n) {
    if (n > 8) {
        uint64_t last = load_u64(s + n - 8);
        return join(load_u64(s), rotate(last + n, (unsigned)n)) ^ last;
    }
    if (n >= 4) return join(n + ((uint64_t)load_u32(s) << 3), load_u32(s + n - 4));
    if (n == 0) return K2;
    uint64_t y = s[0] + ((uint64_t)s[n >> 1] << 8);
    uint64_t z = n + ((uint64_t)s[n - 1] << 2);
    return fold(y * K2 ^ z * K3) * K2;
}

static uint64_t of_32(const unsigned char *s, size_t n) {
    uint64_t a = load_u64(s) * K1, b = load_u64(s + 8);
    uint64_t c = load_u64(s + n - 8) * K2, d = load_u64(s + n - 16) * K0;
    return join(rotate(a - b, 43) + rotate(c, 30) + d, a + rotate(b ^ K3, 20) - c + n);
}

/* Half of what up to 64 bytes come to: a is made of the first of four words already, and
 * z is the last. */
static struct pair half(uint64_t a, uint64_t second, uint64_t third, uint64_t z) {
    uint64_t b = rotate(a + z, 52), c = rotate(a, 37);
    a += second;
    c += rotate(a, 7);
    a += third;
    return (struct pair){a + z, b + rotate(a, 31) + c};
}

static uint64_t of_64(const unsigned char *s, size_t n) {
    const unsigned char *end = s + n;
    uint64_t a = load_u64(s) + (n + load_u64(end - 16)) * K0;
    struct pair v = half(a, load_u64(s + 8), load_u64(s + 16), load_u64(s + 24));
    a = load_u64(s + 16) + load_u64(end - 32);
    struct pair w = half(a, load_u64(end - 24), load_u64(end - 16), load_u64(end - 8));
    uint64_t r = fold((v.first + w.second) * K2 + (w.first + v.second) * K0);
    return fold(r * K0 + v.second) * K2;
}

/* 32 bytes and two seeds. */
static inline struct pair weak(const unsigned char *s, uint64_t a, uint64_t b) {
    uint64_t z = load_u64(s + 24);
    a += load_u64(s);
    b = rotate(b + a + z, 21);
    uint64_t c = a;
    a += load_u64(s + 8) + load_u64(s + 16);
    b += rotate(a, 44);
    return (struct pair){a + z, b + c};
}

static uint64_t of_more(const unsigned char *s, size_t n) {
    const unsigned char *end = s + n;
    uint64_t x = load_u64(s);
    uint64_t y = load_u64(end - 16) ^ K1;
    uint64_t z = load_u64(end - 56) ^ K0;
    struct pair v = weak(end - 64, n, y);
    struct pair w = weak(end - 32, n * K1, K0);
    z += fold(v.second) * K1;
    x = rotate(z + x, 39) * K1;
    y = rotate(y, 33) * K1;

    /* The last block was the beginning of it all. */
    for (size_t blocks = (n - 1) / BLOCK; blocks > 0; blocks--, s += BLOCK) {
        x = rotate(x + y + v.first + load_u64(s + 16), 37) * K1;
        y = rotate(y + v.second + load_u64(s + 48), 42) * K1;
        x ^= w.second;
        y ^= v.first;
        z = rotate(z ^ w.first, 33);
        v = weak(s, v.second * K1, x + w.first);
        w = weak(s + 32, z + w.second, y);
        uint64_t swapped = z;
        z = x;
        x = swapped;
    }
    return join(join(v.first, w.first) + fold(y) * K1 + z, join(v.second, w.second) + x);
}

uint64_t city64(const void *bytes, size_t length) {
    if (length <= 16) return of_16(bytes, length);
    if (length <= 32) return of_32(bytes, length);
    if (length <= 64) return of_64(bytes, length);
    return of_more(bytes, length);
}

uint64_t city64_seeded(uint64_t hash, uint64_t seed) {
    return join(hash - K2, seed);
}
