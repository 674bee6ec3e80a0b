/* SPDX-License-Identifier: BSD-3-Clause */
#include "chain.h"

#include <string.h>

/* Items are hashed and their memory is prefetched in blocks of this many: enough
 * to keep a processor's outstanding reads busy, few enough for the stack. */
#define BLOCK 64

enum bloom_status chain_new(const struct chain_spec *spec,
                            const struct bloom_memory *memory, struct chain **out) {
    *out = NULL;
    if (!(spec->error > 0 && spec->error < 1)) return BLOOM_BAD_ERROR_RATE;

    struct chain *c = memory->take(sizeof *c);
    if (!c) return BLOOM_NO_MEMORY;
    *c = (struct chain){
        .kind = spec->kind,
        .memory = memory,
        .secret = spec->secret,
        .identity = spec->identity,
        .error = spec->error,
        .expansion = spec->expansion,
        .secret2 = spec->secret2,
        .parameter = spec->parameter,
        .variant = spec->variant,
    };
    *out = c;
    return BLOOM_OK;
}

void chain_free(struct chain *c) {
    if (!c) return;
    const struct bloom_memory *memory = c->memory;
    for (uint32_t i = 0; i < c->nlayers; i++)
        memory->give_array(c->layers[i].bits, c->layers[i].bytes);
    memory->give(c->layers);
    memory->give(c);
}

enum bloom_status chain_take_arrays(struct chain *c) {
    for (uint32_t i = 0; i < c->nlayers; i++) {
        struct filter *f = &c->layers[i];
        f->bits = c->memory->take_zeros(f->bytes);
        if (f->bits) continue;
        while (i-- > 0) {
            c->memory->give_array(c->layers[i].bits, c->layers[i].bytes);
            c->layers[i].bits = NULL;
        }
        return BLOOM_NO_MEMORY;
    }
    return BLOOM_OK;
}

struct chain *chain_copy(const struct chain *c) {
    size_t bytes = c->nlayers * sizeof *c->layers;
    struct chain *copy = c->memory->take(sizeof *copy);
    struct filter *layers = c->memory->take(bytes);
    if (!copy || !layers) goto refuse;

    *copy = *c;
    copy->layers = layers;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        layers[i] = c->layers[i];
        layers[i].bits = NULL;
    }
    if (chain_take_arrays(copy) < 0) goto refuse;
    for (uint32_t i = 0; i < c->nlayers; i++)
        memcpy(layers[i].bits, c->layers[i].bits, layers[i].bytes);
    return copy;

refuse:
    c->memory->give(layers);
    c->memory->give(copy);
    return NULL;
}

/* Adds to a total; false if it would pass what totals may be. */
static bool add_up(uint64_t *total, uint64_t more) {
    if (more > CHAIN_TOTAL_MAX - *total) return false;
    *total += more;
    return true;
}

static uint64_t next_capacity(const struct chain *c, uint64_t first) {
    if (c->nlayers == 0) return first;
    uint64_t last = c->layers[c->nlayers - 1].capacity, all = chain_capacity(c);
    if (last > CHAIN_TOTAL_MAX / c->expansion) return CHAIN_TOTAL_MAX;
    uint64_t next = last * c->expansion;
    bool doubles = c->kind->doubles_from && c->nlayers >= c->kind->doubles_from;
    return doubles && next < all ? all : next;
}

enum bloom_status chain_plan(const struct chain *c, uint64_t capacity,
                             struct filter *plan) {
    if (c->nlayers == 0 && (capacity < 1 || capacity > CHAIN_CAPACITY_MAX))
        return BLOOM_BAD_CAPACITY;
    if (c->missing > 0) return BLOOM_PARTIAL;
    if (c->nlayers > 0 && c->expansion == 0) return BLOOM_FULL;
    if (c->nlayers >= c->kind->layers_max) return BLOOM_TOO_BIG;

    uint64_t capacities = chain_capacity(c), bytes = chain_bytes(c);
    capacity = next_capacity(c, capacity);
    if (!add_up(&capacities, capacity)) return BLOOM_TOO_BIG;
    enum bloom_status status = c->kind->plan(c, capacity, plan);
    if (status < 0) return status;
    return add_up(&bytes, plan->bytes) ? BLOOM_OK : BLOOM_TOO_BIG;
}

static bool is_rate(double v) {
    return v > 0 && v < 1;
}

static const char *layer_flaw(const struct kind *kind, const struct filter *f) {
    if (!is_rate(f->error)) return "the error rate of a layer is not between 0 and 1";
    if (f->capacity < 1) return "a layer has no capacity";
    if (f->bytes < 1) return "a layer has no bits";
    if (f->items > CHAIN_ITEMS_MAX) return "a layer has more items than can be counted";
    return kind->flaw(f);
}

enum bloom_status chain_grow(struct chain *c, const struct filter *plan) {
    uint64_t bytes = chain_bytes(c), capacity = chain_capacity(c);
    if (c->nlayers > 0 && c->expansion == 0) return BLOOM_CORRUPT;
    if (c->nlayers >= c->kind->layers_max || c->missing > 0) return BLOOM_CORRUPT;
    if (layer_flaw(c->kind, plan)) return BLOOM_CORRUPT;
    if (!add_up(&bytes, plan->bytes) || !add_up(&capacity, plan->capacity))
        return BLOOM_CORRUPT;

    struct filter *layers = c->memory->take((c->nlayers + (size_t)1) * sizeof *layers);
    if (!layers) return BLOOM_NO_MEMORY;
    struct filter layer = *plan;
    layer.items = 0;
    layer.bits = c->memory->take_zeros(plan->bytes);
    if (!layer.bits) {
        c->memory->give(layers);
        return BLOOM_NO_MEMORY;
    }

    if (c->nlayers > 0) memcpy(layers, c->layers, c->nlayers * sizeof *layers);
    layers[c->nlayers] = layer;
    c->memory->give(c->layers);
    c->layers = layers;
    c->nlayers++;
    return BLOOM_OK;
}

void chain_ask(const struct chain *c, const struct item *items, size_t n, uint8_t *maybe) {
    struct hashed hashed[BLOCK];
    while (n > 0) {
        size_t block = n < BLOCK ? n : BLOCK;
        c->kind->hash(c, items, block, hashed);
        if (block > 1) c->kind->prefetch(c->layers, c->nlayers, hashed, block);
        c->kind->ask(c->layers, c->nlayers, hashed, block, maybe);
        items += block;
        maybe += block;
        n -= block;
    }
}

/* Adds one item. False if it needs room that is not there. With one layer that
 * has room, setting the bits tells at the same time whether they were set. */
static bool add_one(struct chain *c, struct hashed item, uint8_t *added,
                    enum chain_full when_full) {
    struct filter *last = &c->layers[c->nlayers - 1];
    bool room = last->items < last->capacity || when_full == CHAIN_EXCEED;

    if (c->nlayers > 1 || !room) {
        uint8_t there;
        c->kind->ask(c->layers, c->nlayers, &item, 1, &there);
        *added = 0;
        if (there) return true;
        if (!room) return false;
    }
    *added = c->kind->add(last, item);
    if (last->items < CHAIN_ITEMS_MAX) last->items += *added;
    return true;
}

size_t chain_add(struct chain *c, const struct item *items, size_t n, uint8_t *added,
                 enum chain_full when_full) {
    struct hashed hashed[BLOCK];
    for (size_t done = 0; done < n;) {
        size_t block = n - done < BLOCK ? n - done : BLOCK;
        c->kind->hash(c, items + done, block, hashed);
        if (block > 1) c->kind->prefetch(c->layers, c->nlayers, hashed, block);
        for (size_t i = 0; i < block; i++, done++)
            if (!add_one(c, hashed[i], &added[done], when_full)) return done;
    }
    return n;
}

uint64_t chain_items(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].items;
    return sum;
}

uint64_t chain_capacity(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].capacity;
    return sum;
}

uint64_t chain_bytes(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].bytes;
    return sum;
}

uint64_t chain_memory(const struct chain *c) {
    return sizeof *c + c->nlayers * sizeof *c->layers + chain_bytes(c);
}

unsigned char *chain_piece(const struct chain *c, uint64_t offset, uint64_t *length) {
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct filter *f = &c->layers[i];
        if (offset < f->bytes) {
            *length = f->bytes - offset;
            return f->bits + offset;
        }
        offset -= f->bytes;
    }
    *length = 0;
    return NULL;
}

const char *chain_flaw(const struct chain *c) {
    if (!is_rate(c->error)) return "the error rate is not between 0 and 1";
    const char *of_kind = c->kind->chain_flaw(c);
    if (of_kind) return of_kind;
    if (c->expansion > c->kind->expansion_max) return "the expansion is too large";
    if (c->nlayers < 1) return "there is no layer";
    if (c->nlayers > c->kind->layers_max) return "there are too many layers";
    if (c->expansion == 0 && c->nlayers > 1) return "a non-scaling filter has grown";

    uint64_t bytes = 0, capacity = 0;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct filter *f = &c->layers[i];
        const char *flaw = layer_flaw(c->kind, f);
        if (flaw) return flaw;
        if (!add_up(&bytes, f->bytes) || !add_up(&capacity, f->capacity))
            return "the sizes of the layers add up to too much";
    }
    if (c->missing > bytes) return "more is missing than there should be";
    return NULL;
}
