/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

struct server server;

#define REDIS_8             0x080000
#define REDIS_8_2           0x080200
#define REDIS_8_4           0x080400
#define VALKEY_8_1          0x080100
#define VALKEY_9            0x090000
#define VALKEY_9_1_2        0x090102
#define TYPE_METHODS_OF_6_2 3 /* servers from then on know events of modules */

/* Looks up a function that is newer than the header, by its name. */
static bool resolve(const char *name, void *function) {
    return RedisModule_GetApi(name, function) == REDISMODULE_OK;
}

void server_look_around(RedisModuleCtx *ctx) {
    int (*valkey_version)(void);
    int version = RedisModule_GetServerVersion ? RedisModule_GetServerVersion() : 0;
    int methods = RedisModule_GetTypeMethodVersion ? RedisModule_GetTypeMethodVersion() : 0;

    server.ctx = RedisModule_GetDetachedThreadSafeContext
                     ? RedisModule_GetDetachedThreadSafeContext(ctx)
                     : NULL;
    server.is_valkey = resolve("ValkeyModule_GetServerVersion", &valkey_version);
    int valkey = server.is_valkey ? valkey_version() : 0;
    server.flushes_as_it_loads = valkey >= VALKEY_9;
    server.moves_clients = valkey >= VALKEY_8_1 && valkey < VALKEY_9_1_2;
    server.plain_settings = version >= REDIS_8 && !server.is_valkey;
    server.ends_if_cut_off = version >= REDIS_8 && version < REDIS_8_2 && !server.is_valkey;
    server.waitaof_is_true = version >= REDIS_8 && !server.is_valkey;
    server.tells_of_slots = version >= REDIS_8_4 && !server.is_valkey;
    server.knows_unlink = methods >= TYPE_METHODS_OF_6_2;
    server.notification_class = methods >= TYPE_METHODS_OF_6_2 ? REDISMODULE_NOTIFY_MODULE
                                                               : REDISMODULE_NOTIFY_GENERIC;
    if (!resolve("RedisModule_AddACLCategory", &server.add_acl_category))
        server.add_acl_category = NULL;
    if (!resolve("RedisModule_SetCommandACLCategories", &server.set_acl_categories))
        server.set_acl_categories = NULL;
}

bool server_is_loading(RedisModuleCtx *ctx) {
    return RedisModule_GetContextFlags(ctx) &
           (REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING);
}

bool server_is_paused(void) {
    return RedisModule_AvoidReplicaTraffic && RedisModule_AvoidReplicaTraffic();
}

/* Does nothing while an AOF is loaded: nobody sees that, and 7.0 applies what it hid in one
 * command to the next one, which may be longer. */
void server_hide_argument(RedisModuleCtx *ctx, int position) {
    if (!RedisModule_RedactClientCommandArgument) return;
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING) return;
    RedisModule_RedactClientCommandArgument(ctx, position);
}

void server_memory(RedisModuleCtx *ctx, unsigned long long *limit,
                   unsigned long long *used) {
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    *limit = RedisModule_ServerInfoGetFieldUnsigned(info, "maxmemory", NULL);
    *used = RedisModule_ServerInfoGetFieldUnsigned(info, "used_memory", NULL);
    RedisModule_FreeServerInfo(ctx, info);
}
