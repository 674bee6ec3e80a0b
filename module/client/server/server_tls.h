/* SPDX-License-Identifier: BSD-3-Clause */
/* server_tls.h - TLS over a connection: whose certificate is believed, and for what name.
 *
 * The certificate has to be of an authority that is known, and for the host that was
 * connected to, which each node of a cluster has its own of; or for the name that --sni
 * gives. --insecure believes any. */
#ifndef CLIENT_SERVER_TLS_H
#define CLIENT_SERVER_TLS_H

#include "server.h"

/* `c` is open and silent so far; the address is what it leads to; `until` is on
 * interrupt_clock(). */
bool server_tls_begin(const struct settings *s, const struct address *at, redisContext *c,
                      int64_t until, struct failure *f);

#endif
