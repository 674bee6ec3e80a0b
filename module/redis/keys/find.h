/* SPDX-License-Identifier: BSD-3-Clause */
/* find.h - from a key's name to its filter.
 *
 * The module itself tells the server which keys it changed (announce.h), so opening a key
 * for writing has no effect of its own, and no handle has to stay open. A filter is valid
 * until the command that looked it up returns, or tells listeners (announce.h): one of them
 * may delete the key. */
#ifndef BULWARK_FIND_H
#define BULWARK_FIND_H

#include "core/filter.h"
#include "server.h"

/* The filter under that key, or NULL if there is no such key. False if the key holds
 * something else; the error has then been replied. The second form is for commands that may
 * change the filter. */
bool find_to_read(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f);
bool find_to_write(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f);

/* Like find_to_read(), but doesn't count as a hit or a miss where the server can do that.
 * find_unseen() replies nothing, and returns NULL if the key holds something else. */
bool find_uncounted(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f);
struct filter *find_unseen(RedisModuleCtx *ctx, RedisModuleString *name);

/* Whether a key of that name exists, of any type. */
bool find_taken(RedisModuleCtx *ctx, RedisModuleString *name);

#endif
