/* SPDX-License-Identifier: BSD-3-Clause */
/* pauses.h - whose the prober's pauses were.
 *
 * From each wait of a millisecond and more is taken off what others did: the time that the
 * server's main thread or the prober waited for a processor, and that the machine stood
 * still (prober.h, stills.h), the fork, by INFO's latest_fork_usec, and the append-only
 * file's write, by the server's latency events. What is left is ours or the server's own,
 * and never less than the main thread computed. Forks and writes are looked for ten times a
 * second, and taken off the longest wait since the last look.
 *
 * Beside it stands what was under way: chores, the slowest commands, latency events. */
#ifndef PAUSES_H
#define PAUSES_H

#include "soak.h"

void pauses_start(struct soak *s);

/* The longest that was left since the last call, in seconds. */
double pauses_take_longest(void);

/* A table of what was found. The longest that was left in the whole run. */
double pauses_tell(void);

#endif
