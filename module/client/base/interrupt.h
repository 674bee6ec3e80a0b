/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.h - SIGINT, SIGTERM and SIGHUP: a run notices them where it waits, undoes what
 * it began, and ends. A second signal ends the program at once; one that comes within half
 * a second of the first is the same one, sent to the process and to its group. */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

void interrupt_watch(void);
bool interrupt_came(void);

/* What was begun is undone from here on: a signal that came, or comes, is no reason to
 * leave that, until a second one ends the program. */
void interrupt_undo(void);

/* Until when an answer is waited for: a signal leaves it a moment, since without the answer
 * to what has begun something nobody could undo it. */
int64_t interrupt_until(int64_t until);

/* Sleeps; false, with the failure, if a signal came. */
bool interrupt_sleep(int64_t ms, struct failure *f);
bool interrupt_fail(struct failure *f);

/* Milliseconds that only go forward. */
int64_t interrupt_clock(void);

#endif
