/* SPDX-License-Identifier: BSD-3-Clause */
/* make.h - filters, chains and layers that commands make. */
#ifndef BULWARK_MAKE_H
#define BULWARK_MAKE_H

#include "core/filter.h"
#include "server.h"

/* What a creating command says about the filter to make. */
struct wish {
    const struct kind *kind;
    double error;
    long long capacity;
    long long expansion; /* 0: never grows */
    enum state state;
    long long asked_expansion; /* what was asked for, also if it never grows */
    double parameter;          /* the kind's own; 0: its default */
    bool has_seed;             /* otherwise it gets a random one, or the kind's own */
    struct secret seed[2];
    uint8_t variant, encoding; /* of another library's filter */
};

/* Makes a filter, puts it under a name that no key has, and tells replicas. The caller
 * tells listeners (announce) last, when it doesn't need the filter any more: one of them
 * may delete the key. On a refusal nothing has changed and nothing has been replied. */
enum bloom_status make_filter(RedisModuleCtx *ctx, RedisModuleString *name,
                              const struct wish *wish, struct filter **f);

/* The same with a chain that is there already, which it owns from now on, whatever it
 * returns. filled: the chain has bits, which replicas are told too. Refuses
 * BLOOM_NO_MEMORY. */
enum bloom_status make_filter_of(RedisModuleCtx *ctx, RedisModuleString *name,
                                 struct chain *c, enum state state, bool filled,
                                 struct filter **f);

/* Makes an empty chain that is comparable to another (union.h), for a client. Refuses as
 * make_chain() does. */
enum bloom_status make_alike(RedisModuleCtx *ctx, const struct chain *like,
                             struct chain **c);

/* Makes the chain of a filter, nothing else. On a refusal *c is NULL. */
enum bloom_status make_chain(RedisModuleCtx *ctx, const struct wish *wish,
                             struct chain **c);

/* Gives one of the filter's chains its next layer, and tells replicas. Refuses BLOOM_FULL
 * if it never grows. */
enum bloom_status make_layer(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
                             struct chain *c);

#endif
