/* SPDX-License-Identifier: BSD-3-Clause */
/* losses.h - ready filters that were lost, and how: for INFO and the log.
 *
 *     unlink (type.c)      a command, the clock or an eviction takes the key away
 *     "evicted", "expired" the server says right afterwards if it was one of these
 *     free (type.c)        soon, or later on another thread: it was deleted, if nothing
 *                          else was said. If nobody had taken the key away since the last
 *                          flush began, and the filter was there then, the flush took it
 *     loading (node.c)     what a file takes away was lost before it was loaded; filters
 *                          flushed in the same command, or during the loading, come back:
 *                          DEBUG RELOAD
 *
 * RENAME and MOVE unlink too, but the filter lives on. A slot that moves to another node
 * may take its filters along without an event: they are not lost. A replica empties itself
 * for a full sync, and is flushed by its master: neither is a loss of its own. Redis 6.0
 * doesn't report unlinking, so nothing is counted there. Where it would move clients
 * (server.h), nobody listens for what expires: it counts as deleted.
 *
 * Each loss is counted once, when the filter is freed. How is a guess, and then whether:
 *
 *     a value expires under the name that a filter     it has expired
 *     had, before the server comes round to its
 *     timers
 *     a flush begins before the filter that was        it was flushed
 *     deleted is freed by another thread
 *     a loading does                                   no loss
 *     a slot moves away with a filter that was         it was deleted
 *     renamed before
 *
 * The log gets at most one line a second, with the name of the first filter that was lost.
 * A flush doesn't tell the names of keys. So a ready filter keeps its name: from when it
 * was vouched for or loaded. After a RENAME it is the old name until one of these happens
 * again. */
#ifndef BULWARK_LOSSES_H
#define BULWARK_LOSSES_H

#include "core/filter.h"
#include "server.h"

struct losses {
    uint64_t evicted, expired, deleted, flushed;
};

/* To be called when a filter has come into this process. name may be NULL. */
void losses_came(const RedisModuleString *name, struct filter *f);

/* To be called when it was vouched for. */
void losses_named(const RedisModuleString *name, struct filter *f);

/* For the type's callbacks. The second is called on any thread. */
void losses_unlinked(const RedisModuleString *name, struct filter *f);
void losses_freed(struct filter *f);

/* To be called once a second: writes the line for the log, if there were losses. */
void losses_tell(RedisModuleCtx *ctx);

/* To be called when the loading of a data set begins or ends. */
void losses_loading(bool begins);

/* To be called when this server has become a replica, or a master. */
void losses_set_replica(bool replica);

/* Takes no lock and no memory. What was deleted is counted with the next timers, or when
 * another thread has freed it. */
struct losses losses_so_far(void);

int losses_register(RedisModuleCtx *ctx);

#endif
