/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c - BF.CHECK, BF.MCHECK and BF.GUARD: questions to a shield.
 *
 *     absent     there is no such item: somebody vouched for that
 *     maybe      it probably is there
 *     unknown    nobody can say */
#include "ask.h"
#include "commands.h"
#include "items.h"
#include "keyspace.h"
#include "node.h"
#include "reply.h"
#include "stats.h"

/* On one hit in so many the filter is asked too. */
#define HITS_A_LOOK 64

static const char *word_for(bool maybe, enum cause cause) {
    if (maybe) return "maybe";
    return cause == CAUSE_NONE ? "absent" : "unknown";
}

/* At most a block of questions; replies a word for each. */
static void reply_words(RedisModuleCtx *ctx, struct value *v, RedisModuleString **strings,
                        size_t n) {
    uint8_t maybe[ITEMS_BLOCK];
    size_t found = 0;
    enum cause cause = why_unknown(v);
    ask(v, strings, n, maybe);
    for (size_t i = 0; i < n; i++) {
        found += maybe[i];
        RedisModule_ReplyWithSimpleString(ctx, word_for(maybe[i], cause));
    }
    count(&counters.maybe, found);
    count(&counters.unknown[cause], n - found);
    if (!v) return;
    v->answers.maybe += found;
    v->answers.unknown[cause] += n - found;
}

/* BF.CHECK key item */
int cmd_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct value *v;
    if (!find_to_read(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
    reply_words(ctx, v, argv + 2, 1);
    return REDISMODULE_OK;
}

/* BF.MCHECK key item [item ...] */
int cmd_mcheck(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);

    struct value *v;
    if (!find_to_read(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
    size_t n = (size_t)argc - 2;
    RedisModule_ReplyWithArray(ctx, (long)n);
    for (size_t done = 0; done < n; done += ITEMS_BLOCK)
        reply_words(ctx, v, argv + 2 + done,
                    n - done < ITEMS_BLOCK ? n - done : ITEMS_BLOCK);
    return REDISMODULE_OK;
}

/* Something is in the cache that the filter would have kept away: an add was lost, or the
 * cache has a sentinel for "nothing there". */
static void look_for_contradiction(RedisModuleCtx *ctx, RedisModuleString *name,
                                   RedisModuleString *item) {
    static unsigned hits;
    if (hits++ % HITS_A_LOOK != 0) return;
    struct value *v = find_unseen(ctx, name);
    uint8_t maybe;
    ask(v, &item, 1, &maybe);
    if (!maybe && why_unknown(v) == CAUSE_NONE) count(&counters.contradictions, 1);
}

/* BF.GUARD filter cachekey item
 * What is cached under cachekey, and if there is nothing, whether to ask the database. */
int cmd_guard(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 4) return RedisModule_WrongArity(ctx);

    RedisModuleCallReply *cached = RedisModule_Call(ctx, "GET", "s", argv[2]);
    int type = RedisModule_CallReplyType(cached);
    if (type == REDISMODULE_REPLY_STRING) {
        RedisModule_ReplyWithArray(ctx, 2);
        RedisModule_ReplyWithSimpleString(ctx, "hit");
        RedisModule_ReplyWithCallReply(ctx, cached);
        look_for_contradiction(ctx, argv[1], argv[3]);
    } else if (type == REDISMODULE_REPLY_NULL) {
        struct value *v;
        if (!find_to_guard(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
        RedisModule_ReplyWithArray(ctx, 2);
        reply_words(ctx, v, argv + 3, 1);
        RedisModule_ReplyWithNull(ctx);
    } else if (cached) {
        RedisModule_ReplyWithCallReply(ctx, cached);
    } else {
        reply_error(ctx, "ERR the cache key can't be read");
    }
    if (cached) RedisModule_FreeCallReply(cached);
    return REDISMODULE_OK;
}
