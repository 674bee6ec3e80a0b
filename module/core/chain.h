/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.h - layers that grow.
 *
 * A chain is a row of layers of one kind under one secret. Items go to the last layer. When
 * it is full, the user of the chain may add a larger one. A question is put to all layers,
 * the newest first.
 *
 *     struct chain
 *     +------------+
 *     | kind       |    layers[0]     layers[1]           layers[nlayers-1]
 *     | secret     |   +----------+  +----------+        +----------------+
 *     | error      |   | full     |  | full     |        | takes the adds |
 *     | layers   --+-->| 100      |  | 200      |  - - - | 100 * 2^(n-1)  |
 *     | missing    |   +----------+  +----------+        +----------------+
 *     +------------+   \________ the joined arrays: what is stored _______/
 *
 * The ledger. The errors of the layers add up, and the sum must never pass
 * what was asked for, however long the chain gets. So a layer of the native kind
 * may spend a fixed share of what the earlier ones have left:
 *
 *     error_i    = (error - sum of the model errors of the layers before) * share(i)
 *     capacity_i = capacity_(i-1) * expansion
 *
 * and the error that rounding up to whole lines saves goes back to the budget. (Errors that
 * fall from layer to layer, with a bounded sum: Almeida, Baquero, Preguica, Hutchison,
 * "Scalable Bloom Filters", 2007; there by a constant ratio, as in foreign kinds.) Every
 * layer is one more place to look. So a chain of CHAIN_LONG layers, which only a small
 * expansion can make, doubles its total with each further layer. Other kinds have rules of
 * their own (kinds/).
 *
 * A chain that is being loaded is partial: `missing` bytes at the end of the
 * joined arrays have not come yet. Nothing may be called absent then.
 *
 * True between any two calls after the first layer has come (chain_flaw() checks exactly
 * this list):
 *   - the chain has at least one layer, exactly one if expansion is 0, and no
 *     more than its kind allows
 *   - 0 < error < 1, expansion <= its kind's largest, and nothing that its kind can't
 *     have: a field that it doesn't know must be zero, and one that follows from others
 *     (an identity, a growth, the error of a layer) must agree with them
 *   - every layer: 0 < error < 1, capacity >= 1, bytes >= 1,
 *     items <= CHAIN_ITEMS_MAX, and numbers that its kind can have
 *   - the bytes and the capacities of all layers each add up within 62 bits, and their
 *     probes within CHAIN_LOOKUPS_MAX
 *   - missing <= the bytes of all layers
 *
 * Growing and limits. The chain never grows by itself: its user asks for a plan, checks
 * that it can be afforded and is allowed, and carries it out. A new chain has no layers and
 * gets its first one in the same way. */
#ifndef BLOOM_CHAIN_H
#define BLOOM_CHAIN_H

#include "layer.h"
#include "kind.h"
#include "memory.h"
#include "status.h"

#define CHAIN_CAPACITY_MAX                                                                 \
    (UINT64_C(1) << 40) /* what may be asked for; growth may pass it */
#define CHAIN_EXPANSION_MAX 32768u
#define CHAIN_TOTAL_MAX     (UINT64_C(1) << 62) /* any sum over all layers */
#define CHAIN_ITEMS_MAX     (UINT64_C(1) << 48) /* in a layer: counting stops there */
#define CHAIN_LONG          64u                 /* layers */

/* The most places that a question may look at in all layers together, set by what growth
 * can make. RedisBloom halves the error with each layer, and valkey-bloom lowers it by its
 * own ratio. So each layer has one hash more than the one before until no smaller rate is
 * left: 1 + 2 + ... + 1075 = 578,350, and some more where a layer of few items has spare
 * bits. A ratio nearer to 1 would make ever more layers; this limit stops it. Native chains
 * stay far below: they have few layers (layers_max) of at most four lines. */
#define CHAIN_LOOKUPS_MAX UINT64_C(600000)

struct chain {
    const struct kind *kind;
    const struct bloom_memory *memory;
    struct secret secret;
    uint64_t identity;     /* random: tells this generation's chunks from another's */
    double error;          /* asked for, for the whole chain */
    struct secret secret2; /* for kinds that hash twice; otherwise zero */
    double parameter;      /* the kind's own, or 0 */
    uint8_t variant;       /* the kind's own, or 0 */
    uint8_t encoding;      /* of items, before they are hashed: encode.h */
    uint32_t expansion;    /* a layer's capacity over the one before; 0: never grows */
    uint32_t nlayers;
    struct layer *layers; /* oldest first */
    uint64_t missing;     /* bytes of the joined arrays still to come; 0: complete */
};

/* What a new chain is made from. */
struct chain_spec {
    const struct kind *kind;
    struct secret secret;
    uint64_t identity;
    double error;
    uint32_t expansion;
    uint32_t asked_expansion; /* what was asked for, also if it never grows */
    struct secret secret2;
    double parameter;
    uint8_t variant;
    uint8_t encoding;
};

/* A chain without layers. Refuses BLOOM_BAD_ERROR_RATE and BLOOM_NO_MEMORY;
 * *out is NULL then. */
enum bloom_status chain_new(const struct chain_spec *spec,
                            const struct bloom_memory *memory, struct chain **out);

/* NULL is fine. */
void chain_free(struct chain *c);

/* A copy with arrays of its own, or NULL when there is no memory. */
struct chain *chain_copy(const struct chain *c);

/* Gives each layer its array, all zero: for a chain whose layers were read from
 * outside and passed chain_flaw(). On BLOOM_NO_MEMORY none has an array. */
enum bloom_status chain_take_arrays(struct chain *c);

/* Sizes the next layer; takes no memory and changes nothing. `capacity` is for
 * the first layer, later ones follow from the one before. Refuses what sizing refuses,
 * BLOOM_BAD_CAPACITY, BLOOM_PARTIAL, BLOOM_FULL if the chain never grows, and BLOOM_TOO_BIG
 * if a total would pass its limit. */
enum bloom_status chain_plan(const struct chain *c, uint64_t capacity, struct layer *plan);

/* Appends a layer of those sizes, all zero. The plan comes from chain_plan or
 * from outside: BLOOM_CORRUPT if its numbers make no sense here, or if the chain
 * is partial (what is missing is at its end, and must stay there). On
 * BLOOM_NO_MEMORY the chain is as it was. */
enum bloom_status chain_grow(struct chain *c, const struct layer *plan);

/* maybe[i] = 0 if item i was certainly never added, otherwise 1. On a partial chain
 * the 0s mean nothing: see above. */
void chain_ask(const struct chain *c, const struct item *items, size_t n, uint8_t *maybe);

enum chain_full {
    CHAIN_STOP,  /* stop before an item for which there is no room */
    CHAIN_EXCEED /* put it into the last layer, over capacity */
};

/* Adds items in order. added[i] = 1 if item i changed a bit, 0 if it was probably there
 * already. Returns how many were dealt with: less than n only with CHAIN_STOP, if the next
 * item is new and the last layer is full. */
size_t chain_add(struct chain *c, const struct item *items, size_t n, uint8_t *added,
                 enum chain_full when_full);

/* The growth that the chain was created with. It is the expansion, except for kinds that
 * keep it even if the filter never grows. */
uint32_t chain_asked_expansion(const struct chain *c);

uint64_t chain_items(const struct chain *c);
uint64_t chain_capacity(const struct chain *c);
uint64_t chain_excess(const struct chain *c); /* items over the capacity of their layer */
uint64_t chain_bytes(const struct chain *c);  /* of the joined arrays */

/* True if some of its bytes have not come yet. The chain then denies nothing. */
static inline bool chain_is_partial(const struct chain *c) {
    return c->missing > 0;
}

/* Bytes of the joined arrays that are there. */
uint64_t chain_present(const struct chain *c);

/* The memory that the chain takes: arrays and structs, without the allocator's slack. */
uint64_t chain_memory(const struct chain *c);

/* The piece of the joined arrays from `offset` on that lies in one layer, or
 * NULL at the end. *length: its bytes. */
unsigned char *chain_piece(const struct chain *c, uint64_t offset, uint64_t *length);

/* The one validator: why this chain can't be, in words for a log, or NULL. */
const char *chain_flaw(const struct chain *c);

#endif
