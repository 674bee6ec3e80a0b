/* SPDX-License-Identifier: BSD-3-Clause */
#include "vouch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "keyspace.h"
#include "node.h"

/* Asking for the policy costs more than vouching does, and leases are renewed often. */
#define LOOK_EVERY_MS 10000

static bool has_time_to_live(RedisModuleCtx *ctx, RedisModuleString *name) {
    int mode = REDISMODULE_READ | REDISMODULE_WRITE | REDISMODULE_OPEN_KEY_NOTOUCH;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, mode);
    bool has = RedisModule_GetExpire(key) != REDISMODULE_NO_EXPIRE;
    RedisModule_CloseKey(key);
    return has;
}

static void read_policy(RedisModuleCtx *ctx, char policy[32]) {
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    const char *text = RedisModule_ServerInfoGetFieldC(info, "maxmemory_policy");
    snprintf(policy, 32, "%s", text ? text : "");
    RedisModule_FreeServerInfo(ctx, info);
}

void warn_of_eviction(RedisModuleCtx *ctx, RedisModuleString *name) {
    static char warned[32]; /* the policy that the last warning was about */
    static int64_t looked;
    char policy[sizeof warned];
    int64_t now = RedisModule_Milliseconds();
    if (!(RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_EVICT)) return;
    if (looked && now - looked < LOOK_EVERY_MS && warned[0]) return;
    looked = now;
    read_policy(ctx, policy);
    bool at_risk = strncmp(policy, "allkeys-", 8) == 0 || has_time_to_live(ctx, name);
    if (!at_risk || strcmp(policy, warned) == 0) return;
    strcpy(warned, policy);
    char shown[SHOWN_MAX + 1];
    RedisModule_Log(
        ctx, "warning",
        "The filter %s is ready, and maxmemory-policy %s may evict it: then the "
        "database gets every question. Give filters a server of their own, or "
        "a policy volatile-* and no time to live.",
        server_printable(name, shown), policy);
}

void vouch(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
           const struct vow *vow) {
    shield_vouch(&v->standing, vow->now, vow->lease, node_now(), node.era);
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING)
        node_saw_vouching(&v->standing);
    else if (!server_is_followed(ctx))
        warn_of_eviction(ctx, name);
}

void name_filter(const struct value *v, char name[FILTER_NAME_MAX]) {
    snprintf(name, FILTER_NAME_MAX, "%016" PRIx64 ":%" PRIu64, v->live->identity,
             chain_items(v->live));
}

bool is_meant(const struct value *v, const struct vow *vow) {
    char name[FILTER_NAME_MAX];
    name_filter(v, name);
    return !vow->of || strcmp(RedisModule_StringPtrLen(vow->of, NULL), name) == 0;
}

bool raise_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v) {
    begin_change(v);
    bool changed = shield_alarm(&v->standing, v->next);
    if (changed || node_sends_all(ctx, v))
        RedisModule_Replicate(ctx, "BF.LOADING", "s", name);
    end_change(ctx, name, v);
    return changed;
}
