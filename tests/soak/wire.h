/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - a connection to the server, and adding many items by it. A server that has gone
 * ends the program. */
#ifndef WIRE_H
#define WIRE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/target.h"

redisContext *wire_open(const struct target *t);

/* Never NULL, the caller's to free. The format is hiredis's: %s, %b with a size. */
redisReply *wire_ask(redisContext *c, const char *format, ...);
redisReply *wire_ask_argv(redisContext *c, int argc, const char **argv);

/* Whether the reply was no error. */
bool wire_did(redisContext *c, const char *format, ...);

/* BF.MADD of the numbers [from, to), a few in a command. False: one was refused. */
bool wire_add(redisContext *c, const char *key, uint64_t from, uint64_t to);

/* Errors so far: of a key that isn't there, which is a filter that was lost, and any other.
 * The first of the others are shown. */
struct wire_errors {
    unsigned long lost, refused;
};
struct wire_errors wire_errors(void);

/* From here on a server that has gone is no news: who asks it, sleeps. */
void wire_end(void);

#endif
