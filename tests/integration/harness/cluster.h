/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster.h - nodes of a cluster, and whole clusters.
 *
 *     struct cluster *all = cluster_start(.masters = 3, .replicas = 3);
 *     redisContext *c = cluster_owner(all, "k");      whoever has the key by now
 *     server_kill(all->node[0]);                      its replica is node[3]
 */

#ifndef CLUSTER_H
#define CLUSTER_H

#include "proxy.h"
#include "server.h"

#include <hiredis/hiredis.h>
#include <stddef.h>

/* What makes a server a node. */
#define CLUSTER "cluster-enabled yes\ncluster-node-timeout 5000"

/* The first has all slots; the second has none and is a master, too. */
void join_cluster(const struct server *first, const struct server *second);

/* A node's identity. */
const char *id_of(redisContext *c);

long long slot_of(redisContext *c, const char *key);

/* A slot, by what Valkey 9.0 and Redis 8.4 have for it, all at once; whether this server is
 * one of them. */
bool hands_slots_over(void);
void hand_slot_over(redisContext *from, redisContext *to, long long slot);

/* Becomes a replica of that node, and has caught up. */
void replicate_in_cluster(const struct server *replica, const struct server *master);

/* -------------------------------------------------------------------------
 * Whole ones
 * ---------------------------------------------------------------------- */

#define CLUSTER_NODES 6

struct cluster_options {
    size_t masters, replicas; /* at most a replica for each master */
    const char *config;       /* Further config lines of each node; may be NULL. */
    const char *module_args;  /* as of server_start() */
    int timeout_ms;           /* cluster-node-timeout; 0: 5000 */
    bool uncovered;           /* The last sixteenth of the slots is nobody's. */
    bool lines;               /* that can be broken */
};

/* node[0] ... are the masters, with the same share of the slots each, in their order;
 * node[masters + i] is the replica of node[i]. */
struct cluster {
    struct server *node[CLUSTER_NODES];
    size_t n;
    redisContext *link[CLUSTER_NODES]; /* made by cluster_link() */
    pid_t linked[CLUSTER_NODES];       /* the process that it leads to */
    struct proxy *front[CLUSTER_NODES], *bus[CLUSTER_NODES]; /* if it has lines */
};

#define cluster_start(...) cluster_start_with((struct cluster_options){__VA_ARGS__})

/* It is complete, and all replicas have caught up. */
struct cluster *cluster_start_with(struct cluster_options options);

/* One connection to each node, kept over calls. */
redisContext *cluster_link(struct cluster *all, size_t node);

/* The port at which a node is known to the others and to clients. That of its server leads
 * there all the same, as for a client on its own side of a partition. */
int cluster_port(const struct cluster *all, size_t node);

/* A partition with this node alone on one side: lines stay open, and nothing passes to the
 * others nor back, on the bus and between masters and replicas. */
void cluster_isolate(struct cluster *all, size_t node);
void cluster_unite(struct cluster *all, size_t node);

/* What a master sends to its replica stays on its way; and is lost with the connection. If
 * it has lines. */
void cluster_hold_back(struct cluster *all, size_t master, size_t replica);
void cluster_lose(struct cluster *all, size_t master);

/* Who has the slot, as the first node sees it that is up and not paused; NULL: nobody. */
redisContext *cluster_owner(struct cluster *all, const char *key);
struct server *cluster_owning_server(struct cluster *all, const char *key);

/* Moves a key and its slot, as redis-cli does; cluster_move_begin() leaves the slot half
 * moved, with the key at its new place. */
void cluster_move_begin(struct cluster *all, const char *key, size_t to);
void cluster_move_end(struct cluster *all, const char *key, size_t to);

/* Whether all nodes that are up see each slot served. */
bool cluster_is_up(struct cluster *all);

#endif
