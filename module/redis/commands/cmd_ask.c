/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_ask.c - BF.EXISTS and BF.MEXISTS, questions in RedisBloom's form, and BF.CHECK and
 * BF.MCHECK, questions to a shield, answered with words. */
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "keys/find.h"
#include "settings/settings.h"

/* False if an error was replied. */
static bool find_to_ask(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f) {
    if (!find_to_read(ctx, name, f)) return false;
    if (*f || settings.missing_key != MISSING_ERROR) return true;
    reply_refusal(ctx, name, BLOOM_NOT_FOUND);
    return false;
}

/* BF.EXISTS key item
 * 0 if the item was certainly never added, otherwise 1. */
int cmd_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_ask(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    ask_reply_bool(ctx, f, argv[2]);
    return REDISMODULE_OK;
}

/* BF.MEXISTS key item [item ...]
 * BF.EXISTS for each item: an array of its answers. */
int cmd_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_ask(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    RedisModule_ReplyWithArray(ctx, argc - 2);
    ask_reply_bools(ctx, f, argv + 2, (size_t)argc - 2);
    return REDISMODULE_OK;
}

/* BF.CHECK key item
 * absent, maybe or unknown. */
int cmd_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    ask_reply_words(ctx, f, argv + 2, 1);
    return REDISMODULE_OK;
}

/* BF.MCHECK key item [item ...]
 * BF.CHECK for each item: an array of its answers. */
int cmd_mcheck(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    RedisModule_ReplyWithArray(ctx, argc - 2);
    ask_reply_words(ctx, f, argv + 2, (size_t)argc - 2);
    return REDISMODULE_OK;
}
