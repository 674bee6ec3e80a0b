/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_loops.h - what the native kind does with every item of a block.
 *
 * There are several forms of it, with the same answers and the same bytes: plain C
 * for every processor, which the others are measured by, and one for each sort of
 * vectors that pays. lines.c chooses one for each block of items.
 *
 * This text is compiled once for each form. The file that includes it brings the
 * two functions that look at one line,
 *
 *     bool line_has(line, pattern, sectors)   are all bits of that pattern set?
 *     bool line_set(line, pattern, sectors)   sets them; false if all were, and then
 *                                             nothing is written
 *
 * and defines LINES_LOOPS, the name of the form. What belongs to a layer is worked
 * out once for all items: a layer is asked about all of them before the next. */
#ifndef BLOOM_LINES_LOOPS_H
#define BLOOM_LINES_LOOPS_H

#include "kind.h"
#include "sizing.h"

/* Items in a block, at most. */
#define LINES_BLOCK 64

struct lines_loops {
    void (*hash)(const struct secret *secret, const struct item *items, size_t n,
                 struct hashed *out);
    void (*ask)(const struct filter *layers, size_t nlayers, const struct hashed *items,
                size_t n, uint8_t *maybe);
    void (*add)(struct filter *layer, const struct hashed *items, size_t n,
                uint8_t *changed);
};

extern const struct lines_loops lines_plain;

/* A single item, without the cost of a block: ask() in plain C for n = 1. */
bool lines_ask_one(const struct filter *layers, size_t nlayers, struct hashed item);

#ifdef __x86_64__
extern const struct lines_loops lines_avx2;
#endif

/* So small, and called so often, that a call would be the larger part of them; and
 * the number of sectors has to arrive in them as a constant. */
#define INLINE static inline __attribute__((always_inline))

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio */

/* The finaliser of splitmix64: every bit of the result depends on every bit given. */
INLINE uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* x_j: what chooses an item's line number j, and the bits in it. */
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

#ifdef LINES_LOOPS

INLINE bool line_has(const unsigned char *line, uint64_t pattern, unsigned sectors);
INLINE bool line_set(unsigned char *line, uint64_t pattern, unsigned sectors);

/* Asks one layer about the items whose numbers are in `open`, and takes those out
 * that it has: without a branch, since nobody can foretell them. Returns how many
 * are left. */
INLINE size_t ask_layer(const struct filter *f, unsigned sectors, const struct hashed *items,
                        uint8_t *open, size_t n, uint8_t *maybe) {
    unsigned char *bits = f->bits;
    uint64_t lines = f->bytes / LINE_BYTES;
    unsigned probes = f->probes;
    size_t left = 0;
    for (size_t k = 0; k < n; k++) {
        uint8_t i = open[k];
        uint64_t x = items[i].x;
        bool has = line_has(line_of(bits, lines, x), pattern_of(x), sectors);
        for (unsigned j = 1; has && j < probes; j++) {
            uint64_t x_j = probe(x, j);
            has = line_has(line_of(bits, lines, x_j), pattern_of(x_j), sectors);
        }
        maybe[i] = has;
        open[left] = i;
        left += !has;
    }
    return left;
}

static size_t ask_any_layer(const struct filter *f, const struct hashed *items,
                            uint8_t *open, size_t n, uint8_t *maybe) {
    if (f->sectors == 8) return ask_layer(f, 8, items, open, n, maybe);
    if (f->sectors == 4) return ask_layer(f, 4, items, open, n, maybe);
    return ask_layer(f, 2, items, open, n, maybe);
}

static void ask_all(const struct filter *layers, size_t nlayers, const struct hashed *items,
                    size_t n, uint8_t *maybe) {
    uint8_t open[LINES_BLOCK];
    for (size_t i = 0; i < n; i++)
        open[i] = (uint8_t)i;
    for (size_t l = nlayers; l-- > 0 && n > 0;)
        n = ask_any_layer(&layers[l], items, open, n, maybe);
}

INLINE void add_to_layer(struct filter *f, unsigned sectors, const struct hashed *items,
                         size_t n, uint8_t *changed) {
    unsigned char *bits = f->bits;
    uint64_t lines = f->bytes / LINE_BYTES;
    unsigned probes = f->probes;
    for (size_t i = 0; i < n; i++) {
        if (!changed[i]) continue;
        bool set = false;
        for (unsigned j = 0; j < probes; j++) {
            uint64_t x_j = probe(items[i].x, j);
            set |= line_set(line_of(bits, lines, x_j), pattern_of(x_j), sectors);
        }
        changed[i] = set;
    }
}

static void add_all(struct filter *f, const struct hashed *items, size_t n,
                    uint8_t *changed) {
    if (f->sectors == 8)
        add_to_layer(f, 8, items, n, changed);
    else if (f->sectors == 4)
        add_to_layer(f, 4, items, n, changed);
    else
        add_to_layer(f, 2, items, n, changed);
}

static void hash_all(const struct secret *secret, const struct item *items, size_t n,
                     struct hashed *out);

const struct lines_loops LINES_LOOPS = {hash_all, ask_all, add_all};

#endif
#endif
