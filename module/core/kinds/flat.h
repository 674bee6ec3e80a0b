/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.h - what textbook Bloom filters have in common: k bits anywhere in one array, at
 * places that follow from two hashes of the item.
 *
 *     place i  =  (x + i * step), made to fit the array by the kind
 *
 *     array    |.......1|........|...1....| - - - |......1.|
 *                 byte 0   byte 1    ...            bit p is bit p % 8, counted
 *                                                   from the lowest, of byte p / 8
 *
 * A kind passes in its rule for places, which the compiler inlines. */
#ifndef BLOOM_FLAT_H
#define BLOOM_FLAT_H

#include "kind.h"

/* How many places of an item are prefetched, and in how many layers. Half of the bits are
 * set, so a question about an item that was never added hardly ever goes further. Fetching
 * all places would cost such a question more than it saves for a member. */
#define FLAT_FETCH_FIRST  3
#define FLAT_FETCH_LAYERS 8

/* The place of probe number i in the layer. */
typedef uint64_t flat_place(const struct layer *layer, struct hashed item, unsigned i);

#define FLAT_INLINE static inline __attribute__((always_inline))

FLAT_INLINE bool flat_has(const struct layer *layer, struct hashed item,
                          flat_place *place) {
    for (unsigned i = 0; i < layer->probes; i++) {
        uint64_t p = place(layer, item, i);
        if (!(layer->bits[p / 8] >> (p % 8) & 1)) return false;
    }
    return true;
}

FLAT_INLINE void flat_prefetch(const struct layer *layers, size_t nlayers,
                               const struct hashed *items, size_t n, flat_place *place) {
    size_t first = nlayers > FLAT_FETCH_LAYERS ? nlayers - FLAT_FETCH_LAYERS : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t l = nlayers; l-- > first;) {
            const struct layer *layer = &layers[l];
            unsigned probes =
                layer->probes < FLAT_FETCH_FIRST ? layer->probes : FLAT_FETCH_FIRST;
            for (unsigned j = 0; j < probes; j++)
                __builtin_prefetch(&layer->bits[place(layer, items[i], j) / 8]);
        }
}

FLAT_INLINE void flat_ask(const struct layer *layers, size_t nlayers,
                          const struct hashed *items, size_t n, uint8_t *maybe,
                          flat_place *place) {
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t l = nlayers; l-- > 0 && !found;)
            found = flat_has(&layers[l], items[i], place);
        maybe[i] = found;
    }
}

/* A byte that already has the bit is not written, for the sake of a snapshot that shares
 * the page. */
FLAT_INLINE bool flat_add(struct layer *layer, struct hashed item, flat_place *place) {
    bool changed = false;
    for (unsigned i = 0; i < layer->probes; i++) {
        uint64_t p = place(layer, item, i);
        unsigned bit = 1u << (p % 8);
        if (layer->bits[p / 8] & bit) continue;
        layer->bits[p / 8] = (unsigned char)(layer->bits[p / 8] | bit);
        changed = true;
    }
    return changed;
}

#endif
