/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/announce.h"

void announce(RedisModuleCtx *ctx, RedisModuleString *name, const char *event) {
    RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_NotifyKeyspaceEvent(ctx, server.notification_class, event, name);
}
