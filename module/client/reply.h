/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.h - the next reply of a connection, and no longer than until a time.
 *
 * hiredis' own time-out begins anew with each byte, and it doesn't notice Ctrl-C: a server
 * that sends a byte now and then would be waited for without end. */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

/* Sends what was appended. False: the connection has failed. */
bool reply_send(redisContext *c);

/* The same, if it wasn't done, and takes a reply. NULL: the connection has failed, as
 * c->err tells; if the time, on interrupt_clock(), or a signal has come, as after a
 * time-out. */
redisReply *reply_take(redisContext *c, int64_t until);

#endif
