/* SPDX-License-Identifier: BSD-3-Clause */

/* sentinels.h - a master, its replica, and three sentinels that watch them as "shop": a
 * master that is away for a second is replaced. */

#ifndef SENTINELS_H
#define SENTINELS_H

#include "server.h"

#define SENTINELS 3

struct watched {
    struct server *master, *replica, *sentinel[SENTINELS];
    const char *list; /* for --sentinel */
};

/* They know each other. */
struct watched *sentinels_start(void);
struct watched *sentinels_start_with(const char *config, const char *module_args);

#endif
