/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#define CATEGORY "bloom"

/* The categories are given where the server lets a module do so (not in 6.0 and 7.0);
 * elsewhere they follow from the flags alone. Where category and flag differ, there is a
 * reason:
 *
 *     fast        BF.RESERVE has the category and not the flag, BF.SCANDUMP the flag and
 *                 not the category, as in RedisBloom: rules that were written for
 *                 RedisBloom keep their meaning.
 *     dangerous   Commands other than adds that decide which items are denied: READY,
 *                 LOADING, REBUILD, LOADCHUNK, LOAD, IMPORT, MERGE, and commands that
 *                 only a server sends. Also SCANDUMP, which gives away the secret. Not
 *                 RESERVE, which has RedisBloom's categories, although RESERVE ... READY
 *                 makes an empty filter that denies everything: it should be kept from
 *                 users who may not vouch (operations.md).
 *     deny-oom    Commands that bring a filter of any size. Adds don't have it, though they
 *                 do in RedisBloom: most take no memory, and a row whose add was refused
 *                 is denied. Growth, MERGE and REBUILD START check for room themselves
 *                 (memory.h).
 *     getkeys-api BF.RESERVE says itself which keys it has. The key specs of command_docs.c
 *                 tell of LIKE, too, but in a cluster not every server looks at them. */
static const struct command {
    const char *name;
    RedisModuleCmdFunc handler;
    const char *flags;
    const char *categories;
    int last_key; /* from 1 on; 0: no keys; -1: all arguments are keys */
} commands[] = {
    {"bf.reserve", cmd_reserve, "write deny-oom getkeys-api", "write fast bloom", 1},
    {"bf.add", cmd_add, "write", "write bloom", 1},
    {"bf.madd", cmd_madd, "write", "write bloom", 1},
    {"bf.insert", cmd_insert, "write", "write bloom", 1},
    {"bf.exists", cmd_exists, "readonly fast", "read fast bloom", 1},
    {"bf.mexists", cmd_mexists, "readonly fast", "read fast bloom", 1},
    {"bf.check", cmd_check, "readonly fast", "read fast bloom", 1},
    {"bf.mcheck", cmd_mcheck, "readonly fast", "read fast bloom", 1},
    {"bf.guard", cmd_guard, "readonly fast", "read fast bloom", 2},
    {"bf.ready", cmd_ready, "write", "write dangerous bloom", 1},
    {"bf.loading", cmd_loading, "write", "write dangerous bloom", 1},
    {"bf.rebuild", cmd_rebuild, "write", "write dangerous bloom", 1},
    {"bf.promoted", cmd_promoted, "write", "write dangerous bloom", 0},
    {"bf.adrift", cmd_adrift, "write", "write dangerous bloom", 0},
    {"bf.beat", cmd_beat, "write", "write dangerous bloom", 0},
    {"bf.card", cmd_card, "readonly fast", "read fast bloom", 1},
    {"bf.info", cmd_info, "readonly fast", "read fast bloom", 1},
    {"bf.debug", cmd_debug, "readonly fast", "read fast bloom", 1},
    {"bf.scandump", cmd_scandump, "readonly fast", "read dangerous bloom", 1},
    {"bf.loadchunk", cmd_loadchunk, "write deny-oom", "write dangerous bloom", 1},
    {"bf.load", cmd_load, "write deny-oom", "write dangerous bloom", 1},
    {"bf.import", cmd_import, "write deny-oom", "write dangerous bloom", 1},
    {"bf.export", cmd_export, "readonly", "read bloom", 1},
    {"bf.covers", cmd_covers, "readonly", "read bloom", 2},
    {"bf.merge", cmd_merge, "write", "write dangerous bloom", -1},
};

static int register_command(RedisModuleCtx *ctx, const struct command *c, bool categories) {
    int first = c->last_key != 0;
    if (RedisModule_CreateCommand(ctx, c->name, c->handler, c->flags, first, c->last_key,
                                  first) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    if (!categories) return REDISMODULE_OK;
    return server.set_acl_categories(RedisModule_GetCommand(ctx, c->name), c->categories);
}

int commands_register(RedisModuleCtx *ctx) {
    bool categories = server.add_acl_category && server.set_acl_categories &&
                      server.add_acl_category(ctx, CATEGORY) == REDISMODULE_OK;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (register_command(ctx, &commands[i], categories) != REDISMODULE_OK)
            return REDISMODULE_ERR;
    return command_docs_register(ctx);
}
