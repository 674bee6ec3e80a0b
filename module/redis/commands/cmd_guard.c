/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_guard.c - BF.GUARD: the cache and, where it has nothing, the filter.
 *
 * What is cached has to be read as GET reads it, hits, misses and clocks included. But a
 * GET from a module copies the value, so a long one is read in place. The server allows
 * that for values that it keeps as plain strings; any other it converts into one, which
 * rewrites the key. So the key is looked at first, without any effect:
 *
 *     nothing                 opened once more, to count as a miss
 *     a string, and long      opened once more, to count as a hit, and read in place
 *     a string, and short     GET
 *     anything else           WRONGTYPE */
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "keys/find.h"
#include "links/answer.h"
#include "watch/stats.h"

/* On one hit in HITS_A_LOOK the filter is asked too. */
#define HITS_A_LOOK 64

/* Strings of more bytes are kept plain: Redis packs up to 44 into the key's own block,
 * Valkey up to 128 in all. */
#define PACKED_BY_REDIS  44
#define PACKED_BY_VALKEY 128

enum cached { CACHED_NOTHING, CACHED_SHORT, CACHED_LONG, CACHED_OTHER };

/* Opened for writing, a key is not counted. */
static enum cached look(RedisModuleCtx *ctx, RedisModuleString *name) {
    int mode = REDISMODULE_READ | REDISMODULE_WRITE | REDISMODULE_OPEN_KEY_NOTOUCH;
    size_t packed = server.is_valkey ? PACKED_BY_VALKEY : PACKED_BY_REDIS;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, mode);
    enum cached found = CACHED_OTHER;
    int type = RedisModule_KeyType(key);
    if (type == REDISMODULE_KEYTYPE_EMPTY) found = CACHED_NOTHING;
    if (type == REDISMODULE_KEYTYPE_STRING)
        found = RedisModule_ValueLength(key) > packed ? CACHED_LONG : CACHED_SHORT;
    RedisModule_CloseKey(key);
    return found;
}

/* Something is in the cache that the filter would have kept away: an add was lost, or the
 * cache has a sentinel for "nothing there". */
static void count_hit(RedisModuleCtx *ctx, RedisModuleString *name,
                      RedisModuleString *item) {
    uint64_t hits = stats_counters.hits;
    stats_count(&stats_counters.hits, 1);
    if (hits % HITS_A_LOOK != 0) return;
    struct filter *f = find_unseen(ctx, name);
    if (!ask_one(f, item) && answer_cause(f) == CAUSE_NONE)
        stats_count(&stats_counters.contradictions, 1);
}

static void reply_hit(RedisModuleCtx *ctx) {
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithSimpleString(ctx, "hit");
}

/* These two say false if there is nothing after all: a replica of Redis 6.0 sees expired
 * keys when it opens them for writing. */
static bool reply_long(RedisModuleCtx *ctx, RedisModuleString *name) {
    size_t length;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ);
    if (!key) return false;
    const char *value = RedisModule_StringDMA(key, &length, REDISMODULE_READ);
    reply_hit(ctx);
    RedisModule_ReplyWithStringBuffer(ctx, value, length);
    RedisModule_CloseKey(key);
    return true;
}

static bool reply_short(RedisModuleCtx *ctx, RedisModuleString *name) {
    RedisModuleCallReply *value = RedisModule_Call(ctx, "GET", "s", name);
    if (!value) return reply_error(ctx, "ERR the cache key can't be read"), true;
    int type = RedisModule_CallReplyType(value);
    if (type == REDISMODULE_REPLY_STRING) reply_hit(ctx);
    if (type != REDISMODULE_REPLY_NULL) RedisModule_ReplyWithCallReply(ctx, value);
    RedisModule_FreeCallReply(value);
    return type != REDISMODULE_REPLY_NULL;
}

/* What was replied, if anything. */
static enum cached reply_cached(RedisModuleCtx *ctx, RedisModuleString *name) {
    enum cached found = look(ctx, name);
    if (found == CACHED_SHORT && !reply_short(ctx, name)) return CACHED_NOTHING;
    if (found == CACHED_LONG && !reply_long(ctx, name)) return CACHED_NOTHING;
    if (found == CACHED_OTHER)
        RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
    if (found == CACHED_NOTHING)
        RedisModule_CloseKey(RedisModule_OpenKey(ctx, name, REDISMODULE_READ));
    return found;
}

/* BF.GUARD filter cachekey item
 * What is cached under cachekey and, if there is nothing, whether to ask the database. */
int cmd_guard(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 4) return RedisModule_WrongArity(ctx);

    enum cached found = reply_cached(ctx, argv[2]);
    if (found == CACHED_SHORT || found == CACHED_LONG) count_hit(ctx, argv[1], argv[3]);
    if (found != CACHED_NOTHING) return REDISMODULE_OK; /* It replied. */
    struct filter *f;
    if (!find_uncounted(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!ask_can(ctx, f, argv[3])) return REDISMODULE_OK;         /* It replied. */
    RedisModule_ReplyWithArray(ctx, 2);
    ask_reply_words(ctx, f, argv + 3, 1);
    RedisModule_ReplyWithNull(ctx);
    return REDISMODULE_OK;
}
