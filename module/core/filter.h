/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.h - what one key holds: a chain, whether its answers may be passed on, and during
 * a rebuild the chain that will replace it.
 *
 *     struct filter
 *     +----------+
 *     | standing |    who vouched for it, and what is in doubt: shield.h
 *     | live   --+--> the chain that questions are put to
 *     | next   --+--> the next generation while it is being filled, or NULL
 *     +----------+
 *     | own      |    data of the core's user (memory.h), zero at birth
 *     +----------+    and not stored
 *
 * During a rebuild every add goes to both chains, so that the next one has what came
 * meanwhile. An add is an effect if either chain changed. The caller gets the answer of the
 * live chain.
 *
 * A copy of the struct alone, made to be changed and written, doesn't include the user's
 * data. */
#ifndef BLOOM_FILTER_H
#define BLOOM_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "shield.h"

struct filter {
    struct standing standing;
    struct chain *live;
    struct chain *next;
};

/* The data that the core's user keeps with the filter: memory->own bytes. */
static inline void *filter_own(const struct filter *f) {
    return (void *)(f + 1);
}

/* Makes a filter around a chain and takes ownership of the chain. NULL if there is no
 * memory: the chain then still belongs to the caller. */
struct filter *filter_new(struct chain *live);

/* Frees the chains too. NULL is fine. */
void filter_free(struct filter *f);

/* chain_take_arrays() for both chains. On BLOOM_NO_MEMORY the live chain may already have
 * its arrays; filter_free() frees them. */
enum bloom_status filter_take_arrays(struct filter *f);

/* Frees everything except the live chain, and returns that. */
struct chain *filter_release(struct filter *f);

/* True if the filter is plain: not loading, never vouched for, not in doubt, and without a
 * trace of a rebuild. */
bool filter_is_plain(const struct filter *f);

/* Makes the next generation the live one. Returns the old one, which the caller frees. */
struct chain *filter_swap(struct filter *f);

/* The memory that the filter takes: arrays and structs, without the allocator's slack. */
uint64_t filter_memory(const struct filter *f);

#endif
