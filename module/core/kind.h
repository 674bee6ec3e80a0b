/* SPDX-License-Identifier: BSD-3-Clause */
/* kind.h - a family of filters: how an item becomes bits, and how many bits.
 *
 * Everything else (growing, counting, storing, replicating, answering) is written once,
 * over this table of functions. A kind is a folder in kinds/ and a row in KIND_ROWS below.
 * Commands, settings, documentation and INFO take the names from the rows. Filters of the
 * kind are stored in our form, with the id of the kind. If its product has an RDB type that
 * must be kept, add redis/keys/type_<name>.c and a row in redis/keys/type.c. A product is
 * named elsewhere only where its own commands are read (args*.c and cmd_load.c, in
 * redis/commands/).
 *
 * All layers of a chain are of one kind and share one secret, so an item is hashed once,
 * however many layers there are. The functions that run for every item work on blocks of
 * items, so that an indirect call is paid for once a block. */
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
    uint64_t step; /* for kinds that hash twice */
};

/* A named number of a filter or a layer, for people to read. */
struct fact {
    const char *name;
    enum { FACT_COUNT, FACT_RATE } is;
    uint64_t count;
    double rate;
};

#define KIND_FACTS_MAX 8

/* A product's own records for handing out its filters, where they are a header followed by
 * bytes of the joined arrays. */
struct kind_records {
    size_t (*header_length)(const struct chain *c);
    void (*write_header)(const struct chain *c, unsigned char *out);

    /* Reads a header. The chain has no arrays yet, so that the caller can check its sizes
     * first, and all of its bytes are missing. Refuses BLOOM_NO_MEMORY and BLOOM_CORRUPT;
     * *out is then NULL, and *why says what is wrong. */
    enum bloom_status (*read_header)(const void *bytes, size_t length,
                                     const struct bloom_memory *memory, struct chain **out,
                                     const char **why);

    /* Sets the bits of a piece that ends before offset iterator - 1. A piece may repeat or
     * overlap what came before, but may leave no gap. *changed: it set a bit, or brought a
     * byte that was missing. On BLOOM_CORRUPT nothing has changed, and *why says what is
     * wrong. */
    enum bloom_status (*read_chunk)(struct chain *c, uint64_t iterator, const void *bytes,
                                    size_t length, bool *changed, const char **why);
};

/* A filter's bytes as its own library writes them, and what these don't say. */
struct form {
    const unsigned char *bytes;
    size_t length;
    uint64_t hashes, bits, seed; /* 0 if they weren't given */
    uint8_t variant;
};

/* What can be said beside the bytes. */
#define FORM_HASHES  1u
#define FORM_BITS    2u /* the layer's parameter */
#define FORM_SEED    4u
#define FORM_VARIANT 8u

/* How another library writes its filters: the array, perhaps between a head and a tail. */
struct kind_form {
    unsigned needs;              /* FORM_...: must be said */
    unsigned takes;              /* ... and may be said */
    const char *const *variants; /* by number, up to NULL; NULL: there are none */

    /* Fills in what the bytes say: of the spec the variant and the seed (secret.k0), of the
     * plan all but capacity and error. Returns why they can't be a filter, or NULL. */
    const char *(*read)(const struct form *in, struct chain_spec *spec, struct layer *plan);

    size_t head, tail; /* bytes around the array */
    bool swaps;        /* its words of 8 bytes have the highest first; ours the lowest */
    void (*write_ends)(const struct chain *c, unsigned char *head, unsigned char *tail);
};

struct kind {
    const char *name;
    uint8_t id;          /* in stored forms: never reused */
    bool foreign;        /* of another module of servers: its identity is derived from its
                            fields, and it grows by its own rule when a master sends no
                            growth */
    bool exceeds;        /* it never grows, and takes items over capacity instead */
    uint32_t layers_max; /* of a chain: bounds the work that a forged one can cause */
    uint32_t expansion_max;
    uint32_t doubles_from; /* from this many layers on, each further layer doubles the
                              chain's capacity; 0: never */
    uint32_t line_bytes;   /* an array is a row of lines of this length; 0: of bits */

    /* Completes the spec before the first layer is planned. Secrets and identity are
     * random, or were given; the parameter is 0 if none was given. Fields that the kind
     * doesn't have become 0, the others get their defaults. */
    void (*complete)(struct chain_spec *spec);

    /* The expansion that the chain was created with, for kinds that keep it even if the
     * filter never grows. NULL: it is the chain's expansion. */
    uint32_t (*asked_expansion)(const struct chain *c);

    /* Sizes the layer that follows the last one of the chain (the first, if it
     * has none). Takes no memory: bits stays NULL. */
    enum bloom_status (*plan)(const struct chain *c, uint64_t capacity, struct layer *out);

    /* Why the chain, or a layer taken by itself, is impossible for this kind, or NULL if it
     * is fine. chain_flaw() checks the chain's own numbers and, where the kind derives
     * numbers of its layers from them, those too. It may be called without layers. */
    const char *(*chain_flaw)(const struct chain *c);
    const char *(*flaw)(const struct layer *layer);

    void (*hash)(const struct chain *c, const struct item *items, size_t n,
                 struct hashed *out);

    /* Asks the processor for the memory that ask will touch, or that a look and add will:
     * prefetch_to_add may be NULL if that is the same. There is a layer at least. */
    void (*prefetch)(const struct layer *layers, size_t nlayers, const struct hashed *items,
                     size_t n);
    void (*prefetch_to_add)(const struct layer *layers, size_t nlayers,
                            const struct hashed *items, size_t n);

    /* maybe[i] = 1 if some layer has all bits of item i, otherwise 0. Looks at the
     * last layer first. */
    void (*ask)(const struct layer *layers, size_t nlayers, const struct hashed *items,
                size_t n, uint8_t *maybe);

    /* Sets the item's bits. Returns true if at least one was clear; otherwise nothing was
     * written. Doesn't look at the item counts. */
    bool (*add)(struct layer *layer, struct hashed item);

    /* Does the same, in order, for each of the n items whose changed[i] is 1, and leaves it
     * 1 if a bit was clear. May be NULL: then add() is called for each. */
    void (*add_many)(struct layer *layer, const struct hashed *items, size_t n,
                     uint8_t *changed);

    /* The share of probes that pass in this part of the layer's array. The part is whole
     * lines, or the whole array. NULL: the share of bits that are set. */
    double (*pass)(const struct layer *layer, const unsigned char *part, uint64_t bytes);

    /* How many bits items can set, counted from the first. NULL: all. */
    uint64_t (*places)(const struct layer *layer);

    /* How many bits an item sets, at most. NULL: one for each probe. */
    unsigned (*sets)(const struct layer *layer);

    /* An item as these 32 bits make it, for kinds that keep no more of one. NULL: they keep
     * 64 or more. */
    struct hashed (*of_32_bits)(uint32_t hash);

    /* The size in bytes that the product itself would report; NULL if it reports none. */
    uint64_t (*size)(const struct chain *c);

    /* Facts about the chain, or a layer, for people to read (BF.DEBUG): up to
     * KIND_FACTS_MAX numbers. Returns how many. chain_facts NULL: the facts that every kind
     * has. */
    size_t (*chain_facts)(const struct chain *c, struct fact *out);
    size_t (*layer_facts)(const struct chain *c, const struct layer *layer,
                          struct fact *out);

    /* The line that the library itself prints of a filter, up to `room` bytes. NULL: it
     * prints none. */
    void (*describe)(const struct chain *c, char *out, size_t room);

    /* The product's own records. NULL: only ours (codec.h). */
    const struct kind_records *records;

    /* The library's own form. NULL: there is none. */
    const struct kind_form *form;
};

/* All kinds. */
#define KIND_ROWS(row)                                                                     \
    row(lines) row(redisbloom) row(valkeybloom) row(leveldb) row(clickhouse) row(guava)    \
        row(crc32)

#define KIND_DECLARED(name) extern const struct kind kind_##name;
KIND_ROWS(KIND_DECLARED)

#define KIND_COUNTED(name) +1
#define KINDS              (0 KIND_ROWS(KIND_COUNTED))

extern const struct kind *const kinds[KINDS];

/* NULL if there is no such kind. */
const struct kind *kind_by_id(unsigned id);

#endif
