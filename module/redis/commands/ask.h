/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.h - every question about items: which chain it is put to, what is replied, and what
 * is counted.
 *
 *     command                 asks   it is not there               counted
 *     ----------------------  -----  ----------------------------  -------
 *     EXISTS, MEXISTS         live   0; 1 if that may not be said  yes
 *     CHECK, MCHECK, GUARD    live   "absent", or "unknown"        yes
 *     REBUILD CHECK           next   0                             no
 *     GUARD, of what it hit   live   (nothing is replied)          no
 *
 * What may be there is 1, or "maybe". A filter that doesn't exist is NULL, and nothing is
 * in it. */
#ifndef BULWARK_ASK_H
#define BULWARK_ASK_H

#include "core/filter.h"
#include "server.h"

/* One item, or each of them in order, as far as the bits tell. ask_each() replies the
 * answers: 1 and 0, or "maybe" and that word if it isn't NULL; returns how many may be
 * there. */
bool ask_one(const struct filter *f, RedisModuleString *string);
size_t ask_each(RedisModuleCtx *ctx, const struct chain *c, RedisModuleString **strings,
                size_t n, const char *no);

/* As EXISTS and MEXISTS do: 0 only if it may be passed on as "there is no such row". The
 * first form is the second for one item, without the price of a loop. */
void ask_reply_bool(RedisModuleCtx *ctx, struct filter *f, RedisModuleString *string);
void ask_reply_bools(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n);

/* As CHECK, MCHECK and GUARD do:
 *
 *     absent     there is no such item: somebody vouched for that
 *     maybe      it probably is there
 *     unknown    nobody can say */
void ask_reply_words(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n);

#endif
