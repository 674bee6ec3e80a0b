/* SPDX-License-Identifier: BSD-3-Clause */
/* adding.h - items on their way into a filter: room for them, and word to replicas.
 *
 *     BF.ADD, BF.MADD, BF.INSERT    live, and during a rebuild next too
 *     BF.REBUILD LOAD               next only
 *
 * Whenever a chain is to grow, replicas are first told of all items that it has dealt
 * with, and then of the growth: each chain sees the same items and growths in the same
 * order there as here. */
#ifndef BULWARK_ADDING_H
#define BULWARK_ADDING_H

#include "core/filter.h"
#include "server.h"

struct adding {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    struct filter *f;
    RedisModuleString **items;
    size_t n;
    uint8_t *added; /* the answer for each item that was dealt with; room for n */

    bool is_effect; /* the call brings items and nothing else: it can be sent on as it is */
    RedisModuleString *token; /* of a rebuild: LOAD; else NULL */
    bool has_at;              /* LOAD says how many items were sent before these: */
    long long at;             /* at + n fits */
    bool made;                /* this call made the filter */

    /* What came of it. */
    size_t done;       /* so many items were dealt with */
    size_t changed;    /* so many are an effect */
    size_t growths;    /* of all chains */
    uint64_t came;     /* so many were new to a chain; to both count twice */
    uint64_t overfull; /* so many went in over capacity */

    /* While it is under way. */
    uint8_t *effect; /* of each item, for replicas: added, or more during a rebuild */
    size_t told;     /* of so many items replicas know */
    enum chain_full when_full[2]; /* live, next */
};

/* Adds the items in order. On a refusal those before it stay, and are told of. */
enum bloom_status adding_run(struct adding *a);

/* Tells listeners what happened. Last of all: one of them may delete the key, and the
 * filter with it. */
void adding_announce(const struct adding *a);

#endif
