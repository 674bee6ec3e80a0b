/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - the module's section of INFO.
 *
 * Filters may be freed on another thread, and INFO is also written while the
 * server crashes: the numbers are atomics, and reading them takes no lock and
 * no memory. */
#ifndef BULWARK_STATS_H
#define BULWARK_STATS_H

#include "core/value.h"
#include "server.h"

void stats_value_came(const struct value *v);
void stats_value_went(const struct value *v);
void stats_layer_came(const struct filter *layer);
void stats_items_came(uint64_t n);

int stats_register(RedisModuleCtx *ctx);

#endif
