/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/upstream.h"

#include <stdlib.h>

#include "commands/vouch.h"
#include "keys/announce.h"
#include "text.h"

bool upstream_sent(RedisModuleCtx *ctx) {
    return RedisModule_GetContextFlags(ctx) &
           (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING);
}

int upstream_log(RedisModuleCtx *ctx, RedisModuleString *name, const char *why) {
    bool knows = RedisModule_GetCurrentCommandName != NULL; /* from 6.2.5 on */
    char shown[TEXT_SHOWN_MAX + 1] = "";
    if (name) text_printable(name, shown);
    RedisModule_Log(ctx, "warning", "Refused %s%s%s, sent by the master or the AOF: %s.",
                    knows ? RedisModule_GetCurrentCommandName(ctx) : "a command",
                    name ? " for " : "", shown, why);
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

void upstream_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
                    const char *why) {
    char shown[TEXT_SHOWN_MAX + 1];
    if (!f) return;
    RedisModule_Log(
        ctx, "warning",
        "The filter %s differs from its master's: %s. It denies nothing until the "
        "next full sync, or until somebody vouches for it.",
        text_printable(name, shown), why);
    if (vouch_alarm(ctx, name, f)) announce(ctx, name, "bf.loading");
}

void upstream_end(const char *what, const char *why) {
    RedisModule_Log(server.ctx, "warning",
                    "%s from the master or the file can't be applied: %s. Ending: without "
                    "it, items that exist would be denied.",
                    what, why ? why : "it makes no sense");
    exit(1);
}

void upstream_must_have(RedisModuleCtx *ctx, enum bloom_status status) {
    if (status == BLOOM_NO_MEMORY && upstream_sent(ctx))
        upstream_end("A filter", "out of memory");
}

void upstream_must_have_here(enum bloom_status status) {
    int upstream = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING;
    if (status == BLOOM_NO_MEMORY && RedisModule_GetContextFlags(server.ctx) & upstream)
        upstream_end("A filter", "out of memory");
}
