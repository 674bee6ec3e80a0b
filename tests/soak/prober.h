/* SPDX-License-Identifier: BSD-3-Clause */
/* prober.h - another client: a small question every millisecond.
 *
 * Its waits count from when each question was due, so a pause is felt by all that fall into
 * it; beside that, each from when it was sent, without the queues for a processor. Of a
 * millisecond and more it is handed to pauses.h with what the kernel tells of it:
 *
 *     sent                                                        answered
 *      |---- waits for a processor ----|---- computes ----|- rest -|
 *           the prober, or the server's     that thread     the disk, or the machine
 *           main thread                                     stood still
 */
#ifndef PROBER_H
#define PROBER_H

#include "soak.h"

/* Seconds. */
struct probe {
    double sent, wait;
    double queued; /* the server's main thread and the prober waited for a processor */
    double
        computed; /* the main thread, as far as the kernel has noted it: 4 ms less or so */
};

void prober_start(struct soak *s);

/* The long waits since the last call, at most `room`: how many. */
size_t prober_take(struct probe *into, size_t room);

#endif
