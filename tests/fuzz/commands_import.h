/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_import.h - filters that come to the server as another library's bytes: by
 * BF.IMPORT, and by BF.REBUILD IMPORT into a new generation. They are exported, added to,
 * and merged into other filters. */
#ifndef COMMANDS_IMPORT_H
#define COMMANDS_IMPORT_H

#include "fuzz.h"

/* What comes after the op of such an operation (commands_inputs.h). */
void bring_by_import(struct feed *in);

/* Makes such an operation; returns its length, IMPORT_MAX at most. */
#define IMPORT_MAX 256
size_t an_import(uint8_t *out, struct dice *d);

#endif
