/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - what this server is and what it has been through.
 *
 *     event                                    restarts  failovers  restores
 *     a master has loaded from its disk          + 1
 *     from a file that ends adrift                                    + 1    (adrift.h)
 *     the AOF says that a server did that                             + 1    (BF.ADRIFT 2)
 *     this node was promoted, and tells replicas           + 1
 *     ... and never knew that it had caught up   + 1       + 1
 *     the master, or the AOF, says so                      + 1               (BF.PROMOTED)
 *
 * A replica is in doubt while it can't know whether it has caught up (beat.h). A replica
 * that is promoted, and hasn't considered itself caught up once since it loaded, counts as
 * restarted. */
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

/* Everything that shield.h has to know of this server, except the link to its master. */
static inline struct circumstances node_circumstances(void) {
    return (struct circumstances){.era = node.era,
                                  .bypass = settings.bypass,
                                  .replica = node.replica,
                                  .trust = settings.trust};
}

int node_register(RedisModuleCtx *ctx);

/* Whether a replica's link to its master is up. */
bool node_link_is_up(void);

/* To be called when the master or the AOF says that a node was promoted there
 * (BF.PROMOTED). */
void node_promoted_upstream(void);

/* To be called when the AOF says that a server has started from it although it ended adrift
 * (adrift.h). The filters loaded so far are then in doubt. */
void node_came_from_old_file(void);

/* To be called for a filter that was read from bytes. restored: it came from a DUMP, not
 * from a file or a master. name may be NULL. */
void node_arrived(const RedisModuleString *name, struct filter *f, bool restored);

/* Whether a file or a full sync is being saved, not a DUMP. */
bool node_is_saving(void);

#endif
