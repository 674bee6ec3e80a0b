/* SPDX-License-Identifier: BSD-3-Clause */
/* beat.h - how a replica learns that it has caught up.
 *
 * A link that is up doesn't tell what has come through it. A replica that starts from an
 * older file is connected seconds before it has everything again that it once acknowledged.
 * And a replica whose master is itself a replica is not counted by WAIT. So once a second,
 * while it has filters that are loading or ready, a master says who is following it (once
 * in four seconds while nothing else is written, unless bf-max-lag is set there):
 *
 *     BF.BEAT ms end [end ...]      to replicas, never to the AOF
 *
 *     ms     when it was sent, by the master's clock: Unix time
 *     end    the replica's end of a link, as the master sees it: 10.0.0.7:41234. Only
 *            links on which the replica has acknowledged something since it came up
 *
 * What a replica reads after its link has come up:
 *
 *     add  add  beat  add  add  beat  add  add  beat
 *               |               |               |
 *               |               |               it names this end: from here on the
 *               |               |               replica considers itself caught up
 *               |               it names only other replicas
 *               from the backlog: it names ends of earlier connections
 *
 * A beat that names this end was sent over this connection (but ports can come again: see
 * internals.md). Everything that was acknowledged before it was sent precedes it in the
 * stream. This needs no clock.
 *
 * While slots move to another master, no replica is named ("-"): what the other master
 * acknowledges never comes here. A replica of a replica is never named, nor is one behind a
 * proxy or an address translation. With bf-max-lag such a replica considers itself caught
 * up from the first beat on that was sent, by the master's clock, after its link came up,
 * by its own. With bf-max-lag, too, no replica considers itself caught up if the last beat
 * was sent, or received, longer ago than that. */
#ifndef BULWARK_BEAT_H
#define BULWARK_BEAT_H

#include "server.h"

/* How a replica stands with its master's beats. Only a BELIEVED replica, which considers
 * itself caught up, may deny.
 *
 *     NOT_HEARD   none has come since the link came up, or for longer than bf-max-lag
 *     NOT_NAMED   some have come, but the last one doesn't name this replica */
enum belief { BELIEVED, NOT_HEARD, NOT_NAMED };
enum belief beat_belief(void);

/* Whether, since this process loaded its data, a beat has named this replica or, with
 * bf-max-lag, counted as naming it. */
bool beat_since_loading(void);

/* To be called when a replica's link comes up or goes down, and when loading begins, from
 * any source. */
void beat_link_changed(bool up);
void beat_loading(void);

/* To be called once a second. On a master, sends a beat if there are filters that need
 * one. */
void beat_tick(RedisModuleCtx *ctx);

/* To be called when a replica has come, so that it needn't wait for the next second; and
 * from the server's cron. */
void beat_hurry(void);
void beat_cron(RedisModuleCtx *ctx);

/* To be called when slots begin to move away from this master, or no longer do. While they
 * do, and until replicas must have heard of it, beats name nobody. */
void beat_moving(bool is_moving);

/* A BF.BEAT has come: the time it was sent, and the ends that it names. */
void beat_heard(RedisModuleCtx *ctx, int64_t sent, RedisModuleString **ends, int n);

#endif
