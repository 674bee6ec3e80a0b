/* SPDX-License-Identifier: BSD-3-Clause */
/* slow.h - what the server itself says was slow: its slow log and its latency events. */
#ifndef SLOW_H
#define SLOW_H

#include <stddef.h>

#include "wire.h"

/* The number behind "field:" in the reply to a command, or 0. */
double slow_number(redisContext *c, const char *command, const char *field);

/* Latency events since the last call: the longest of a kind, in seconds, and all as
 * "fork=3 aof-write=2". */
struct slow_events {
    double disk;  /* the append-only file kept the main thread */
    double freed; /* it freed what was evicted or had expired */
    char text[128];
};
void slow_events(redisContext *c, struct slow_events *found);

/* The slowest command since the last call, which empties the log. */
void slow_commands(redisContext *c, char *text, size_t room);

/* A table of all that were ever in it. */
void slow_tell(void);

#endif
