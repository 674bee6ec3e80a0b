/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - command arguments as the core's items, for adding and asking. */
#ifndef BULWARK_ITEMS_H
#define BULWARK_ITEMS_H

#include "core/kind.h"
#include "server.h"

/* Commands pass items to the core in blocks of this size; the core works through them in
 * blocks itself. */
#define ITEMS_BLOCK 64

/* How many of the `left` items go into the next block. */
static inline size_t items_block(size_t left) {
    return left < ITEMS_BLOCK ? left : ITEMS_BLOCK;
}

static inline void items_read(RedisModuleString **strings, size_t n, struct item *items) {
    for (size_t i = 0; i < n; i++)
        items[i].bytes = RedisModule_StringPtrLen(strings[i], &items[i].length);
}

#endif
