/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - where the server comes in: RedisModule_OnLoad, and nothing else. */
#include "commands.h"
#include "config.h"
#include "losses.h"
#include "memory.h"
#include "node.h"
#include "server.h"
#include "stats.h"
#include "type.h"
#include "version.h"

/* What clients look for before they use BF.*: RedisBloom's name, and the version
 * of its command set that this one matches. Bulwark's own is in version.h. */
#define MODULE_NAME    "bf"
#define MODULE_VERSION 80600

/* Not in the 7.0 header: asked for by Valkey 9, which else refuses to move slots. It
 * writes what it moves with aof_rewrite. */
#define OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION (1 << 5)

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv,
                                                              int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (RedisModule_Init(ctx, MODULE_NAME, MODULE_VERSION, REDISMODULE_APIVER_1) !=
        REDISMODULE_OK) {
        RedisModule_Log(ctx, "warning",
                        "Bulwark can't be loaded: there is a module \"" MODULE_NAME
                        "\" already. Is it RedisBloom, valkey-bloom or Bulwark itself?");
        return REDISMODULE_ERR;
    }
    server_look_around(ctx);
    memory_start();

    int options = REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                  REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED;
    if (server.is_valkey) options |= OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION;
    RedisModule_SetModuleOptions(ctx, options);

    if (config_load(ctx, argv, argc) != REDISMODULE_OK ||
        type_register(ctx) != REDISMODULE_OK || commands_register(ctx) != REDISMODULE_OK ||
        node_register(ctx) != REDISMODULE_OK || losses_register(ctx) != REDISMODULE_OK ||
        stats_register(ctx) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    RedisModule_Log(ctx, "notice", "Bulwark %s is loaded.", BULWARK_VERSION);
    return REDISMODULE_OK;
}
