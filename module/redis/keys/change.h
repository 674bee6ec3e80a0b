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
 * complete, or when somebody vouches for it. Its time to live stays. It also stays the same
 * struct, so callers may go on using it: until they tell listeners (announce.h), it goes
 * only if another module deletes the key within an event of the server's own, which the
 * server tells modules not to do. What replicas have to know may be sent before or after
 * change_end(). */
void change_begin(struct filter *f);
void change_end(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

#endif
