/* SPDX-License-Identifier: BSD-3-Clause */
/* trust.h - what the server's own settings say against the words in bf-trust.
 *
 *     word       a warning, if                                              in INFO
 *     restart    there is no append-only file                               restart_without_aof
 *                appendfsync is not "always", and nobody sends WAITAOF      restart_without_fsync
 *                no-appendfsync-on-rewrite is "yes", and likewise           restart_without_fsync_on_rewrite
 *                the file has not been rewritten since the last full sync   restart_before_rewrite
 *     failover   min-replicas-to-write is 0, and nobody sends WAIT          failover_without_wait
 *     replica    the master doesn't name this node (beat.h)                 replica_unnamed
 *
 * Looked at once a second, while there are filters that are loading or ready. Each goes into
 * the log once. What writers do can't be seen: no warning is no proof. */
#ifndef BULWARK_TRUST_H
#define BULWARK_TRUST_H

#include "server.h"

/* To be called once a second. */
void trust_tick(RedisModuleCtx *ctx);

/* A full sync has ended: the append-only file, if there is one, is of before, and what is
 * written from now on counts only when it has been rewritten. */
void trust_synced(RedisModuleCtx *ctx);

/* Whether that is so, and "restart" is trusted: then it can't be. */
bool trust_awaits_rewrite(void);

/* The warnings that hold, with commas between them. Takes no lock and no memory. */
#define TRUST_WARNINGS_MAX 256
void trust_warnings(char words[TRUST_WARNINGS_MAX]);

#endif
