/* SPDX-License-Identifier: BSD-3-Clause */
/* valkeybloom.c - valkey-bloom's filters, bit for bit.
 *
 *     message  the item's length as 64 bits, then the item
 *     h0       SipHash-1-3 of it under the first half of a seed of 32 bytes
 *     h1       the same under the second half
 *     place 0  h0 mod bits;   place 1  h1 mod bits
 *     place i  (((h0 + i*h1) mod 2^64) mod (2^64 - 59)) mod bits      (i from 2 on)
 *
 *     error of layer k   asked for * tightening^k      (k = 0: as it was asked for)
 *     bytes              ceil(capacity * ln(error) / (-8 * ln2 * ln2))
 *     hashes             round(8 * bytes / capacity * ln2), at least 1
 *
 * The seed may be a fixed one, the same in every valkey-bloom. The hash is then public.
 *
 * The fields in this kind: a chain's two secrets are the halves of the seed, its identity
 * is derived from them, its variant tells whether the seed is random, and its parameter is
 * the tightening ratio. A layer's parameter repeats its error. */
#include "valkeybloom.h"

#include <string.h>

#include "chain.h"
#include "kind.h"
#include "kinds/flat.h"
#include "real.h"

#define PRIME UINT64_C(0xFFFFFFFFFFFFFFC5) /* the largest below 2^64 */

/* The most hashes an item may take. The smallest rate that a double can hold asks for 1074;
 * a layer for one item, whose last byte is mostly spare, for a few more. */
#define HASHES_MAX 1100

const struct secret valkeybloom_fixed_seed[2] = {
    {UINT64_C(0xda1178ea22f50f59), UINT64_C(0xd97b3e3b09d814a7)},
    {UINT64_C(0x8788983e738a891d), UINT64_C(0x83330728cd977f30)},
};

FLAT_INLINE uint64_t place(const struct layer *layer, struct hashed item, unsigned i) {
    uint64_t p = i == 0 ? item.x : i == 1 ? item.step : (item.x + i * item.step) % PRIME;
    return p % (8 * layer->bytes);
}

static void valkeybloom_hash(const struct chain *c, const struct item *items, size_t n,
                             struct hashed *out) {
    for (size_t i = 0; i < n; i++) {
        const void *bytes = items[i].bytes;
        size_t length = items[i].length;
        out[i].x = siphash13_after(&c->secret, length, bytes, length);
        out[i].step = siphash13_after(&c->secret2, length, bytes, length);
    }
}

static void valkeybloom_prefetch(const struct layer *layers, size_t nlayers,
                                 const struct hashed *items, size_t n) {
    flat_prefetch(layers, nlayers, items, n, place);
}

static void valkeybloom_ask(const struct layer *layers, size_t nlayers,
                            const struct hashed *items, size_t n, uint8_t *maybe) {
    flat_ask(layers, nlayers, items, n, maybe, place);
}

static bool valkeybloom_add(struct layer *layer, struct hashed item) {
    return flat_add(layer, item, place);
}

/* ---- what follows from the seed ---- */

static bool is_fixed(const struct secret *a, const struct secret *b) {
    const struct secret *fixed = valkeybloom_fixed_seed;
    return a->k0 == fixed[0].k0 && a->k1 == fixed[0].k1 && b->k0 == fixed[1].k0 &&
           b->k1 == fixed[1].k1;
}

uint64_t valkeybloom_identity(const struct secret *first, const struct secret *second) {
    return siphash13_after(first, second->k0, NULL, 0) ^ second->k1;
}

static void valkeybloom_complete(struct chain_spec *spec) {
    spec->variant = !is_fixed(&spec->secret, &spec->secret2);
    spec->identity = valkeybloom_identity(&spec->secret, &spec->secret2);
    if (spec->parameter == 0) spec->parameter = VALKEYBLOOM_TIGHTENING;
}

/* ---- sizing ---- */

double valkeybloom_error(const struct chain *c, uint32_t layer) {
    return c->error * real_power(c->parameter, layer);
}

static enum bloom_status valkeybloom_plan(const struct chain *c, uint64_t capacity,
                                          struct layer *out) {
    double error = valkeybloom_error(c, c->nlayers);
    if (!(error > 0)) return BLOOM_RATE_TOO_SMALL;
    double bytes = (double)capacity * real_log(error) / (-8 * (REAL_LN2 * REAL_LN2));
    if (!(bytes < (double)(CHAIN_TOTAL_MAX / 8))) return BLOOM_TOO_BIG;

    uint64_t whole = (uint64_t)bytes;
    whole += (double)whole < bytes;
    double hashes = (double)(8 * whole) / (double)capacity * REAL_LN2;
    uint64_t rounded = (uint64_t)hashes;
    if (hashes - (double)rounded >= 0.5 || rounded == 0) rounded++;

    *out = (struct layer){
        .bytes = whole,
        .capacity = capacity,
        .error = error,
        .parameter = error,
        .probes = (uint16_t)rounded,
    };
    return BLOOM_OK;
}

/* ---- what can be ---- */

static const char *valkeybloom_chain_flaw(const struct chain *c) {
    if (c->variant > 1) return "a field that is yes or no is neither";
    if (!c->variant && !is_fixed(&c->secret, &c->secret2))
        return "its seed is neither random nor the fixed one";
    if (!(c->parameter > 0 && c->parameter < 1))
        return "the tightening ratio is not between 0 and 1";
    if (c->identity != valkeybloom_identity(&c->secret, &c->secret2))
        return "its identity is not that of its seed";
    /* valkey-bloom stores no rates of layers: they must be the computed ones. */
    for (uint32_t i = 0; i < c->nlayers; i++)
        if (c->layers[i].error != valkeybloom_error(c, i))
            return "the error rate of a layer doesn't follow from its number";
    return NULL;
}

static const char *valkeybloom_flaw(const struct layer *layer) {
    if (layer->probes < 1 || layer->probes > HASHES_MAX)
        return "a layer has a bad number of hashes";
    if (layer->bytes > CHAIN_TOTAL_MAX / 8) return "a layer has too many bits";
    if (layer->variant != 0 || layer->parameter != layer->error)
        return "it has a field set that its kind doesn't know";
    return NULL;
}

static size_t valkeybloom_facts(const struct chain *c, const struct layer *layer,
                                struct fact *out) {
    (void)c;
    const struct fact facts[] = {
        {"bytes", FACT_COUNT, .count = layer->bytes},
        {"probes", FACT_COUNT, .count = layer->probes},
        {"sectors", FACT_COUNT, .count = layer->variant},
        {"capacity", FACT_COUNT, .count = layer->capacity},
        {"size", FACT_COUNT, .count = layer->items},
        {"ratio", FACT_RATE, .rate = layer->error},
        {"model", FACT_RATE, .rate = layer->parameter},
    };
    _Static_assert(sizeof facts <= KIND_FACTS_MAX * sizeof *facts, "kind.h");
    memcpy(out, facts, sizeof facts);
    return sizeof facts / sizeof *facts;
}

const struct kind kind_valkeybloom = {
    .name = "valkeybloom",
    .id = 3,
    .foreign = true,
    .layers_max = 16384, /* a ratio near 1 makes many of similar size */
    .expansion_max = UINT32_MAX,
    .complete = valkeybloom_complete,
    .plan = valkeybloom_plan,
    .chain_flaw = valkeybloom_chain_flaw,
    .flaw = valkeybloom_flaw,
    .hash = valkeybloom_hash,
    .prefetch = valkeybloom_prefetch,
    .ask = valkeybloom_ask,
    .add = valkeybloom_add,
    .layer_facts = valkeybloom_facts,
};
