/* SPDX-License-Identifier: BSD-3-Clause */
#include "keyspace.h"

#include "core/kind.h"
#include "losses.h"
#include "memory.h"
#include "node.h"
#include "replicate.h"
#include "reply.h"
#include "stats.h"
#include "type.h"

/* Not in the 7.0 header; servers that don't know it take no notice. */
#define OPEN_KEY_NOSTATS (1 << 18)

/* *other: the key holds something else. */
static struct value *look_up(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                             bool *other) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, mode);
    bool empty = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY;
    bool ours = !empty && type_is_ours(RedisModule_ModuleTypeGetType(key));
    struct value *v = ours ? RedisModule_ModuleTypeGetValue(key) : NULL;
    RedisModule_CloseKey(key);
    *other = !empty && !ours;
    return v;
}

static bool find(RedisModuleCtx *ctx, RedisModuleString *name, int mode, struct value **v) {
    bool other;
    *v = look_up(ctx, name, mode, &other);
    if (other) reply_error_of(ctx, name, REDISMODULE_ERRORMSG_WRONGTYPE);
    return !other;
}

bool find_to_guard(RedisModuleCtx *ctx, RedisModuleString *name, struct value **v) {
    return find(ctx, name, REDISMODULE_READ | OPEN_KEY_NOSTATS, v);
}

struct value *find_unseen(RedisModuleCtx *ctx, RedisModuleString *name) {
    bool other;
    return look_up(ctx, name, REDISMODULE_READ | OPEN_KEY_NOSTATS, &other);
}

bool find_to_read(RedisModuleCtx *ctx, RedisModuleString *name, struct value **v) {
    return find(ctx, name, REDISMODULE_READ, v);
}

bool find_to_write(RedisModuleCtx *ctx, RedisModuleString *name, struct value **v) {
    return find(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, v);
}

bool key_exists(RedisModuleCtx *ctx, RedisModuleString *name) {
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    bool exists = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    RedisModule_CloseKey(key);
    return exists;
}

void put(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v) {
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    RedisModule_ModuleTypeSetValue(key, type_for(v), v);
    RedisModule_CloseKey(key);
    losses_came(v);
    stats_value_came(v);
}

/* A filter without layers, to stand in for one that moves. It may not fail: a foreign type
 * has no room for what the filter has become. */
static struct value *stand_in(const struct chain *like) {
    struct chain *c = RedisModule_Alloc(sizeof *c);
    struct value *v = RedisModule_Alloc(sizeof *v);
    *c = (struct chain){
        .kind = like->kind, .memory = &server_allocator, .error = like->error};
    *v = (struct value){.live = c};
    return v;
}

/* The server frees what a key held when it gets a value of another type, and the time to
 * live goes with it. So something else is put there first. */
static void move(RedisModuleKey *key, struct value *v) {
    bool exact = RedisModule_GetAbsExpire != NULL; /* from 6.2 on */
    mstime_t expiry = exact ? RedisModule_GetAbsExpire(key) : RedisModule_GetExpire(key);
    struct value *other = stand_in(v->live);
    RedisModuleType *type = RedisModule_ModuleTypeGetType(key);
    stats_value_came(other);
    RedisModule_Assert(RedisModule_ModuleTypeReplaceValue(key, type, other, NULL) ==
                       REDISMODULE_OK);
    RedisModule_ModuleTypeSetValue(key, type_for(v), v);
    if (expiry != REDISMODULE_NO_EXPIRE)
        (exact ? RedisModule_SetAbsExpire : RedisModule_SetExpire)(key, expiry);
}

void begin_change(struct value *v) {
    stats_value_went(v);
}

void end_change(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v) {
    stats_value_came(v);
    if (!v->live->kind->foreign) return; /* it is under our own type, always */
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_ModuleTypeGetType(key) != type_for(v)) move(key, v);
    RedisModule_CloseKey(key);
}

/* The next layer, if it can be sized and there is room for it. */
static enum bloom_status add_layer(RedisModuleCtx *ctx, struct chain *c,
                                   uint64_t capacity) {
    struct filter plan;
    enum bloom_status status = chain_plan(c, capacity, &plan);
    if (status < 0) return status;
    if (!server_is_followed(ctx))
        status = memory_room(ctx, chain_bytes(c) + plan.bytes, plan.bytes);
    if (status >= 0) status = chain_grow(c, &plan);
    memory_must_follow(ctx, status);
    return status;
}

/* Each kind has what is random about it, and nothing else. */
static struct chain_spec spec_of(const struct wish *wish) {
    struct chain_spec spec = {
        .kind = wish->kind,
        .error = wish->error,
        .expansion = (uint32_t)wish->expansion,
    };
    if (wish->kind == &kind_redisbloom) {
        spec.parameter = (double)wish->growth;
    } else if (wish->kind == &kind_valkeybloom) {
        struct secret seed[2] = {wish->seed[0], wish->seed[1]};
        if (!wish->has_seed) RedisModule_GetRandomBytes((unsigned char *)seed, sizeof seed);
        spec.secret = seed[0];
        spec.secret2 = seed[1];
        spec.parameter = wish->tightening;
    } else {
        RedisModule_GetRandomBytes((unsigned char *)&spec.secret, sizeof spec.secret);
        RedisModule_GetRandomBytes((unsigned char *)&spec.identity, sizeof spec.identity);
    }
    wish->kind->complete(&spec);
    return spec;
}

enum bloom_status make_chain(RedisModuleCtx *ctx, const struct wish *wish,
                             struct chain **c) {
    struct chain_spec spec = spec_of(wish);
    enum bloom_status status = chain_new(&spec, &server_allocator, c);
    if (status < 0) return status;
    status = add_layer(ctx, *c, (uint64_t)wish->capacity);
    if (status >= 0) return status;
    chain_free(*c);
    *c = NULL;
    return status;
}

/* On a refusal *v is NULL and nothing is left allocated. */
static enum bloom_status make(RedisModuleCtx *ctx, const struct wish *wish,
                              struct value **v) {
    struct chain *c;
    *v = NULL;
    enum bloom_status status = make_chain(ctx, wish, &c);
    if (status < 0) return status;
    *v = value_new(c);
    if (*v) {
        (*v)->standing.state = (uint8_t)wish->state;
        return BLOOM_OK;
    }
    chain_free(c);
    memory_must_follow(ctx, BLOOM_NO_MEMORY);
    return BLOOM_NO_MEMORY;
}

enum bloom_status create(RedisModuleCtx *ctx, RedisModuleString *name,
                         const struct wish *wish, struct value **v) {
    enum bloom_status status = make(ctx, wish, v);
    if (status < 0) return status;
    struct standing *s = &(*v)->standing;
    struct moment now = node_now();
    if (s->state == STATE_READY) shield_vouch(s, now.wall, 0, now, node.era);
    put(ctx, name, *v);
    replicate_creation(ctx, name, *v);
    return BLOOM_OK;
}

enum bloom_status grow(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
                       struct chain *c) {
    begin_change(v);
    enum bloom_status status = add_layer(ctx, c, 0);
    if (status >= 0) {
        count(&counters.growths, 1);
        replicate_growth(ctx, name, v, c);
    }
    end_change(ctx, name, v);
    return status;
}
