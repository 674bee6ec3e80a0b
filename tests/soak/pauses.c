/* SPDX-License-Identifier: BSD-3-Clause */
#include "pauses.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "chores.h"
#include "ours.h"
#include "prober.h"
#include "slow.h"
#include "stills.h"
#include "wire.h"

#define LOOK_EVERY 0.1
#define SETTLE_US  50000 /* until the others have noted what followed a wait */
#define BATCH_MAX  512

/* Where a wait has gone, in seconds. */
struct pause {
    struct probe probe;
    double still, fork, disk, left, ours;
    double evicted; /* keys, since the look before */
    char by[64];    /* the command that most of ours was */
    char doing[128], slow[128], events[128];
};

static FILE *csv;
static double began;
static struct pause worst, worst_of_ours;
static unsigned long seen;
static struct pause sums; /* of all */
static _Atomic double longest_left, longest_ours;

static void take_off(double *left, double *part, double most) {
    *part = most < *left ? most : *left;
    *left -= *part;
}

/* A thread may be in the queue while the machine stands still: what the server computed is
 * left in any case. */
static void weigh(struct pause *p) {
    double end = p->probe.sent + p->probe.wait, ran = p->probe.wait - p->probe.queued;
    p->still = stills_within(p->probe.sent, end);
    double least = p->probe.computed - p->still;
    p->left = ran - p->still;
    if (p->left < least) p->left = least < ran ? least : ran;
    if (p->left < 0) p->left = 0;
    p->ours = ours_within(p->probe.sent, end, p->by, sizeof p->by);
}

static void write_pause(const struct pause *p) {
    fprintf(csv, "%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.0f,%s,%s,%s,%s\n",
            p->probe.sent - began, p->probe.wait * 1e3, p->probe.queued * 1e3,
            p->still * 1e3, p->fork * 1e3, p->disk * 1e3, p->left * 1e3, p->ours * 1e3,
            p->probe.computed * 1e3, p->evicted, p->by, p->doing, p->slow, p->events);
}

static void note(const struct pause *p) {
    write_pause(p);
    gauge_longest(&longest_left, p->left);
    gauge_longest(&longest_ours, p->ours);
    if (p->left > worst.left) worst = *p;
    if (p->ours > worst_of_ours.ours) worst_of_ours = *p;
    seen++;
    sums.probe.wait += p->probe.wait;
    sums.probe.queued += p->probe.queued;
    sums.still += p->still;
    sums.fork += p->fork;
    sums.disk += p->disk;
    sums.left += p->left;
    sums.ours += p->ours;
}

/* What one look found. */
struct look {
    struct probe probes[BATCH_MAX];
    size_t nprobes;
    double fork;    /* seconds */
    double evicted; /* keys */
    struct slow_events events;
    char slow[128];
};

/* The longest one gets what was found once since the last look. */
static void put_down(struct pause *longest, const struct look *look) {
    take_off(&longest->left, &longest->fork, look->fork);
    take_off(&longest->left, &longest->disk, look->events.disk);
    longest->ours += look->events.freed;
}

static void judge_batch(const struct look *look) {
    static struct pause pauses[BATCH_MAX];
    size_t n = look->nprobes, longest = 0;
    char doing[128];
    chores_doing(doing, sizeof doing);
    for (size_t i = 0; i < n; i++) {
        struct pause *p = &pauses[i];
        *p = (struct pause){.probe = look->probes[i], .evicted = look->evicted};
        weigh(p);
        strcpy(p->doing, doing);
        strcpy(p->slow, look->slow);
        strcpy(p->events, look->events.text);
        if (p->left > pauses[longest].left) longest = i;
    }
    if (n > 0) put_down(&pauses[longest], look);
    for (size_t i = 0; i < n; i++) {
        if (pauses[i].ours > pauses[i].left) pauses[i].ours = pauses[i].left;
        note(&pauses[i]);
    }
    fflush(csv);
}

/* The waits come last: a fork or an event that is seen here belongs to one of them. */
static void look_around(redisContext *c, struct look *look) {
    static double fork_before = -1, evicted_before;
    double evicted = slow_number(c, "INFO stats", "evicted_keys");
    look->evicted = evicted - evicted_before;
    evicted_before = evicted;
    look->slow[0] = '\0';
    slow_commands(c, look->slow, sizeof look->slow);
    slow_events(c, &look->events);
    double fork = slow_number(c, "INFO stats", "latest_fork_usec") * 1e-6;
    look->fork = fork != fork_before && fork_before >= 0 ? fork : 0;
    fork_before = fork;
    look->nprobes = prober_take(look->probes, BATCH_MAX);
}

static void *look_on(void *data) {
    static struct look look;
    struct soak *s = data;
    redisContext *c = wire_open(&s->server);
    for (double due = seconds(); soak_wait_until(s, due); due += LOOK_EVERY) {
        look_around(c, &look);
        usleep(SETTLE_US);
        judge_batch(&look);
    }
    redisFree(c);
    return NULL;
}

void pauses_start(struct soak *s) {
    pthread_t thread;
    csv = soak_file(
        "pauses.csv",
        "second,wait_ms,queued_ms,still_ms,fork_ms,disk_ms,"
        "left_ms,ours_ms,computed_ms,evicted,ours_by,chores,slow_commands,events");
    began = s->began;
    stills_start();
    ours_start(s);
    prober_start(s);
    if (pthread_create(&thread, NULL, look_on, s) != 0) die("no thread");
}

struct own_pause pauses_take_longest(void) {
    double left = atomic_exchange(&longest_left, 0),
           ours = atomic_exchange(&longest_ours, 0);
    return (struct own_pause){left, ours};
}

static void tell_worst(const char *name, double longest, const struct pause *p) {
    printf("  the longest of %s: %.2f ms, at second %.1f, with: %s; most of ours: %s; "
           "slowest command: %s; events: %s; keys evicted: %.0f\n",
           name, longest * 1e3, p->probe.sent - began, p->doing, p->by, p->slow, p->events,
           p->evicted);
}

double pauses_tell(void) {
    double all = sums.probe.wait > 0 ? sums.probe.wait / 100 : 1;
    printf("\nPauses of a millisecond and more: %lu\n", seen);
    printf("  waiting for a processor %3.0f %%\n", sums.probe.queued / all);
    printf("  the machine stood still %3.0f %%\n", sums.still / all);
    printf("  forks                   %3.0f %%\n", sums.fork / all);
    printf("  the append-only file    %3.0f %%\n", sums.disk / all);
    printf("  the server computed     %3.0f %%\n", sums.left / all);
    printf("    of that ours, at most %3.0f %%\n", sums.ours / all);
    if (worst.left > 0) tell_worst("what was computed", worst.left, &worst);
    if (worst_of_ours.ours > 0) tell_worst("ours", worst_of_ours.ours, &worst_of_ours);
    slow_tell();
    return worst_of_ours.ours;
}
