/* SPDX-License-Identifier: BSD-3-Clause */
/* beat.h - how a replica learns that it has caught up.
 *
 * A link that is up tells nothing of what has come through it: a replica that starts from
 * an older file is connected seconds before it has again what it once acknowledged, and
 * one whose master is a replica itself is no replica that WAIT counts. So a master says
 * once a second, while it has filters that are loading or ready, who is following it
 * (once in four seconds while nothing else is written, unless bf-max-lag is set there):
 *
 *     BF.BEAT ms end [end ...]      to replicas, never to the AOF
 *
 *     ms     when it was sent, by the master's clock: Unix time
 *     end    the replica's end of a link, as the master sees it: 10.0.0.7:41234. Only of
 *            links on which the replica has acknowledged something since it came
 *
 *     master   add add | RDB, or place in the backlog        replica's link comes up
 *              add add | beat (others) add add ... ACK  beat (it is named)
 *                                                         ^ here it believes itself
 *
 * A beat in the backlog, or one meant for another, names another connection's end (but
 * ports can come again: see internals.md). One that names this end was sent while the
 * connection stood, and all that was acknowledged before stands before it in the stream. No
 * clock is needed for that.
 *
 * While slots move to another master nobody is named ("-"): what that one acknowledges
 * never comes here. A replica of a replica is never named, nor is one behind a proxy or
 * an address translation. With bf-max-lag such a replica believes itself from the first
 * beat on that was sent after its link came up, by both clocks. And with it no replica
 * believes itself when the last beat was sent longer ago than that, or none has come for
 * so long. */
#ifndef BULWARK_BEAT_H
#define BULWARK_BEAT_H

#include "server.h"

/* How a replica stands with its master's beats. Only BELIEVED may deny.
 *
 *     NOT_HEARD   none has come since the link came up, or for longer than bf-max-lag
 *     NOT_NAMED   some have come, but the last doesn't name it */
enum belief { BELIEVED, NOT_HEARD, NOT_NAMED };
enum belief beat_belief(void);

/* Whether there was a beat to be believed since this process has loaded data. */
bool beat_since_loading(void);

/* What happens to a replica: its link, and loading from wherever. */
void beat_link_changed(bool up);
void beat_loading(void);

/* To be called once a second. A master sends a beat if there is something to believe. */
void beat_tick(RedisModuleCtx *ctx);

/* A replica has come: it needn't wait for the next second. */
void beat_hurry(RedisModuleCtx *ctx);

/* Slots are moving away from this master, or no longer: while they are, and until replicas
 * must have heard of it, beats name nobody. */
void beat_moving(RedisModuleCtx *ctx, bool moving);

#endif
