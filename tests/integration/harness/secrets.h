/* SPDX-License-Identifier: BSD-3-Clause */

/* secrets.h - whether a filter's secret shows where it must not. */

#ifndef SECRETS_H
#define SECRETS_H

#include "records/format.h"
#include "server.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>

/* As codec.h has it: the first chain record begins at 64, its secret 16 later. */
enum { SECRET_AT = FIXED + C_SECRET, SECRET_BYTES = 16 };

/* Any four bytes of it in a row: raw, in hex, or escaped as MONITOR and the log do. */
bool gives_away(const redisReply *reply, const char *secret);

/* For the config of a server that is looked at. */
#define LOG_ALL "slowlog-log-slower-than 0\n"

/* A MONITOR from here on. */
redisContext *monitor_of(const struct server *s);

/* Nothing that the monitor has been sent, nothing in the slow logs and in the log gives
 * the secret away. */
void check_hidden(const struct server *s, redisContext *monitor, const char *secret);

#endif
