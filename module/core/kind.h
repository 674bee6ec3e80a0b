/* SPDX-License-Identifier: BSD-3-Clause */
/* kind.h - a family of filters: how an item becomes bits, and how many bits.
 *
 * Everything else (growing, counting, storing, replicating, answering) is
 * written once, over this table of functions. A kind is a folder of its own in
 * kinds/ and a row in KIND_ROWS below. Nothing else knows which kinds there are: commands,
 * settings, documentation and INFO take the names from the rows. If the filters of a
 * product are to be stored under the type that the product itself gives them in an RDB
 * file, there is also a file redis/type_<name>.c and a row in redis/type.c. Without, they
 * are stored as ours, with the kind's id.
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

struct bloom_memory;
struct chain;
struct chain_spec;

/* What an item is after hashing. */
struct hashed {
    uint64_t x;
    uint64_t step; /* of kinds that hash twice */
};

/* A number of a filter or a layer, with its name, for people. */
struct fact {
    const char *name;
    enum { FACT_COUNT, FACT_RATE } is;
    uint64_t count;
    double rate;
};

#define KIND_FACTS_MAX 8

/* The records in which a product itself hands out its filters, where those are a header
 * and then bytes of the joined arrays. */
struct kind_records {
    size_t (*header_length)(const struct chain *c);
    void (*write_header)(const struct chain *c, unsigned char *out);

    /* The chain has no arrays yet, so that the caller can first look at its sizes, and all
     * of it is missing. Refuses BLOOM_NO_MEMORY and BLOOM_CORRUPT; *out is NULL then, and
     * *why says what is wrong. */
    enum bloom_status (*read_header)(const void *bytes, size_t length,
                                     const struct bloom_memory *memory, struct chain **out,
                                     const char **why);

    /* Sets the bits of a piece that ends before offset iterator - 1. It may come again or
     * overlap, but may leave no gap. *changed: it brought a bit, or a byte that was
     * missing. On BLOOM_CORRUPT nothing has changed, and *why says what is wrong. */
    enum bloom_status (*read_chunk)(struct chain *c, uint64_t iterator, const void *bytes,
                                    size_t length, bool *changed, const char **why);
};

struct kind {
    const char *name;
    uint8_t id;          /* in stored forms: never reused */
    bool foreign;        /* another product's: its identity follows from what it is, and
                            it grows by its rule when a master sends no growth */
    uint32_t layers_max; /* of a chain: bounds the work that a forged one can make */
    uint32_t expansion_max;
    uint32_t doubles_from; /* a chain of this many layers doubles its total with each
                              further one; 0: never */
    uint32_t line_bytes;   /* an array is a row of lines of this length; 0: of bits */

    /* Makes of what was asked for what can be, before the first layer is planned: secrets
     * and identity are random, or were given; the parameter is 0 if nothing was said of
     * it. What the kind doesn't have becomes 0, the rest takes its defaults. */
    void (*complete)(struct chain_spec *spec);

    /* The growth that the chain was asked for, where a kind keeps it though the filter
     * never grows. NULL: it is the expansion. */
    uint32_t (*growth)(const struct chain *c);

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

    /* How many bits items can set: those from the first on. NULL: all. */
    uint64_t (*places)(const struct layer *layer);

    /* The bytes that the product itself would say it takes; NULL if it has no say. */
    uint64_t (*size)(const struct chain *c);

    /* What people are told of the chain and of a layer (BF.DEBUG): up to KIND_FACTS_MAX
     * numbers; returns how many. chain_facts NULL: what every kind has. */
    size_t (*chain_facts)(const struct chain *c, struct fact *out);
    size_t (*layer_facts)(const struct chain *c, const struct layer *layer,
                          struct fact *out);

    /* The product's own records; NULL: ours only (codec.h). */
    const struct kind_records *records;
};

/* Every kind there is. */
#define KIND_ROWS(row) row(lines) row(redisbloom) row(valkeybloom)

#define KIND_DECLARED(name) extern const struct kind kind_##name;
KIND_ROWS(KIND_DECLARED)

#define KIND_COUNTED(name) +1
#define KINDS              (0 KIND_ROWS(KIND_COUNTED))

extern const struct kind *const kinds[KINDS];

/* NULL if there is no such kind. */
const struct kind *kind_by_id(unsigned id);

#endif
