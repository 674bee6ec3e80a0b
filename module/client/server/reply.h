/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.h - asks over a connection, and waits for the answer: no longer than until a time,
 * or as long once more for each MiB that goes or comes; a moment only after a signal; and
 * for no more bytes than an answer should have. And what is in one.
 *
 * hiredis' own time-out begins anew with each byte, it doesn't notice Ctrl-C, and it takes
 * whatever comes: a server that sends a byte now and then would be waited for without end,
 * and one that sends on and on would take all memory. So connections don't block, and
 * whoever waits for one waits here, or in lane.c. Times are on interrupt_clock(). */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new connection doesn't block from here on. */
void reply_prepare(redisContext *c);

/* Waits until there is something of poll()'s `events`. False: the time, or a signal, has
 * come; the connection has then failed as after a time-out. */
bool reply_wait(redisContext *c, short events, int64_t until);

/* Sends what was appended. False: the connection has failed. */
bool reply_send(redisContext *c, int64_t until);

/* The same, if it wasn't done, and takes a reply. NULL: the connection has failed, as
 * c->err tells. */
redisReply *reply_take(redisContext *c, int64_t until);

/* All of it, for one question; lengths may be NULL. */
redisReply *reply_ask(redisContext *c, int64_t until, size_t n, const char *const *words,
                      const size_t *lengths);

/* The same, for an answer of up to so many bytes; 0: as many as any has. */
redisReply *reply_ask_up_to(redisContext *c, int64_t until, size_t n,
                            const char *const *words, const size_t *lengths, size_t most);

/* Reads what is there, of a reply of which so many bytes have come before. False: the
 * connection has failed, or it is too long. */
bool reply_read(redisContext *c, size_t *bytes);

/* What stands beside that name in a reply of name, value, name, value: an array of RESP2, a
 * map of RESP3. NULL: nothing does. */
const redisReply *reply_field(const redisReply *r, const char *name);

/* Whether an error begins with these words. */
bool reply_begins(const char *error, const char *words);

#endif
