/* SPDX-License-Identifier: BSD-3-Clause */
/* redisbloom.c - RedisBloom's filters, bit for bit.
 *
 *     a        MurmurHash64A of the item under a fixed seed
 *     b        the same under the seed a
 *     place i  ((a + i*b) mod 2^64) mod bits, or mod 2^n2 in filters of before 2.2
 *
 *     error of the first layer   half of what was asked for; all of it if the filter
 *                                never grows
 *     of the next layer          half of the one before
 *     bits per item              -ln(error) / 0.480453013918201
 *     hashes                     ceil(0.693147180559945 * bits per item)
 *     bits                       capacity * bits per item, in whole words of 64
 *
 * The hash is public and has collisions that hold for every seed: anyone who may choose
 * items can make a filter say "maybe" to an item that isn't in it. So this kind is only for
 * filters that come from RedisBloom or must go back there.
 *
 * The fields in this kind: a chain's variant holds RedisBloom's options, and its parameter
 * the growth as it was stored (2 even where NONSCALING forbids it). A layer's variant holds
 * n2, or 0, and its parameter RedisBloom's bits per item, exactly as they were stored. */
#include "redisbloom.h"

#include <string.h>

#include "chain.h"
#include "kind.h"
#include "kinds/flat.h"
#include "murmur.h"
#include "redisbloom_codec.h"
#include "real.h"

#define SEED_64 UINT64_C(0xc6a4a7935bd1e995)
#define SEED_32 UINT32_C(0x9747b28c)

/* RedisBloom's constants have exactly these digits: its numbers depend on them. */
#define LN2         0.693147180559945
#define LN2_SQUARED 0.480453013918201

/* The hashes that the smallest rate a double can hold (2^-1074) needs. */
#define HASHES_MAX 1075

#define WORD_BITS 64

/* RedisBloom lowers any higher rate to this one. */
#define ERROR_MAX 0.25

static const double too_many_bits = 0x1p62;

FLAT_INLINE uint64_t place(const struct layer *layer, struct hashed item, unsigned i) {
    uint64_t p = item.x + i * item.step;
    return redisbloom_n2(layer) ? p & ((UINT64_C(1) << redisbloom_n2(layer)) - 1)
                                : p % (8 * layer->bytes);
}

static void redisbloom_hash(const struct chain *c, const struct item *items, size_t n,
                            struct hashed *out) {
    bool wide = c->variant & REDISBLOOM_HASH_64;
    for (size_t i = 0; i < n; i++) {
        const void *bytes = items[i].bytes;
        size_t length = items[i].length;
        if (wide) {
            out[i].x = murmur64(bytes, length, SEED_64);
            out[i].step = murmur64(bytes, length, out[i].x);
        } else {
            uint32_t x = murmur32(bytes, length, SEED_32);
            out[i] = (struct hashed){x, murmur32(bytes, length, x)};
        }
    }
}

static void redisbloom_prefetch(const struct layer *layers, size_t nlayers,
                                const struct hashed *items, size_t n) {
    flat_prefetch(layers, nlayers, items, n, place);
}

static void redisbloom_ask(const struct layer *layers, size_t nlayers,
                           const struct hashed *items, size_t n, uint8_t *maybe) {
    flat_ask(layers, nlayers, items, n, maybe, place);
}

static bool redisbloom_add(struct layer *layer, struct hashed item) {
    return flat_add(layer, item, place);
}

/* ---- sizing ---- */

static void redisbloom_complete(struct chain_spec *spec) {
    if (spec->error > ERROR_MAX) spec->error = ERROR_MAX;
    spec->variant = REDISBLOOM_NOT_ROUNDED | REDISBLOOM_HASH_64;
    if (spec->expansion == 0) spec->variant |= REDISBLOOM_NONSCALING;
    spec->parameter = spec->asked_expansion;
    spec->secret = spec->secret2 = (struct secret){0, 0};
    spec->identity = 0;
}

static uint32_t redisbloom_asked_expansion(const struct chain *c) {
    return (uint32_t)c->parameter;
}

/* The smallest whole number that isn't below v, for v in [0, 2^62). */
static uint64_t round_up(double v) {
    uint64_t whole = (uint64_t)v;
    return whole + ((double)whole < v);
}

uint64_t redisbloom_hashes(double bits_per_item) {
    return round_up(LN2 * bits_per_item);
}

static double error_of_next(const struct chain *c) {
    if (c->nlayers > 0) return c->layers[c->nlayers - 1].error * 0.5;
    return c->variant & REDISBLOOM_NONSCALING ? c->error : c->error * 0.5;
}

static uint64_t rounded_bytes(unsigned n2) {
    return ((UINT64_C(1) << n2) + 7) / 8;
}

/* Before 2.2 a filter had the next power of two above the bits that its items need, and the
 * spare bits raised its capacity. Later versions still grow such a filter by this rule. */
static enum bloom_status plan_rounded(double bits, struct layer *out) {
    unsigned n2 = 0;
    double power = 1;
    for (; power <= bits; power *= 2)
        n2++;
    out->variant = (uint16_t)n2;
    out->bytes = rounded_bytes(n2);
    out->capacity +=
        (uint64_t)((double)(uint64_t)(power - bits) / redisbloom_bits_per_item(out));
    return BLOOM_OK;
}

static enum bloom_status redisbloom_plan(const struct chain *c, uint64_t capacity,
                                         struct layer *out) {
    double error = error_of_next(c);
    if (!(error > 0)) return BLOOM_RATE_TOO_SMALL; /* halved until nothing is left */
    double per_item = -(real_log(error) / LN2_SQUARED);
    double bits = (double)capacity * per_item;
    if (!(bits < too_many_bits)) return BLOOM_TOO_BIG;

    *out = (struct layer){
        .capacity = capacity,
        .error = error,
        .parameter = per_item,
        .probes = (uint16_t)redisbloom_hashes(per_item),
    };
    if (!(c->variant & REDISBLOOM_NOT_ROUNDED)) return plan_rounded(bits, out);
    uint64_t whole = bits < 1 ? 1 : (uint64_t)bits;
    out->bytes = (whole + WORD_BITS - 1) / WORD_BITS * (WORD_BITS / 8);
    return BLOOM_OK;
}

/* ---- what can be ---- */

static const char *redisbloom_chain_flaw(const struct chain *c) {
    if (c->variant & ~REDISBLOOM_OPTIONS) return "an option is unknown";
    if (!(c->parameter >= 0 && c->parameter <= UINT32_MAX) ||
        c->parameter != (double)(uint32_t)c->parameter)
        return "the growth is not a whole number";
    uint32_t growth = (uint32_t)c->parameter;
    if (c->expansion != (c->variant & REDISBLOOM_NONSCALING ? 0 : growth))
        return "growth and expansion contradict each other";
    if (c->identity || c->secret.k0 || c->secret.k1 || c->secret2.k0 || c->secret2.k1)
        return "it has a field set that its kind doesn't know";
    return NULL;
}

static const char *redisbloom_flaw(const struct layer *layer) {
    if (!(redisbloom_bits_per_item(layer) > 0 &&
          LN2 * redisbloom_bits_per_item(layer) <= HASHES_MAX))
        return "the bits per item of a layer are out of range";
    if (layer->probes != redisbloom_hashes(redisbloom_bits_per_item(layer)))
        return "a layer has a number of hashes that doesn't follow from its bits per item";
    if (redisbloom_n2(layer) > 62) return "a layer has a power of two that is too large";
    if (layer->bytes > CHAIN_TOTAL_MAX / 8) return "a layer has too many bits";
    if (layer->bytes < rounded_bytes(redisbloom_n2(layer)))
        return "a layer has fewer bits than its power of two";
    return NULL;
}

static uint64_t redisbloom_size(const struct chain *c) {
    return 32 + UINT64_C(64) * c->nlayers + chain_bytes(c);
}

/* ---- as RedisBloom prints them: tests of RedisBloom's users depend on it ---- */

static size_t redisbloom_chain_facts(const struct chain *c, struct fact *out) {
    out[0] = (struct fact){"size", FACT_COUNT, .count = chain_items(c)};
    return 1;
}

static size_t redisbloom_layer_facts(const struct chain *c, const struct layer *layer,
                                     struct fact *out) {
    const struct fact facts[] = {
        {"bytes", FACT_COUNT, .count = layer->bytes},
        {"bits", FACT_COUNT, .count = redisbloom_bits(layer)},
        {"hashes", FACT_COUNT, .count = layer->probes},
        {"hashwidth", FACT_COUNT, .count = c->variant & REDISBLOOM_HASH_64 ? 64 : 32},
        {"capacity", FACT_COUNT, .count = layer->capacity},
        {"size", FACT_COUNT, .count = layer->items},
        {"ratio", FACT_RATE, .rate = layer->error},
    };
    _Static_assert(sizeof facts <= KIND_FACTS_MAX * sizeof *facts, "kind.h");
    memcpy(out, facts, sizeof facts);
    return sizeof facts / sizeof *facts;
}

static const struct kind_records redisbloom_records = {
    .header_length = redisbloom_header_length,
    .write_header = redisbloom_write_header,
    .read_header = redisbloom_read_header,
    .read_chunk = redisbloom_read_chunk,
};

const struct kind kind_redisbloom = {
    .name = "redisbloom",
    .id = 2,
    .foreign = true,
    .layers_max = 1100, /* the error is halved for each; 2^-1074 is the smallest */
    .expansion_max = UINT32_MAX,
    .complete = redisbloom_complete,
    .asked_expansion = redisbloom_asked_expansion,
    .plan = redisbloom_plan,
    .chain_flaw = redisbloom_chain_flaw,
    .flaw = redisbloom_flaw,
    .hash = redisbloom_hash,
    .prefetch = redisbloom_prefetch,
    .ask = redisbloom_ask,
    .add = redisbloom_add,
    .places = redisbloom_bits,
    .size = redisbloom_size,
    .chain_facts = redisbloom_chain_facts,
    .layer_facts = redisbloom_layer_facts,
    .records = &redisbloom_records,
};
