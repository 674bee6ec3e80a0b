/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_exists.c - BF.EXISTS and BF.MEXISTS: questions as RedisBloom's clients put them. */
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "commands.h"
#include "config.h"
#include "diary.h"
#include "find.h"
#include "node.h"
#include "reply.h"
#include "stats.h"

static bool may_deny(struct filter *f) {
    enum cause cause = answer_cause(f);
    return shield_denies(cause) ||
           (cause == CAUSE_MISSING && settings.missing_key == MISSING_ABSENT);
}

/* At most a block of questions. */
static void answer(struct filter *f, RedisModuleString **strings, size_t n,
                   uint8_t *maybe) {
    size_t yes = 0;
    if (may_deny(f))
        ask_block(f, strings, n, maybe);
    else
        memset(maybe, 1, n);

    for (size_t i = 0; i < n; i++)
        yes += maybe[i];
    stats_count(&stats_counters.exists_maybe, yes);
    stats_count(&stats_counters.exists_no, n - yes);
    if (!f) return;
    diary_of(f)->answers.exists_maybe += yes;
    diary_of(f)->answers.exists_no += n - yes;
}

/* False if it replied an error. */
static bool find_to_ask(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f) {
    if (!find_to_read(ctx, name, f)) return false;
    if (*f || settings.missing_key != MISSING_ERROR) return true;
    reply_refusal(ctx, name, BLOOM_NOT_FOUND);
    return false;
}

/* BF.EXISTS key item
 * 0 if the item was certainly never added, else 1. */
int cmd_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_ask(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    uint8_t maybe;
    answer(f, argv + 2, 1, &maybe);
    return reply_bool(ctx, maybe);
}

/* BF.MEXISTS key item [item ...]
 * BF.EXISTS for each item: an array of its answers. */
int cmd_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_ask(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    size_t n = (size_t)argc - 2;
    RedisModule_ReplyWithArray(ctx, (long)n);
    for (size_t done = 0; done < n;) {
        uint8_t maybe[ITEMS_BLOCK];
        size_t block = n - done < ITEMS_BLOCK ? n - done : ITEMS_BLOCK;
        answer(f, argv + 2 + done, block, maybe);
        for (size_t i = 0; i < block; i++)
            reply_bool(ctx, maybe[i]);
        done += block;
    }
    return REDISMODULE_OK;
}
