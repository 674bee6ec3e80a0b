/* SPDX-License-Identifier: BSD-3-Clause */
/* hash_avx2.c - four SipHashes at once, a word of each in a vector. Compiled for
 * processors with AVX2, and called on them only. */
#ifdef __AVX2__
#include <immintrin.h>

#include "hash.h"
#include "sip.h"

struct four {
    __m256i v0, v1, v2, v3;
};

#define ROTATE(v, by)                                                                      \
    _mm256_or_si256(_mm256_slli_epi64((v), (by)), _mm256_srli_epi64((v), 64 - (by)))

static inline void four_round(struct four *s) {
    const __m256i by_16 =
        _mm256_setr_epi8(6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13, 6, 7, 0, 1,
                         2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13);
    s->v0 = _mm256_add_epi64(s->v0, s->v1);
    s->v1 = _mm256_xor_si256(ROTATE(s->v1, 13), s->v0);
    s->v0 = _mm256_shuffle_epi32(s->v0, 0xB1); /* halves change places: by 32 */
    s->v2 = _mm256_add_epi64(s->v2, s->v3);
    s->v3 = _mm256_xor_si256(_mm256_shuffle_epi8(s->v3, by_16), s->v2);
    s->v0 = _mm256_add_epi64(s->v0, s->v3);
    s->v3 = _mm256_xor_si256(ROTATE(s->v3, 21), s->v0);
    s->v2 = _mm256_add_epi64(s->v2, s->v1);
    s->v1 = _mm256_xor_si256(ROTATE(s->v1, 17), s->v2);
    s->v2 = _mm256_shuffle_epi32(s->v2, 0xB1);
}

static inline void four_words(struct four *s, __m256i words) {
    s->v3 = _mm256_xor_si256(s->v3, words);
    four_round(s);
    s->v0 = _mm256_xor_si256(s->v0, words);
}

static inline __m256i four_of(uint64_t word) {
    return _mm256_set1_epi64x((long long)word);
}

/* Combined in registers: a vector can't be read back from four narrow writes before they
 * have reached the cache. */
static inline __m256i join(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return _mm256_set_epi64x((long long)d, (long long)c, (long long)b, (long long)a);
}

/* The last word of a message. `at` points to the bytes that don't fill a whole word. */
static inline uint64_t end_of(const unsigned char *at, const struct item *item) {
    return last_word(at, item->length, item->length);
}

void siphash13_four(const struct secret *secret, const struct item items[4],
                    uint64_t hashes[4]) {
    struct sip start = sip_start(secret);
    struct four s = {four_of(start.v0), four_of(start.v1), four_of(start.v2),
                     four_of(start.v3)};
    const unsigned char *a = items[0].bytes, *b = items[1].bytes, *c = items[2].bytes,
                        *d = items[3].bytes;

    for (size_t left = items[0].length / 8; left > 0;
         left--, a += 8, b += 8, c += 8, d += 8)
        four_words(&s, join(load_u64(a), load_u64(b), load_u64(c), load_u64(d)));
    four_words(&s, join(end_of(a, &items[0]), end_of(b, &items[1]), end_of(c, &items[2]),
                        end_of(d, &items[3])));

    s.v2 = _mm256_xor_si256(s.v2, four_of(0xff));
    four_round(&s);
    four_round(&s);
    four_round(&s);
    __m256i all =
        _mm256_xor_si256(_mm256_xor_si256(s.v0, s.v1), _mm256_xor_si256(s.v2, s.v3));
    _mm256_storeu_si256((__m256i *)(void *)hashes, all);
}
#else
typedef int nothing_here; /* C wants something in every file */
#endif
