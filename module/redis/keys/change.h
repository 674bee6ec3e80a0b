/* SPDX-License-Identifier: BSD-3-Clause */
/* change.h - a filter under its key: put there, changed, moved to another type. */
#ifndef BULWARK_CHANGE_H
#define BULWARK_CHANGE_H

#include "core/filter.h"
#include "server.h"

/* Puts a filter under a name that no key has. The server owns it from then on. */
void change_put(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

/* Around every change of a filter's standing, its chains or their layers. The end counts it
 * anew and moves it to the type that it belongs under, if that has become another one
 * (type_for): a foreign filter when it is complete, or when somebody vouches for it. Its
 * time to live stays. What replicas have to know is sent before the end: moving a key is an
 * event of the server's own, and the filter may be gone after it. */
void change_begin(struct filter *f);
void change_end(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

#endif
