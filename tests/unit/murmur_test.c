/* SPDX-License-Identifier: BSD-3-Clause */
/* murmur_test.c - the two hashes are the published ones. */
#include "kinds/redisbloom/murmur.h"

#include <string.h>

#include "bytes.h"
#include "check.h"
#include "hash.h"

/* The way of SMHasher, the author's own test: the keys {}, {0}, {0,1}, ... under the seeds
 * 256, 255, ..., and the hash of all those hashes. The two sums are published there. */
#define KEYS 256

TEST(murmur64_has_the_published_sum) {
    unsigned char key[KEYS], hashes[8 * KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        key[i] = (unsigned char)i;
        store_u64(hashes + 8 * i, murmur64(key, i, KEYS - i));
    }
    CHECK_UINT(murmur64(hashes, sizeof hashes, 0) & UINT32_MAX, 0x1F0D3804);
}

TEST(murmur32_has_the_published_sum) {
    unsigned char key[KEYS], hashes[4 * KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        key[i] = (unsigned char)i;
        store_u32(hashes + 4 * i, murmur32(key, i, KEYS - i));
    }
    CHECK_UINT(murmur32(hashes, sizeof hashes, 0), 0x27864C1E);
}

TEST(the_address_does_not_matter) {
    unsigned char room[64 + 8], bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_u64();
    for (size_t shift = 0; shift < 8; shift++)
        for (size_t length = 0; length <= sizeof bytes; length++) {
            memcpy(room + shift, bytes, length);
            CHECK_UINT(murmur64(room + shift, length, 1), murmur64(bytes, length, 1));
            CHECK_UINT(murmur32(room + shift, length, 1), murmur32(bytes, length, 1));
        }
}

/* Why this hash is for RedisBloom's filters only: two words changed so, and no seed tells
 * the items apart. */
TEST(murmur64_collides_under_every_seed) {
    unsigned char a[16] = "whoever knows it", b[16];
    /* The change of a word that, mixed, changes the top bit alone. */
    uint64_t mixed = 0, inverse = 1, m = UINT64_C(0xc6a4a7935bd1e995);
    for (int i = 0; i < 6; i++)
        inverse *= 2 - m * inverse;
    memcpy(b, a, sizeof a);
    for (int word = 0; word < 2; word++) {
        mixed = load_u64(a + 8 * word) * m;
        mixed ^= mixed >> 47;
        mixed = mixed * m ^ UINT64_C(1) << 63;
        mixed *= inverse;
        mixed ^= mixed >> 47;
        store_u64(b + 8 * word, mixed * inverse);
    }
    CHECK(memcmp(a, b, sizeof a) != 0);
    for (int i = 0; i < 100; i++) {
        uint64_t seed = random_u64();
        CHECK_UINT(murmur64(a, sizeof a, seed), murmur64(b, sizeof b, seed));
    }
}

TEST(a_word_and_bytes_are_hashed_as_one_message) {
    unsigned char message[8 + 40];
    struct secret secret = {random_u64(), random_u64()};
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)random_u64();
    for (size_t length = 0; length <= 40; length++)
        CHECK_UINT(siphash13_after(&secret, load_u64(message), message + 8, length),
                   siphash13(&secret, message, 8 + length));
}
