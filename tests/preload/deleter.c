/* SPDX-License-Identifier: BSD-3-Clause */

/* deleter.c - a module for tests: while there is a key "deleter", whatever a filter's event
 * tells of is deleted at once, in the middle of the command that tells it. */

#include <stdbool.h>
#include <string.h>

#include <redismodule.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the server finds it by its name */

#define EXPORTED __attribute__((visibility("default")))

static bool is_on(RedisModuleCtx *ctx) {
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "EXISTS", "c", "deleter");
    bool on = reply && RedisModule_CallReplyInteger(reply) == 1;
    if (reply) RedisModule_FreeCallReply(reply);
    return on;
}

static int delete_it(RedisModuleCtx *ctx, int type, const char *event,
                     RedisModuleString *name) {
    (void)type;
    if (strncmp(event, "bf.", 3) != 0 || !is_on(ctx)) return REDISMODULE_OK;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "DEL", "!s", name);
    if (reply) RedisModule_FreeCallReply(reply);
    return REDISMODULE_OK;
}

EXPORTED int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    (void)argc;
    if (RedisModule_Init(ctx, "deleter", 1, REDISMODULE_APIVER_1) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return RedisModule_SubscribeToKeyspaceEvents(
        ctx, REDISMODULE_NOTIFY_GENERIC | REDISMODULE_NOTIFY_MODULE, delete_it);
}
