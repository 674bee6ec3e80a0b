/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.h - every command: one table in commands.c.
 *
 * The handlers are in cmd_*.c, one file a family. Only servers send BF.PROMOTED, BF.BEAT
 * and BF.ADRIFT. Most handlers go through the same steps in the same order: arity, options,
 * look up, act, tell replicas, tell watchers and listeners, reply (which may come before
 * the last). BF.REBUILD looks the filter up first, because the options of START default to
 * its values. BF.INFO does too: that there is no filter comes before a wrong option. */
#ifndef BULWARK_COMMANDS_H
#define BULWARK_COMMANDS_H

#include "server.h"

int commands_register(RedisModuleCtx *ctx);

/* Gives COMMAND DOCS and COMMAND INFO their texts: one table in command_docs.c. */
int command_docs_register(RedisModuleCtx *ctx);

int cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_mcheck(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_guard(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_ready(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_loading(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_rebuild(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_promoted(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_adrift(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_beat(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_import(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_export(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_covers(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cmd_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

#endif
