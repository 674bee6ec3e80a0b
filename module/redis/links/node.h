/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - what this server is and what it has been through.
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

#include "settings/settings.h"
#include "core/filter.h"
#include "server.h"

struct node {
    struct era era;
    bool replica; /* another node is the master */
};
extern struct node node;

/* All that shield.h has to know of this server, but for the link to its master. */
static inline struct circumstances node_circumstances(void) {
    return (struct circumstances){.era = node.era,
                                  .bypass = settings.bypass,
                                  .replica = node.replica,
                                  .trust = settings.trust};
}

int node_register(RedisModuleCtx *ctx);

/* A replica's link to its master. */
bool node_link_is_up(void);

/* The master or the AOF says that a node was promoted there (BF.PROMOTED). */
void node_promoted_upstream(void);

/* The AOF says that a server has started from it although it ended adrift (adrift.h): what
 * is in it by now is in doubt. */
void node_came_from_old_file(void);

/* A filter that came from bytes. Restored: from a DUMP, not from a file or a master. name
 * may be NULL. */
void node_arrived(const RedisModuleString *name, struct filter *f, bool restored);

/* Whether what is being saved is a file or a full sync, not a DUMP. */
bool node_is_saving(void);

#endif
