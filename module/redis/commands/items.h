/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - command arguments as the core's items, for adding and asking.
 *
 *     argument      the filter's encoding (core/encode.h)      what is hashed
 *     "42"          raw                                        the argument's own bytes
 *     "42"          int64                                      8 bytes
 *     "anna"        int64                                      nothing: it is refused
 *
 * What can't be encoded, or has no memory for it, is an error, for adds and questions
 * alike. Adds take such items out first (items_fit, items_have_room). A question answers
 * ITEMS_UNFIT for them. */
#ifndef BULWARK_ITEMS_H
#define BULWARK_ITEMS_H

#include "core/chain.h"
#include "core/encode.h"
#include "server.h"

/* Commands pass items to the core in blocks of this size; the core works through them in
 * blocks itself. */
#define ITEMS_BLOCK 64

/* The answer, beside 0 and 1, for an item that can't be encoded or has no memory for it. */
#define ITEMS_UNFIT 2

/* A block of items while it is used. */
struct items {
    struct item item[ITEMS_BLOCK];
    unsigned char few[ITEMS_BLOCK * sizeof(uint64_t)]; /* what they were encoded to */
    unsigned char *many; /* the same if it is longer; otherwise NULL */
};

static inline bool items_are_raw(const struct chain *live, const struct chain *next) {
    return (!live || live->encoding == ENCODING_RAW) &&
           (!next || next->encoding == ENCODING_RAW);
}

/* How many of the `left` items go into the next block; a chain may be NULL. What they are
 * encoded to takes no more memory than a long one of them does alone. */
size_t items_encoded_block(const struct chain *live, const struct chain *next,
                           RedisModuleString **strings, size_t left);

static inline size_t items_block(const struct chain *live, const struct chain *next,
                                 RedisModuleString **strings, size_t left) {
    if (!items_are_raw(live, next)) return items_encoded_block(live, next, strings, left);
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

/* Whether the system has the memory that the item takes while it is encoded: twice its
 * length, as UTF-16. */
bool items_encoded_have_room(const struct chain *live, const struct chain *next,
                             RedisModuleString *string);

static inline bool items_have_room(const struct chain *live, const struct chain *next,
                                   RedisModuleString *string) {
    return items_are_raw(live, next) || items_encoded_have_room(live, next, string);
}

/* Reads a block. unfit[i] = 1 if item i can't be encoded, or there is no memory for it, and
 * is empty instead; it may be NULL if all of them fit and have room. The result lies in the
 * strings or in the block: items_done() ends its use. */
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

/* Replies that the item can't be encoded or, if it could, that there is no memory for that.
 * Returns REDISMODULE_OK. */
int items_refuse(RedisModuleCtx *ctx, const struct chain *live, const struct chain *next,
                 RedisModuleString *string);

#endif
