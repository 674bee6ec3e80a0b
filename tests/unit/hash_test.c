/* SPDX-License-Identifier: BSD-3-Clause */
#include "hash.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

/* CPython hashes bytes with a SipHash-1-3 of its own. These are hash(bytes(range(n))) of
 * Python 3.11.7 for n = 1 to 64 under PYTHONHASHSEED=0 (a key of zeros), 1 and 20260726
 * (keys that lcg_urandom() in CPython's bootstrap_hash.c makes of the seed). Python says
 * 0 for no bytes whatever the key: row 0 is of a SipHash written in Python, which agrees
 * with hash() in all the other rows. */
static const struct secret keys[] = {
    {UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0xaed66ce184be2329), UINT64_C(0xebe9bbf1f1499052)},
    {UINT64_C(0x6f22730f35533564), UINT64_C(0xf79bb092c9620da8)},
};

#define KEYS    (sizeof keys / sizeof *keys)
#define LENGTHS 65

/* clang-format off */
static const uint64_t python[LENGTHS][KEYS] = {
    {0xd1fba762150c532c, 0x96a9733ef308a1d7, 0x0881968ced05dca8}, /* 0 */
    {0x68a914128e01e473, 0xecd3e5afcecda4b9, 0xbab40d9511e48722}, /* 1 */
    {0x010bac45c41e3669, 0xbf360f1ea1745965, 0xab122c9fbe87c915}, /* 2 */
    {0x4d4c9a4a8ef6e0ad, 0x8d5b20ab227ba858, 0x00eaecdd64d06276}, /* 3 */
    {0x7cc43f98813e4dbd, 0x968a3280faeeb716, 0x04cf1daec231891f}, /* 4 */
    {0x5abe2169dff36275, 0xbbda3b5f513c3d69, 0x6eec01ca25dbb716}, /* 5 */
    {0xe3c25f87624f1cdb, 0xa77f099d6ffed90e, 0x45983ece4976d09d}, /* 6 */
    {0x2f098ab0c751325a, 0xfd15e78052a69ddf, 0x1c2d336e9066fd52}, /* 7 */
    {0xead411e67ebe2eea, 0xc0b5739e7e28dd01, 0xb6a8cc4abb34b714}, /* 8 */
    {0x75927f9d95124362, 0x208a1a5a0cbbf778, 0xc9f52ec8a92319a9}, /* 9 */
    {0xaf9f77a65ab51a1d, 0xb99907ab3e3e597c, 0xc828e170ac25527c}, /* 10 */
    {0xfe64ce8b6617fcff, 0x4d9ec6e9c5127521, 0xf9bb4d30f27eb5c0}, /* 11 */
    {0xa6baf4fb0f9fe1c2, 0x9b07906e87e344ad, 0xfe3c69904f6c2c7f}, /* 12 */
    {0xa0cf3211850f8e0d, 0x75973ed5708eb192, 0xc271820089929ada}, /* 13 */
    {0x7f86049379fbfe67, 0x3a6b5d52e1c90862, 0x1435dda80b3e6c2f}, /* 14 */
    {0xf30eb725bb91c9ea, 0xfa87985f39e97a53, 0x05dc2139333b38ff}, /* 15 */
    {0x8972188433a5c5b7, 0x12e9d283f9f37002, 0x5ffe0d49d23cc397}, /* 16 */
    {0x4883c49a2c009c1d, 0x9f5bb4237f61907f, 0x0e4edd228d09e2ad}, /* 17 */
    {0xadc2c0b63044067d, 0xc8481dd155697ab5, 0x5fe72adf9f5288b6}, /* 18 */
    {0x091f4a3329f87d19, 0xea61ba56131a6619, 0x66e52b0923c6949e}, /* 19 */
    {0x639e355ae68c0100, 0xcd48cd0e7a31cb04, 0x0327b12a74f594c4}, /* 20 */
    {0xb17bef2cb5213239, 0x6194f8d23abbab99, 0xf9ffa21cdf11d5a8}, /* 21 */
    {0xf8aeb1066236ccfe, 0x8d7773f9524a6d91, 0x55ed0eb2409b5ace}, /* 22 */
    {0x37332b1389daa4ff, 0xf7cea028f939ae8c, 0xe47356c4a0c410ff}, /* 23 */
    {0x31185a47af932f3a, 0x19b4e5f288f874ce, 0x44cfcc5b3cf5e85e}, /* 24 */
    {0xebf352e82ae23e2f, 0x50b56154544f388a, 0x067ef83d21857dce}, /* 25 */
    {0xed36ff242fe478b2, 0x77496e873461377f, 0xe255778dfeac6897}, /* 26 */
    {0x2454d97d299299df, 0x6d4615212085f9ad, 0xc1892a7617bbcfb8}, /* 27 */
    {0x8cd57fe8130d0ac7, 0x6a5c3ee2b7a57839, 0x42bd36ac6eb395ca}, /* 28 */
    {0xbe98eb2faf0a0e85, 0x36b3d9ecaf57a817, 0xbe6d96ae2caf5d77}, /* 29 */
    {0xd427c34ee09470c6, 0xc835e0d53af23864, 0x3a51d6887be3b8de}, /* 30 */
    {0x169739443111d49b, 0xb8c17103f21d8810, 0x53cadc5c80f12bae}, /* 31 */
    {0x31ef8061c910629b, 0xf78bafba3c64318e, 0x2be55d67866d80ac}, /* 32 */
    {0x7fb71d24dfa4c9f6, 0x936512292dbf5292, 0x937e57ed41993518}, /* 33 */
    {0x92771f49e836d389, 0xf63914dd809bd6ab, 0x621158b0013595ca}, /* 34 */
    {0x3c393cf6f0853bc3, 0x2354e6a0cbd484d9, 0x9f802cf58c2386bb}, /* 35 */
    {0xac77921fcc642bd3, 0x93fbdf55374406c1, 0xca471f75baedb104}, /* 36 */
    {0x422a9751192ff266, 0x34fc9e9b6378daf4, 0x01ba43be672398f4}, /* 37 */
    {0xc680ae8a8c584ddf, 0xabd250c1d59c6915, 0x2848a8351e193f58}, /* 38 */
    {0x6c76b6d34bb6d26b, 0x8007881b2e60feb5, 0xbff60b0adc99247c}, /* 39 */
    {0x95bc321ab41d8206, 0xdb056b8b4f38310b, 0xb7456f7fdc5ee5e5}, /* 40 */
    {0x908a3a97a6d37669, 0xfe17eabf81e4441f, 0xc3280d11d314b98b}, /* 41 */
    {0xfcaf3c64874dd0b4, 0x66f2754501c5d69b, 0xf73fe5d32d62a97f}, /* 42 */
    {0xf689479b32b84a44, 0x127212ea4d69e4f8, 0xdd04acf7e65a4a34}, /* 43 */
    {0xd857641079efd1fd, 0xc3509aecc2c5c591, 0xbaafab21f64d4858}, /* 44 */
    {0x8b581578722633f7, 0x5c740871eb467b9c, 0xcdf3edb5f4eb768d}, /* 45 */
    {0x83cb09d35ea7bcd4, 0x4ff12bec78680a4e, 0x29edb4b84243fd05}, /* 46 */
    {0x8485f7f5ae725a0d, 0xacd7205078164704, 0xd890f136c81a2e32}, /* 47 */
    {0xfe1f2445ba50237f, 0xe29343c400d583a7, 0xb7d43bb490363d27}, /* 48 */
    {0x23cece041d7866b0, 0x244adbfcbf30eafb, 0x1e99f3d61f4a0e55}, /* 49 */
    {0x416687480b336c09, 0xc671475c59b87490, 0xd6e63102b899af26}, /* 50 */
    {0xf15960da7e7f3892, 0xc633d235edae7e87, 0x1e86f1775a06fc7c}, /* 51 */
    {0xded6177b9826835a, 0x79b978091f1bd2ef, 0x6437d65a9b180184}, /* 52 */
    {0xf80dae51668be6be, 0x328e0c2d2169873b, 0xaa3f4041d6ee52da}, /* 53 */
    {0x17ecc6ee6647df18, 0x68a800cc80990278, 0xaf1e9d71e0cfca9c}, /* 54 */
    {0x5220d642b4a52110, 0x03ae1ab550cf8bfb, 0xc9f0ec4b698421d3}, /* 55 */
    {0xa4f0cf4ba4adc016, 0xc2fa1af5b2d267ca, 0x647c7cd1a285122c}, /* 56 */
    {0xe5125bb26d1f2976, 0xe1b2200d147d8cf0, 0x93c98a9b29d114e2}, /* 57 */
    {0x851b0e75f580d256, 0x73d7c5272b8f916d, 0x0881d74ab2c436ef}, /* 58 */
    {0x12605250a37e39ac, 0x32b56d696fd24742, 0x80c8f26e749e87a8}, /* 59 */
    {0xd95a713568daebf1, 0x170b665166692c85, 0x09f09114bcbcdd8a}, /* 60 */
    {0xcdcf4a42ec0dd605, 0x1d069a16efd713d7, 0x72cea92bb6209cef}, /* 61 */
    {0xa5c708712b617164, 0xd0b0b38a3f95181d, 0xf1f6582292b17aea}, /* 62 */
    {0x385d3e39e5f37359, 0x542052345bc68274, 0x03a31325cbb2ec71}, /* 63 */
    {0x75e05fd5bbc870c6, 0x7e644b6edc375dc8, 0x64dbb2790daab86a}, /* 64 */
};
/* clang-format on */

static uint64_t hash(const void *bytes, size_t length) {
    return siphash13(&keys[2], bytes, length);
}

TEST(the_hash_is_the_siphash_of_cpython) {
    unsigned char bytes[LENGTHS];
    for (unsigned i = 0; i < LENGTHS; i++)
        bytes[i] = (unsigned char)i;

    for (size_t k = 0; k < KEYS; k++)
        for (size_t length = 0; length < LENGTHS; length++) {
            test_case("key %zu, length %zu", k, length);
            CHECK_UINT(siphash13(&keys[k], bytes, length), python[length][k]);
        }
}

TEST(no_bytes_need_no_address) {
    CHECK_UINT(hash(NULL, 0), python[0][2]);
}

/* A block of exactly the item's length: the address sanitizer sees a byte too many. */
TEST(the_hash_reads_the_item_and_nothing_else_at_any_address) {
    for (size_t length = 1; length < LENGTHS; length++)
        for (size_t shift = 0; shift < 8; shift++) {
            unsigned char *block = malloc(shift + length);
            CHECK(block != NULL);
            for (size_t i = 0; i < length; i++)
                block[shift + i] = (unsigned char)i;

            uint64_t found = hash(block + shift, length);
            free(block);
            CHECK_UINT(found, python[length][2]);
        }
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void must_be_distinct(uint64_t *hashes, size_t n) {
    qsort(hashes, n, sizeof *hashes, compare);
    for (size_t i = 1; i < n; i++)
        CHECK(hashes[i - 1] != hashes[i]);
}

/* The length is part of what is hashed, also past 255, where its byte starts again. */
TEST(zeros_at_the_end_make_another_item) {
    static const unsigned char zeros[600];
    uint64_t hashes[601];
    for (size_t length = 0; length <= 600; length++)
        hashes[length] = hash(zeros, length);
    must_be_distinct(hashes, 601);
}

/* MurmurHash64A, the hash of other filters, has pairs of 16-byte items that collide under
 * every seed: the top bit of both words flipped. Here they are as different as any two. */
TEST(flipping_the_top_bits_of_two_words_makes_another_item) {
    uint64_t pairs[2000];
    for (size_t i = 0; i < 2000; i += 2) {
        unsigned char item[16];
        for (size_t b = 0; b < 16; b++)
            item[b] = (unsigned char)random_u64();
        pairs[i] = hash(item, 16);
        item[7] ^= 0x80;
        item[15] ^= 0x80;
        pairs[i + 1] = hash(item, 16);
    }
    must_be_distinct(pairs, 2000);
}

/* Flips bit `flipped` of random items or of the key, and counts how often each bit of
 * the hash follows. */
#define FLIPS 1000
static void count_changes(unsigned flipped, unsigned changes[64]) {
    memset(changes, 0, 64 * sizeof *changes);
    for (int trial = 0; trial < FLIPS; trial++) {
        uint64_t input[4] = {random_u64(), random_u64(), random_u64(), random_u64()};
        uint64_t other[4] = {input[0], input[1], input[2], input[3]};
        other[flipped / 64] ^= UINT64_C(1) << (flipped % 64);

        struct secret before = {input[2], input[3]}, after = {other[2], other[3]};
        uint64_t difference = siphash13(&before, input, 16) ^ siphash13(&after, other, 16);
        for (unsigned bit = 0; bit < 64; bit++)
            changes[bit] += difference >> bit & 1;
    }
}

/* A fair coin thrown 1000 times has a deviation of 15.8: all of the 256 * 64 counts stay
 * within 7 of them but once in 2e7 runs. */
TEST(every_bit_of_item_and_key_changes_every_bit_of_the_hash_half_the_time) {
    for (unsigned flipped = 0; flipped < 256; flipped++) {
        unsigned changes[64];
        count_changes(flipped, changes);
        for (unsigned bit = 0; bit < 64; bit++)
            CHECK_NEAR(changes[bit], FLIPS / 2, 7 * 15.9);
    }
}
