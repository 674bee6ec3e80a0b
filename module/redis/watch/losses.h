/* SPDX-License-Identifier: BSD-3-Clause */
/* losses.h - ready filters that are no more, and what took them: for INFO and the log.
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
 * of its own. On Redis 6.0, which doesn't tell of unlinking, nothing is counted.
 *
 * The log gets a line a second at most, with the name of the first that was lost. When a
 * filter is flushed nobody says what its key is called, so a ready filter has its name with
 * it: where it was vouched for, or loaded, or its key unlinked. After a RENAME that is the
 * old name, until one of these comes again. */
#ifndef BULWARK_LOSSES_H
#define BULWARK_LOSSES_H

#include "core/filter.h"
#include "server.h"

struct losses {
    uint64_t evicted, expired, deleted, flushed;
};

/* A filter has come into this process. name may be NULL. */
void losses_came(const RedisModuleString *name, struct filter *f);

/* It was vouched for. */
void losses_named(const RedisModuleString *name, struct filter *f);

/* For the type's callbacks. The second is called on any thread. */
void losses_unlinked(RedisModuleString *name, struct filter *f);
void losses_freed(struct filter *f);

/* Once a second: the line for the log, if there is anything to tell. */
void losses_tell(RedisModuleCtx *ctx);

/* The loading of a data set begins or ends. */
void losses_loading(bool begins);

/* Whether this server has a master. */
void losses_follow(bool replica);

/* Takes no lock and no memory. */
struct losses losses_so_far(void);

int losses_register(RedisModuleCtx *ctx);

#endif
