/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - RedisModule_OnLoad, which the server calls, and nothing else.
 *
 *     server.h        the module API, and what the server at hand can do
 *     clock.h         what time it is
 *     text.h          texts that clients send
 *
 *     commands/       what clients send, and what they get
 *       commands      the table: name, handler, flags, categories
 *       cmd_*         the handlers, a file for each family; rebuild_*: its steps
 *       args          how a command line is read
 *       ask           every question about items
 *       adding        adds items, makes room for them, and tells replicas
 *       items         arguments as the core's items
 *       vouch         a filter becomes ready, or stops being ready
 *       reply         the words of every refusal
 *       advice        what to reserve instead
 *       command_docs  what COMMAND DOCS says
 *     keys/           what is under a key
 *       find          from a key's name to its filter
 *       make          filters, chains and layers that commands make
 *       change        around every change of a filter
 *       diary         what this process notes about a filter
 *       announce      what watchers, caching clients and listeners are told
 *       memory        large arrays, and limits
 *       type, type_*  RDB, AOF, DUMP, COPY, DEBUG DIGEST
 *     links/          this server among others
 *       node          what it is and what it has been through
 *       answer        whether "absent" may be said, now
 *       replicate     the one sender: what replicas and the AOF are told
 *       upstream      what came from a master or an AOF, also if it can't be applied
 *       beat          how a replica learns that it has caught up
 *       adrift        an append-only file that stops before its time
 *       trust         what in the server's settings contradicts bf-trust
 *     settings/       what can be set
 *       settings      the values, and how each is read; settings_table: their names
 *       config        by CONFIG; config_arguments: by the module's arguments
 *     watch/          what is seen, counted and logged
 *       stats         INFO
 *       losses        ready filters that were lost, and how
 *       arrivals      ready filters that a file brought
 *       eviction      a warning that the server may evict a ready filter */
#include "commands/commands.h"
#include "keys/memory.h"
#include "keys/type.h"
#include "links/node.h"
#include "server.h"
#include "settings/config.h"
#include "version.h"
#include "watch/losses.h"
#include "watch/stats.h"

/* Clients look for these before they use BF.*: RedisBloom's name, and the version of its
 * command set that this one matches. Bulwark's own version is in version.h. */
#define MODULE_NAME    "bf"
#define MODULE_VERSION 80600

/* Not in the 7.0 header. Without this option Valkey 9 refuses to move slots. It writes what
 * it moves with aof_rewrite. */
#define OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION (1 << 5)

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv,
                                                              int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (RedisModule_Init(ctx, MODULE_NAME, MODULE_VERSION, REDISMODULE_APIVER_1) !=
        REDISMODULE_OK) {
        RedisModule_Log(ctx, "warning",
                        "Bulwark can't be loaded: a module \"" MODULE_NAME
                        "\" is already loaded. Is it RedisBloom, valkey-bloom or Bulwark "
                        "itself?");
        return REDISMODULE_ERR;
    }
    server_look_around(ctx);
    memory_start();

    int options = REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                  REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED;
    if (!server.ends_if_cut_off) options |= REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD;
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
