/* SPDX-License-Identifier: BSD-3-Clause */
/* find.h - from a key's name to its filter.
 *
 * The module tells the server itself which keys it changed (announce.h), so opening a key
 * for writing has no effect of its own, and no handle has to stay open: a filter is valid
 * until the command that looked it up returns. */
#ifndef BULWARK_FIND_H
#define BULWARK_FIND_H

#include "core/filter.h"
#include "server.h"

/* The filter under that key, or NULL if there is no such key. False if the key
 * holds something else: then the error has been replied. The second form is for
 * commands that may change it. */
bool find_to_read(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f);
bool find_to_write(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f);

/* To read, without counting as a hit or a miss where the server knows how not to. The
 * second form replies nothing, and takes what is no filter for none. */
bool find_to_guard(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f);
struct filter *find_unseen(RedisModuleCtx *ctx, RedisModuleString *name);

/* Whether there is a key of that name, of any type. */
bool find_taken(RedisModuleCtx *ctx, RedisModuleString *name);

#endif
