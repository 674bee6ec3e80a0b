/* SPDX-License-Identifier: BSD-3-Clause */
/* ours.h - how long the server was in commands of ours.
 *
 * A thread asks INFO commandstats every millisecond, and adds up what the server has
 * measured in all BF commands and in those that may free a filter. Between two answers lies
 * at most that much of our time: a pause in between had no more.
 *
 *     answers    a1      a2                         a3      a4
 *     ------------|-------|---[==== pause ====]------|--x----|----->
 *                         \____ at most a4 - a2 ________/
 *                                  (a3 was asked for before the pause had ended) */
#ifndef OURS_H
#define OURS_H

#include "soak.h"

void ours_start(struct soak *s);

/* Seconds, at most, between two moments of the last ten seconds; if nothing is known, more
 * than there are. In `by`, the command that most of it was, its share in ms and in how many
 * calls. */
double ours_within(double from, double to, char *by, size_t room);

#endif
