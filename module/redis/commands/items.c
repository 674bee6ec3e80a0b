/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/items.h"

#include <stdio.h>
#include <string.h>

#include "commands/reply.h"

static struct item item_of(RedisModuleString *string) {
    struct item item;
    item.bytes = RedisModule_StringPtrLen(string, &item.length);
    return item;
}

bool items_can_encode(enum encoding e, RedisModuleString *string) {
    struct items block;
    uint8_t unfit;
    items_encode(e, &string, 1, &block, &unfit);
    items_done(&block);
    return !unfit;
}

static size_t room_for(enum encoding e, RedisModuleString **strings, size_t n) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += encode_room(e, item_of(strings[i]).length);
    return room;
}

void items_encode(enum encoding e, RedisModuleString **strings, size_t n,
                  struct items *block, uint8_t *unfit) {
    size_t room = room_for(e, strings, n);
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
    const struct chain *c = live && !items_fit(live, NULL, string) ? live : next;
    snprintf(words, sizeof words, "ERR item '%%s' can't be encoded as %s",
             encoding_names[c->encoding]);
    return reply_option_error(ctx, words, string);
}
