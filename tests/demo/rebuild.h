/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild.h - the second half of the play: a rebuild under full traffic, and the proof
 * that no real row was refused. */
#ifndef REBUILD_H
#define REBUILD_H

#include <stdbool.h>

#include "run.h"

/* On the server that a SHIELDED run left. Prints the proof; returns whether it holds. */
bool rebuild_play(const struct scale *scale, struct rows *rows);

#endif
