/* SPDX-License-Identifier: BSD-3-Clause */
/* keyspace.h - from a key's name to its filter, and back.
 *
 * The module tells the server itself which keys it changed (see replicate.h), so
 * opening a key for writing has no effect of its own, and no handle has to stay
 * open: a filter is valid until the command that looked it up returns. */
#ifndef BULWARK_KEYSPACE_H
#define BULWARK_KEYSPACE_H

#include "core/value.h"
#include "server.h"

/* The filter under that key, or NULL if there is no such key. False if the key
 * holds something else: then the error has been replied. The second form is for
 * commands that may change it. */
bool find_to_read(RedisModuleCtx *ctx, RedisModuleString *name, struct value **v);
bool find_to_write(RedisModuleCtx *ctx, RedisModuleString *name, struct value **v);

/* To read, without counting as a hit or a miss where the server knows how not to. The
 * second form replies nothing, and takes what is no filter for none. */
bool find_to_guard(RedisModuleCtx *ctx, RedisModuleString *name, struct value **v);
struct value *find_unseen(RedisModuleCtx *ctx, RedisModuleString *name);

/* Whether there is a key of that name, of any type. */
bool key_exists(RedisModuleCtx *ctx, RedisModuleString *name);

/* Puts a filter under a name that no key has. The server owns it from then on. */
void put(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v);

/* Around every change of a filter's standing, its chains or their layers. The end counts it
 * anew and moves it to the type that it belongs under, if that has become another one
 * (type_for): a foreign filter when it is complete, or when somebody vouches for it. Its
 * time to live stays. What replicas have to know is sent before the end: moving a key is an
 * event of the server's own, and the filter may be gone after it. */
void begin_change(struct value *v);
void end_change(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v);

/* What creating commands say about the filter to make. */
struct wish {
    const struct kind *kind;
    double error;
    long long capacity;
    long long expansion; /* 0: never grows */
    enum state state;

    /* For foreign kinds: RedisBloom stores a growth even where NONSCALING forbids it;
     * valkey-bloom has a ratio (0: its default) and a seed (else a random one). */
    long long growth;
    double tightening;
    bool has_seed;
    struct secret seed[2];
};

/* Makes a filter, puts it under a name that no key has, and tells replicas. Listeners
 * (announce) come last of all, when the filter is not needed any more: one of them may
 * delete the key. On a refusal nothing has changed and nothing has been replied. */
enum bloom_status create(RedisModuleCtx *ctx, RedisModuleString *name,
                         const struct wish *wish, struct value **v);

/* Makes a filter from the data of valkey-bloom's BF.LOAD, likewise. With a wish it has to
 * have the wish's seed, capacity and expansion. why may be NULL. */
enum bloom_status load_data(RedisModuleCtx *ctx, RedisModuleString *name,
                            RedisModuleString *data, const struct wish *wish,
                            const char **why);

/* Makes the chain of a filter, and nothing else. On a refusal *c is NULL. */
enum bloom_status make_chain(RedisModuleCtx *ctx, const struct wish *wish,
                             struct chain **c);

/* Gives one of the filter's chains its next layer, and tells replicas. Refuses BLOOM_FULL
 * if it never grows. */
enum bloom_status grow(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
                       struct chain *c);

#endif
