/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.h - the next reply of a connection, within a time; what is in one.
 *
 * hiredis' own time-out begins anew with each byte, and it doesn't notice Ctrl-C: a server
 * that sends a byte now and then would be waited for without end. */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

/* Sends what was appended. False: the connection has failed, or the time has come. */
bool reply_send(redisContext *c, int64_t until);

/* The same, if it wasn't done, and takes a reply. NULL: the connection has failed, as
 * c->err tells; if the time, on interrupt_clock(), or a signal has come, as after a
 * time-out. */
redisReply *reply_take(redisContext *c, int64_t until);

/* What stands beside that name in a reply of name, value, name, value: an array of RESP2, a
 * map of RESP3. NULL: nothing does. */
const redisReply *reply_field(const redisReply *r, const char *name);

/* Whether an error begins with these words. */
bool reply_begins(const char *error, const char *words);

#endif
