/* SPDX-License-Identifier: BSD-3-Clause */
/* cost.c - see cost.h. */
#include "cost.h"

#include <math.h>
#include <stdlib.h>

#include "core/estimate.h"

/* Nobody looks at the bits of these chains. */
static unsigned char *no_bits(uint64_t bytes) {
    static unsigned char place;
    (void)bytes;
    return &place;
}

static void give_no_bits(unsigned char *array, uint64_t bytes) {
    (void)array;
    (void)bytes;
}

static const struct bloom_memory without_bits = {
    .take = malloc, .give = free, .take_zeros = no_bits, .give_array = give_no_bits};

/* A secret says nothing about sizes. */
static enum bloom_status make(const struct cost_wish *wish, struct chain **c) {
    struct chain_spec spec = {
        .kind = wish->kind,
        .error = wish->error,
        .expansion = wish->expansion,
        .asked_expansion = wish->expansion,
    };
    wish->kind->complete(&spec);
    return chain_new(&spec, &without_bits, c);
}

static enum bloom_status grow(struct chain *c, uint64_t capacity, uint64_t items) {
    enum bloom_status status = BLOOM_OK;
    while (status >= 0 &&
           (c->nlayers == 0 || (c->expansion && chain_capacity(c) < items))) {
        struct layer plan;
        status = chain_plan(c, capacity, &plan);
        if (status >= 0) status = chain_grow(c, &plan);
    }
    return status;
}

static uint64_t layer_bits(const struct kind *kind, const struct layer *layer) {
    return kind->places ? kind->places(layer) : 8 * layer->bytes;
}

static double layer_error(const struct kind *kind, const struct layer *layer,
                          uint64_t items) {
    if (kind == &kind_lines) {
        struct geometry g = {layer->probes, layer->variant, layer->bytes / LINE_BYTES};
        return sizing_error(&g, items);
    }
    double error = sizing_flat_error(layer_bits(kind, layer), layer->probes, items);
    return error + estimate_twins(kind, items) * (1 - error);
}

/* All layers but the last are full. */
static struct cost sum_up(const struct chain *c, uint64_t items) {
    struct cost cost = {
        .kind = c->kind,
        .items = items,
        .layers = c->nlayers,
        .bytes = chain_bytes(c),
    };
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct layer *layer = &c->layers[i];
        uint64_t inside = i + 1 < c->nlayers ? layer->capacity : items;
        cost.bits += layer_bits(c->kind, layer);
        cost.lookups += layer->probes;
        cost.error += layer_error(c->kind, layer, inside);
        items -= inside;
    }
    return cost;
}

struct cost cost_with(const struct cost_wish *wish, uint64_t items) {
    struct chain *c;
    struct cost cost = {.kind = wish->kind, .status = make(wish, &c)};
    if (!c) return cost;
    cost.status = grow(c, wish->capacity, items);
    if (cost.status >= 0) cost = sum_up(c, items);
    chain_free(c);
    return cost;
}

struct cost cost_full(const struct cost_wish *wish) {
    return cost_with(wish, wish->capacity);
}

double cost_bits_per_item(const struct cost *cost) {
    return 8 * (double)cost->bytes / (double)cost->items;
}

double cost_textbook_bits(double error) {
    return -log2(error) / log(2);
}

unsigned cost_textbook_hashes(uint64_t bits, uint64_t items) {
    unsigned k = 1;
    while (sizing_flat_error(bits, k + 1, items) < sizing_flat_error(bits, k, items))
        k++;
    return k;
}

struct cost cost_textbook(uint64_t bits, unsigned hashes, uint64_t items) {
    return (struct cost){
        .items = items,
        .layers = 1,
        .bytes = bits / 8 + (bits % 8 > 0),
        .bits = bits,
        .lookups = hashes,
        .error = sizing_flat_error(bits, hashes, items),
    };
}

const char *cost_refusal(const struct cost *cost) {
    switch (cost->status) {
    case BLOOM_RATE_TOO_SMALL:
        return cost->kind == &kind_lines ? "too small a rate for a hash of 64 bits"
                                         : "too small a rate for this kind";
    case BLOOM_BAD_ERROR_RATE:
        return "an error rate lies between 0 and 1";
    case BLOOM_BAD_CAPACITY:
        return "a filter isn't made for so many items";
    case BLOOM_TOO_BIG:
        return "larger than such a filter can be";
    case BLOOM_RATE_TOO_LARGE:
        return "too large a rate for this kind";
    case BLOOM_NO_MEMORY:
        return "this machine has no memory left";
    case BLOOM_OK:
    case BLOOM_CORRUPT:
    case BLOOM_FULL:
    case BLOOM_PARTIAL:
    case BLOOM_NO_REBUILD:
    case BLOOM_INTERRUPTED:
    case BLOOM_OVER_LIMIT:
    case BLOOM_SERVER_FULL:
    case BLOOM_EXISTS:
    case BLOOM_NOT_FOUND:
    case BLOOM_CHANGED:
    case BLOOM_EMPTY:
    case BLOOM_REBUILDING:
        break;
    }
    return "the core library refuses it";
}
