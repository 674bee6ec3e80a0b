/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/change.h"

#include "keys/memory.h"
#include "keys/type.h"
#include "watch/losses.h"
#include "watch/stats.h"

void change_put(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f) {
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    RedisModule_ModuleTypeSetValue(key, type_for(f), f);
    RedisModule_CloseKey(key);
    losses_came(name, f);
    stats_filter_came(f);
}

/* Makes a filter without layers, to stand in for one that moves. This may not fail: the
 * foreign type can't hold what the filter has become. */
static struct filter *stand_in(const struct chain *like) {
    struct chain *c = RedisModule_Alloc(sizeof *c);
    struct filter *f = RedisModule_Calloc(1, sizeof *f + memory_allocator.own);
    *c = (struct chain){
        .kind = like->kind, .memory = &memory_allocator, .error = like->error};
    f->live = c;
    return f;
}

/* When a key gets a value of another type, the server frees what it held, and its time to
 * live goes too. So a stand-in is put there first. */
static void move(RedisModuleKey *key, struct filter *f) {
    bool exact = RedisModule_GetAbsExpire != NULL; /* from 6.2 on */
    mstime_t expiry = exact ? RedisModule_GetAbsExpire(key) : RedisModule_GetExpire(key);
    struct filter *other = stand_in(f->live);
    RedisModuleType *type = RedisModule_ModuleTypeGetType(key);
    stats_filter_came(other);
    RedisModule_Assert(RedisModule_ModuleTypeReplaceValue(key, type, other, NULL) ==
                       REDISMODULE_OK);
    RedisModule_ModuleTypeSetValue(key, type_for(f), f);
    if (expiry != REDISMODULE_NO_EXPIRE)
        (exact ? RedisModule_SetAbsExpire : RedisModule_SetExpire)(key, expiry);
}

void change_begin(struct filter *f) {
    stats_filter_went(f);
}

void change_end(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f) {
    stats_filter_came(f);
    if (!f->live->kind->foreign) return; /* it is always under our own type */
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_ModuleTypeGetType(key) != type_for(f)) move(key, f);
    RedisModule_CloseKey(key);
}
