/* SPDX-License-Identifier: BSD-3-Clause */
#include "rebuild.h"

#include <pthread.h>
#include <unistd.h>

#include "child.h"
#include "loader.h"
#include "proof.h"
#include "rows.h"
#include "screen.h"

#define BEFORE       0.2    /* of the time changes pile up before the rebuild begins */
#define BATCH_PAUSE  0.0015 /* seconds: a rebuild is in no hurry */
#define ABSENT_AGAIN 0.95   /* of the deleted rows, at least: errors are 0.001 */

/* What goes on beside the traffic. */
struct scene {
    double wait_first;
    struct loading loading;
    struct writer *writer;
    const struct rows *rows;
    double traffic_ended; /* seconds() */
    size_t deletions;     /* before the rebuild */
    struct answers before;
};

static void *rebuild(void *argument) {
    struct scene *s = argument;
    usleep((useconds_t)(s->wait_first * 1e6));
    s->deletions = writer_deletions(s->writer);
    s->before = proof_deleted(s->writer, s->rows, s->deletions, seconds());
    loader_run(&s->loading);
    return NULL;
}

static const char *remark(void *argument) {
    struct scene *s = argument;
    return atomic_load(&s->loading.step) ? loader_step_name(&s->loading)
                                         : "rows come and go";
}

/* ---- the proof ---- */

/* Prints a line; the last column says whether it is as it must be. */
static bool fact(bool holds, const char *what, size_t n) {
    say("  %-70s %9zu   %s", what, n, holds ? "ok" : "WRONG");
    return holds;
}

static bool prove(const struct scene *s, const struct sum *sum, const struct rows *rows) {
    const uint64_t *counts = sum->counts;
    struct answers all = proof_every_row();
    struct answers after =
        proof_deleted(s->writer, rows, s->deletions, s->loading.snapshot);
    double slowest = writer_slowest(s->writer);
    bool holds = true;

    say("Rebuilt under traffic: %zu rows loaded in %.1f s, START to COMMIT %.1f s; %zu "
        "rows\n"
        "inserted and %zu deleted in all; slowest insert %.0f ms, waited %.0f ms for "
        "it.\n",
        s->loading.loaded, s->loading.committed - s->loading.snapshot,
        s->loading.committed - s->loading.started, writer_inserts(s->writer),
        writer_deletions(s->writer), 1e3 * slowest, 1e3 * s->loading.wait);

    holds &= fact(slowest < s->loading.wait, "inserts slower than the wait after START",
                  slowest >= s->loading.wait);
    holds &= fact(s->loading.committed < s->traffic_ended, "COMMIT after the traffic's end",
                  s->loading.committed >= s->traffic_ended);
    holds &= fact(counts[ASKED_REAL] > 0,
                  "questions about rows that were there all the time", counts[ASKED_REAL]);
    holds &= fact(counts[ASKED_RECENT] > 0, "  of these, about one of the latest rows",
                  counts[ASKED_RECENT]);
    holds &= fact(counts[REFUSED] == 0, "  REAL ROWS REFUSED", counts[REFUSED]);
    holds &= fact(counts[ABSENT] > 0, "questions answered \"absent\"", counts[ABSENT]);
    holds &= fact(counts[FOUND_AFTER] == 0, "  found by the database after all",
                  counts[FOUND_AFTER]);
    fact(true, "  (looked up there)", counts[VERIFIED]);
    holds &= fact(s->loading.sample_missing == 0 && s->loading.sampled > 0,
                  "sampled rows missing before COMMIT", s->loading.sample_missing);
    holds &=
        fact(all.asked > 0, "rows in the database afterwards, each asked for", all.asked);
    holds &= fact(all.absent == 0, "  answered \"absent\"", all.absent);
    holds &= fact(all.unknown == 0, "  answered \"unknown\"", all.unknown);
    holds &= fact(s->before.asked > 0, "rows deleted before the rebuild", s->before.asked);
    holds &= fact(s->before.maybe == s->before.asked, "  answered \"maybe\" before it",
                  s->before.maybe);
    holds &= fact(after.asked > 0, "  of these, not inserted again", after.asked);
    holds &= fact((double)after.absent >= ABSENT_AGAIN * (double)after.asked,
                  "  answered \"absent\" after it", after.absent);
    return holds;
}

/* ---- the act ---- */

bool rebuild_play(const struct scale *scale, struct rows *rows) {
    const struct plan plan = {.length = scale->rebuild,
                              .attack_from = 0,
                              .reads = scale->reads,
                              .attacks = scale->attacks,
                              .way = SHIELDED,
                              .request = proof_request,
                              .context = rows};
    struct scene s = {.wait_first = scale->rebuild * BEFORE, .rows = rows};
    s.loading = (struct loading){.error = "0.001",
                                 .capacity = shield_capacity(scale),
                                 .wait = PATIENCE,
                                 .pause = BATCH_PAUSE};
    s.writer = writer_start(rows, scale->writes);
    struct traffic *t = traffic_start(&plan);
    pthread_t loader;
    if (pthread_create(&loader, NULL, rebuild, &s) != 0) die("no thread");

    watch(t, &plan, "Rebuild under full traffic", remark, &s, NULL);
    s.traffic_ended = seconds();
    pthread_join(loader, NULL);
    writer_stop(s.writer);
    struct sum sum = traffic_sum(t);
    bool holds = prove(&s, &sum, rows);
    traffic_free(t);
    writer_free(s.writer);
    return holds;
}
