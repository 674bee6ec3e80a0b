/* SPDX-License-Identifier: BSD-3-Clause */
/* soak.h - what all parts of the soak share: the server, the clock, and who is at work.
 *
 *     soak.c      the play: preparing, a line for each window, the verdict
 *     subjects.h  the filters, and the judge of what they answer
 *     mix.h       the users: questions, adds, cached rows, at their rates
 *     chores.h    what comes now and then: fills, saves, filters that come and go
 *     prober.h    another client, who asks every millisecond
 *     pauses.h    whose the server's pauses are; functions.h has names for what is ours
 *     memory.h    memory over time, and whether it creeps
 *     gauge.h     waits as they are counted;  wire.h  a connection
 *
 * The server's main thread has one processor, everybody else the other: clients, the
 * replica, the children that save, bulwark. */
#ifndef SOAK_H
#define SOAK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/bench.h"
#include "bench/target.h"
#include "gauge.h"
#include "subjects.h"

/* The processors. */
#define OF_SERVER 0
#define OF_OTHERS 1

struct soak {
    struct target server, replica;
    const char *program;  /* bulwark */
    double began, length; /* seconds */
    atomic_bool over;
    struct subject subjects[SUBJECTS];
    struct gauge mix, probe;
    atomic_ulong requests, rebuilds, failed_fills;
    atomic_ulong commits;      /* of CATALOGUE, the largest that is rebuilt */
    atomic_ulong program_peak; /* bytes: of the last fill of CATALOGUE */
};

/* build/soak/NAME for writing, with the head's line in it. */
FILE *soak_file(const char *name, const char *head);

/* Sleeps until a moment of seconds(), or until the soak is over: whether it goes on. */
bool soak_wait_until(struct soak *s, double moment);

#endif
