/* SPDX-License-Identifier: BSD-3-Clause */
/* guava.c - the filters of Guava, Java's com.google.common.hash.BloomFilter, bit for bit.
 *
 *     h1, h2   MurmurHash3 of the item, 128 bits, in two halves
 *
 *     MITZ_64  place i  ((h1 + i*h2) mod 2^63) mod bits               (i from 0 on)
 *     MITZ_32  a, d     the lower and the upper half of h1
 *              place i  c mod bits, where c = (a + i*d) mod 2^32, with all bits turned if
 *                       that is 2^31 or more                          (i from 1 on)
 *
 *     m        trunc(-capacity * ln(error) / ln2^2)
 *     bits     m, in whole words of 64
 *     hashes   round(m / capacity * ln2), at least 1; over 255 is refused
 *
 *     form     strategy 1 byte | hashes 1 | words 4 | the words, 8 each; all of them with
 *              the highest byte first. The strategy is 0 for MITZ_32, 1 for MITZ_64.
 *
 * The hash is public: anyone who may choose items can make a filter say "maybe" to an item
 * that isn't in it.
 *
 * The fields in this kind: a chain's variant, and its layer's, is 1 for MITZ_32. That is
 * what old programs have; Guava makes MITZ_64. */
#include "bytes.h"
#include "kinds/flat.h"
#include "kinds/single.h"
#include "murmur3.h"
#include "real.h"

#define HASHES_MAX 255
#define WORDS_MAX  INT32_MAX

#define HEAD 6

enum variant { MITZ_64, MITZ_32 };
static const char *const variants[] = {"mitz64", "mitz32", NULL};

/* ---- places ---- */

FLAT_INLINE uint64_t place_64(const struct layer *layer, struct hashed item, unsigned i) {
    return ((item.x + i * item.step) & INT64_MAX) % (8 * layer->bytes);
}

FLAT_INLINE uint64_t place_32(const struct layer *layer, struct hashed item, unsigned i) {
    uint32_t c = (uint32_t)(item.x + (i + 1) * item.step);
    if (c > INT32_MAX) c = ~c;
    return c % (8 * layer->bytes);
}

static void guava_hash(const struct chain *c, const struct item *items, size_t n,
                       struct hashed *out) {
    for (size_t i = 0; i < n; i++) {
        uint64_t h[2];
        murmur3_128(items[i].bytes, items[i].length, h);
        out[i] = c->variant == MITZ_64 ? (struct hashed){h[0], h[1]}
                                       : (struct hashed){h[0] & UINT32_MAX, h[0] >> 32};
    }
}

static void guava_prefetch(const struct layer *layers, size_t nlayers,
                           const struct hashed *items, size_t n) {
    if (layers->variant == MITZ_64)
        flat_prefetch(layers, nlayers, items, n, place_64);
    else
        flat_prefetch(layers, nlayers, items, n, place_32);
}

static void guava_ask(const struct layer *layers, size_t nlayers,
                      const struct hashed *items, size_t n, uint8_t *maybe) {
    if (layers->variant == MITZ_64)
        flat_ask(layers, nlayers, items, n, maybe, place_64);
    else
        flat_ask(layers, nlayers, items, n, maybe, place_32);
}

static bool guava_add(struct layer *layer, struct hashed item) {
    return layer->variant == MITZ_64 ? flat_add(layer, item, place_64)
                                     : flat_add(layer, item, place_32);
}

static uint64_t guava_places(const struct layer *layer) {
    uint64_t bits = 8 * layer->bytes, reach = UINT64_C(1) << 31;
    return layer->variant == MITZ_32 && bits > reach ? reach : bits;
}

/* ---- sizes ---- */

static enum bloom_status guava_plan(const struct chain *c, uint64_t capacity,
                                    struct layer *out) {
    double m = (double)capacity * -real_log(c->error) / (REAL_LN2 * REAL_LN2);
    if (m >= 64.0 * WORDS_MAX) return BLOOM_TOO_BIG;
    uint64_t bits = (uint64_t)m;
    if (bits == 0) return BLOOM_RATE_TOO_LARGE;
    uint64_t hashes = (uint64_t)((double)bits / (double)capacity * REAL_LN2 + 0.5);
    if (hashes > HASHES_MAX) return BLOOM_RATE_TOO_SMALL;
    *out = (struct layer){
        .bytes = (bits + 63) / 64 * 8,
        .capacity = capacity,
        .error = c->error,
        .probes = hashes < 1 ? 1 : (uint16_t)hashes,
        .variant = c->variant,
    };
    return BLOOM_OK;
}

/* ---- what can be ---- */

static const char *guava_flaw(const struct layer *layer) {
    if (layer->bytes % 8 != 0) return "it is not whole words";
    if (layer->bytes / 8 > WORDS_MAX) return "it has a bad number of words";
    if (layer->probes < 1 || layer->probes > HASHES_MAX)
        return "it has a bad number of hashes";
    if (layer->variant > MITZ_32) return "its variant is unknown";
    if (layer->parameter != 0) return "it has a field set that its kind doesn't know";
    return NULL;
}

/* ---- its own form ---- */

static const char *read_form(const struct form *in, struct chain_spec *spec,
                             struct layer *plan) {
    if (in->length < HEAD) return "it ends too early";
    if (in->bytes[0] > 1) return "its strategy is unknown";
    uint64_t words = __builtin_bswap32(load_u32(in->bytes + 2));
    if (words < 1 || words > WORDS_MAX) return "it has a bad number of words";
    if (in->length - HEAD < 8 * words) return "it ends too early";
    if (in->length - HEAD > 8 * words) return "there is something after its end";
    spec->variant = in->bytes[0] == 1 ? MITZ_64 : MITZ_32;
    plan->variant = spec->variant;
    plan->bytes = 8 * words;
    plan->probes = in->bytes[1];
    return NULL;
}

static void write_ends(const struct chain *c, unsigned char *head, unsigned char *tail) {
    const struct layer *layer = &c->layers[0];
    (void)tail;
    head[0] = layer->variant == MITZ_64;
    head[1] = (unsigned char)layer->probes;
    store_u32(head + 2, __builtin_bswap32((uint32_t)(layer->bytes / 8)));
}

static const struct kind_form form = {
    .variants = variants,
    .read = read_form,
    .head = HEAD,
    .swaps = true,
    .write_ends = write_ends,
};

const struct kind kind_guava = {
    .name = "guava",
    .id = 6,
    .exceeds = true,
    .layers_max = SINGLE_LAYERS_MAX,
    .complete = single_complete,
    .plan = guava_plan,
    .chain_flaw = single_flaw,
    .flaw = guava_flaw,
    .hash = guava_hash,
    .prefetch = guava_prefetch,
    .ask = guava_ask,
    .add = guava_add,
    .places = guava_places,
    .layer_facts = single_facts,
    .form = &form,
};
