/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/eviction.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "text.h"

/* Asking for the policy costs more than vouching does, and leases are renewed often. */
#define LOOK_EVERY_MS 10000

static bool has_time_to_live(RedisModuleCtx *ctx, RedisModuleString *name) {
    int mode = REDISMODULE_READ | REDISMODULE_WRITE | REDISMODULE_OPEN_KEY_NOTOUCH;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, mode);
    bool has = RedisModule_GetExpire(key) != REDISMODULE_NO_EXPIRE;
    RedisModule_CloseKey(key);
    return has;
}

#define POLICY_MAX 32

static const char *policy_now(RedisModuleCtx *ctx) {
    static char policy[POLICY_MAX];
    static int64_t looked; /* 0: never */
    int64_t now = clock_steady_ms();
    if (looked && now - looked < LOOK_EVERY_MS) return policy;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    const char *text = RedisModule_ServerInfoGetFieldC(info, "maxmemory_policy");
    snprintf(policy, sizeof policy, "%s", text ? text : "");
    RedisModule_FreeServerInfo(ctx, info);
    looked = now;
    return policy;
}

void eviction_warn(RedisModuleCtx *ctx, RedisModuleString *name) {
    static char warned[POLICY_MAX]; /* the policy that the last warning was about */
    if (!(RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_EVICT)) return;
    const char *policy = policy_now(ctx);
    bool at_risk = strncmp(policy, "allkeys-", 8) == 0 || has_time_to_live(ctx, name);
    if (!at_risk || strcmp(policy, warned) == 0) return;
    strcpy(warned, policy);
    char shown[TEXT_SHOWN_MAX + 1];
    RedisModule_Log(
        ctx, "warning",
        "The filter %s is ready, and maxmemory-policy %s may evict it: lookups would "
        "go to the database until a ready filter exists again. Give filters a "
        "server of their own, or use a volatile-* policy and set no TTL on filters.",
        text_printable(name, shown), policy);
}
