/* SPDX-License-Identifier: BSD-3-Clause */
/* server_tls.h - TLS over a connection: whose certificate is believed, and for what name.
 *
 * The certificate has to be of an authority that is known, and for the host that was
 * connected to, which each node of a cluster has its own of; or for the name that sni
 * gives. --insecure believes any. */
#ifndef CLIENT_SERVER_TLS_H
#define CLIENT_SERVER_TLS_H

#include "server.h"

/* `c` is open, or about to be, and silent so far; the address is what it leads to; `until`
 * is on interrupt_clock(). 0: nothing is waited for, and the handshake goes on as the
 * connection is read and written. */
bool server_tls_begin(const struct settings *s, const struct address *at, redisContext *c,
                      int64_t until, struct failure *f);

/* The handshake waits for the server's answer. */
bool server_tls_waits(const redisContext *c);

/* Why the connection has broken just now. False: TLS isn't to blame, or there is none. */
bool server_tls_explain(const redisContext *c, const struct address *at, struct failure *f);

#endif
