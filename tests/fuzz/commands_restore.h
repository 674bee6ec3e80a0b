/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_restore.h - filters that come to the server as bytes: the input's records by
 * BF.LOADCHUNK and RESTORE, and what the server dumped itself.
 *
 * Whether a filter was accepted is counted, and it is asked for an item afterwards: what
 * has just come is in doubt and must not say "absent". */
#ifndef COMMANDS_RESTORE_H
#define COMMANDS_RESTORE_H

#include <stdbool.h>

#include "fuzz.h"

/* Of the server, once it is known. */
extern unsigned frame_version; /* the RDB version that a payload ends with */
extern bool restores;          /* A Redis 6.0 ends when a module refuses a payload. */

/* Records (records.h), after their length. */
struct feed next_records(struct feed *in);

/* What comes after the op of such an operation (commands_inputs.h). */
void bring_by_loadchunk(struct feed *in);
void bring_by_restore(struct feed *in);

/* Restored under another key, or over itself, whatever it was: it is in doubt. */
void dump_and_restore(const char *k, unsigned i);

#endif
