/* SPDX-License-Identifier: BSD-3-Clause */
#include "args.h"
#include "commands.h"
#include "keyspace.h"
#include "reply.h"

/* BF.RESERVE key error capacity [EXPANSION n | NONSCALING] [KIND kind]
 * Makes an empty filter. */
int cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 4) return RedisModule_WrongArity(ctx);

    struct wish wish;
    if (!read_reserve(ctx, argv, argc, &wish)) return REDISMODULE_OK; /* It replied. */
    if (key_exists(ctx, argv[1])) return reply_refusal(ctx, BLOOM_EXISTS);

    struct value *v;
    enum bloom_status status = create(ctx, argv[1], &wish, &v);
    return status < 0 ? reply_refusal(ctx, status) : reply_ok(ctx);
}
