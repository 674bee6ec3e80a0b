/* SPDX-License-Identifier: BSD-3-Clause */
/* stand_in.h - check.h without tests: lets a fuzz target use what was written for
 * them, the model (unit/model.h) and the harness (integration/harness/harness.h).
 *
 * A check that fails ends the program, as MUST does. What is deferred waits for
 * stand_in_undo(), or for the end of the program. */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stddef.h>

/* How much is deferred so far. */
size_t stand_in_mark(void);

/* Undoes what was deferred after the mark, last first. */
void stand_in_undo(size_t mark);

#endif
