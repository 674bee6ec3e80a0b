/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_exists.c - BF.EXISTS and BF.MEXISTS: questions. */
#include <string.h>

#include "commands.h"
#include "items.h"
#include "keyspace.h"
#include "reply.h"

/* At most a block of questions. Without a filter nothing is there; one that may
 * not deny answers 1 to everything. */
static void ask(const struct value *v, RedisModuleString **strings, size_t n,
                uint8_t *maybe) {
    if (!v || !value_may_deny(v)) {
        memset(maybe, v != NULL, n);
        return;
    }
    struct item items[ITEMS_BLOCK];
    read_items(strings, n, items);
    chain_ask(v->live, items, n, maybe);
}

/* BF.EXISTS key item
 * 0 if the item was certainly never added, else 1. */
int cmd_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct value *v;
    if (!find_to_read(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
    uint8_t maybe;
    ask(v, argv + 2, 1, &maybe);
    return reply_bool(ctx, maybe);
}

/* BF.MEXISTS key item [item ...]
 * BF.EXISTS for each item: an array of its answers. */
int cmd_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);

    struct value *v;
    if (!find_to_read(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
    size_t n = (size_t)argc - 2;
    RedisModule_ReplyWithArray(ctx, (long)n);
    for (size_t done = 0; done < n;) {
        uint8_t maybe[ITEMS_BLOCK];
        size_t block = n - done < ITEMS_BLOCK ? n - done : ITEMS_BLOCK;
        ask(v, argv + 2 + done, block, maybe);
        for (size_t i = 0; i < block; i++)
            reply_bool(ctx, maybe[i]);
        done += block;
    }
    return REDISMODULE_OK;
}
