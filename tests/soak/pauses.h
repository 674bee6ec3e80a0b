/* SPDX-License-Identifier: BSD-3-Clause */
/* pauses.h - whose the prober's pauses were.
 *
 *     wait = queued   the server's main thread, or the prober, waited for a processor
 *          + still    the machine stood still (stills.h)
 *          + fork     by INFO's latest_fork_usec
 *          + disk     the append-only file's write, by the server's latency events
 *          + left     the server computed: its work, and ours
 *     ours <= left    and no more than the server measured in our commands meanwhile
 *                     (ours.h), and in freeing what it evicted or what had expired
 *
 * That is done for each wait of a millisecond and more. Forks, writes and frees are looked
 * for ten times a second, and put down to the longest wait since the last look. What the
 * module does in timers is in `left` only: they free large filters, where the server isn't
 * full, in steps of a millisecond.
 *
 * Beside it stands the command that most of ours was, and what was under way: chores, the
 * slowest commands, latency events. */
#ifndef PAUSES_H
#define PAUSES_H

#include "soak.h"

void pauses_start(struct soak *s);

/* The longest since the last call, in seconds. */
struct own_pause {
    double left, ours;
};
struct own_pause pauses_take_longest(void);

/* A table of what was found. The longest of ours in the whole run. */
double pauses_tell(void);

#endif
