/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.h - a block of questions to a filter that may not be there. */
#ifndef BULWARK_ASK_H
#define BULWARK_ASK_H

#include <string.h>

#include "core/value.h"
#include "items.h"

/* At most ITEMS_BLOCK questions: maybe[i] = 1 if item i is in it as far as its bits
 * tell. Nothing is in a filter that isn't there. */
static inline void ask(const struct value *v, RedisModuleString **strings, size_t n,
                       uint8_t *maybe) {
    struct item items[ITEMS_BLOCK];
    if (!v) {
        memset(maybe, 0, n);
        return;
    }
    read_items(strings, n, items);
    chain_ask(v->live, items, n, maybe);
}

#endif
