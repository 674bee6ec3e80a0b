/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals.h - the ready filters that a file brings, for a line in the log: how many, when
 * they were vouched for, and the names of the first few.
 *
 * A file may bring a filter and take it away again, as an AOF does. So a name goes when its
 * filter goes. Redis 6.0 doesn't report that, so no names are given there. */
#ifndef BULWARK_ARRIVALS_H
#define BULWARK_ARRIVALS_H

#include "core/filter.h"
#include "server.h"

/* To be called when a file is about to be loaded. */
void arrivals_begin(void);

/* To be called when a filter was read from bytes, or a file vouched for it. name may be
 * NULL. Calls after the line was written, as for a RESTORE, have no effect: the next file
 * begins anew. */
void arrivals_saw(const RedisModuleString *name, const struct filter *f);

/* To be called when the key of that filter, or the filter itself, is taken away; and when
 * all keys are. */
void arrivals_gone(const struct filter *f);
void arrivals_flushed(void);

/* To be called when the struct lies elsewhere. Only compares `from`. */
void arrivals_moved(const struct filter *from, const struct filter *to);

/* To be called when the file has been loaded: writes the line, if the file brought any. */
void arrivals_tell(RedisModuleCtx *ctx);

#endif
