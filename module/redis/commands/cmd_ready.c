/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_ready.c - BF.READY and BF.LOADING: vouching for a filter, and raising the alarm. */
#include "commands/args.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "commands/vouch.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/find.h"
#include "links/answer.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"

/* Why the filter can't be vouched for. What a master says is true. */
static enum bloom_status flaw_of(RedisModuleCtx *ctx, const struct filter *f, bool renew) {
    if (!f) return BLOOM_NOT_FOUND;
    if (upstream_sent(ctx)) return BLOOM_OK;
    if (chain_is_partial(f->live)) return BLOOM_PARTIAL;
    bool declared = renew && f->standing.state == STATE_READY; /* an empty table */
    return chain_items(f->live) == 0 && !declared ? BLOOM_EMPTY : BLOOM_OK;
}

/* BF.READY key [EX seconds | PXAT ms] [XX]
 * Says that every item that should be in the filter is in it. With XX only if that has been
 * said before and is not in doubt; otherwise the reply is nil. */
int cmd_ready(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 2) return reply_wrong_arity(ctx);

    struct vow vow;
    struct filter *f;
    if (!args_read_vow(ctx, argv, argc, 2, true, &vow))
        return REDISMODULE_OK;                                   /* It replied. */
    if (!find_to_write(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    enum bloom_status flaw = flaw_of(ctx, f, vow.renew);
    if (flaw < 0) return reply_refusal(ctx, argv[1], flaw);
    if (vow.renew && answer_doubts(f)) return RedisModule_ReplyWithNull(ctx);

    if (!vouch_is_meant(f->live, &vow)) {
        upstream_alarm(ctx, argv[1], f, "the master vouches for another filter");
        return reply_ok(ctx);
    }

    change_begin(f);
    vouch_for(ctx, argv[1], f, &vow);
    replicate_ready(ctx, argv[1], f);
    change_end(ctx, argv[1], f);
    announce(ctx, argv[1], "bf.ready");
    return reply_ok(ctx);
}

/* BF.LOADING key
 * The red button: nothing is denied until the next BF.READY, and a rebuild has to start
 * again. */
int cmd_loading(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return reply_wrong_arity(ctx);

    struct filter *f;
    if (!find_to_write(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    if (vouch_alarm(ctx, argv[1], f)) announce(ctx, argv[1], "bf.loading");
    return reply_ok(ctx);
}
