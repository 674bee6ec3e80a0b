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
    bool in_file; /* settings.h */
};

/* What server_prepare() has found. */
const struct login *server_login(void);

/* What the user can change: the option, or the key of a feed's configuration. */
const char *server_option(const char *option, const char *key);

/* From 1 to 65535; nothing else is taken. Whoever is asked for an address mustn't choose 0,
 * which stands for a unix socket. */
bool server_take_port(long long n, int *port);
bool server_parse_port(const char *text, size_t length, int *port);

/* host, host:port, [v6]:port. */
bool server_parse(const char *text, size_t length, int port, struct address *out);

/* redis://user:password@host:port/database, rediss:// with TLS, unix:///path; changes what
 * the URI says, and leaves the rest. */
bool server_take_uri(const char *uri, struct login *out);

#endif
