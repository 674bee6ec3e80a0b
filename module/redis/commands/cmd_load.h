/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_load.h - the data of valkey-bloom's BF.LOAD, which may also arrive as an item. */
#ifndef BULWARK_CMD_LOAD_H
#define BULWARK_CMD_LOAD_H

#include "keys/make.h"

/* Makes a filter from the data of valkey-bloom's BF.LOAD, and tells replicas and listeners.
 * On a refusal nothing has changed and nothing has been replied. If there is a wish, the
 * filter must have the wish's seed, capacity and expansion. why may be NULL. */
enum bloom_status cmd_load_data(RedisModuleCtx *ctx, RedisModuleString *name,
                                RedisModuleString *data, const struct wish *wish,
                                const char **why);

#endif
