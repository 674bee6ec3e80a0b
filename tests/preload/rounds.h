/* SPDX-License-Identifier: BSD-3-Clause */

/* rounds.h - the rounds of a server's main thread, and what of each the module took.
 *
 *     epoll_wait |------------- a round: what has come is done -------------| epoll_wait
 *                |  [BF.MADD] GET [BF.CHECK] evicts [free] [timer]  replies |
 *              began                                                      ended
 *
 * In brackets is the module: each function of it that the server calls, until it returns.
 * A module says so itself if it is built with -finstrument-functions.
 *
 * A small question that comes on an open connection while a round goes on is seen in the
 * next one, and its reply is sent at the end of that: nobody is held up for longer than two
 * rounds.
 *
 * The preloaded object writes each round to the ring in the file that PRELOAD_FILE names;
 * whoever reads it maps the file, too. */

#ifndef PRELOAD_ROUNDS_H
#define PRELOAD_ROUNDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Times in nanoseconds: `began` and `ended` by the steady clock, the others as the main
 * thread had a processor. If it slept in the round, for a lock or a disk, `ours` has also
 * what the calls waited, for whatever it was; and all that the round waited, if another
 * thread was in the module meanwhile. */
struct round {
    int64_t began, ended;
    int64_t computed;
    int64_t ours; /* in the module */
    int64_t fork; /* in fork(), where the server saves */
    int64_t calls;
    int64_t longest;    /* of the calls */
    uintptr_t function; /* that one's, where it is in the server's memory */
};

enum { ROUNDS_KEPT = 1 << 17 };

struct rounds {
    atomic_bool broken; /* A round ended within a call: no figure is to be trusted. */
    _Atomic uint64_t written;
    struct round of[ROUNDS_KEPT]; /* the n-th, from 0 on, at n % ROUNDS_KEPT */
};

#endif
