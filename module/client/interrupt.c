/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

static volatile sig_atomic_t came;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

/* The next one ends the program, whichever it is. */
static void note(int signal_number) {
    came = signal_number;
    for (int i = 0; i < SIGNALS; i++)
        signal(signals[i], SIG_DFL);
}

/* Without SA_RESTART: what waits must return. A hang-up that nohup ignores stays so. */
void interrupt_watch(void) {
    struct sigaction action = {.sa_handler = note}, found;
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &action, &found);
        if (signals[i] == SIGHUP && found.sa_handler == SIG_IGN) signal(SIGHUP, SIG_IGN);
    }
    signal(SIGPIPE, SIG_IGN);
}

bool interrupt_came(void) {
    return came != 0;
}

bool interrupt_fail(struct failure *f) {
    return fail(f, EXIT_INTERRUPTED, "interrupted");
}

int64_t interrupt_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* In steps, since a signal that comes just before poll() begins doesn't end it. */
bool interrupt_sleep(int64_t ms, struct failure *f) {
    int64_t until = interrupt_clock() + ms;
    for (int64_t left = ms; left > 0 && !came; left = until - interrupt_clock())
        poll(NULL, 0, (int)(left < 100 ? left : 100));
    return came ? interrupt_fail(f) : true;
}
