/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.h - what one key holds: a chain, whether its word may be passed on, and during a
 * rebuild the chain that will take its place.
 *
 *     struct filter
 *     +----------+
 *     | standing |    who vouched for it, and what is in doubt: shield.h
 *     | live   --+--> the chain that questions are put to
 *     | next   --+--> the next generation while it is being filled, or NULL
 *     +----------+
 *     | own      |    what its user keeps with it (memory.h), zero at birth
 *     +----------+    and not stored
 *
 * From the start of a rebuild on every add goes to both chains, so that the next one has
 * what came during the rebuild. An add is an effect if either changed; what the caller is
 * told is the live one's answer.
 *
 * A copy of the struct alone, to change and to write, has nothing of its user's in it. */
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

/* What its user keeps with it: memory->own bytes. */
static inline void *filter_own(const struct filter *f) {
    return (void *)(f + 1);
}

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
