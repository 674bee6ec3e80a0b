/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <unistd.h>

#include "loader.h"
#include "rows.h"
#include "screen.h"

#define HOT_PERCENT 95 /* of the reads are for hot rows, the others for any */

const char *const way_names[] = {
    [CACHE_ONLY] = "cache only",
    [NULL_CACHING] = "cache, nulls cached",
    [SHIELDED] = "Bulwark, BF.GUARD",
};

/* ---- requests ---- */

static int64_t choose_id(const struct offer *o, uint64_t n) {
    uint64_t random = scatter(n * 2);
    bool hot = scatter(n * 2 + 1) % 100 < HOT_PERCENT;
    return rows_id(o->rows, random % (hot ? o->scale->hot_rows : o->scale->rows));
}

static void request(struct worker *w, uint64_t n, bool is_attack) {
    const struct offer *o = w->plan->context;
    if (is_attack) {
        shop_read(&w->shop, random_id(n));
        return;
    }
    enum page page = shop_read(&w->shop, choose_id(o, n));
    tally_count(&w->tally, ASKED_REAL);
    if (page == PAGE_CACHED) tally_count(&w->tally, READ_HITS);
    if (page == PAGE_REFUSED || page == PAGE_NOT_FOUND) tally_count(&w->tally, REFUSED);
}

/* ---- before the runs ---- */

static void request_nothing(struct worker *w, uint64_t n, bool is_attack) {
    (void)is_attack;
    shop_read(&w->shop, random_id(~n));
}

/* More requests than any machine answers: all workers are busy all the time. After
 * PATIENCE the rest is given up, so the look comes before. */
static double measure_once(void) {
    const struct plan plan = {.length = PATIENCE,
                              .attacks = 500000,
                              .way = CACHE_ONLY,
                              .request = request_nothing};
    struct traffic *t = traffic_start(&plan);
    usleep((useconds_t)(0.3 * PATIENCE * 1e6)); /* until everything is warm */
    struct sum first = traffic_sum(t);
    double began = traffic_time(t);
    usleep((useconds_t)(0.6 * PATIENCE * 1e6));
    struct sum last = traffic_sum(t);
    double stretch = traffic_time(t) - began;
    traffic_join(t);
    traffic_free(t);
    struct sum sum = sum_minus(&last, &first);
    return rate(&sum, QUERIES, stretch);
}

/* The best of three: what others do on the machine only ever takes away. */
unsigned run_measure_database(const struct scale *scale) {
    double best = 0;
    cache_start(scale->memory_limit);
    for (int i = 0; i < 3; i++) {
        double once = measure_once();
        if (once > best) best = once;
    }
    cache_stop();
    return (unsigned)(best / 100) * 100;
}

/* ---- the run ---- */

static double filter_bytes(void) {
    redisContext *c = cache_connect();
    redisReply *r = cache_ask(c, "BF.INFO " SHIELD " SIZE");
    double bytes = r->elements == 1 ? (double)r->element[0]->integer : 0;
    freeReplyObject(r);
    redisFree(c);
    return bytes;
}

static void raise_shield(struct run *run, const struct scale *scale) {
    struct loading l = {.error = "0.001", .capacity = shield_capacity(scale)};
    loader_run(&l);
    run->fill_seconds = l.committed - l.started;
    run->filter_bytes = filter_bytes();
    say("Shield filled from the database: %zu rows in %.1f s, %.2f MiB, one error in 1000.",
        l.loaded, run->fill_seconds, run->filter_bytes / 1048576);
}

struct run run_play(enum way way, const struct offer *offer, FILE *csv) {
    const struct scale *scale = offer->scale;
    struct run run = {0};
    char title[96];
    const struct plan plan = {.length = scale->quiet + scale->attack,
                              .attack_from = scale->quiet,
                              .reads = scale->reads,
                              .attacks = scale->attacks,
                              .way = way,
                              .request = request,
                              .context = (void *)offer};
    cache_start(scale->memory_limit);
    if (way == SHIELDED) raise_shield(&run, scale);
    shop_warm_up(scale->hot_rows);
    snprintf(title, sizeof title, "Run %d of 3: %s", way + 1, way_names[way]);
    struct traffic *t = traffic_start(&plan);
    run.seen = watch(t, &plan, title, NULL, NULL, csv);
    traffic_free(t);
    return run;
}
