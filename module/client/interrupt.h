/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.h - SIGINT, SIGTERM and SIGHUP: a run notices them where it waits, undoes what
 * it began, and ends. A second signal ends the program at once. */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

void interrupt_watch(void);
bool interrupt_came(void);

/* Sleeps; false, with the failure, if a signal came. */
bool interrupt_sleep(int64_t ms, struct failure *f);
bool interrupt_fail(struct failure *f);

/* Milliseconds that only go forward. */
int64_t interrupt_clock(void);

#endif
