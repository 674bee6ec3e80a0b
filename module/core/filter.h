/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.h - what one key holds: a chain, whether its word may be passed on, and during a
 * rebuild the chain that will take its place.
 *
 *     struct filter
 *     +----------+
 *     | standing |    who vouched for it, and what is in doubt: shield.h
 *     | live   --+--> the chain that questions are put to
 *     | next   --+--> the next generation while it is being filled, or NULL
 *     | notes    |    its owner's, of this process
 *     +----------+
 *
 * From the start of a rebuild on every add goes to both chains, so that the next one has
 * what came during the rebuild. An add is an effect if either changed; what the caller is
 * told is the live one's answer. */
#ifndef BLOOM_FILTER_H
#define BLOOM_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "shield.h"

/* How often it said what. Counted by item. */
struct answers {
    uint64_t exists_no, exists_maybe; /* EXISTS and MEXISTS: 0 and 1 */
    uint64_t maybe;                   /* CHECK, MCHECK and GUARD: the words */
    uint64_t by_cause[CAUSES];        /* "unknown"; CAUSE_NONE: "absent" */
};

/* What its owner notes of a filter while it is in memory. Zero at birth, not stored;
 * the core takes no notice of it. */
struct notes {
    struct answers answers;
    int64_t last_load;    /* of the rebuild: Unix time in ms; 0: none yet */
    bool told_full;       /* the log has been told that it is over capacity */
    uint32_t came;        /* after which flush; 0: it isn't under a key */
    uint32_t unlinked;    /* when its key was taken away; 0: never */
    uint8_t rebuild_slot; /* where the rebuild's age is noted; 0: nowhere */
    uint32_t counted_in;  /* the era in which it was counted as ready; 0: it wasn't */
};

struct filter {
    struct standing standing;
    struct chain *live;
    struct chain *next;

    uint64_t grow_again[2]; /* live, next: growth was refused; with so many items in its
                               last layer it is worth another try; 0: at once */
    struct notes notes;
};

/* A filter around a chain, which it owns from then on, or NULL when there is no
 * memory: then the chain is still the caller's. */
struct filter *filter_new(struct chain *live);

/* Frees the chains too. NULL is fine. */
void filter_free(struct filter *f);

/* chain_take_arrays() for both chains. */
enum bloom_status filter_take_arrays(struct filter *f);

/* Frees all of it but the live chain, which it returns. */
struct chain *filter_release(struct filter *f);

/* A filter of which nobody has said anything: neither vouched for nor in doubt. */
bool filter_is_plain(const struct filter *f);

/* The next generation becomes the live one; returns the old one, for the caller to free. */
struct chain *filter_swap(struct filter *f);

/* What the filter takes: arrays and structs, without an allocator's slack. */
uint64_t filter_memory(const struct filter *f);

#endif
