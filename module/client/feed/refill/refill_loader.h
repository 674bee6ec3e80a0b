/* SPDX-License-Identifier: BSD-3-Clause */
/* refill_loader.h - what runs in the child process: see refill.h, where what it says and
 * hears is drawn.
 *
 *     take up     the rebuilds that the last loader left, if they are wanted (record.h)
 *     filling     START of the others, settle, LOAD, CHECK: fill/filling.h
 *                 and now and then a record of how far it is
 *     part ...    instead of COMMIT
 *
 * A loader that fails leaves what it began to the next one, unless nothing has been loaded
 * yet, or a part lacks items that it was sent. */
#ifndef FEED_REFILL_LOADER_H
#define FEED_REFILL_LOADER_H

#include "refill.h"

/* Talks to the feed by two pipes. */
_Noreturn void refill_load(const struct feed_config *c, const enum refill_wish *wishes,
                           int from, int to);

#endif
