/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - what time it is. */
#ifndef BULWARK_CLOCK_H
#define BULWARK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/shield.h"

/* By both clocks: Unix time, and one of this machine that nobody can set. In ms. */
struct moment clock_now(void);

/* By the second alone. */
int64_t clock_steady_ms(void);

/* How long ago that was (Unix time in ms), 0 if it is to come. Times that were stored may
 * be any number. */
int64_t clock_seconds_since(int64_t ms);

/* For lines in the log that clients can cause: whether one more may be written, when there
 * may be at most that number in a period. Each sort of line has a pace of its own, zero at
 * first. */
struct pace {
    int64_t period;
    unsigned lines;
};
bool clock_allows(struct pace *pace, unsigned lines, int64_t period_ms);

#endif
