/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_loops.h - what the native kind does with every item of a block.
 *
 * There are several forms, with the same answers and the same bytes: one in plain C for
 * every processor, which the others are tested against, and one for each vector instruction
 * set that pays. lines.c chooses a form for each block of items.
 *
 * This text is compiled once for each form. The file that includes it defines LINES_LOOPS,
 * the name of the form, and how that form represents an item's bits in one line:
 *
 *     struct bits bits_of(pattern, sectors)
 *     bool line_has(line, bits, sectors)   are all of them set?
 *     bool line_set(line, bits, sectors)   sets them; false if all were, and then
 *                                          nothing is written
 *
 * Whatever depends on the layer only is computed once for all items, and whatever depends
 * on the item only once for many layers: line 0 of a layer is asked about all items before
 * that of the next. */
#ifndef BLOOM_LINES_LOOPS_H
#define BLOOM_LINES_LOOPS_H

#include "kind.h"
#include "sizing.h"

/* The most items in a block. A block has at least one. */
#define LINES_BLOCK 64

struct lines_loops {
    void (*hash)(const struct secret *secret, const struct item *items, size_t n,
                 struct hashed *out);
    void (*ask)(const struct layer *layers, size_t nlayers, const struct hashed *items,
                size_t n, uint8_t *maybe);
    void (*add)(struct layer *layer, const struct hashed *items, size_t n,
                uint8_t *changed);
};

extern const struct lines_loops lines_plain;

/* Asks for a single item without the cost of a block: ask() in plain C for n = 1. */
bool lines_ask_one(const struct layer *layers, size_t nlayers, struct hashed item);

#ifdef __x86_64__
extern const struct lines_loops lines_avx2;
#endif

/* These functions are so small, and called so often, that a call would cost more than the
 * work; and the number of sectors must reach them as a constant. */
#define INLINE static inline __attribute__((always_inline))

/* How many bits an item sets in each of its lines: the layer's variant. */
INLINE unsigned sectors_of(const struct layer *layer) {
    return layer->variant;
}

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio */

/* The finaliser of splitmix64: every bit of the result depends on every bit given. */
INLINE uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* x_j: chooses an item's line number j, and the bits in it. */
INLINE uint64_t probe(uint64_t x, unsigned j) {
    return j == 0 ? x : mix(x + j * GOLDEN);
}

INLINE unsigned char *line_of(unsigned char *bits, uint64_t lines, uint64_t x) {
    return bits + (uint64_t)((unsigned __int128)x * lines >> 64) * LINE_BYTES;
}

INLINE uint64_t pattern_of(uint64_t x) {
    uint64_t y = (x ^ x >> 32) * GOLDEN;
    return y ^ y >> 29;
}

#endif

/* ---- the text, for the file that defines LINES_LOOPS ---- */

#ifdef LINES_LOOPS

/* A set of items: bit i is item i of the block. */
typedef uint64_t set;

/* The items of `of` that have all their bits in line number j. Nothing here depends on an
 * answer, so the processor can look at many lines at once. `bits` are those of line 0, by
 * item. */
INLINE set which_have(const struct layer *layer, unsigned sectors, unsigned j,
                      const struct hashed *items, const struct bits *bits, set of) {
    unsigned char *start = layer->bits;
    uint64_t lines = layer->bytes / LINE_BYTES;
    set have = 0;
    for (; of != 0; of &= of - 1) {
        unsigned i = (unsigned)__builtin_ctzll(of);
        uint64_t x_j = probe(items[i].x, j);
        const unsigned char *line = line_of(start, lines, x_j);
        bool has = j == 0 ? line_has(line, bits[i], sectors)
                          : line_has(line, bits_of(pattern_of(x_j), sectors), sectors);
        have |= (set)has << i;
    }
    return have;
}

/* The open items that have their bits in line 0. The bits are computed anew if the layer
 * before had another number of sectors. */
INLINE set ask_line_0(const struct layer *layer, unsigned sectors, bool anew,
                      const struct hashed *items, size_t n, struct bits *bits, set open) {
    for (size_t i = 0; anew && i < n; i++)
        bits[i] = bits_of(pattern_of(items[i].x), sectors);
    return which_have(layer, sectors, 0, items, bits, open);
}

/* Of the items that have their bits in line 0, those that have them in the further lines,
 * too. */
INLINE set ask_further_lines(const struct layer *layer, unsigned sectors,
                             const struct hashed *items, set have) {
    for (unsigned j = 1; j < layer->probes && have != 0; j++)
        have = which_have(layer, sectors, j, items, NULL, have);
    return have;
}

/* Both, for a layer of any number of sectors. */
static set ask_first(const struct layer *layer, bool anew, const struct hashed *items,
                     size_t n, struct bits *bits, set open) {
    if (sectors_of(layer) == 8) return ask_line_0(layer, 8, anew, items, n, bits, open);
    if (sectors_of(layer) == 4) return ask_line_0(layer, 4, anew, items, n, bits, open);
    return ask_line_0(layer, 2, anew, items, n, bits, open);
}

static set ask_further(const struct layer *layer, const struct hashed *items, set have) {
    if (sectors_of(layer) == 8) return ask_further_lines(layer, 8, items, have);
    if (sectors_of(layer) == 4) return ask_further_lines(layer, 4, items, have);
    return ask_further_lines(layer, 2, items, have);
}

/* Strangers hardly ever need the further lines of a layer, so these are fetched only for
 * items that have their bits in line 0. */
INLINE void fetch_further(const struct layer *layer, const struct hashed *items, set of) {
    uint64_t lines = layer->bytes / LINE_BYTES;
    for (; of != 0; of &= of - 1)
        for (unsigned j = 1; j < layer->probes; j++)
            __builtin_prefetch(
                line_of(layer->bits, lines, probe(items[__builtin_ctzll(of)].x, j)));
}

/* While the further lines of one layer are on their way, the next layer is asked, also
 * about the items that wait for them. */
static void ask_chain(const struct layer *layers, size_t nlayers,
                      const struct hashed *items, size_t n, uint8_t *maybe) {
    struct bits bits[LINES_BLOCK];
    set open = ~(set)0 >> (LINES_BLOCK - n), waiting = 0;
    unsigned sectors = 0;
    for (const struct layer *layer = layers + nlayers; layer-- > layers && open != 0;) {
        set have = ask_first(layer, sectors_of(layer) != sectors, items, n, bits, open);
        sectors = sectors_of(layer);
        if (layer > layers) fetch_further(layer, items, have);
        if (waiting != 0) open &= ~ask_further(layer + 1, items, waiting);
        waiting = have & open;
    }
    open &= ~ask_further(layers, items, waiting);
    for (size_t i = 0; i < n; i++)
        maybe[i] = !(open >> i & 1);
}

/* One layer with one line an item. There is nothing to remember between lines or layers. */
INLINE void ask_lines(const struct layer *layer, unsigned sectors,
                      const struct hashed *items, size_t n, uint8_t *maybe) {
    unsigned char *start = layer->bits;
    uint64_t lines = layer->bytes / LINE_BYTES;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = items[i].x;
        struct bits bits = bits_of(pattern_of(x), sectors);
        maybe[i] = line_has(line_of(start, lines, x), bits, sectors);
    }
}

static void ask_all(const struct layer *layers, size_t nlayers, const struct hashed *items,
                    size_t n, uint8_t *maybe) {
    if (nlayers > 1 || layers->probes > 1)
        ask_chain(layers, nlayers, items, n, maybe);
    else if (sectors_of(layers) == 8)
        ask_lines(layers, 8, items, n, maybe);
    else if (sectors_of(layers) == 4)
        ask_lines(layers, 4, items, n, maybe);
    else
        ask_lines(layers, 2, items, n, maybe);
}

INLINE void add_to_layer(struct layer *layer, unsigned sectors, const struct hashed *items,
                         size_t n, uint8_t *changed) {
    unsigned char *bits = layer->bits;
    uint64_t lines = layer->bytes / LINE_BYTES;
    unsigned probes = layer->probes;
    for (size_t i = 0; i < n; i++) {
        if (!changed[i]) continue;
        bool touched = false;
        for (unsigned j = 0; j < probes; j++) {
            uint64_t x_j = probe(items[i].x, j);
            unsigned char *line = line_of(bits, lines, x_j);
            touched |= line_set(line, bits_of(pattern_of(x_j), sectors), sectors);
        }
        changed[i] = touched;
    }
}

static void add_all(struct layer *layer, const struct hashed *items, size_t n,
                    uint8_t *changed) {
    if (sectors_of(layer) == 8)
        add_to_layer(layer, 8, items, n, changed);
    else if (sectors_of(layer) == 4)
        add_to_layer(layer, 4, items, n, changed);
    else
        add_to_layer(layer, 2, items, n, changed);
}

const struct lines_loops LINES_LOOPS = {hash_all, ask_all, add_all};

#endif
