/* SPDX-License-Identifier: BSD-3-Clause */
#include "ours.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define EVERY 0.001 /* seconds */
#define KEPT  8192

struct sum {
    double asked, answered; /* moments */
    double ours;            /* seconds since the server's start */
};

static struct sum sums[KEPT];
static size_t next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* SET overwrites. */
static bool is_ours(const char *command) {
    static const char *const names[] = {"bf.", "del:", "unlink:", "set:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(command, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static double add_up(const char *text) {
    static const char head[] = "cmdstat_";
    double sum = 0;
    for (const char *at = text; (at = strstr(at, head)); at++) {
        const char *took = is_ours(at + sizeof head - 1) ? strstr(at, "usec=") : NULL;
        if (took) sum += strtod(took + 5, NULL) * 1e-6;
    }
    return sum;
}

static void note(const struct sum *sum) {
    pthread_mutex_lock(&lock);
    sums[next++ % KEPT] = *sum;
    pthread_mutex_unlock(&lock);
}

static void *count(void *data) {
    struct soak *s = data;
    redisContext *c = wire_open(&s->server);
    soak_go_first();
    for (double due = seconds(); soak_wait_until(s, due); due = seconds() + EVERY) {
        struct sum sum = {.asked = seconds()};
        redisReply *r = wire_ask(c, "INFO commandstats");
        sum.answered = seconds();
        sum.ours = add_up(r->str);
        freeReplyObject(r);
        note(&sum);
    }
    redisFree(c);
    return NULL;
}

void ours_start(struct soak *s) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, s) != 0) die("no thread");
}

double ours_within(double from, double to) {
    const struct sum *before = NULL, *after = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = next < KEPT ? 0 : next - KEPT; i < next; i++) {
        const struct sum *sum = &sums[i % KEPT];
        if (sum->answered <= from) before = sum;
        if (!after && sum->asked >= to) after = sum;
    }
    double most = before && after ? after->ours - before->ours : INFINITY;
    pthread_mutex_unlock(&lock);
    return most;
}
