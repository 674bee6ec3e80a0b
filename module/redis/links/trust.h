/* SPDX-License-Identifier: BSD-3-Clause */
/* trust.h - what in the server's own settings contradicts the words in bf-trust.
 *
 *     in INFO                            there is the word, and
 *     restart_without_aof                no append-only file
 *     restart_without_fsync              appendfsync is not "always", and no client has
 *                                        sent WAITAOF, or it can't be relied on here
 *     restart_without_fsync_on_rewrite   no-appendfsync-on-rewrite is "yes", and the same
 *     restart_before_rewrite             no rewrite since the last full sync
 *     failover_without_wait              on a master: min-replicas-to-write is 0, and no
 *                                        client has sent WAIT
 *     replica_unnamed                    on a replica: the master doesn't name it (beat.h)
 *
 * They are checked once a second, while bf-trust isn't empty and there are filters that are
 * loading or ready. Each goes into the log once. The check can't see what writers do: no
 * warning is no proof. */
#ifndef BULWARK_TRUST_H
#define BULWARK_TRUST_H

#include "server.h"

/* To be called once a second. */
void trust_tick(RedisModuleCtx *ctx);

/* To be called when a full sync has ended. Until the append-only file has been rewritten, a
 * restart would bring back the data from before the sync. */
void trust_synced(void);

/* Whether that rewrite is still to come although "restart" is trusted. Nothing may be
 * denied then. */
bool trust_awaits_rewrite(void);

/* Writes the current warnings, with commas between them. Takes no lock and no memory. */
#define TRUST_WARNINGS_MAX 256
void trust_warnings(char words[TRUST_WARNINGS_MAX]);

#endif
