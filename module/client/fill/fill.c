/* SPDX-License-Identifier: BSD-3-Clause */
/* fill.c - bulwark fill: all items of a source into a new generation of a filter.
 *
 *     look       at settings, source, item template, server, filter: nothing is begun yet
 *     filling    START, LOAD, CHECK, COMMIT: filling.h
 *     report     or, after a failure, ABORT of what was begun */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fewer.h"
#include "filling.h"
#include "base/interrupt.h"
#include "print/json.h"
#include "print/numbers.h"
#include "run.h"
#include "server/split_check.h"

/* All that was begun is undone in this time, or left to the next run. */
#define UNDO_MS 5000

/* ---- looking ---- */

static bool check_settings(const struct settings *s, struct failure *f) {
    if (s->parts > SPLIT_PARTS_MAX)
        return fail(f, EXIT_USAGE, "--parts is at most %u", SPLIT_PARTS_MAX);
    if (s->batch < 1 || s->batch > 100000)
        return fail(f, EXIT_USAGE, "--batch is 1 to 100000 items");
    if (s->window < 1 || s->window > 10000)
        return fail(f, EXIT_USAGE, "--window is 1 to 10000 batches");
    if (s->lease % 1000) return fail(f, EXIT_USAGE, "--lease wants whole seconds");
    if (!*s->operands[0]) return fail(f, EXIT_USAGE, "the filter needs a name");
    return true;
}

static bool choose_capacity(struct filling *g, struct failure *f) {
    const struct source *source = g->source;
    g->capacity = g->s->capacity ? g->s->capacity : filling_room_for(source->count);
    if (g->s->capacity || source->count || source->repeats) return true;
    return fail(f, EXIT_USAGE, "%s can't be counted beforehand: give --capacity",
                source->name);
}

static bool look(struct filling *g, struct failure *f) {
    if (!check_settings(g->s, f) || !item_prepare(g->s, &g->item, f)) return false;
    if (!server_prepare(g->s, f)) return false;
    g->source = source_open(g->s, f);
    if (!g->source || !choose_capacity(g, f)) return false;
    if (!g->source->count && g->source->repeats && !g->source->estimated && !g->s->empty)
        return fail(
            f, EXIT_SOURCE,
            "%s has no items: everything would be absent; if that is right, give --empty",
            g->source->name);
    return filling_open(g, f) &&
           (!g->s->parts || split_check(g->nodes, g->filter, g->parts.n, f)) &&
           (g->source->estimated ||
            fewer_allowed(&g->parts, g->source->count, g->source->name, g->s, f));
}

/* ---- the ways of this subcommand ---- */

static bool start(struct filling *g, struct part *p, struct failure *f) {
    return filling_start_part(g, p, g->s->stale == 0 && g->passes == 1, f);
}

static bool commit(struct filling *g, struct part *p, struct failure *f) {
    return rebuild_commit(g->nodes, p, g->s, f);
}

static bool verify(struct filling *g, struct part *p, struct failure *f) {
    return rebuild_verify(g->nodes, p, f);
}

static const struct filling_ways ways = {
    .start = start, .commit = commit, .verify = verify};

/* ---- the end ---- */

static void report_json(const struct filling *g, double seconds) {
    const struct loader_numbers *n = loader_numbers(g->loader);
    json_open(stdout, NULL);
    json_text(stdout, "filter", g->filter);
    json_count(stdout, "items", g->read);
    json_count(stdout, "capacity", g->capacity);
    json_rate(stdout, "error_rate", strtod(g->parts.part[0].rate, NULL));
    json_count(stdout, "parts", g->parts.n);
    json_rate(stdout, "seconds", seconds);
    json_rate(stdout, "seconds_settling", (double)g->settled / 1000);
    json_rate(stdout, "seconds_waiting", (double)g->waited / 1000);
    json_count(stdout, "bytes_sent", n->bytes);
    json_count(stdout, "batches_sent_again", n->sent_again);
    json_count(stdout, "redirections", n->redirections);
    json_count(stdout, "passes", g->passes);
    json_close(stdout);
    json_end_line(stdout);
}

static void say_part(const char *what, int64_t ms) {
    char time[NUMBERS_TEXT];
    if (ms >= 100) printf(", %s for %s of it", what, numbers_show_time(time, ms));
}

/* "200 k items in 5.1s, settling for 5s of it (1.96 M/s)": the rate is without that. */
static void say_how_fast(const struct filling *g, int64_t ms) {
    char items[NUMBERS_TEXT], time[NUMBERS_TEXT], rate[NUMBERS_TEXT];
    int64_t idle = g->settled + g->waited, at_work = ms > idle ? ms - idle : 1;
    printf("%s item%s in %s", numbers_show_count(items, g->read), g->read == 1 ? "" : "s",
           numbers_show_time(time, ms));
    say_part("waiting to begin", g->waited);
    say_part("settling", g->settled);
    printf(" (%s/s)", numbers_show_count(rate, g->read * 1000 / (uint64_t)at_work));
}

static void report(const struct filling *g, int64_t ms) {
    char capacity[NUMBERS_TEXT];
    const struct loader_numbers *n = loader_numbers(g->loader);
    if (g->s->json) {
        report_json(g, (double)ms / 1000);
        return;
    }
    printf("%s is ready: ", g->filter);
    say_how_fast(g, ms);
    printf(", room for %s, error rate %s\n", numbers_show_count(capacity, g->capacity),
           g->parts.part[0].rate);
    if (n->sent_again || n->redirections || g->passes > 1)
        printf("on the way, batches sent again: %llu, redirections: %llu, passes: %u\n",
               (unsigned long long)n->sent_again, (unsigned long long)n->redirections,
               g->passes);
    if (g->read > g->capacity)
        printf("more items than --capacity: the filter has grown, and asks in more places; "
               "take %llu next time\n",
               (unsigned long long)filling_room_for(g->read));
}

/* Whatever was begun is undone, where the server can still be reached; in a moment, not in
 * --timeout for each part. */
static void undo(struct filling *g, struct failure *f) {
    struct settings brief = *g->s;
    brief.timeout = brief.timeout < 1000 ? brief.timeout : 1000;
    nodes_hurry(g->nodes, &brief);
    struct failure ignored;
    interrupt_undo();
    filling_abort(g, interrupt_clock() + UNDO_MS, &ignored);
    uint32_t left = filling_count(g, PART_OPEN), done = filling_count(g, PART_DONE);
    size_t at = strlen(f->text);
    if (left > 0)
        snprintf(
            f->text + at, sizeof(f->text) - at,
            "; %u rebuild%s begun could not be undone: the next run does, after --stale",
            left, left == 1 ? " that was" : "s that were");
    else if (done > 0)
        snprintf(f->text + at, sizeof(f->text) - at, "; %u of %u keys are filled and ready",
                 done, g->parts.n);
    g->nodes->settings = g->s;
}

static void report_json_of_dry_run(const struct filling *g) {
    json_open(stdout, NULL);
    json_text(stdout, "filter", g->filter);
    json_bool(stdout, "dry_run", true);
    json_text(stdout, "source", g->source->name);
    json_count(stdout, "items", g->source->count);
    json_bool(stdout, "items_are_estimated", g->source->estimated);
    json_count(stdout, "capacity", g->capacity);
    json_count(stdout, "parts", g->parts.n);
    json_close(stdout);
    json_end_line(stdout);
}

static void say_what_would_be_done(const struct filling *g) {
    if (g->s->json) {
        report_json_of_dry_run(g);
        return;
    }
    const char *old = g->parts.part[0].rate;
    const char *rate = g->s->error ? g->s->error
                       : *old      ? old
                                   : "as the server's bf-error-rate says";
    printf("%s: %llu item%s%s\n", g->source->name, (unsigned long long)g->source->count,
           g->source->count == 1 ? "" : "s", g->source->estimated ? ", estimated" : "");
    printf("%s: ", g->filter);
    if (g->s->parts) printf("%u key%s, each with ", g->parts.n, g->parts.n == 1 ? "" : "s");
    printf("room for %llu items, error rate %s\n",
           (unsigned long long)filling_part_capacity(g), rate);
    printf("nothing was done (--dry-run)\n");
}

/* How long transactions are waited for. */
static int64_t patience(const struct settings *s) {
    return s->stale > s->timeout ? s->stale : s->timeout;
}

bool run_fill(const struct settings *s, struct failure *f) {
    int64_t began = interrupt_clock();
    struct filling g = {
        .ways = &ways, .s = s, .filter = s->operands[0], .patience = patience(s)};
    bool good = look(&g, f);
    if (good && s->dry_run)
        say_what_would_be_done(&g);
    else if (good) {
        good = filling_run(&g, f);
        if (good)
            report(&g, interrupt_clock() - began);
        else
            undo(&g, f);
    }
    filling_close(&g);
    if (g.source) source_close(g.source);
    return good;
}
