/* SPDX-License-Identifier: BSD-3-Clause */
#include "chain.h"

#include <string.h>

#include "encode.h"

/* Items are hashed and their memory is prefetched in blocks of this size, one block ahead.
 * Prefetches that stand together keep a processor busy with reads, and with walks through
 * page tables. The lines of many layers for two blocks still fit into the second cache. */
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
        .encoding = spec->encoding,
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
        struct layer *layer = &c->layers[i];
        layer->bits = c->memory->take_zeros(layer->bytes);
        if (layer->bits) continue;
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
    struct layer *layers = c->memory->take(bytes);
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

/* Adds to a total. False if it would exceed CHAIN_TOTAL_MAX. */
static bool add_up(uint64_t *total, uint64_t more) {
    if (more > CHAIN_TOTAL_MAX - *total) return false;
    *total += more;
    return true;
}

static uint64_t lookups(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].probes;
    return sum;
}

static uint64_t next_capacity(const struct chain *c, uint64_t first) {
    if (c->nlayers == 0) return first;
    uint64_t last = c->layers[c->nlayers - 1].capacity, all = chain_capacity(c);
    if (last > CHAIN_TOTAL_MAX / c->expansion) return CHAIN_TOTAL_MAX;
    uint64_t next = last * c->expansion;
    bool doubles = c->kind->doubles_from && c->nlayers >= c->kind->doubles_from;
    return doubles && next < all ? all : next;
}

enum bloom_status chain_plan(const struct chain *c, uint64_t capacity, struct layer *plan) {
    if (c->nlayers == 0 && (capacity < 1 || capacity > CHAIN_CAPACITY_MAX))
        return BLOOM_BAD_CAPACITY;
    if (chain_is_partial(c)) return BLOOM_PARTIAL;
    if (c->nlayers > 0 && c->expansion == 0) return BLOOM_FULL;
    if (c->nlayers >= c->kind->layers_max) return BLOOM_TOO_BIG;

    uint64_t capacities = chain_capacity(c), bytes = chain_bytes(c);
    capacity = next_capacity(c, capacity);
    if (!add_up(&capacities, capacity)) return BLOOM_TOO_BIG;
    enum bloom_status status = c->kind->plan(c, capacity, plan);
    if (status < 0) return status;
    if (lookups(c) + plan->probes > CHAIN_LOOKUPS_MAX) return BLOOM_TOO_BIG;
    return add_up(&bytes, plan->bytes) ? BLOOM_OK : BLOOM_TOO_BIG;
}

static bool is_rate(double v) {
    return v > 0 && v < 1;
}

static const char *layer_flaw(const struct kind *kind, const struct layer *layer) {
    if (!is_rate(layer->error)) return "the error rate of a layer is not between 0 and 1";
    if (layer->capacity < 1) return "a layer has no capacity";
    if (layer->bytes < 1) return "a layer has no bits";
    if (layer->items > CHAIN_ITEMS_MAX) return "a layer has more items than can be counted";
    return kind->flaw(layer);
}

enum bloom_status chain_grow(struct chain *c, const struct layer *plan) {
    uint64_t bytes = chain_bytes(c), capacity = chain_capacity(c);
    if (c->nlayers > 0 && c->expansion == 0) return BLOOM_CORRUPT;
    if (c->nlayers >= c->kind->layers_max || chain_is_partial(c)) return BLOOM_CORRUPT;
    if (layer_flaw(c->kind, plan)) return BLOOM_CORRUPT;
    if (lookups(c) + plan->probes > CHAIN_LOOKUPS_MAX) return BLOOM_CORRUPT;
    if (!add_up(&bytes, plan->bytes) || !add_up(&capacity, plan->capacity))
        return BLOOM_CORRUPT;

    struct layer *layers = c->memory->take((c->nlayers + (size_t)1) * sizeof *layers);
    if (!layers) return BLOOM_NO_MEMORY;
    struct layer layer = *plan;
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

/* Hashes items, and prefetches the memory that they lie in. */
static void look_ahead(const struct chain *c, const struct item *items, size_t n,
                       struct hashed *out) {
    c->kind->hash(c, items, n, out);
    c->kind->prefetch(c->layers, c->nlayers, out, n);
}

/* The same for items to add. */
static void look_ahead_to_add(const struct chain *c, const struct item *items, size_t n,
                              struct hashed *out) {
    const struct kind *kind = c->kind;
    kind->hash(c, items, n, out);
    (kind->prefetch_to_add ? kind->prefetch_to_add : kind->prefetch)(c->layers, c->nlayers,
                                                                     out, n);
}

static size_t block_of(size_t left) {
    return left < BLOCK ? left : BLOCK;
}

/* While one block is being asked for, the memory for the next is on its way. */
void chain_ask(const struct chain *c, const struct item *items, size_t n, uint8_t *maybe) {
    struct hashed hashed[2][BLOCK];
    if (n == 1) {
        c->kind->hash(c, items, 1, hashed[0]);
        c->kind->ask(c->layers, c->nlayers, hashed[0], 1, maybe);
        return;
    }
    size_t ahead = block_of(n);
    look_ahead(c, items, ahead, hashed[0]);
    for (size_t turn = 0, done = 0; done < n; turn ^= 1) {
        size_t block = ahead - done;
        size_t next = block_of(n - ahead);
        if (next > 0) look_ahead(c, items + ahead, next, hashed[turn ^ 1]);
        c->kind->ask(c->layers, c->nlayers, hashed[turn], block, maybe + done);
        done += block;
        ahead += next;
    }
}

/* Adds one item that was in no layer when it was last asked for. False if there is no room
 * for it. */
static bool add_one(struct chain *c, struct hashed item, uint8_t *added,
                    enum chain_full when_full) {
    struct layer *last = &c->layers[c->nlayers - 1];
    if (last->items >= last->capacity && when_full == CHAIN_STOP) {
        uint8_t there;
        c->kind->ask(last, 1, &item, 1, &there);
        *added = 0;
        return there;
    }
    *added = c->kind->add(last, item);
    if (last->items < CHAIN_ITEMS_MAX) last->items += *added;
    return true;
}

static void add_many(struct chain *c, const struct hashed *items, size_t n,
                     uint8_t *added) {
    struct layer *last = &c->layers[c->nlayers - 1];
    uint64_t sum = 0;
    c->kind->add_many(last, items, n, added);
    for (size_t i = 0; i < n; i++)
        sum += added[i];
    last->items += sum;
}

/* Whether n more items fit into the last layer, so that its count needn't be checked for
 * each. */
static bool has_room(const struct chain *c, size_t n, enum chain_full when_full) {
    const struct layer *last = &c->layers[c->nlayers - 1];
    uint64_t limit = when_full == CHAIN_STOP ? last->capacity : CHAIN_ITEMS_MAX;
    if (limit > CHAIN_ITEMS_MAX) limit = CHAIN_ITEMS_MAX;
    return last->items <= limit && n <= limit - last->items;
}

/* Adds a block in order. Returns how many items were dealt with. All layers are asked for
 * all items first: an item that is there stays there. In a single layer with room, setting
 * the bits also tells whether they were set before. */
static size_t add_block(struct chain *c, const struct hashed *items, size_t n,
                        uint8_t *added, enum chain_full when_full) {
    uint8_t fresh[BLOCK] = {0};
    bool room = has_room(c, n, when_full);
    if (c->nlayers > 1 || !room) c->kind->ask(c->layers, c->nlayers, items, n, fresh);
    for (size_t i = 0; i < n; i++)
        fresh[i] = !fresh[i];

    size_t done = 0;
    if (room && c->kind->add_many) {
        add_many(c, items, n, fresh);
        done = n;
    }
    while (done < n && (!fresh[done] || add_one(c, items[done], &fresh[done], when_full)))
        done++;
    memcpy(added, fresh, done);
    return done;
}

size_t chain_add(struct chain *c, const struct item *items, size_t n, uint8_t *added,
                 enum chain_full when_full) {
    struct hashed hashed[2][BLOCK];
    if (n == 1) {
        c->kind->hash(c, items, 1, hashed[0]);
        return add_block(c, hashed[0], 1, added, when_full);
    }
    size_t ahead = block_of(n), done = 0;
    look_ahead_to_add(c, items, ahead, hashed[0]);
    for (size_t turn = 0; done < n; turn ^= 1) {
        size_t block = ahead - done;
        size_t next = block_of(n - ahead);
        if (next > 0) look_ahead_to_add(c, items + ahead, next, hashed[turn ^ 1]);
        size_t dealt_with = add_block(c, hashed[turn], block, added + done, when_full);
        done += dealt_with;
        if (dealt_with < block) return done;
        ahead += next;
    }
    return n;
}

uint32_t chain_asked_expansion(const struct chain *c) {
    return c->kind->asked_expansion ? c->kind->asked_expansion(c) : c->expansion;
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

uint64_t chain_excess(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += layer_excess(&c->layers[i]);
    return sum;
}

uint64_t chain_bytes(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].bytes;
    return sum;
}

uint64_t chain_present(const struct chain *c) {
    return chain_bytes(c) - c->missing;
}

uint64_t chain_memory(const struct chain *c) {
    return sizeof *c + c->nlayers * sizeof *c->layers + chain_bytes(c);
}

unsigned char *chain_piece(const struct chain *c, uint64_t offset, uint64_t *length) {
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct layer *layer = &c->layers[i];
        if (offset < layer->bytes) {
            *length = layer->bytes - offset;
            return layer->bits + offset;
        }
        offset -= layer->bytes;
    }
    *length = 0;
    return NULL;
}

const char *chain_flaw(const struct chain *c) {
    if (!is_rate(c->error)) return "the error rate is not between 0 and 1";
    const char *of_kind = c->kind->chain_flaw(c);
    if (of_kind) return of_kind;
    if (c->encoding >= ENCODINGS || (c->encoding && !c->kind->form))
        return "its items are encoded in a way that its kind doesn't know";
    if (c->expansion > c->kind->expansion_max) return "the expansion is too large";
    if (c->nlayers < 1) return "there is no layer";
    if (c->nlayers > c->kind->layers_max) return "there are too many layers";
    if (c->expansion == 0 && c->nlayers > 1) return "a non-scaling filter has grown";

    uint64_t bytes = 0, capacity = 0;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct layer *layer = &c->layers[i];
        const char *flaw = layer_flaw(c->kind, layer);
        if (flaw) return flaw;
        if (!add_up(&bytes, layer->bytes) || !add_up(&capacity, layer->capacity))
            return "the sizes of the layers add up to too much";
    }
    if (lookups(c) > CHAIN_LOOKUPS_MAX) return "a question would take too long";
    if (c->missing > bytes) return "more is missing than there should be";
    return NULL;
}
