/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.h - every question about items: which chain it is put to, what the reply is, and what
 * is counted.
 *
 *     command                 asks   reply if it is not there      counted
 *     ----------------------  -----  ----------------------------  -------
 *     EXISTS, MEXISTS         live   0; 1 if 0 may not be said     yes
 *     CHECK, MCHECK, GUARD    live   "absent", or "unknown"        yes
 *     REBUILD CHECK           next   0                             no
 *     GUARD, after a hit      live   (no reply)                    no
 *
 * The reply for an item that may be there is 1, or "maybe"; for one that can't be encoded
 * it is an error, which isn't counted. A filter that doesn't exist is NULL, and has no
 * items. */
#ifndef BULWARK_ASK_H
#define BULWARK_ASK_H

#include "core/filter.h"
#include "server.h"

/* How many items were asked for, and how many of them may be there. */
struct asked {
    size_t n, found;
};

/* Asks for one item, or for each in order, by the bits alone. ask_each() replies the
 * answers: 1 and 0, or, if `no` isn't NULL, "maybe" and `no`. To ask_one() an item that
 * can't be encoded is there: ask_can() replies the error, and false, for it. */
bool ask_one(const struct filter *f, RedisModuleString *string);
bool ask_can(RedisModuleCtx *ctx, const struct filter *f, RedisModuleString *string);
struct asked ask_each(RedisModuleCtx *ctx, const struct chain *c,
                      RedisModuleString **strings, size_t n, const char *no);

/* Reply as EXISTS and MEXISTS do: 0 only if it may be passed on as "there is no such row".
 * The first function is the second for one item, without the cost of a loop. */
void ask_reply_bool(RedisModuleCtx *ctx, struct filter *f, RedisModuleString *string);
void ask_reply_bools(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n);

/* Replies as CHECK, MCHECK and GUARD do:
 *
 *     absent     there is no such item: somebody vouched for that
 *     maybe      it probably is there
 *     unknown    it can't be said */
void ask_reply_words(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n);

#endif
