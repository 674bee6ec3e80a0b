/* SPDX-License-Identifier: BSD-3-Clause */
#include "pauses.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chores.h"
#include "functions.h"
#include "gauge.h"
#include "preload/rounds.h"

#define LOOK_EVERY_US 100000
#define LONG          1000000 /* ns: a round that is listed, with the one before it */
#define WARM_UP       120     /* seconds */
#define NS            1e-9    /* in seconds */

static struct rounds *rounds;
static pthread_t thread;
static atomic_bool ending;

static FILE *csv;
static double began; /* seconds() */
static struct functions *functions;

/* What is found. Only the thread writes it, until it has ended. */
static bool missed;
static uint64_t judged, calls;
static struct longest {
    struct round pause; /* two rounds, as one */
    char doing[128];
} worst, worst_warming_up; /* of ours */
static unsigned long listed;
static double sums_length, sums_computed, sums_ours, sums_fork; /* ns, of long rounds */
static _Atomic double longest_server, longest_ours;

/* ---- the ring ---- */

/* A file in memory, that has no name and goes with the two of us: writing to one on a disk
 * may have to be waited for. */
void pauses_before_server(void) {
    char path[64];
    int file = memfd_create("rounds", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof *rounds) != 0) die("no memory for rounds");
    rounds = mmap(NULL, sizeof *rounds, PROT_READ, MAP_SHARED, file, 0);
    if (rounds == MAP_FAILED) die("can't map rounds");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    setenv("PRELOAD_FILE", path, 1);
    setenv("LD_PRELOAD", module_path(variable("ROUNDS", "build/plain/preload/rounds.so")),
           1);
}

static uint64_t written(void) {
    return atomic_load_explicit(&rounds->written, memory_order_acquire);
}

void pauses_after_server(const struct target *server) {
    unsetenv("LD_PRELOAD");
    unsetenv("PRELOAD_FILE");
    if (written() == 0) die("the server's rounds aren't noted");
    functions = functions_of(server->pid, server->module);
}

/* ---- judging ---- */

/* One after the other, as if there were nothing in between. */
static struct round both(const struct round *a, const struct round *b) {
    const struct round *longer = a->longest > b->longest ? a : b;
    return (struct round){.began = a->began,
                          .ended = b->ended - (b->began - a->ended),
                          .computed = a->computed + b->computed,
                          .ours = a->ours + b->ours,
                          .fork = a->fork + b->fork,
                          .calls = a->calls + b->calls,
                          .longest = longer->longest,
                          .function = longer->function};
}

static int64_t server_of(const struct round *r) {
    return r->computed - r->ours - r->fork;
}

static double ms(int64_t ns) {
    return (double)ns * 1e-6;
}

static void list(const struct round *pause, const char *doing) {
    int64_t length = pause->ended - pause->began;
    fprintf(csv, "%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%lld,%s,%.3f,%s\n",
            (double)pause->began * NS - began, ms(length), ms(pause->ours), ms(pause->fork),
            ms(server_of(pause)), ms(length - pause->computed), (long long)pause->calls,
            functions_name(functions, pause->function), ms(pause->longest), doing);
}

static void add_up(const struct round *r) {
    listed++;
    sums_length += (double)(r->ended - r->began);
    sums_computed += (double)r->computed;
    sums_ours += (double)r->ours;
    sums_fork += (double)r->fork;
}

static void judge(const struct round *before, const struct round *r, const char *doing) {
    struct round pause = both(before, r);
    bool warm = (double)r->began * NS > began + WARM_UP;
    struct longest *longest = warm ? &worst : &worst_warming_up;
    judged++;
    calls += (uint64_t)r->calls;
    gauge_longest(&longest_server, (double)server_of(&pause) * NS);
    gauge_longest(&longest_ours, (double)pause.ours * NS);
    if (pause.ours > longest->pause.ours) {
        longest->pause = pause;
        snprintf(longest->doing, sizeof longest->doing, "%s", doing);
    }
    if (r->ended - r->began < LONG) return;
    list(&pause, doing);
    add_up(r);
}

static uint64_t judge_from(uint64_t next) {
    static struct round before;
    char doing[128];
    uint64_t from = next;
    chores_doing(doing, sizeof doing);
    for (uint64_t end = written(); next < end; next++) {
        struct round r = rounds->of[next % ROUNDS_KEPT];
        if (before.began) judge(&before, &r, doing);
        before = r;
    }
    atomic_thread_fence(memory_order_acquire);
    if (written() - from >= ROUNDS_KEPT) missed = true;
    fflush(csv);
    return next;
}

static void *look_on(void *data) {
    uint64_t next = *(uint64_t *)data;
    while (!atomic_load(&ending)) {
        next = judge_from(next);
        usleep(LOOK_EVERY_US);
    }
    judge_from(next);
    return NULL;
}

void pauses_start(const struct soak *s) {
    static uint64_t first;
    csv = soak_file("pauses.csv", "second,pause_ms,ours_ms,fork_ms,server_ms,waited_ms,"
                                  "calls,longest_call,longest_call_ms,chores");
    began = s->began;
    first = written();
    if (pthread_create(&thread, NULL, look_on, &first) != 0) die("no thread");
}

struct longest_pause pauses_take_longest(void) {
    return (struct longest_pause){atomic_exchange(&longest_server, 0),
                                  atomic_exchange(&longest_ours, 0)};
}

static void tell_longest(const char *name, const struct longest *longest) {
    const struct round *p = &longest->pause;
    printf("  the longest of ours%s: %.2f ms in %lld calls, at second %.1f, with: %s; the "
           "longest call: %s, %.2f ms\n",
           name, ms(p->ours), (long long)p->calls, (double)p->began * NS - began,
           longest->doing, functions_name(functions, p->function), ms(p->longest));
}

double pauses_tell(void) {
    atomic_store(&ending, true);
    pthread_join(thread, NULL);
    double all = sums_length > 0 ? sums_length / 100 : 1;
    printf("\nRounds of the server's main thread: %llu, with %llu calls of the module\n"
           "Those of a millisecond and more: %lu\n",
           (unsigned long long)judged, (unsigned long long)calls, listed);
    printf("  ours       %5.1f %%\n", sums_ours / all);
    printf("  forks      %5.1f %%\n", sums_fork / all);
    printf("  the server %5.1f %%\n", (sums_computed - sums_ours - sums_fork) / all);
    printf("  waited     %5.1f %%\n", (sums_length - sums_computed) / all);
    tell_longest(" in the first two minutes", &worst_warming_up);
    tell_longest("", &worst);
    bool broken = atomic_load(&rounds->broken);
    if (missed || broken || calls == 0)
        printf("  %s: nothing is known\n", missed   ? "a round was missed"
                                           : broken ? "a round ended within a call"
                                                    : "the module tells of no call");
    return missed || broken || calls == 0 ? INFINITY : (double)worst.pause.ours * NS;
}
