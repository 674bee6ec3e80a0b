/* SPDX-License-Identifier: BSD-3-Clause */
/* overfull.h - filters that have more items than they were made for. */
#ifndef BULWARK_OVERFULL_H
#define BULWARK_OVERFULL_H

#include "core/filter.h"
#include "server.h"

/* Counts items that went in over capacity, and says so in the log, once for each filter. */
void overfull_note(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
                   uint64_t items);

#endif
