/* SPDX-License-Identifier: BSD-3-Clause */

/* exchange.h - filters as the bytes of another library, and the program that takes them. */

#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "files.h"
#include "program.h"
#include "server.h"

#include <hiredis/hiredis.h>

/* bulwark SUBCOMMAND ..., of that server. */
#define exchange(s, ...) exchange_with((s), (const char *[]){__VA_ARGS__, NULL})

struct outcome exchange_with(const struct server *s, const char *const *arguments);

/* A filter of the kind, as its library makes it for so many items at 0.01, with the numbers
 * 0 ... items - 1. */
void make_library(redisContext *c, const char *key, const char *kind, const char *encoding,
                  long items);

/* BF.EXPORT of it. */
struct file exported(redisContext *c, const char *key);

#endif
