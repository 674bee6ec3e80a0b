/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_upstream.c - BF.PROMOTED, BF.BEAT and BF.ADRIFT: what masters and append-only files
 * say among themselves. Clients are refused. */
#include "commands/commands.h"
#include "commands/reply.h"
#include "links/adrift.h"
#include "links/beat.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"

/* False if a client sent it: then the error has been replied. */
static bool is_from_upstream(RedisModuleCtx *ctx) {
    if (upstream_sent(ctx)) return true;
    reply_error(ctx, "ERR only a master or an append-only file may send this");
    return false;
}

/* BF.PROMOTED
 * A node was promoted at this point, and may have missed adds. Without this record, only
 * one of the two doubts would be left after the next restart. */
int cmd_promoted(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc != 1) return reply_wrong_arity(ctx);
    if (!is_from_upstream(ctx)) return REDISMODULE_OK; /* It replied. */
    node_promoted_upstream();
    replicate_as_it_came(ctx);
    return reply_ok(ctx);
}

/* BF.BEAT ms end [end ...]
 * Everything acknowledged by that time precedes this in the stream. */
int cmd_beat(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    long long sent;
    if (argc < 3) return reply_wrong_arity(ctx);
    if (!is_from_upstream(ctx)) return REDISMODULE_OK; /* It replied. */
    if (RedisModule_StringToLongLong(argv[1], &sent) == REDISMODULE_OK)
        beat_heard(ctx, sent, argv + 2, argc - 2);
    return reply_ok(ctx);
}

/* BF.ADRIFT 0 | 1 | 2
 * A note in an AOF, which is being loaded. */
int cmd_adrift(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return reply_wrong_arity(ctx);
    if (!is_from_upstream(ctx)) return REDISMODULE_OK; /* It replied. */
    adrift_read(RedisModule_StringPtrLen(argv[1], NULL)[0]);
    return reply_ok(ctx);
}
