/* SPDX-License-Identifier: BSD-3-Clause */
/* losses.h - ready filters that are no more, and what took them: for INFO.
 *
 *     unlink (type.c)      a command, the clock or an eviction takes the key away
 *     "evicted", "expired" the server says afterwards which it was, if one of these
 *     free (type.c)        the filter goes; without an unlink before, it was flushed
 *
 * RENAME and MOVE unlink too, but the filter lives on, so what counts is the free, and what
 * is found under a name again is linked. A replica counts nothing: it loses what its master
 * loses, and all at once with a full sync. Nor does Redis 6.0, which doesn't tell of
 * unlinking. */
#ifndef BULWARK_LOSSES_H
#define BULWARK_LOSSES_H

#include "core/value.h"
#include "server.h"

struct losses {
    uint64_t evicted, expired, deleted, flushed;
};

/* For the type's callbacks. The second is called on any thread. */
void losses_unlinked(RedisModuleString *name, struct value *v);
void losses_freed(const struct value *v);

/* Takes no lock and no memory. */
struct losses losses_so_far(void);

int losses_register(RedisModuleCtx *ctx);

#endif
