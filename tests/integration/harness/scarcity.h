/* SPDX-License-Identifier: BSD-3-Clause */

/* scarcity.h - a server that has no memory for its module.
 *
 *     struct server *s = server_start(.preload = "memory");
 *     scarcity_begin(s, n);        the module's n-th request from here is refused, and each
 *                                  after it
 *     if (scarcity_end(s)) ...     whether there were so many
 *
 * Only what may be refused is: filters. What the server takes for itself, and a module for
 * the small things that it can't do without, ends a server that has no memory. */

#ifndef SCARCITY_H
#define SCARCITY_H

#include "server.h"

#include <stdbool.h>
#include <stdint.h>

void scarcity_begin(const struct server *s, int64_t n);
bool scarcity_end(const struct server *s);

#endif
