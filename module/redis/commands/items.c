/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/items.h"

#include <stdio.h>
#include <string.h>

#include "commands/reply.h"
#include "keys/memory.h"

static struct item item_of(RedisModuleString *string) {
    struct item item;
    item.bytes = RedisModule_StringPtrLen(string, &item.length);
    return item;
}

/* A block's items together become this many bytes at most, unless it has only one. */
#define BLOCK_ROOM (UINT64_C(1) << 20)

static size_t room_for(const struct chain *c, struct item item) {
    return c && c->encoding != ENCODING_RAW ? encode_room(c->encoding, item.length) : 0;
}

size_t items_encoded_block(const struct chain *live, const struct chain *next,
                           RedisModuleString **strings, size_t left) {
    size_t n = 0, room = 0;
    for (; n < left && n < ITEMS_BLOCK; n++) {
        struct item item = item_of(strings[n]);
        size_t a = room_for(live, item), b = room_for(next, item);
        room += a > b ? a : b;
        if (n > 0 && room > BLOCK_ROOM) break;
    }
    return n;
}

bool items_can_encode(enum encoding e, RedisModuleString *string) {
    return can_encode(e, item_of(string));
}

/* Looked at only where it matters: a little more or less is the server's own affair. */
static bool has_room(size_t room) {
    return room <= BLOCK_ROOM || memory_system_has(room);
}

bool items_encoded_have_room(const struct chain *live, const struct chain *next,
                             RedisModuleString *string) {
    struct item item = item_of(string);
    return has_room(room_for(live, item)) && has_room(room_for(next, item));
}

static void all_unfit(struct items *block, size_t n, uint8_t *unfit) {
    block->many = NULL;
    memset(block->item, 0, sizeof block->item);
    memset(unfit, 1, n);
}

void items_encode(enum encoding e, RedisModuleString **strings, size_t n,
                  struct items *block, uint8_t *unfit) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += encode_room(e, item_of(strings[i]).length);
    if (unfit && !has_room(room)) {
        all_unfit(block, n, unfit);
        return;
    }
    block->many = room > sizeof block->few ? RedisModule_Alloc(room) : NULL;
    unsigned char *at = block->many ? block->many : block->few;
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        bool fit = encode(e, item_of(strings[i]), at, &length);
        if (!fit) length = 0;
        if (unfit) unfit[i] = !fit;
        block->item[i] = (struct item){at, length};
        at += length;
    }
}

int items_refuse(RedisModuleCtx *ctx, const struct chain *live, const struct chain *next,
                 RedisModuleString *string) {
    char words[128];
    if (items_fit(live, next, string))
        return reply_option_error(ctx, "ERR insufficient memory to encode item '%s'",
                                  string);
    const struct chain *c = live && !items_fit(live, NULL, string) ? live : next;
    snprintf(words, sizeof words, "ERR item '%%s' can't be encoded as %s",
             encoding_names[c->encoding]);
    return reply_option_error(ctx, words, string);
}
