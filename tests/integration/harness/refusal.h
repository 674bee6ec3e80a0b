/* SPDX-License-Identifier: BSD-3-Clause */

/* refusal.h - a refused call changes nothing. */

#ifndef REFUSAL_H
#define REFUSAL_H

#include <hiredis/hiredis.h>

/* Like expect_like(), for a call whose key is its first argument; and also: the
 * key is afterwards what it was, and nothing was propagated or counted as a
 * change of the data set. */
#define expect_refusal(c, pattern, ...)                                                    \
    expect_refusal_at(__FILE__, __LINE__, (c), (pattern),                                  \
                      (const char *[]){__VA_ARGS__, NULL})

void expect_refusal_at(const char *file, int line, redisContext *c, const char *pattern,
                       const char **argv);

/* A key as a short text: type, digest, and the pieces of its dump with their
 * fingerprints. Two keys with the same content have the same text. */
const char *key_state(redisContext *c, const char *key);

/* How often the data set has changed: it moves exactly when something was to be
 * saved and propagated. */
long long changes(redisContext *c);

#endif
