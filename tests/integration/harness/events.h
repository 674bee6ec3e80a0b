/* SPDX-License-Identifier: BSD-3-Clause */

/* events.h - what a client hears of keyspace events. */

#ifndef EVENTS_H
#define EVENTS_H

#include "server.h"

#include <hiredis/hiredis.h>

/* A client that hears the events of key k, and a line on which a test says "done". */
redisContext *listener(struct server *s);

/* The events since the last call, separated by spaces, as text owned by the test. */
const char *events(redisContext *listening, redisContext *c);

#endif
