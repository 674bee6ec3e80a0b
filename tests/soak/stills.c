/* SPDX-License-Identifier: BSD-3-Clause */
#include "stills.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "soak.h"

#define STEP  0.001
#define LEAST 0.0002 /* seconds: less than this is the timer's own scatter */
#define KEPT  4096   /* the last of them */

struct still {
    double from, to;
};

static struct still stills[KEPT];
static size_t next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(double from, double to) {
    pthread_mutex_lock(&lock);
    stills[next++ % KEPT] = (struct still){from, to};
    pthread_mutex_unlock(&lock);
}

static void *watch(void *processor) {
    const char *own = "/proc/thread-self/schedstat";
    pin_to(*(const int *)processor);
    prctl(PR_SET_TIMERSLACK, 1);
    double queued = waited_for_processor(own);
    for (;;) {
        double due = seconds() + STEP;
        struct timespec t = {(time_t)due, (long)((due - (double)(time_t)due) * 1e9)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        double now = seconds(), queued_now = waited_for_processor(own);
        double late = now - due - (queued_now - queued);
        queued = queued_now;
        if (late > LEAST) note(due, due + late);
    }
    return NULL;
}

void stills_start(void) {
    static const int processors[] = {OF_SERVER, OF_OTHERS};
    for (size_t i = 0; i < 2; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, watch, (void *)&processors[i]) != 0)
            die("no thread");
    }
}

/* Both may stand still at once: then it counts once, as the longer of the two. */
double stills_within(double from, double to) {
    double sum = 0, covered = from;
    pthread_mutex_lock(&lock);
    for (size_t i = next < KEPT ? 0 : next - KEPT; i < next; i++) {
        struct still s = stills[i % KEPT];
        if (s.from < covered) s.from = covered;
        if (s.to > to) s.to = to;
        if (s.to <= s.from) continue;
        sum += s.to - s.from;
        covered = s.to;
    }
    pthread_mutex_unlock(&lock);
    return sum;
}
