/* SPDX-License-Identifier: BSD-3-Clause */
/* pauses.h - whose the server's pauses are.
 *
 * The server itself notes how long each round of its main thread took, and how long it was
 * in the module (preload/rounds.h). Whoever asks right after a round's beginning is held up
 * by that round and the next one. So a pause is two rounds:
 *
 *     pause = ours       the module: all of its commands, frees, timers, listeners
 *           + fork       where the server saves
 *           + server     whatever else the main thread computed
 *           + waited     for a processor, a disk, a lock that is none of ours
 *
 * Every round is looked at, so no pause of ours was longer than the longest found. What the
 * module took is measured around it: memory that is touched for the first time, and what
 * the server does when the module calls it, are in it. What follows later, the effects' way
 * to the file and to the replica, is the server's.
 *
 * The first two minutes don't count. Each chore comes in them once, and memory that nobody
 * has touched since the machine came up: the host of a virtual one gives that slowly. */
#ifndef PAUSES_H
#define PAUSES_H

#include "soak.h"

/* The server that is started between the first two is the one that is looked at. */
void pauses_before_server(void);
void pauses_after_server(const struct target *server);
void pauses_start(const struct soak *s);

/* The longest since the last call, in seconds. */
struct longest_pause {
    double server, ours;
};
struct longest_pause pauses_take_longest(void);

/* Ends the looking, and prints a table of what was found. The longest of ours, once all was
 * warm; infinite if nobody knows, since a round was missed or the module tells nothing. */
double pauses_tell(void);

#endif
