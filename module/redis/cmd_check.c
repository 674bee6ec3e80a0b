/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c - BF.CHECK and BF.MCHECK: questions to a shield, answered by words. */
#include "ask.h"
#include "commands.h"
#include "find.h"

/* BF.CHECK key item */
int cmd_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    ask_reply_words(ctx, f, argv + 2, 1);
    return REDISMODULE_OK;
}

/* BF.MCHECK key item [item ...] */
int cmd_mcheck(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    size_t n = (size_t)argc - 2;
    RedisModule_ReplyWithArray(ctx, (long)n);
    for (size_t done = 0; done < n; done += ITEMS_BLOCK)
        ask_reply_words(ctx, f, argv + 2 + done,
                        n - done < ITEMS_BLOCK ? n - done : ITEMS_BLOCK);
    return REDISMODULE_OK;
}
