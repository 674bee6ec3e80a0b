/* SPDX-License-Identifier: BSD-3-Clause */
#include "estimate.h"

#include "bytes.h"
#include "real.h"
#include "sizing.h"

/* A page. Lines that lie together cost less to read than scattered ones, and the same
 * number of them tells as much. */
#define BLOCK 4096

static uint64_t ones(const unsigned char *at, uint64_t bytes) {
    uint64_t set = 0;
    for (; bytes >= 8; at += 8, bytes -= 8)
        set += ones_u64(load_u64(at));
    for (; bytes > 0; at++, bytes--)
        set += ones_u64(*at);
    return set;
}

/* The bytes of an array that are read. */
struct sample {
    uint64_t blocks;
    uint64_t length;   /* of each */
    uint64_t distance; /* from the start of one to that of the next */
};

/* Blocks begin at lines and are whole lines, except the single block of a small array. */
static struct sample sample_of(uint64_t bytes, uint64_t most) {
    if (bytes <= most) return (struct sample){1, bytes, bytes};
    uint64_t blocks = most < BLOCK ? 1 : most / BLOCK;
    return (struct sample){
        .blocks = blocks,
        .length = most / blocks / LINE_BYTES * LINE_BYTES,
        .distance = bytes / blocks / LINE_BYTES * LINE_BYTES,
    };
}

/* For layers of fewer than 8 bits: old foreign ones. */
static struct estimate estimate_byte(const struct layer *layer, uint64_t bits) {
    double fill = ones_u64(*layer->bits & ((1u << bits) - 1)) / (double)bits;
    return (struct estimate){real_power(fill, layer->probes), fill, bits, 1};
}

static uint64_t items_of(const struct kind *kind, const struct layer *layer, double fill,
                         uint64_t bits) {
    unsigned sets = kind->sets ? kind->sets(layer) : layer->probes;
    double least_clear = 0.5 / (double)bits, clear = 1 - fill;
    if (sets == 0) return 0;
    if (clear < least_clear) clear = least_clear;
    return (uint64_t)(-real_log(clear) * (double)bits / sets + 0.5);
}

static struct estimate by_bits(const struct kind *kind, const struct layer *layer,
                               uint64_t most) {
    uint64_t bits = kind->places ? kind->places(layer) : 8 * layer->bytes;
    if (bits < 8) return estimate_byte(layer, bits);

    struct sample s = sample_of(bits / 8, most);
    double fill = 0, pass = 0;
    for (uint64_t i = 0; i < s.blocks; i++) {
        const unsigned char *block = layer->bits + i * s.distance;
        double set = (double)ones(block, s.length) / (double)(8 * s.length);
        fill += set;
        pass += kind->pass ? kind->pass(layer, block, s.length) : set;
    }
    fill /= (double)s.blocks;
    pass /= (double)s.blocks;
    return (struct estimate){
        .error = real_power(pass, layer->probes),
        .fill = fill,
        .bits = bits,
        .looked_at = s.blocks * s.length,
    };
}

#define ASKED_AT_ONCE 64

static uint32_t least(uint64_t a, uint32_t b) {
    return a < b ? (uint32_t)a : b;
}

/* The share of made-up hashes that pass. Multiplying by an odd number and folding the upper
 * half onto the lower, twice, leaves no order among them. */
static double by_asking(const struct kind *kind, const struct layer *layer) {
    uint64_t passed = 0;
    uint32_t all = least(ESTIMATE_PLACES / (layer->probes + 1u), ESTIMATE_ASKED), block;
    for (uint32_t n = 0; n < all; n += block) {
        struct hashed items[ASKED_AT_ONCE];
        uint8_t maybe[ASKED_AT_ONCE];
        block = least(all - n, ASKED_AT_ONCE);
        for (uint32_t i = 0; i < block; i++) {
            uint32_t hash = (n + i + 1) * UINT32_C(0x9e3779b1);
            hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
            items[i] = kind->of_32_bits(hash ^ hash >> 16);
        }
        kind->prefetch(layer, 1, items, block);
        kind->ask(layer, 1, items, block, maybe);
        for (uint32_t i = 0; i < block; i++)
            passed += maybe[i];
    }
    return (double)passed / all;
}

struct estimate estimate_layer(const struct kind *kind, const struct layer *layer,
                               uint64_t most) {
    struct estimate e = by_bits(kind, layer, most);
    if (!kind->of_32_bits) return e;
    double asked = by_asking(kind, layer);
    e.error += estimate_twins(kind, items_of(kind, layer, e.fill, e.bits)) * (1 - e.error);
    if (e.error < asked) e.error = asked;
    return e;
}

double estimate_twins(const struct kind *kind, uint64_t items) {
    double share = (double)items / (double)(UINT64_C(1) << 32);
    if (!kind->of_32_bits) return 0;
    return share < 1 ? share : 1;
}

uint64_t estimate_items(const struct kind *kind, const struct layer *layer) {
    struct estimate all = by_bits(kind, layer, UINT64_MAX);
    return items_of(kind, layer, all.fill, all.bits);
}

/* Not computed as 1 - (1 - a) * (1 - b): the smallest errors would be lost next to 1. */
static void join(struct estimate *all, struct estimate layer) {
    double before = (double)all->bits, more = (double)layer.bits;
    all->error += layer.error * (1 - all->error);
    all->fill = (all->fill * before + layer.fill * more) / (before + more);
    all->bits += layer.bits;
    all->looked_at += layer.looked_at;
}

struct estimate estimate_chain(const struct chain *c) {
    struct estimate all = {0};
    for (uint32_t i = 0; i < c->nlayers; i++) {
        uint64_t most = (ESTIMATE_CHAIN_BYTES - all.looked_at) / (c->nlayers - i);
        if (most > ESTIMATE_LAYER_BYTES) most = ESTIMATE_LAYER_BYTES;
        join(&all, estimate_layer(c->kind, &c->layers[i], most));
    }
    return all;
}
