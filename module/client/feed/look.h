/* SPDX-License-Identifier: BSD-3-Clause */
/* look.h - whether what is found in a server is what this feed has kept.
 *
 *     no state, or another feed's, or of another database or timeline        not ours
 *     the table, or how it is published, was changed since                   not ours
 *     no filter, plain, of another generation, or older than the slot goes   not ours
 *     loading: somebody has raised the alarm                                 not ours
 *     the feed was filling it                                                ours
 *     ready, in doubt after a restart or a failover, or its lease is over    ours
 *     ready, in doubt since it was restored, in a cluster, and nothing is
 *     missing: its slot was moved                                            ours
 *
 * What isn't ours is filled anew. */
#ifndef FEED_LOOK_H
#define FEED_LOOK_H

#include <hiredis/hiredis.h>

#include "sink.h"

/* `state` is what GET says, `info` what BF.INFO FULL says. True: all up to out->lsn is in
 * the filter, and what comes after it can be had from the slot. */
bool look_is_ours(const struct sink *s, const char *state, const redisReply *info,
                  struct state *out, struct failure *f);

bool look_is_empty(const redisReply *info);

/* How many items there is room for; 0: it has grown, and errs more often than it should. */
uint64_t look_room(const redisReply *info);

#endif
