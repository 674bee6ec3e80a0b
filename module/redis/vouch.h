/* SPDX-License-Identifier: BSD-3-Clause */
/* vouch.h - a filter becomes ready: by READY, by COMMIT, or from its birth on. */
#ifndef BULWARK_VOUCH_H
#define BULWARK_VOUCH_H

#include "args.h"
#include "core/value.h"
#include "server.h"

/* Tells nobody: that is the caller's. */
void vouch(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
           const struct vow *vow);

/* Warns, once for each policy, when the server may evict ready filters. */
void warn_of_eviction(RedisModuleCtx *ctx, RedisModuleString *name);

#endif
