/* SPDX-License-Identifier: BSD-3-Clause */
#include "prober.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EVERY 0.001 /* seconds */

/* This thread waits for no other of its processor, where that is allowed: what it counts is
 * the server. */
static void go_first(void) {
    struct sched_param first = {.sched_priority = 1};
    prctl(PR_SET_TIMERSLACK, 1);
    sched_setscheduler(0, SCHED_FIFO, &first);
}

static void *probe(void *data) {
    struct soak *s = data;
    int fd = target_connect(&s->server);
    go_first();
    for (double due = seconds(); soak_wait_until(s, due); due += EVERY) {
        ask_target(fd, "EXISTS text");
        gauge_wait(&s->probe, seconds() - due);
    }
    close(fd);
    return NULL;
}

void prober_start(struct soak *s) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, probe, s) != 0) die("no thread");
}
