/* SPDX-License-Identifier: BSD-3-Clause */
/* kind.h - a family of filters: how an item becomes bits, and how many bits.
 *
 * Everything else (growing, counting, storing, replicating, answering) is
 * written once, over this table of functions. A kind is a file of its own in
 * kinds/ and a row in kind.c.
 *
 * All layers of a chain are of one kind and share one secret, so an item is
 * hashed once however many layers there are. The functions that run for every
 * item work on blocks of items, so that the price of an indirect call is paid
 * once a block. */
#ifndef BLOOM_KIND_H
#define BLOOM_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layer.h"
#include "hash.h"
#include "status.h"

struct chain;
struct chain_spec;

/* What an item is after hashing. */
struct hashed {
    uint64_t x;
    uint64_t step; /* of kinds that hash twice */
};

struct kind {
    const char *name;
    uint8_t id;          /* in stored forms: never reused */
    bool foreign;        /* another product's: it is stored in that one's form, and
                            grows by its rule when a master sends no growth */
    uint32_t layers_max; /* of a chain: bounds the work that a forged one can make */
    uint32_t expansion_max;
    uint32_t doubles_from; /* a chain of so many layers doubles its total with each
                              further one; 0: never */

    /* Fills in what the kind adds to a wish, before the first layer is planned. */
    void (*complete)(struct chain_spec *spec);

    /* Sizes the layer that follows the last one of the chain (the first, if it
     * has none). Takes no memory: bits stays NULL. */
    enum bloom_status (*plan)(const struct chain *c, uint64_t capacity, struct layer *out);

    /* Why the chain's own numbers (without its layers), or a layer's, can't be of
     * this kind, or NULL if they can. */
    const char *(*chain_flaw)(const struct chain *c);
    const char *(*flaw)(const struct layer *layer);

    void (*hash)(const struct chain *c, const struct item *items, size_t n,
                 struct hashed *out);

    /* Asks the processor for the memory that ask and add will touch. */
    void (*prefetch)(const struct layer *layers, size_t nlayers, const struct hashed *items,
                     size_t n);

    /* maybe[i] = 1 if some layer has all bits of item i, else 0. Looks at the
     * last layer first. */
    void (*ask)(const struct layer *layers, size_t nlayers, const struct hashed *items,
                size_t n, uint8_t *maybe);

    /* Sets the item's bits. True if one of them was clear; otherwise nothing
     * was written. Looks at no count. */
    bool (*add)(struct layer *layer, struct hashed item);

    /* The same for those of n items, in order, whose changed[i] is 1, and leaves it 1
     * if a bit was clear. May be NULL: then add() is called for each. */
    void (*add_many)(struct layer *layer, const struct hashed *items, size_t n,
                     uint8_t *changed);

    /* The share of probes that pass in this part of the layer's array, which is whole
     * lines, or all of it. NULL: as many as bits are set. */
    double (*pass)(const struct layer *layer, const unsigned char *part, uint64_t bytes);

    /* The bits that items can set: so many, from the first on. NULL: all. */
    uint64_t (*places)(const struct layer *layer);

    /* The bytes that the product itself would say it takes; NULL if it has no say. */
    uint64_t (*size)(const struct chain *c);
};

extern const struct kind kind_lines, kind_redisbloom, kind_valkeybloom;

#define KIND_IDS 4 /* one more than the largest id */

/* NULL if there is no such kind. */
const struct kind *kind_by_id(unsigned id);
const struct kind *kind_by_name(const char *name);

#endif
