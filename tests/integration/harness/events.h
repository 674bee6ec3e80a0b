/* SPDX-License-Identifier: BSD-3-Clause */

/* events.h - the changes that a client hears of: keyspace events, and a WATCH that
 * aborts. */

#ifndef EVENTS_H
#define EVENTS_H

#include "server.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>

/* A client that hears the events of key k, and a line on which a test says "done". */
redisContext *listener(struct server *s);

/* The events since the last call, separated by spaces, as text owned by the test. */
const char *events(redisContext *listening, redisContext *c);

/* Whether a transaction that watches k survives this call by another client. */
#define survives_watch(s, ...) survives_watch_of((s), (const char *[]){__VA_ARGS__, NULL})

bool survives_watch_of(struct server *s, const char **argv);

#endif
