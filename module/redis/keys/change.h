/* SPDX-License-Identifier: BSD-3-Clause */
/* change.h - a filter under its key: put there, changed, moved to another type. */
#ifndef BULWARK_CHANGE_H
#define BULWARK_CHANGE_H

#include "core/filter.h"
#include "server.h"

/* Puts a filter under a name that no key has. From then on the server owns it. */
void change_put(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

/* To be called before and after every change of a filter's standing, its chains or their
 * layers. change_end() counts the filter anew. It also moves the filter to the type that it
 * now belongs under (type_for), if that has changed: a foreign filter moves when it is
 * complete, or when somebody vouches for it. Its time to live stays. Anything that replicas
 * have to know must be sent before change_end(): moving a key is an event of the server's
 * own, and the filter may be gone after it. */
void change_begin(struct filter *f);
void change_end(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

#endif
