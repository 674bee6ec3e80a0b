/* SPDX-License-Identifier: BSD-3-Clause */
#include "ours.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define EVERY 0.001 /* seconds */
#define KEPT  8192

/* A command's place is that in which it was seen first. */
#define COMMANDS 64
#define NAME_MAX 32
static char seen[COMMANDS][NAME_MAX];

struct sum {
    double asked, answered; /* moments */
    double of[COMMANDS];    /* seconds since the server's start */
    double calls[COMMANDS];
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

static size_t place_of(const char *command) {
    size_t length = strcspn(command, ":"), i = 0;
    if (length >= NAME_MAX) length = NAME_MAX - 1;
    while (i < COMMANDS - 1 && seen[i][0] &&
           (strncmp(seen[i], command, length) != 0 || seen[i][length]))
        i++;
    if (!seen[i][0]) memcpy(seen[i], command, length);
    return i;
}

static void add_up(struct sum *sum, const char *text) {
    static const char head[] = "cmdstat_";
    for (const char *at = text; (at = strstr(at, head));) {
        at += sizeof head - 1;
        const char *calls = is_ours(at) ? strstr(at, "calls=") : NULL,
                   *took = calls ? strstr(calls, "usec=") : NULL;
        if (!took) continue;
        size_t place = place_of(at);
        sum->calls[place] += strtod(calls + 6, NULL);
        sum->of[place] += strtod(took + 5, NULL) * 1e-6;
    }
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
        add_up(&sum, r->str);
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

static double spent(const struct sum *before, const struct sum *after, char *by,
                    size_t room) {
    double all = 0, most = 0;
    *by = '\0';
    for (size_t i = 0; i < COMMANDS && seen[i][0]; i++) {
        double one = after->of[i] - before->of[i];
        all += one;
        if (one <= most) continue;
        most = one;
        snprintf(by, room, "%s %.1f ms in %.0f", seen[i], one * 1e3,
                 after->calls[i] - before->calls[i]);
    }
    return all;
}

double ours_within(double from, double to, char *by, size_t room) {
    const struct sum *before = NULL, *after = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = next < KEPT ? 0 : next - KEPT; i < next; i++) {
        const struct sum *sum = &sums[i % KEPT];
        if (sum->answered <= from) before = sum;
        if (!after && sum->asked >= to) after = sum;
    }
    snprintf(by, room, "unknown");
    double all = before && after ? spent(before, after, by, room) : INFINITY;
    pthread_mutex_unlock(&lock);
    return all;
}
