/* SPDX-License-Identifier: BSD-3-Clause */
/* eviction.h - warns that the server may evict a ready filter. */
#ifndef BULWARK_EVICTION_H
#define BULWARK_EVICTION_H

#include "server.h"

/* Warns, once for each policy, when the server may evict the ready filter of that name. */
void eviction_warn(RedisModuleCtx *ctx, RedisModuleString *name);

#endif
