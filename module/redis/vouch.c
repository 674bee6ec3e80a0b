/* SPDX-License-Identifier: BSD-3-Clause */
#include "vouch.h"

#include <stdio.h>
#include <string.h>

#include "node.h"
#include "stats.h"

static bool has_time_to_live(RedisModuleCtx *ctx, RedisModuleString *name) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ);
    bool has = key && RedisModule_GetExpire(key) != REDISMODULE_NO_EXPIRE;
    RedisModule_CloseKey(key);
    return has;
}

void warn_of_eviction(RedisModuleCtx *ctx, RedisModuleString *name) {
    static char warned[32]; /* the policy that the last warning was about */
    char policy[sizeof warned];
    if (!(RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_EVICT)) return;

    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    const char *text = RedisModule_ServerInfoGetFieldC(info, "maxmemory_policy");
    snprintf(policy, sizeof policy, "%s", text ? text : "");
    RedisModule_FreeServerInfo(ctx, info);

    bool at_risk = strncmp(policy, "allkeys-", 8) == 0 || has_time_to_live(ctx, name);
    if (!at_risk || strcmp(policy, warned) == 0) return;
    strcpy(warned, policy);
    RedisModule_Log(ctx, "warning",
                    "A filter is ready, and maxmemory-policy %s may evict it: then the "
                    "database gets every question. Give filters a server of their own, or "
                    "a policy volatile-* and no time to live.",
                    policy);
}

void vouch(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
           const struct vow *vow) {
    stats_value_went(v);
    shield_vouch(&v->standing, vow->now, vow->lease, node.era);
    stats_value_came(v);
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING)
        node_saw_vouching(&v->standing);
    else
        warn_of_eviction(ctx, name);
}
