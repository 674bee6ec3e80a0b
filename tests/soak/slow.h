/* SPDX-License-Identifier: BSD-3-Clause */
/* slow.h - what the server itself says was slow: its slow log and its latency events. */
#ifndef SLOW_H
#define SLOW_H

#include <stddef.h>

#include "wire.h"

/* The number behind "field:" in the reply to a command, or 0. */
double slow_number(redisContext *c, const char *command, const char *field);

/* Latency events since the last call, as "fork=3 aof-write=2"; returns how long the
 * append-only file kept the main thread, in seconds. */
double slow_events(redisContext *c, char *text, size_t room);

/* The slowest command since the last call, which empties the log. */
void slow_commands(redisContext *c, char *text, size_t room);

/* A table of all that were ever in it. */
void slow_tell(void);

#endif
