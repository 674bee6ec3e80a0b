/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_avx2.c - the loops of the native kind with a line as two vectors. Compiled
 * for processors with AVX2, and called on them only. */
#ifdef __AVX2__
#include <immintrin.h>

#include "lines_loops.h"

/* The 8 words of a line. */
struct bits {
    __m256i low, high;
};

INLINE struct bits load_line(const unsigned char *line) {
    return (struct bits){_mm256_loadu_si256((const __m256i *)(const void *)line),
                         _mm256_loadu_si256((const __m256i *)(const void *)(line + 32))};
}

/* A line that has the pattern's bits and no others. A 1 is shifted by its place in the
 * sector minus the word's start in the sector. If that points past the word, or before it
 * (as a very large number), the shift leaves 0. */
INLINE struct bits bits_of(uint64_t pattern, unsigned sectors) {
    const __m256i one = _mm256_set1_epi64x(1), p = _mm256_set1_epi64x((long long)pattern);
    const __m256i in_sector = _mm256_set1_epi64x(512 / sectors - 1);
    __m256i low, high, begins = _mm256_setzero_si256();
    if (sectors == 8) {
        low = _mm256_srlv_epi64(p, _mm256_setr_epi64x(0, 6, 12, 18));
        high = _mm256_srlv_epi64(p, _mm256_setr_epi64x(24, 30, 36, 42));
    } else if (sectors == 4) {
        low = _mm256_srlv_epi64(p, _mm256_setr_epi64x(0, 0, 7, 7));
        high = _mm256_srlv_epi64(p, _mm256_setr_epi64x(14, 14, 21, 21));
        begins = _mm256_setr_epi64x(0, 64, 0, 64);
    } else {
        low = p;
        high = _mm256_srli_epi64(p, 8);
        begins = _mm256_setr_epi64x(0, 64, 128, 192);
    }
    low = _mm256_sub_epi64(_mm256_and_si256(low, in_sector), begins);
    high = _mm256_sub_epi64(_mm256_and_si256(high, in_sector), begins);
    return (struct bits){_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)};
}

INLINE bool covers(struct bits line, struct bits bits) {
    __m256i clear = _mm256_or_si256(_mm256_andnot_si256(line.low, bits.low),
                                    _mm256_andnot_si256(line.high, bits.high));
    return _mm256_testz_si256(clear, clear);
}

INLINE bool line_has(const unsigned char *line, struct bits bits, unsigned sectors) {
    (void)sectors;
    return covers(load_line(line), bits);
}

INLINE bool line_set(unsigned char *line, struct bits bits, unsigned sectors) {
    struct bits old = load_line(line);
    (void)sectors;
    if (covers(old, bits)) return false;
    _mm256_storeu_si256((__m256i *)(void *)line, _mm256_or_si256(old.low, bits.low));
    _mm256_storeu_si256((__m256i *)(void *)(line + 32),
                        _mm256_or_si256(old.high, bits.high));
    return true;
}

static bool equally_many_words(const struct item *items) {
    size_t words = items[0].length / 8;
    return items[1].length / 8 == words && items[2].length / 8 == words &&
           items[3].length / 8 == words;
}

static void hash_all(const struct secret *secret, const struct item *items, size_t n,
                     struct hashed *out) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint64_t x[4];
        if (equally_many_words(items + i))
            siphash13_four(secret, items + i, x);
        else
            for (size_t k = 0; k < 4; k++)
                x[k] = siphash13(secret, items[i + k].bytes, items[i + k].length);
        for (size_t k = 0; k < 4; k++)
            out[i + k].x = x[k];
    }
    for (; i < n; i++)
        out[i].x = siphash13(secret, items[i].bytes, items[i].length);
}

#define LINES_LOOPS lines_avx2
#include "lines_loops.h"
#else
typedef int nothing_here; /* C wants something in every file */
#endif
