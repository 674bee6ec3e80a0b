/* SPDX-License-Identifier: BSD-3-Clause */

/* proxy.h - a line between a replica and its master, which can be bad.
 *
 *     struct proxy *line = proxy_start_transparent(master->port);
 *     expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", proxy_port(line));
 *     proxy_slow(line, 2000);      bytes a second, master to replica
 *     proxy_stop(line);            open, and nothing passes
 *     proxy_resume(line);
 *     proxy_cut(line);             both ends see it; the replica comes again
 *
 *     replica 127.0.0.1:43210 ----> proxy 127.0.0.1:port
 *                                     |
 *                  transparent:  127.0.0.1:43210 ----> master   the replica's own end
 *                  ordinary:     127.0.0.1:51234 ----> master   the proxy's
 *
 * A transparent one is to the master what a line is: it sees the address that the
 * replica knows as its own. Two connections may have one address at one end as long as
 * their other ends differ, if both were made with SO_REUSEADDR, as servers do. Where
 * the system doesn't grant it, the connection is an ordinary one, and
 * proxy_is_transparent() says so.
 *
 * It is a process of its own, which goes when the test does. What a call asks for is
 * in force when the call returns. */

#ifndef PROXY_H
#define PROXY_H

#include <stdbool.h>

struct proxy;

struct proxy *proxy_start(int master_port);
struct proxy *proxy_start_transparent(int master_port);

/* Transparent to whom has an address of its own, ordinary to who comes from 127.0.0.1. */
struct proxy *proxy_start_for_nodes(int master_port);

int proxy_port(const struct proxy *p);

void proxy_slow(struct proxy *p, long bytes_per_second); /* 0: as fast as it goes */
void proxy_stop(struct proxy *p);
void proxy_resume(struct proxy *p);
void proxy_cut(struct proxy *p);

/* Nothing passes on connections from that address; NULL: all may pass again. */
void proxy_bar(struct proxy *p, const char *host);

/* Where connections go that come from here on. */
void proxy_aim(struct proxy *p, int master_port);

/* There were connections, and each had the replica's own address. */
bool proxy_is_transparent(const struct proxy *p);

#endif
