/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.h - the words for every refusal in status.h, and replies that look the same on
 * every server. The words for arguments that can't be read stand where they are read, most
 * of them in args_*.c and args.c.
 *
 * Errors are for clients. A master, or an AOF, gets an OK, and the words go to the log
 * (upstream.h). So all errors of commands that a master may send go through here, and the
 * only bytes of an argument in the log are those of the key's name. */
#ifndef BULWARK_REPLY_H
#define BULWARK_REPLY_H

#include <stdint.h>

#include "core/kind.h"
#include "core/status.h"
#include "server.h"

/* Replies the error for a refusal of that key. Returns REDISMODULE_OK, for handlers to
 * return. */
int reply_refusal(RedisModuleCtx *ctx, RedisModuleString *name, enum bloom_status status);

/* Replies an error with the given words. The second form is for arguments that can't be
 * read. */
int reply_error_of(RedisModuleCtx *ctx, RedisModuleString *name, const char *words);
int reply_error(RedisModuleCtx *ctx, const char *words);

/* As RESTORE says it. */
#define REPLY_BUSY "BUSYKEY Target key name already exists."
int reply_wrong_arity(RedisModuleCtx *ctx);

/* The same with the option in the words; the format has a %s for it. */
int reply_option_error(RedisModuleCtx *ctx, const char *format, RedisModuleString *option)
    __attribute__((format(printf, 2, 0)));

/* Replies that filters of this kind are written by no library: the other command does
 * that. */
int reply_no_form(RedisModuleCtx *ctx, const struct kind *kind, const char *command);

/* Replies that bytes can't be what they should be, and why. */
int reply_bad_data(RedisModuleCtx *ctx, RedisModuleString *name, const char *why);

int reply_ok(RedisModuleCtx *ctx);

/* 1 or 0 in RESP2; true or false in RESP3 from Redis 7.0 on. */
int reply_bool(RedisModuleCtx *ctx, bool yes);

/* The head of a map with this number of pairs. A server that has maps turns them into
 * arrays for clients that speak RESP2. */
void reply_map(RedisModuleCtx *ctx, long pairs);

/* Replies a count. A count that doesn't fit in a signed number is cut to the largest
 * one. */
int reply_count(RedisModuleCtx *ctx, uint64_t n);

#endif
