/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals.h - the ready filters that a file brings, for a line in the log: how many they
 * are, when they were vouched for, and what the first of them are called.
 *
 * A file may bring a filter and take it away again: an AOF does. So a name goes with its
 * filter. On Redis 6.0, which doesn't tell of that, no names are given. */
#ifndef BULWARK_ARRIVALS_H
#define BULWARK_ARRIVALS_H

#include "core/filter.h"
#include "server.h"

/* A file is about to be loaded. */
void arrivals_begin(void);

/* It brought this filter, or vouched for it. name may be NULL. */
void arrivals_saw(const RedisModuleString *name, const struct filter *f);

/* The key of that filter is taken away, or the filter itself; all keys are. */
void arrivals_gone(const struct filter *f);
void arrivals_flushed(void);

/* The file has been loaded: the line, if it brought any. */
void arrivals_tell(RedisModuleCtx *ctx);

#endif
