/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_ready.c - BF.READY and BF.LOADING: who vouches for a filter, and who doesn't. */
#include "args.h"
#include "commands.h"
#include "keyspace.h"
#include "node.h"
#include "replicate.h"
#include "reply.h"
#include "vouch.h"

/* Why nobody can vouch for it. What a master says is so. */
static enum bloom_status flaw_of(RedisModuleCtx *ctx, const struct value *v, bool renew) {
    if (!v) return BLOOM_NOT_FOUND;
    if (server_is_followed(ctx)) return BLOOM_OK;
    if (v->live->missing > 0) return BLOOM_PARTIAL;
    bool declared = renew && v->standing.state == STATE_READY; /* an empty table */
    return chain_items(v->live) == 0 && !declared ? BLOOM_EMPTY : BLOOM_OK;
}

/* The master vouches for a filter that is not the one here. */
static int follow_another(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v) {
    char shown[SHOWN_MAX + 1];
    RedisModule_Log(
        ctx, "warning",
        "The master vouches for a filter %s that is not the one here: it denies "
        "nothing until the next full sync.",
        server_printable(name, shown));
    if (raise_alarm(ctx, name, v)) announce(ctx, name, "bf.loading");
    return reply_ok(ctx);
}

/* BF.READY key [EX seconds | PXAT ms] [XX]
 * Every item that should be in the filter is. With XX only if that has been said, and is
 * not in doubt: else nil. */
int cmd_ready(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 2) return reply_wrong_arity(ctx);

    struct vow vow;
    struct value *v;
    if (!read_vow(ctx, argv, argc, 2, true, &vow)) return REDISMODULE_OK; /* It replied. */
    if (!find_to_write(ctx, argv[1], &v)) return REDISMODULE_OK;          /* It replied. */
    enum bloom_status flaw = flaw_of(ctx, v, vow.renew);
    if (flaw < 0) return reply_refusal(ctx, argv[1], flaw);
    if (vow.renew && node_doubts(v)) return RedisModule_ReplyWithNull(ctx);

    if (!is_meant(v, &vow)) return follow_another(ctx, argv[1], v);

    begin_change(v);
    vouch(ctx, argv[1], v, &vow);
    replicate_ready(ctx, argv[1], v);
    end_change(ctx, argv[1], v);
    announce(ctx, argv[1], "bf.ready");
    return reply_ok(ctx);
}

/* BF.LOADING key
 * The red button: nothing is denied until the next BF.READY, and a rebuild has to start
 * again. */
int cmd_loading(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return reply_wrong_arity(ctx);

    struct value *v;
    if (!find_to_write(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
    if (!v) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    if (raise_alarm(ctx, argv[1], v)) announce(ctx, argv[1], "bf.loading");
    return reply_ok(ctx);
}
