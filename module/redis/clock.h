/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - what time it is. */
#ifndef BULWARK_CLOCK_H
#define BULWARK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/shield.h"

/* The time by both clocks, in ms: Unix time, and a clock of this machine that nobody can
 * set. */
struct moment clock_now(void);

/* The time by the second clock alone. */
int64_t clock_steady_ms(void);

/* How many seconds ago `ms` (Unix time) was, 0 if it is in the future. Stored times may be
 * any number. */
int64_t clock_seconds_since(int64_t ms);

/* For log lines that clients can cause. Returns whether one more may be written, if at most
 * `lines` are allowed in a period. Each sort of line has a pace of its own, zero at
 * first. */
struct pace {
    int64_t period;
    unsigned lines;
};
bool clock_allows(struct pace *pace, unsigned lines, int64_t period_ms);

#endif
