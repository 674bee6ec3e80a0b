/* SPDX-License-Identifier: BSD-3-Clause */
/* layer.h - one array of bits, of a size decided at birth.
 *
 * A layer doesn't know what an item is or where its bits lie: that is the business of its
 * kind (kind.h). A layer never grows: growing is the business of the chain (chain.h).
 *
 *     struct layer
 *     +----------+
 *     | capacity |
 *     | items    |      bits, in whole lines of 64 bytes for the native kind
 *     | bytes    |    +--------+--------+--------+ - - +---------+
 *     | bits   --+--->| line 0 | line 1 | line 2 |     | line B-1|
 *     | ...      |    +--------+--------+--------+ - - +---------+
 *     +----------+    zero at birth, and not touched until an item comes:
 *                     the system hands out the pages as they are needed
 *
 * items > capacity is legal: such a layer is overfull, and answers with a
 * higher error than it was asked for, but never with a false "no". */
#ifndef BLOOM_LAYER_H
#define BLOOM_LAYER_H

#include <stdint.h>

struct layer {
    unsigned char *bits;
    uint64_t bytes;    /* length of bits */
    uint64_t capacity; /* items it was sized for */
    uint64_t items;    /* items it has accepted */
    double error;      /* its share of the chain's error */
    double parameter;  /* the kind's own, or 0 */
    uint16_t probes;   /* places an item touches: lines or bits, by kind */
    uint16_t variant;  /* the kind's own, or 0 */
};

/* Items over capacity. */
static inline uint64_t layer_excess(const struct layer *layer) {
    return layer->items > layer->capacity ? layer->items - layer->capacity : 0;
}

#endif
