/* SPDX-License-Identifier: BSD-3-Clause */
/* announce.h - tells watchers, caching clients and listeners of a change. */
#ifndef BULWARK_ANNOUNCE_H
#define BULWARK_ANNOUNCE_H

#include "server.h"

/* Tells watchers and caching clients that the key changed, and sends the keyspace
 * event. */
void announce(RedisModuleCtx *ctx, RedisModuleString *name, const char *event);

#endif
