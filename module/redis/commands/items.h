/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - command arguments as the core's items, for adding and asking.
 *
 *     argument      the filter's encoding (core/encode.h)      what is hashed
 *     "42"          raw                                        the argument's own bytes
 *     "42"          int64                                      8 bytes
 *     "anna"        int64                                      nothing: it is refused
 *
 * What can't be encoded is an error, for adds and questions alike. Adds take such items out
 * first (items_fit). A question answers ITEMS_UNFIT for them. */
#ifndef BULWARK_ITEMS_H
#define BULWARK_ITEMS_H

#include "core/chain.h"
#include "core/encode.h"
#include "server.h"

/* Commands pass items to the core in blocks of this size; the core works through them in
 * blocks itself. */
#define ITEMS_BLOCK 64

/* The answer, beside 0 and 1, for an item that can't be encoded. */
#define ITEMS_UNFIT 2

/* A block of items while it is used. */
struct items {
    struct item item[ITEMS_BLOCK];
    unsigned char few[ITEMS_BLOCK * sizeof(uint64_t)]; /* what they were encoded to */
    unsigned char *many; /* the same if it is longer; otherwise NULL */
};

/* How many of the `left` items go into the next block. */
static inline size_t items_block(size_t left) {
    return left < ITEMS_BLOCK ? left : ITEMS_BLOCK;
}

bool items_can_encode(enum encoding e, RedisModuleString *string);

/* Whether both generations' encodings can take the item; a chain may be NULL. */
static inline bool items_fit(const struct chain *live, const struct chain *next,
                             RedisModuleString *string) {
    return (!live || live->encoding == ENCODING_RAW ||
            items_can_encode(live->encoding, string)) &&
           (!next || next->encoding == ENCODING_RAW ||
            items_can_encode(next->encoding, string));
}

/* Reads a block. unfit[i] = 1 if item i can't be encoded, and is empty instead; it may be
 * NULL if all of them can. The result lies in the strings or in the block: items_done()
 * ends its use. */
void items_encode(enum encoding e, RedisModuleString **strings, size_t n,
                  struct items *block, uint8_t *unfit);

static inline void items_read(const struct chain *c, RedisModuleString **strings, size_t n,
                              struct items *block, uint8_t *unfit) {
    if (c->encoding != ENCODING_RAW) {
        items_encode(c->encoding, strings, n, block, unfit);
        return;
    }
    block->many = NULL;
    for (size_t i = 0; i < n; i++)
        block->item[i].bytes = RedisModule_StringPtrLen(strings[i], &block->item[i].length);
}

static inline void items_done(struct items *block) {
    if (block->many) RedisModule_Free(block->many);
}

/* Replies that the item can't be encoded. Returns REDISMODULE_OK. */
int items_refuse(RedisModuleCtx *ctx, const struct chain *live, const struct chain *next,
                 RedisModuleString *string);

#endif
