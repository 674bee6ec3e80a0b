/* SPDX-License-Identifier: BSD-3-Clause */
/* http.h - a web server for a few pages and friendly clients, that unfriendly ones can't
 * hang: HTTP/1.x, GET only, a request a connection, no bodies, one thread.
 *
 *     accept --> reading --> the page is made --> writing --> ending --> closed
 *                   |                                |           |
 *                   +----- HTTP_SECONDS each, then closed -------+
 *
 * A request has at most HTTP_REQUEST_MAX bytes. When HTTP_CONNECTIONS are open, the oldest
 * makes place for the next. */
#ifndef CLIENT_HTTP_H
#define CLIENT_HTTP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fail.h"
#include "server/server.h"

#define HTTP_REQUEST_MAX 8192
#define HTTP_CONNECTIONS 32
#define HTTP_SECONDS     5

/* Writes the page of that path, and says of what type it is; NULL: there is none. */
typedef const char *http_page(void *context, const char *path, FILE *out);

/* ADDRESS:PORT, or an ADDRESS alone, with that port. Port 0: any that is free. */
bool http_parse(const char *text, int port, struct address *out);

/* Listens; -1 after a failure. Port 0 becomes one that is free. */
int http_listen(struct address *at, struct failure *f);

/* Until a signal comes. */
void http_serve(int listener, http_page *page, void *context);

#endif
