/* SPDX-License-Identifier: BSD-3-Clause */
/* adding.h - adds items to a filter, makes room for them, and tells replicas.
 *
 *     BF.ADD, BF.MADD, BF.INSERT    live, and during a rebuild next too
 *     BF.REBUILD LOAD               next only
 *
 * Before a chain grows, replicas are told of all items that it has dealt with, and then of
 * the growth. So each chain sees the same items and growths in the same order there as
 * here. */
#ifndef BULWARK_ADDING_H
#define BULWARK_ADDING_H

#include "core/filter.h"
#include "server.h"

struct adding {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    struct filter *f;
    RedisModuleString **items; /* all of which can be encoded: adding_fits() */
    size_t n;
    uint8_t *added; /* the answer for each item that was dealt with; n long */

    bool is_effect; /* the call has items and nothing else: it can be sent on unchanged */
    RedisModuleString *token; /* of the rebuild, for LOAD; otherwise NULL */
    bool has_at;              /* LOAD says how many items were sent before these */
    long long at;             /* that number; at + n doesn't overflow */
    bool made;                /* this call made the filter */

    /* The result. */
    size_t done;       /* items dealt with */
    size_t changed;    /* items that were an effect */
    size_t growths;    /* of all chains */
    uint64_t came;     /* items new to a chain; an item new to both counts twice */
    uint64_t overfull; /* items that went in over capacity */

    /* While it is under way. */
    uint8_t *effect; /* of each item, for replicas: added, or more during a rebuild */
    size_t told;     /* items that replicas have been told of */
    enum chain_full when_full[2]; /* live, next */
};

/* Whether the item can be encoded for the chains that it goes to, and the system has the
 * memory for that. adding_refuse() replies that it isn't so, and returns REDISMODULE_OK. */
bool adding_fits(const struct adding *a, RedisModuleString *item);
int adding_refuse(const struct adding *a, RedisModuleString *item);

/* Adds the items in order. On a refusal the items before it stay added, and replicas are
 * told of them. */
enum bloom_status adding_run(struct adding *a);

/* Tells listeners what happened. To be called last: a listener may delete the key, and the
 * filter with it. */
void adding_announce(const struct adding *a);

#endif
