/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead.h - pages that are taken from the system before items come.
 *
 * Whoever touches a page first waits for the system to give it, a microsecond or two. In a
 * new generation that is about to be filled nearly each item would be the first to touch
 * one page or two, and a LOAD of a thousand items would keep all others waiting for 4 ms
 * instead of 0.05. So a timer has the pages given, a few at a time:
 *
 *     array   | taken | taken | <- 256 KiB a tick | not yet ...          |
 *
 * Items that come before it touch their pages themselves, as everywhere else. So do all
 * where the system can't be asked (Linux before 5.14), or no timer be set (early Redis
 * 6.0). */
#ifndef BULWARK_AHEAD_H
#define BULWARK_AHEAD_H

#include "core/chain.h"

/* Begins with the chain's arrays. On the main thread. */
void ahead_take(const struct chain *c);

/* To be called before an array is given back, on whatever thread. */
void ahead_forget(const unsigned char *array, uint64_t bytes);

#endif
