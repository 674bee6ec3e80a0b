/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_promoted.c - BF.PROMOTED: a promotion upstream. */
#include "commands/commands.h"
#include "commands/reply.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"

/* BF.PROMOTED
 * From a master or an AOF: a node was promoted at this point, and may have missed adds.
 * Without this record, only one of the two doubts would be left after the next restart. */
int cmd_promoted(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc != 1) return reply_wrong_arity(ctx);
    if (!upstream_sent(ctx))
        return reply_error(ctx, "ERR only a master or an append-only file may send this");
    node_promoted_upstream();
    replicate_as_it_came(ctx);
    return reply_ok(ctx);
}
