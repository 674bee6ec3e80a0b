/* SPDX-License-Identifier: BSD-3-Clause */
/* fewer.h - whether a source has lost its items: a query that fell short, a file of another
 * table, yesterday's export cut off.
 *
 * Such a source would make everything absent that it lacks. A day's deletions seldom take
 * half of what is there; so less than half of what the filter had must be said to be right,
 * by --fewer. A filter that answered nothing yet, since it isn't ready, has no say. */
#ifndef CLIENT_FEWER_H
#define CLIENT_FEWER_H

#include "part.h"

/* No items at all are another matter: --empty. */
bool fewer_allowed(const struct parts *parts, uint64_t items, const char *source,
                   const struct settings *s, struct failure *f);

#endif
