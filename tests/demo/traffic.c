/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "child.h"
#include "rows.h"

struct traffic {
    const struct plan *plan;
    double start;
    atomic_ullong next; /* request that nobody has taken up */
    pthread_t threads[WORKERS];
    struct worker workers[WORKERS];
};

/* ---- the plan ---- */

static double due(const struct plan *p, uint64_t n) {
    double quiet = p->attack_from * p->reads;
    if ((double)n < quiet) return (double)n / p->reads;
    return p->attack_from + ((double)n - quiet) / (p->reads + p->attacks);
}

static bool is_attack(const struct plan *p, uint64_t n) {
    if ((double)n < p->attack_from * p->reads) return false;
    return scatter(~n) % (p->reads + p->attacks) >= p->reads;
}

/* ---- workers ---- */

static void sleep_until(double moment) {
    struct timespec t = {.tv_sec = (time_t)moment};
    t.tv_nsec = (long)((moment - (double)t.tv_sec) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void serve(struct worker *w, uint64_t n, double moment) {
    const struct plan *p = w->plan;
    bool attack = is_attack(p, n), too_late = seconds() - moment > PATIENCE;
    tally_count(&w->tally, attack ? ATTACKS : READS);
    if (too_late) tally_count(&w->tally, attack ? ATTACKS_LOST : GIVEN_UP);
    if (!too_late) p->request(w, n, attack);
    if (!attack) tally_wait(&w->tally, too_late ? PATIENCE : seconds() - moment);
}

static void *work(void *argument) {
    struct worker *w = argument;
    struct traffic *t = w->traffic;
    prctl(PR_SET_TIMERSLACK, 1000); /* ns; 50 us would look like latency */
    for (;;) {
        uint64_t n = atomic_fetch_add(&t->next, 1);
        double after = due(t->plan, n);
        if (after >= t->plan->length) return NULL;
        if (seconds() < t->start + after) sleep_until(t->start + after);
        serve(w, n, t->start + after);
    }
}

/* ---- all of them ---- */

struct traffic *traffic_start(const struct plan *plan) {
    struct traffic *t = calloc(1, sizeof *t);
    if (!t) die("no memory");
    t->plan = plan;
    for (size_t i = 0; i < WORKERS; i++) {
        struct worker *w = &t->workers[i];
        w->traffic = t;
        w->plan = plan;
        w->shop = (struct shop){plan->way, cache_connect(), database_open(), &w->tally};
    }
    t->start = seconds();
    for (size_t i = 0; i < WORKERS; i++)
        if (pthread_create(&t->threads[i], NULL, work, &t->workers[i]) != 0)
            die("no thread");
    return t;
}

double traffic_time(const struct traffic *t) {
    return seconds() - t->start;
}

struct sum traffic_sum(const struct traffic *t) {
    struct sum s = {0};
    for (size_t i = 0; i < WORKERS; i++)
        sum_add(&s, &t->workers[i].tally);
    return s;
}

void traffic_join(struct traffic *t) {
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(t->threads[i], NULL);
}

void traffic_free(struct traffic *t) {
    for (size_t i = 0; i < WORKERS; i++) {
        redisFree(t->workers[i].shop.cache);
        database_close(t->workers[i].shop.db);
    }
    free(t);
}
