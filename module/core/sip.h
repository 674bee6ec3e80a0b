/* SPDX-License-Identifier: BSD-3-Clause */
/* sip.h - the start and the last word of SipHash, shared by both implementations. Private
 * to hash.c and hash_avx2.c. The names are those of the paper: Aumasson, Bernstein,
 * "SipHash: a fast short-input PRF" (2012). */
#ifndef BLOOM_SIP_H
#define BLOOM_SIP_H

#include "bytes.h"
#include "hash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

/* The state spells "somepseudorandomlygeneratedbytes". */
static inline struct sip sip_start(const struct secret *secret) {
    return (struct sip){
        secret->k0 ^ UINT64_C(0x736f6d6570736575),
        secret->k1 ^ UINT64_C(0x646f72616e646f6d),
        secret->k0 ^ UINT64_C(0x6c7967656e657261),
        secret->k1 ^ UINT64_C(0x7465646279746573),
    };
}

/* The last word: the bytes at `at` that don't fill a whole word, and in the top byte the
 * length of the message modulo 256. Reads length % 8 bytes. `message` is the length of the
 * whole message, including what was hashed before. */
static inline uint64_t last_word(const unsigned char *at, size_t length, uint64_t message) {
    uint64_t word = message << 56;
    switch (length & 7) {
    case 7:
        word |= (uint64_t)at[6] << 48; /* fall through */
    case 6:
        word |= (uint64_t)at[5] << 40; /* fall through */
    case 5:
        word |= (uint64_t)at[4] << 32; /* fall through */
    case 4:
        word |= load_u32(at);
        break;
    case 3:
        word |= (uint64_t)at[2] << 16; /* fall through */
    case 2:
        word |= load_u16(at);
        break;
    case 1:
        word |= at[0];
        break;
    default:
        break;
    }
    return word;
}

#endif
