/* SPDX-License-Identifier: BSD-3-Clause */
/* cost.h - what a filter of a given size takes, without making it.
 *
 * All figures are those of the core library: a chain is planned and grown as the server
 * would do it, only without its bits. */
#ifndef CLIENT_COST_H
#define CLIENT_COST_H

#include <stdint.h>

#include "bloom.h"

#define COST_EXPANSION 2u /* how a filter grows if nobody says otherwise */

struct cost {
    enum bloom_status status; /* below 0: refused, and only the kind is set */
    const struct kind *kind;  /* NULL: of a textbook */
    uint64_t items;
    uint32_t layers;
    uint64_t bytes;   /* of all layers: BF.INFO adds some hundred for what is around them */
    uint64_t bits;    /* that items can set: not always all of the bytes */
    uint64_t lookups; /* places in memory that a question may touch */
    double error;     /* as expected with those items in it */
};

struct cost_wish {
    const struct kind *kind;
    uint64_t capacity;
    double error;
    uint32_t expansion; /* 0: it never grows, and is over capacity with more items */
};

/* A filter made to that wish that holds so many items. */
struct cost cost_with(const struct cost_wish *wish, uint64_t items);

/* A full one. */
struct cost cost_full(const struct cost_wish *wish);

double cost_bits_per_item(const struct cost *cost);

/* What textbooks give as the least that a Bloom filter takes: 1.44 log2(1/error) bits. */
double cost_textbook_bits(double error);

/* A textbook's filter: so many bits in one array, and for each item so many hashes. */
struct cost cost_textbook(uint64_t bits, unsigned hashes, uint64_t items);

/* The number of hashes with which that errs least. */
unsigned cost_textbook_hashes(uint64_t bits, uint64_t items);

/* Why it was refused, in a few words. */
const char *cost_refusal(const struct cost *cost);

#endif
