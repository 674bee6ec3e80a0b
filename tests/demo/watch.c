/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdbool.h>
#include <unistd.h>

#include "screen.h"

#define LOOK_EVERY 0.5 /* seconds */

double rate(const struct sum *s, enum count what, double stretch) {
    return stretch > 0 ? (double)s->counts[what] / stretch : 0;
}

double hit_share(const struct sum *s) {
    uint64_t reads = s->counts[READS];
    return reads ? (double)s->counts[READ_HITS] / (double)reads : 0;
}

/* The histogram's steps are 3 % wide: what was given up reads as a little more. */
static double shown_wait(const struct sum *s, double share) {
    double wait = sum_quantile(s, share);
    return wait < PATIENCE ? wait : PATIENCE;
}

static struct view view_of(const struct sum *s, double stretch,
                           const struct cache_state *c) {
    return (struct view){.reads = rate(s, READS, stretch),
                         .attacks = rate(s, ATTACKS, stretch),
                         .queries = rate(s, QUERIES, stretch),
                         .hit_share = hit_share(s),
                         .p50 = shown_wait(s, 0.5),
                         .p99 = shown_wait(s, 0.99),
                         .memory = c->memory,
                         .evicted = c->evicted};
}

static void write_line(FILE *csv, enum way way, double time, const struct view *v) {
    fprintf(csv, "%d,%.2f,%.0f,%.0f,%.0f,%.4f,%.6f,%.6f,%.0f,%llu\n", way, time, v->queries,
            v->reads, v->attacks, v->hit_share, v->p50, v->p99, v->memory,
            (unsigned long long)v->evicted);
}

struct seen watch(struct traffic *t, const struct plan *plan, const char *title,
                  const char *(*remark)(void *context), void *context, FILE *csv) {
    struct seen seen = {0};
    struct sum start = {0}, quiet = {0}, last = {0};
    double last_time = 0, quiet_time = 0;
    bool attacked = false;
    redisContext *c = cache_connect();

    for (int look = 1; look * LOOK_EVERY <= plan->length + LOOK_EVERY / 2; look++) {
        double wait = look * LOOK_EVERY - traffic_time(t);
        if (wait > 0) usleep((useconds_t)(wait * 1e6));
        struct sum sum = traffic_sum(t), step = sum_minus(&sum, &last);
        double now = traffic_time(t), stretch = now - last_time;
        seen.cache = cache_look(c);
        if (seen.cache.memory > seen.most_memory) seen.most_memory = seen.cache.memory;

        struct view v = view_of(&step, stretch, &seen.cache);
        if (csv) write_line(csv, plan->way, now - stretch / 2, &v);
        v.title = title;
        v.remark = remark ? remark(context) : attacked ? "under attack" : "normal reads";
        v.time = now < plan->length ? now : plan->length;
        v.length = plan->length;
        v.refused = sum.counts[REFUSED];
        if (screen_is_terminal() || look % 2 == 0) screen_show(&v);

        if (look * LOOK_EVERY <= plan->attack_from) {
            quiet = sum;
            quiet_time = now;
        }
        attacked = look * LOOK_EVERY >= plan->attack_from;
        last = sum;
        last_time = now;
    }
    traffic_join(t);
    screen_settle();
    redisFree(c);

    seen.quiet = sum_minus(&quiet, &start);
    seen.quiet_seconds = quiet_time;
    last = traffic_sum(t);
    seen.attack = sum_minus(&last, &quiet);
    seen.attack_seconds = traffic_time(t) - quiet_time;
    return seen;
}
