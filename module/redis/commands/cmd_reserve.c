/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_reserve.c - BF.RESERVE: an empty filter, made to measure. */
#include "commands/args.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "keys/announce.h"
#include "keys/find.h"
#include "keys/make.h"
#include "watch/eviction.h"

/* BF.RESERVE key error capacity [EXPANSION n | NONSCALING] [KIND kind] [LOADING | READY]
 * Makes an empty filter. */
int cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 4) return reply_wrong_arity(ctx);

    struct wish wish;
    if (!args_read_reserve(ctx, argv, argc, &wish)) return REDISMODULE_OK; /* It replied. */
    if (find_taken(ctx, argv[1])) return reply_refusal(ctx, argv[1], BLOOM_EXISTS);

    struct filter *f;
    enum bloom_status status = make_filter(ctx, argv[1], &wish, &f);
    if (status < 0) return reply_refusal(ctx, argv[1], status);
    if (wish.state == STATE_READY) eviction_warn(ctx, argv[1]);
    announce(ctx, argv[1], "bf.reserve");
    if (wish.state == STATE_READY) announce(ctx, argv[1], "bf.ready");
    return reply_ok(ctx);
}
