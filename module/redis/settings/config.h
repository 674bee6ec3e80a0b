/* SPDX-License-Identifier: BSD-3-Clause */
/* config.h - how the settings are set: by arguments when the module is loaded, and at run
 * time with CONFIG where the server supports module settings (from 7.0 on). CONFIG's
 * default is then the argument. */
#ifndef BULWARK_CONFIG_H
#define BULWARK_CONFIG_H

#include "server.h"

/* Reads the arguments and registers the settings. REDISMODULE_ERR, and a line in the log,
 * if an argument is wrong. */
int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* The first half of config_load(): module arguments, in config_arguments.c. */
int config_read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

#endif
