/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster.h - nodes of a cluster. */

#ifndef CLUSTER_H
#define CLUSTER_H

#include "server.h"

#include <hiredis/hiredis.h>

/* What makes a server a node. */
#define CLUSTER "cluster-enabled yes\ncluster-node-timeout 5000"

/* The first has all slots; the second has none and is a master, too. */
void join_cluster(const struct server *first, const struct server *second);

/* A node's identity. */
const char *id_of(redisContext *c);

long long slot_of(redisContext *c, const char *key);

/* Becomes a replica of that node, and has caught up. */
void replicate_in_cluster(const struct server *replica, const struct server *master);

#endif
