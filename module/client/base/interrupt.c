/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

/* timeout(1) sends its signal twice. */
#define SAME_MS 500

/* For an answer that is on its way. */
#define GRACE_MS 300

static volatile sig_atomic_t came;
static int64_t came_at; /* the handler's own */
static bool undoes;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

/* The next one ends the program, whichever it is. */
static void note(int signal_number) {
    int reason = errno;
    int64_t now = interrupt_clock();
    if (came && now - came_at >= SAME_MS) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    } else if (!came) {
        came = signal_number;
        came_at = now;
    }
    errno = reason;
}

/* Without SA_RESTART: what waits must return. A hang-up that nohup ignores stays so. */
void interrupt_watch(void) {
    struct sigaction action = {.sa_handler = note}, found;
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &action, &found);
        if (signals[i] == SIGHUP && found.sa_handler == SIG_IGN) signal(SIGHUP, SIG_IGN);
    }
    signal(SIGPIPE, SIG_IGN);
}

bool interrupt_came(void) {
    return came != 0 && !undoes;
}

int64_t interrupt_until(int64_t until) {
    static int64_t noticed_at;
    if (!interrupt_came()) return until;
    if (!noticed_at) noticed_at = interrupt_clock();
    return until < noticed_at + GRACE_MS ? until : noticed_at + GRACE_MS;
}

void interrupt_undo(void) {
    undoes = true;
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
    for (int64_t left = ms; left > 0 && !interrupt_came(); left = until - interrupt_clock())
        poll(NULL, 0, (int)(left < 100 ? left : 100));
    return interrupt_came() ? interrupt_fail(f) : true;
}
