/* SPDX-License-Identifier: BSD-3-Clause */
#include "pauses.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chores.h"
#include "functions.h"
#include "gauge.h"
#include "preload/rounds.h"

#define LOOK_EVERY 0.1
#define LONG       1000000 /* ns: a round that is listed, with the one before it */
#define NS         1e-9    /* in seconds */

static char ring_path[64];
static struct rounds *rounds;
static atomic_bool missed;

static FILE *csv;
static double began; /* seconds() */
static struct functions *functions;

/* Two rounds, as one. */
static struct round worst; /* of ours */
static char worst_doing[128];
static unsigned long listed;
static struct round sums;
static _Atomic double longest_server, longest_ours;

/* ---- the ring ---- */

/* In memory: writing to a file on a disk may be waited for. The server has it open by the
 * time it answers. */
void pauses_before_server(void) {
    snprintf(ring_path, sizeof ring_path, "/dev/shm/bulwark-soak-%d", (int)getpid());
    int file = open(ring_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof *rounds) != 0) die("can't make %s", ring_path);
    rounds = mmap(NULL, sizeof *rounds, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (rounds == MAP_FAILED) die("can't map %s", ring_path);
    setenv("PRELOAD_FILE", ring_path, 1);
    setenv("LD_PRELOAD", module_path(variable("ROUNDS", "build/plain/preload/rounds.so")),
           1);
}

static uint64_t written(void) {
    return atomic_load_explicit(&rounds->written, memory_order_acquire);
}

void pauses_after_server(const struct target *server) {
    unlink(ring_path);
    unsetenv("LD_PRELOAD");
    unsetenv("PRELOAD_FILE");
    if (written() == 0) die("the server's rounds aren't noted");
    functions = functions_of(server->pid, server->module);
}

/* ---- judging ---- */

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

static void list(const struct round *r, const char *doing) {
    int64_t length = r->ended - r->began;
    fprintf(csv, "%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%lld,%s,%.3f,%s\n",
            (double)r->began * NS - began, ms(length), ms(r->ours), ms(r->fork),
            ms(server_of(r)), ms(length - r->computed), (long long)r->calls,
            functions_name(functions, r->function), ms(r->longest), doing);
    listed++;
    sums.ended += length;
    sums.computed += r->computed;
    sums.ours += r->ours;
    sums.fork += r->fork;
}

static void judge(const struct round *before, const struct round *r, const char *doing) {
    struct round pause = both(before, r);
    gauge_longest(&longest_server, (double)server_of(&pause) * NS);
    gauge_longest(&longest_ours, (double)pause.ours * NS);
    if (pause.ours > worst.ours) {
        worst = pause;
        snprintf(worst_doing, sizeof worst_doing, "%s", doing);
    }
    if (r->ended - r->began >= LONG) list(&pause, doing);
}

static uint64_t judge_from(uint64_t next) {
    static struct round before;
    char doing[128];
    chores_doing(doing, sizeof doing);
    for (uint64_t end = written(); next < end; next++) {
        struct round r = rounds->of[next % ROUNDS_KEPT];
        if (before.began) judge(&before, &r, doing);
        before = r;
    }
    fflush(csv);
    return next;
}

static void *look_on(void *data) {
    struct soak *s = data;
    uint64_t next = written();
    for (double due = seconds(); soak_wait_until(s, due); due += LOOK_EVERY) {
        uint64_t from = next;
        next = judge_from(from);
        if (written() - from >= ROUNDS_KEPT) atomic_store(&missed, true);
    }
    return NULL;
}

void pauses_start(struct soak *s) {
    pthread_t thread;
    csv = soak_file("pauses.csv", "second,pause_ms,ours_ms,fork_ms,server_ms,waited_ms,"
                                  "calls,longest_call,longest_call_ms,chores");
    began = s->began;
    if (pthread_create(&thread, NULL, look_on, s) != 0) die("no thread");
}

struct longest_pause pauses_take_longest(void) {
    return (struct longest_pause){atomic_exchange(&longest_server, 0),
                                  atomic_exchange(&longest_ours, 0)};
}

double pauses_tell(void) {
    double all = sums.ended > 0 ? (double)sums.ended / 100 : 1;
    printf("\nPauses with a round of a millisecond and more: %lu of %llu rounds\n", listed,
           (unsigned long long)written());
    printf("  ours                    %5.1f %%\n", (double)sums.ours / all);
    printf("  forks                   %5.1f %%\n", (double)sums.fork / all);
    printf("  the server              %5.1f %%\n", (double)server_of(&sums) / all);
    printf("  waited                  %5.1f %%\n",
           (double)(sums.ended - sums.computed) / all);
    printf("  the longest of ours: %.2f ms in %lld calls, at second %.1f, with: %s; the "
           "longest call: %s, %.2f ms\n",
           ms(worst.ours), (long long)worst.calls, (double)worst.began * NS - began,
           worst_doing, functions_name(functions, worst.function), ms(worst.longest));
    return atomic_load(&missed) ? INFINITY : (double)worst.ours * NS;
}
