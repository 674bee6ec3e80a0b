/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - the native kind: one cache line an item, or a few.
 *
 * An item touches m lines of 512 bits and sets s bits in each, one in every
 * sector of 512/s bits. One line is one read from memory instead of one for
 * every bit, one page dirtied instead of many while a snapshot is written, and
 * it can be fetched ahead.
 *
 *     x        64 bits: the keyed hash of the item
 *     x_0      x;  x_j = mix(x + j * GOLDEN) for the further lines
 *     line_j   the high 64 bits of x_j * B: uniform, and no division
 *     pattern  the low bits of x_j, spread by a multiplication: 6, 7 or 8
 *              of its bits choose the bit in each sector
 *
 *     s = 8   | word 0 | word 1 | word 2 | word 3 | word 4 | ...       a bit each
 *     s = 4   |     sector 0    |     sector 1    |     sector 2    | ...
 *     s = 2   |             sector 0              |            sector 1  ... |
 *
 * Sectors instead of free bits cost one or two per cent of space, and make a
 * question a handful of shifts without a branch.
 *
 * A layer's probes are m, its variant is s, and its parameter the model error: the one
 * expected at capacity, at or under the layer's share. A chain has no variant and no
 * parameter. */
#include <string.h>

#include "bytes.h"
#include "chain.h"
#include "lines_loops.h"
#include "real.h"

#define PROBES_MAX 4

/* An item's first lines are prefetched in this many layers. A question looks at further
 * lines for few items only, and older layers are small and in some cache. */
#define FETCH_LAYERS 5

static double model_error_of(const struct layer *layer) {
    return layer->parameter;
}

/* Chooses the form for a block. Vectors don't pay for a single item. */
static const struct lines_loops *loops(size_t n) {
#ifdef __x86_64__
    if (n > 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return &lines_avx2;
#endif
    (void)n;
    return &lines_plain;
}

static void lines_hash(const struct chain *c, const struct item *items, size_t n,
                       struct hashed *out) {
    loops(n)->hash(&c->secret, items, n, out);
}

/* Inline, because gcc sees a function that only prefetches as one that does nothing, and
 * drops the calls. */
INLINE void fetch_layer(const struct layer *layer, unsigned probes,
                        const struct hashed *items, size_t n) {
    unsigned char *bits = layer->bits;
    uint64_t lines = layer->bytes / LINE_BYTES;
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < probes; j++)
            __builtin_prefetch(line_of(bits, lines, probe(items[i].x, j)));
}

INLINE void fetch(const struct layer *layers, size_t nlayers, unsigned probes_of_newest,
                  const struct hashed *items, size_t n) {
    fetch_layer(&layers[nlayers - 1], probes_of_newest, items, n);
    for (size_t age = 1; age < nlayers && age < FETCH_LAYERS; age++)
        fetch_layer(&layers[nlayers - 1 - age], 1, items, n);
}

static void lines_prefetch(const struct layer *layers, size_t nlayers,
                           const struct hashed *items, size_t n) {
    fetch(layers, nlayers, nlayers == 1 ? layers->probes : 1, items, n);
}

/* A new item has bits set in all its lines of the newest layer. */
static void lines_prefetch_to_add(const struct layer *layers, size_t nlayers,
                                  const struct hashed *items, size_t n) {
    fetch(layers, nlayers, layers[nlayers - 1].probes, items, n);
}

static void lines_ask(const struct layer *layers, size_t nlayers,
                      const struct hashed *items, size_t n, uint8_t *maybe) {
    if (n == 1) {
        *maybe = lines_ask_one(layers, nlayers, items[0]);
        return;
    }
    while (n > 0) {
        size_t block = n < LINES_BLOCK ? n : LINES_BLOCK;
        loops(block)->ask(layers, nlayers, items, block, maybe);
        items += block;
        maybe += block;
        n -= block;
    }
}

static bool lines_add(struct layer *layer, struct hashed item) {
    uint8_t changed = 1;
    loops(1)->add(layer, &item, 1, &changed);
    return changed;
}

static void lines_add_many(struct layer *layer, const struct hashed *items, size_t n,
                           uint8_t *changed) {
    loops(n)->add(layer, items, n, changed);
}

/* How many ways there are to choose one bit in each sector so that all are set, out of
 * (512/sectors)^sectors. */
static uint64_t ways_to_pass(const unsigned char *line, unsigned sectors) {
    uint64_t ways = 1;            /* no more than 2^48 */
    unsigned words = 8 / sectors; /* in a sector */
    for (unsigned q = 0; q < sectors; q++) {
        uint64_t set = 0;
        for (unsigned w = q * words; w < (q + 1) * words; w++)
            set += ones_u64(load_u64(line + 8 * w));
        ways *= set;
    }
    return ways;
}

static double lines_pass(const struct layer *layer, const unsigned char *part,
                         uint64_t bytes) {
    double sum = 0;
    for (uint64_t at = 0; at < bytes; at += LINE_BYTES)
        sum += (double)ways_to_pass(part + at, sectors_of(layer));
    return sum / real_power(512 / sectors_of(layer), sectors_of(layer)) /
           (double)(bytes / LINE_BYTES);
}

/* The part of the remaining error that layer number i may spend. Found by numerical search
 * at 1e-2 and expansion 2: the first layer takes 11.04 bits an item, as much as
 * RedisBloom's; one to five growths stay within 10 % of RedisBloom's figures; the tenth is
 * 12 % below them, and 100 grown to 10^7 items 33 %. The first share can't be smaller, and
 * those in the middle can't all be larger. A tail of 2/i leaves something for every layer,
 * however many there are. */
static double share(uint32_t i) {
    static const double first[] = {.644, .36, .37, .33, .25, .17, .17, .18, .19, .2, .21};
    return i < sizeof first / sizeof *first ? first[i] : 2.0 / i;
}

static void lines_complete(struct chain_spec *spec) {
    spec->secret2 = (struct secret){0, 0};
    spec->parameter = 0;
    spec->variant = 0;
}

static enum bloom_status lines_plan(const struct chain *c, uint64_t capacity,
                                    struct layer *out) {
    double error = c->error;
    for (uint32_t i = 0; i < c->nlayers; i++)
        error -= model_error_of(&c->layers[i]);
    if (c->expansion != 0) error *= share(c->nlayers);

    struct geometry g;
    enum bloom_status status = sizing_geometry(capacity, error, &g);
    /* A chain has a good rate: its ledger has nothing left. */
    if (status == BLOOM_BAD_ERROR_RATE) return BLOOM_RATE_TOO_SMALL;
    if (status < 0) return status;

    *out = (struct layer){
        .bytes = g.lines * LINE_BYTES,
        .capacity = capacity,
        .error = error,
        .parameter = sizing_error(&g, capacity),
        .probes = (uint16_t)g.probes,
        .variant = (uint16_t)g.sectors,
    };
    return BLOOM_OK;
}

static const char *lines_chain_flaw(const struct chain *c) {
    if (c->variant != 0 || c->parameter != 0 || c->secret2.k0 != 0 || c->secret2.k1 != 0)
        return "it has a field set that its kind doesn't know";
    return NULL;
}

static const char *lines_flaw(const struct layer *layer) {
    if (!(model_error_of(layer) >= 0 && model_error_of(layer) < 1))
        return "the model error of a layer is not a rate";
    if (layer->bytes % LINE_BYTES != 0) return "a layer is not whole lines";
    if (layer->bytes / LINE_BYTES > SIZING_LINES_MAX) return "a layer has too many lines";
    if (layer->probes < 1 || layer->probes > PROBES_MAX)
        return "a layer has a bad number of probes";
    if (sectors_of(layer) != 2 && sectors_of(layer) != 4 && sectors_of(layer) != 8)
        return "a layer has a bad number of sectors";
    return NULL;
}

/* One bit in each sector of each line. */
static unsigned lines_sets(const struct layer *layer) {
    return layer->probes * sectors_of(layer);
}

static size_t lines_facts(const struct chain *c, const struct layer *layer,
                          struct fact *out) {
    (void)c;
    const struct fact facts[] = {
        {"bytes", FACT_COUNT, .count = layer->bytes},
        {"probes", FACT_COUNT, .count = layer->probes},
        {"sectors", FACT_COUNT, .count = sectors_of(layer)},
        {"capacity", FACT_COUNT, .count = layer->capacity},
        {"size", FACT_COUNT, .count = layer->items},
        {"ratio", FACT_RATE, .rate = layer->error},
        {"model", FACT_RATE, .rate = model_error_of(layer)},
    };
    _Static_assert(sizeof facts <= KIND_FACTS_MAX * sizeof *facts, "kind.h");
    memcpy(out, facts, sizeof facts);
    return sizeof facts / sizeof *facts;
}

const struct kind kind_lines = {
    .name = "lines",
    .id = 1,
    .layers_max = CHAIN_LONG + 64,
    .expansion_max = CHAIN_EXPANSION_MAX,
    .doubles_from = CHAIN_LONG,
    .line_bytes = LINE_BYTES,
    .complete = lines_complete,
    .plan = lines_plan,
    .chain_flaw = lines_chain_flaw,
    .flaw = lines_flaw,
    .hash = lines_hash,
    .prefetch = lines_prefetch,
    .prefetch_to_add = lines_prefetch_to_add,
    .ask = lines_ask,
    .add = lines_add,
    .add_many = lines_add_many,
    .pass = lines_pass,
    .sets = lines_sets,
    .layer_facts = lines_facts,
};
