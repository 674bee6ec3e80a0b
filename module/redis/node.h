/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - what this server is and what it has been through, for shield.h.
 *
 *     event                               restarts  failovers  restores
 *     a master has loaded from its disk     + 1
 *     from a file that ends adrift                               + 1     (adrift.h)
 *     this node was promoted, and tells               + 1
 *     ... and never believed itself here    + 1       + 1
 *     the master, or the AOF, says so                 + 1                (BF.PROMOTED)
 *
 * A replica is in doubt while it can't know whether it has caught up (beat.h). One that is
 * promoted before it has believed itself once since it loaded counts as restarted. */
#ifndef BULWARK_NODE_H
#define BULWARK_NODE_H

#include "core/filter.h"
#include "server.h"

extern struct circumstances node;

int node_register(RedisModuleCtx *ctx);

enum cause node_look_closer(struct filter *f);

/* Whether "absent" may be said of what is not in the filter (NULL: there is none), or why
 * not. That a lease has ended is noted in the filter. */
static inline enum cause node_why_unknown(struct filter *f) {
    if (f && f->standing.state == STATE_PLAIN && f->live->missing == 0 && !node.bypass)
        return CAUSE_PLAIN;
    return node_look_closer(f);
}

/* Whether it is not ready, or ready and in doubt; likewise. */
bool node_doubts(struct filter *f);

/* Whether what changes nothing in the filter is sent all the same, unless it came from a
 * master. Servers from 7.2 on
 * answer WAIT and WAITAOF at once if a connection has sent nothing since the last time; but
 * an item that is there already may be on no replica yet, and in no file. */
bool node_sends_all(RedisModuleCtx *ctx, const struct filter *f);

/* Tells replicas and the AOF of a promotion, unless they have been told. Called before a
 * filter is made, grows or is vouched for, so that it comes first. */
void node_tell_promotion_now(RedisModuleCtx *ctx);
extern bool node_untold;
static inline void node_tell_promotion(RedisModuleCtx *ctx) {
    if (node_untold) node_tell_promotion_now(ctx);
}

/* The AOF says that a server has started from it although it ended adrift (adrift.h): what
 * is in it by now is in doubt. */
void node_came_from_old_file(void);

/* A filter that came from bytes. Restored: from a DUMP, not from a file or a master. */
void node_arrived(struct filter *f, bool restored);

/* The log says when those that came from the disk were vouched for. */
void node_saw_vouching(const struct standing *s);

/* Whether what is being saved is a file or a full sync, not a DUMP. */
bool node_is_saving(void);

#endif
