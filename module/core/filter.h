/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.h - one Bloom filter, of a size decided at birth.
 *
 * A filter is an array of bits and the numbers it was made from. It knows
 * neither what an item is nor where an item's bits lie: that is the business
 * of its kind (kind.h). It never grows: that is the chain's (chain.h), in which
 * a filter is one layer.
 *
 *     struct filter
 *     +----------+
 *     | capacity |
 *     | items    |      bits, in whole lines of 64 bytes for the native kind
 *     | bytes    |    +--------+--------+--------+ - - +---------+
 *     | bits   --+--->| line 0 | line 1 | line 2 |     | line B-1|
 *     | ...      |    +--------+--------+--------+ - - +---------+
 *     +----------+    zero at birth, and never touched until an item comes:
 *                     the system hands out the pages as they are needed
 *
 * items > capacity is legal: such a filter is overfull, and answers with a
 * higher error than it was asked for, but never with a false "no". */
#ifndef BLOOM_FILTER_H
#define BLOOM_FILTER_H

#include <stdint.h>

struct filter {
    unsigned char *bits;
    uint64_t bytes;    /* length of bits */
    uint64_t capacity; /* items it was sized for */
    uint64_t items;    /* items it has accepted */
    double error;      /* its share of the chain's error */
    double model; /* the error expected at capacity, <= error; foreign kinds: their own */
    uint16_t probes;  /* lines an item touches */
    uint16_t sectors; /* bits an item sets in each of them */
    /* The last three mean that for the native kind; others say in kinds/ what they
     * keep there. */
};

/* Items over capacity. */
static inline uint64_t filter_excess(const struct filter *f) {
    return f->items > f->capacity ? f->items - f->capacity : 0;
}

#endif
