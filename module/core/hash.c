/* SPDX-License-Identifier: BSD-3-Clause */
#include "hash.h"

#include "sip.h"

static inline uint64_t rotate(uint64_t v, unsigned by) {
    return v << by | v >> (64 - by);
}

static inline void sip_round(struct sip *s) {
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word) {
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* Hashes the rest of a message, after the first `before` bytes have gone in, and
 * finishes. */
static inline uint64_t sip_end(struct sip s, const void *bytes, size_t length,
                               uint64_t before) {
    const unsigned char *at = bytes;

    for (size_t words = length / 8; words > 0; words--, at += 8)
        sip_word(&s, load_u64(at));
    sip_word(&s, last_word(at, length, before + length));

    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t siphash13(const struct secret *secret, const void *bytes, size_t length) {
    return sip_end(sip_start(secret), bytes, length, 0);
}

uint64_t siphash13_after(const struct secret *secret, uint64_t word, const void *bytes,
                         size_t length) {
    struct sip s = sip_start(secret);
    sip_word(&s, word);
    return sip_end(s, bytes, length, sizeof word);
}
