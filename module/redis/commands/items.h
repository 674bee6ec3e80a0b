/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - command arguments as the core's items, for adding and asking. */
#ifndef BULWARK_ITEMS_H
#define BULWARK_ITEMS_H

#include "core/kind.h"
#include "server.h"

/* Commands hand items to the core in blocks of this many, as it works through
 * them itself. */
#define ITEMS_BLOCK 64

/* How many of those that are left go into the next block. */
static inline size_t items_block(size_t left) {
    return left < ITEMS_BLOCK ? left : ITEMS_BLOCK;
}

static inline void items_read(RedisModuleString **strings, size_t n, struct item *items) {
    for (size_t i = 0; i < n; i++)
        items[i].bytes = RedisModule_StringPtrLen(strings[i], &items[i].length);
}

#endif
