/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - a connection to one server, as the settings say: TCP or unix socket, TLS, ACL
 * user, database number. Where there are sentinels, they are asked who the master is.
 *
 * The connection is hiredis' own and doesn't block: reply.h asks over it; redisFree() ends
 * it. Errors that the server replies are the caller's, see nodes.h for what can be tried
 * again. */
#ifndef CLIENT_SERVER_H
#define CLIENT_SERVER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "options/settings.h"

struct address {
    char host[256]; /* or the path of a unix socket */
    int port;       /* 0: a unix socket */
};

#define ADDRESS_TEXT 288
const char *server_show(const struct address *at, char *out);

/* Takes in what --uri, REDISCLI_AUTH, --pass-file and --askpass say. Call it once, before
 * the others. Refuses what contradicts itself. */
bool server_prepare(const struct settings *s, struct failure *f);

/* Where the server is: the settings' address, or what a sentinel names as the master. */
bool server_find(const struct settings *s, struct address *out, struct failure *f);

/* Connects, with TLS, AUTH and SELECT. NULL after a failure. */
redisContext *server_connect(const struct settings *s, const struct address *at,
                             struct failure *f);

/* Begins to, without waiting. What logs in is to be written before anything else, and has
 * so many replies, which must be no errors. */
redisContext *server_begin(const struct settings *s, const struct address *at,
                           unsigned *replies, struct failure *f);

/* There is something to write, and it can be before more has been read. */
bool server_wants_to_write(const redisContext *c);

/* Why the connection has broken just now. */
void server_explain(const redisContext *c, const struct address *at, struct failure *f);

/* If the server wants another password or user than it got, says so; false then. */
bool server_admits(const char *error, struct failure *f);

#endif
