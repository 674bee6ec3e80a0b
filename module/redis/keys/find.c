/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/find.h"

#include "commands/reply.h"
#include "keys/type.h"

/* Not in the 7.0 header. Servers that don't know it ignore it. */
#define OPEN_KEY_NOSTATS (1 << 18)

/* *other: the key holds something else. */
static struct filter *look_up(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                              bool *other) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, mode);
    bool empty = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY;
    bool ours = !empty && type_is_ours(RedisModule_ModuleTypeGetType(key));
    struct filter *f = ours ? RedisModule_ModuleTypeGetValue(key) : NULL;
    RedisModule_CloseKey(key);
    *other = !empty && !ours;
    return f;
}

static bool find(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                 struct filter **f) {
    bool other;
    *f = look_up(ctx, name, mode, &other);
    if (other) reply_error_of(ctx, name, REDISMODULE_ERRORMSG_WRONGTYPE);
    return !other;
}

bool find_uncounted(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f) {
    return find(ctx, name, REDISMODULE_READ | OPEN_KEY_NOSTATS, f);
}

struct filter *find_unseen(RedisModuleCtx *ctx, RedisModuleString *name) {
    bool other;
    return look_up(ctx, name, REDISMODULE_READ | OPEN_KEY_NOSTATS, &other);
}

bool find_to_read(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f) {
    return find(ctx, name, REDISMODULE_READ, f);
}

bool find_to_write(RedisModuleCtx *ctx, RedisModuleString *name, struct filter **f) {
    return find(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, f);
}

bool find_taken(RedisModuleCtx *ctx, RedisModuleString *name) {
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    bool exists = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    RedisModule_CloseKey(key);
    return exists;
}
