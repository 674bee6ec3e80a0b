/* SPDX-License-Identifier: BSD-3-Clause */
/* losses.h - ready filters that are no more, and what took them: for INFO.
 *
 *     unlink (type.c)      a command, the clock or an eviction takes the key away
 *     "evicted", "expired" the server says afterwards which it was, if one of these
 *     free (type.c)        the filter goes; if it was there when the last flush began, and
 *                          wasn't unlinked since, that flushed it
 *     loading (node.c)     what was flushed in the same command, or is while it goes on,
 *                          comes back: DEBUG RELOAD
 *
 * RENAME and MOVE unlink too, but the filter lives on, so what counts is the free. A slot
 * that moves to another node may take its filters along without a word: they are not lost.
 * A replica empties itself for a full sync, and is flushed by its master: neither is a loss
 * of its own. On Redis 6.0, which doesn't tell of unlinking, nothing is counted. */
#ifndef BULWARK_LOSSES_H
#define BULWARK_LOSSES_H

#include "core/filter.h"
#include "server.h"

struct losses {
    uint64_t evicted, expired, deleted, flushed;
};

/* A filter has come into this process. */
void losses_came(struct filter *f);

/* For the type's callbacks. The second is called on any thread. */
void losses_unlinked(RedisModuleString *name, struct filter *f);
void losses_freed(const struct filter *f);

/* The loading of a data set begins or ends. */
void losses_loading(bool begins);

/* Whether this server has a master. */
void losses_follow(bool replica);

/* Takes no lock and no memory. */
struct losses losses_so_far(void);

int losses_register(RedisModuleCtx *ctx);

#endif
