/* SPDX-License-Identifier: BSD-3-Clause */

/* sentinels.h - a master, its replica, and three sentinels that watch them as "shop": a
 * master that is away for a second is replaced. */

#ifndef SENTINELS_H
#define SENTINELS_H

#include "proxy.h"
#include "server.h"

#include <stddef.h>

#define SENTINELS 3

struct watched {
    struct server *master, *replica, *sentinel[SENTINELS];
    struct proxy *front[2]; /* the master's and the replica's, if they have lines */
    const char *list;       /* for --sentinel */
};

/* They know each other. */
struct watched *sentinels_start(void);

/* With lines that can be broken. */
struct watched *sentinels_start_with(const char *config, const char *module_args);

/* The port at which the master, 0, or the replica, 1, is known to the other, to sentinels
 * and to clients. That of its server leads there all the same, as for a client on its own
 * side of a partition. */
int sentinels_port(const struct watched *w, size_t node);

/* Lines to this node stay open, and nothing passes. */
void sentinels_isolate(struct watched *w, size_t node);
void sentinels_unite(struct watched *w, size_t node);

#endif
