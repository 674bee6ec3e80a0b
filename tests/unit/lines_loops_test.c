/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_loops_test.c - every form of the loops equals the one in plain C: the same
 * hashes, the same answers, the same bytes. */
#include "kinds/lines/lines_loops.h"

#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "check.h"

#define LAYERS 6

/* The forms that this processor can run, besides plain C. */
static const struct lines_loops *const *other_forms(size_t *n) {
    static const struct lines_loops *forms[1];
    *n = 0;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        forms[(*n)++] = &lines_avx2;
#endif
    if (*n == 0) SKIP("this processor has plain C only");
    return forms;
}

static void free_bits(void *bits) {
    free(bits);
}

/* A layer of any shape, its array at any address. */
static struct layer random_layer(void) {
    static const uint16_t sectors[] = {2, 4, 8};
    struct layer layer = {
        .bytes = 64 * (1 + random_below(random_below(2) ? 3 : 200)),
        .probes = (uint16_t)(1 + random_below(4)),
        .variant = sectors[random_below(3)],
    };
    unsigned char *block = calloc(1, (size_t)layer.bytes + 64);
    CHECK(block != NULL);
    test_defer(free_bits, block);
    layer.bits = block + random_below(64);
    return layer;
}

static struct layer copy_of(const struct layer *layer) {
    struct layer copy = *layer;
    copy.bits = malloc((size_t)layer->bytes);
    CHECK(copy.bits != NULL);
    test_defer(free_bits, copy.bits);
    memcpy(copy.bits, layer->bits, (size_t)layer->bytes);
    return copy;
}

/* Few different hashes, so that some are there already and some come twice. */
static size_t random_block(struct hashed items[LINES_BLOCK]) {
    size_t n = 1 + random_below(LINES_BLOCK);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = random_below(400);
        items[i].x = siphash13(&(struct secret){1, 2}, &number, sizeof number);
    }
    return n;
}

/* ---- hashes ---- */

/* Blocks of one length, of lengths with equally many words, and of any. */
static size_t random_length(unsigned sort, size_t common) {
    return sort == 0   ? common
           : sort == 1 ? common / 8 * 8 + random_below(8)
                       : random_below(70);
}

TEST(every_form_hashes_alike) {
    size_t nforms;
    const struct lines_loops *const *forms = other_forms(&nforms);
    for (int round = 0; round < 3000; round++) {
        struct secret secret = {random_u64(), random_u64()};
        struct item items[LINES_BLOCK];
        struct hashed plain[LINES_BLOCK], other[LINES_BLOCK];
        size_t n = 1 + random_below(LINES_BLOCK), common = random_below(600);
        for (size_t i = 0; i < n; i++) {
            size_t length = random_length((unsigned)round % 3, common);
            /* Of exactly that size: the address sanitizer sees a byte too many. */
            unsigned char *bytes = malloc(length ? length : 1);
            CHECK(bytes != NULL);
            for (size_t b = 0; b < length; b++)
                bytes[b] = (unsigned char)random_u64();
            items[i] = (struct item){bytes, length};
        }
        lines_plain.hash(&secret, items, n, plain);
        for (size_t layer = 0; layer < nforms; layer++) {
            forms[layer]->hash(&secret, items, n, other);
            for (size_t i = 0; i < n; i++)
                CHECK_UINT(other[i].x, plain[i].x);
        }
        for (size_t i = 0; i < n; i++)
            free((void *)items[i].bytes);
    }
}

/* ---- bits ---- */

TEST(every_form_sets_the_same_bits_and_says_so) {
    size_t nforms;
    const struct lines_loops *const *forms = other_forms(&nforms);
    for (int round = 0; round < 300; round++) {
        struct layer plain = random_layer();
        struct layer others[1] = {copy_of(&plain)};
        for (int block = 0; block < 20; block++) {
            struct hashed items[LINES_BLOCK];
            uint8_t wanted[LINES_BLOCK], expected[LINES_BLOCK];
            size_t n = random_block(items);
            for (size_t i = 0; i < n; i++)
                wanted[i] = expected[i] = (uint8_t)random_below(2);
            lines_plain.add(&plain, items, n, expected);
            for (size_t layer = 0; layer < nforms; layer++) {
                uint8_t found[LINES_BLOCK];
                memcpy(found, wanted, n);
                forms[layer]->add(&others[layer], items, n, found);
                CHECK_MEM(found, n, expected, n);
                CHECK_MEM(others[layer].bits, (size_t)plain.bytes, plain.bits,
                          (size_t)plain.bytes);
            }
        }
    }
}

TEST(every_form_gives_the_same_answers) {
    size_t nforms;
    const struct lines_loops *const *forms = other_forms(&nforms);
    for (int round = 0; round < 300; round++) {
        struct layer layers[LAYERS];
        struct hashed items[LINES_BLOCK];
        uint8_t all[LINES_BLOCK], expected[LINES_BLOCK], found[LINES_BLOCK];
        size_t nlayers = 1 + random_below(LAYERS);
        for (size_t l = 0; l < nlayers; l++) {
            layers[l] = random_layer();
            memset(all, 1, sizeof all);
            lines_plain.add(&layers[l], items, random_block(items), all);
        }
        for (int block = 0; block < 20; block++) {
            size_t n = random_block(items);
            lines_plain.ask(layers, nlayers, items, n, expected);
            for (size_t i = 0; i < n; i++)
                CHECK_INT(lines_ask_one(layers, nlayers, items[i]), expected[i]);
            for (size_t layer = 0; layer < nforms; layer++) {
                forms[layer]->ask(layers, nlayers, items, n, found);
                CHECK_MEM(found, n, expected, n);
            }
        }
    }
}
