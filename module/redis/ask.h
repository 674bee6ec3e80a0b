/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.h - a block of questions to a filter that may not be there (NULL). */
#ifndef BULWARK_ASK_H
#define BULWARK_ASK_H

#include "core/filter.h"
#include "items.h"

/* At most ITEMS_BLOCK questions: maybe[i] = 1 if item i is in it as far as its bits
 * tell. Nothing is in a filter that isn't there. */
void ask_block(const struct filter *f, RedisModuleString **strings, size_t n,
               uint8_t *maybe);

/* The same; replies and counts a word for each:
 *
 *     absent     there is no such item: somebody vouched for that
 *     maybe      it probably is there
 *     unknown    nobody can say */
void ask_reply_words(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n);

#endif
