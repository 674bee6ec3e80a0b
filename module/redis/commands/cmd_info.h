/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_info.h - BF.INFO, in two files: the numbers that RedisBloom has, and the others. */
#ifndef BULWARK_CMD_INFO_H
#define BULWARK_CMD_INFO_H

#include "core/filter.h"
#include "server.h"

#define INFO_FIELDS 5

/* RedisBloom's five fields, names and numbers. */
void cmd_info_fields(RedisModuleCtx *ctx, const struct filter *f);

/* BF.INFO key FULL */
void cmd_info_full(RedisModuleCtx *ctx, struct filter *f);

#endif
