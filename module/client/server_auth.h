/* SPDX-License-Identifier: BSD-3-Clause */
/* server_auth.h - where the server is and who we are, gathered from the options, the URI,
 * the environment, a file or the terminal: see server_prepare() in server.h. */
#ifndef CLIENT_SERVER_AUTH_H
#define CLIENT_SERVER_AUTH_H

#include "server.h"

struct login {
    struct address at;
    const char *user; /* NULL: the default user */
    const char *pass; /* NULL: none */
    uint64_t database;
    bool tls;
};

/* What server_prepare() has found. */
const struct login *server_login(void);

/* host, host:port, [v6]:port. */
bool server_parse(const char *text, size_t length, int port, struct address *out);

/* redis://user:password@host:port/database, rediss:// with TLS, unix:///path; changes what
 * the URI says, and leaves the rest. */
bool server_take_uri(const char *uri, struct login *out);

#endif
