/* SPDX-License-Identifier: BSD-3-Clause */
/* fill.c - bulwark fill: all items of a source into a new generation of a filter.
 *
 *     look       at settings, source, item template, server, filter: nothing is begun yet
 *     a pass     START of each part that isn't done
 *                settle: whoever added before START has committed, or shows its transaction
 *                read the source from its beginning: LOAD
 *                CHECK and COMMIT of each part
 *     another    for the parts that the server has lost meanwhile, if the source can be
 *                read again; all parts, if the estimated capacity turned out wrong
 *     report     or, after a failure, ABORT of what was begun
 *
 * COMMIT names the number of items that were sent, and the server refuses it if it has
 * fewer: nothing is vouched for too early, whatever was killed when. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fewer.h"
#include "interrupt.h"
#include "item.h"
#include "json.h"
#include "loader.h"
#include "numbers.h"
#include "progress.h"
#include "rebuild.h"
#include "run.h"
#include "source.h"
#include "split_check.h"

/* A server that loses a rebuild more often than this has another trouble. */
#define PASSES_MAX 5

/* What has come so far is sent if there is no more for this long. */
#define SLOW_SOURCE_MS 1000

/* All that was begun is undone in this time, or left to the next run. */
#define UNDO_MS 5000

struct fill {
    const struct settings *s;
    const char *filter;
    struct source *source;
    struct item_template item;
    struct nodes *nodes;
    struct parts parts;
    struct loader *loader;
    struct progress progress;
    uint64_t capacity; /* of all parts */
    bool corrected;    /* the capacity was estimated, and is known now */
    uint64_t read;     /* items that the source gave in this pass */
    unsigned passes;
    int64_t began, settled; /* ms; the second is how long settling took, in all passes */
    char *made;             /* an item, if the template adds something to it */
};

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

/* A fifth more than there are, so that the nightly rebuild comes before it is full. */
static uint64_t with_room(uint64_t items) {
    uint64_t more = items + items / 5;
    return more < 1000 ? 1000 : more;
}

static bool choose_capacity(struct fill *fill, struct failure *f) {
    const struct source *source = fill->source;
    fill->capacity = fill->s->capacity ? fill->s->capacity : with_room(source->count);
    if (fill->s->capacity || source->count || source->repeats) return true;
    return fail(f, EXIT_USAGE, "%s can't be counted beforehand: give --capacity",
                source->name);
}

static uint64_t part_capacity(const struct fill *fill) {
    return split_capacity(fill->capacity, (uint32_t)fill->parts.n);
}

static bool look(struct fill *fill, struct failure *f) {
    if (!check_settings(fill->s, f) || !item_prepare(fill->s, &fill->item, f)) return false;
    if (!server_prepare(fill->s, f)) return false;
    fill->source = source_open(fill->s, f);
    if (!fill->source || !choose_capacity(fill, f)) return false;
    if (!fill->source->count && fill->source->repeats && !fill->source->estimated &&
        !fill->s->empty)
        return fail(
            f, EXIT_SOURCE,
            "%s has no items: everything would be absent; if that is right, give --empty",
            fill->source->name);
    fill->nodes = nodes_open(fill->s, f);
    if (!fill->nodes) return false;
    part_make(&fill->parts, fill->filter, (uint32_t)fill->s->parts);
    for (uint32_t i = 0; i < fill->parts.n; i++)
        if (!rebuild_look(fill->nodes, &fill->parts.part[i], fill->s, f)) return false;
    if (fill->s->parts && !split_check(fill->nodes, fill->filter, fill->parts.n, f))
        return false;
    if (!fill->source->estimated &&
        !fewer_allowed(&fill->parts, fill->source->count, fill->source->name, fill->s, f))
        return false;
    fill->loader = loader_new(fill->nodes, &fill->parts);
    fill->made =
        fail_alloc(ITEM_BYTES_MAX + fill->item.before_length + fill->item.after_length);
    return true;
}

/* ---- a pass ---- */

static bool start_all(struct fill *fill, struct failure *f) {
    struct rebuild_plan plan = {.capacity = part_capacity(fill),
                                .clears_way = fill->s->stale == 0 && fill->passes == 1,
                                .settings = fill->s};
    for (uint32_t i = 0; i < fill->parts.n; i++) {
        struct part *p = &fill->parts.part[i];
        if (p->state == PART_DONE) continue;
        if (!rebuild_start(fill->nodes, p, &plan, f)) return false;
    }
    return true;
}

/* How long transactions are waited for. */
static int64_t patience(const struct settings *s) {
    return s->stale > s->timeout ? s->stale : s->timeout;
}

/* Who added an item before START has to have committed it, so that the source shows it.
 * Who adds and then begins a transaction does both within --settle: so the mark comes after
 * that, and the transaction may take its time. */
static bool settle_writers(struct fill *fill, struct failure *f) {
    struct source *source = fill->source;
    char waits[256], said[256] = "";
    if (!interrupt_sleep(fill->s->settle, f) || !source_mark(source, f)) return false;
    for (int64_t until = interrupt_clock() + patience(fill->s);;) {
        if (!source_settled(source, waits, sizeof(waits), f)) return false;
        if (!*waits) return true;
        if (interrupt_clock() > until)
            return fail(f, EXIT_SOURCE, "%s: end it, or wait longer with --stale", waits);
        if (strcmp(waits, said) != 0) progress_say("%s", strcpy(said, waits));
        if (!interrupt_sleep(200, f)) return false;
    }
}

static bool settle(struct fill *fill, struct failure *f) {
    int64_t began = interrupt_clock();
    bool good = settle_writers(fill, f);
    fill->settled += interrupt_clock() - began;
    return good;
}

static const char *make_item(struct fill *fill, const struct source_item *value,
                             size_t *length) {
    const struct item_template *t = &fill->item;
    *length = t->before_length + value->length + t->after_length;
    if (*length == value->length) return value->text;
    memcpy(fill->made, t->before, t->before_length);
    memcpy(fill->made + t->before_length, value->text, value->length);
    memcpy(fill->made + t->before_length + value->length, t->after, t->after_length);
    return fill->made;
}

static void take_value(struct fill *fill, const struct source_item *value) {
    if (!item_good(&fill->item, value)) return;
    size_t length;
    const char *item = make_item(fill, value, &length);
    struct part *p = &fill->parts.part[split_part(item, length, fill->parts.n)];
    fill->read++;
    if (p->state == PART_OPEN) loader_add(fill->loader, p, item, length);
}

static uint32_t count_parts(const struct fill *fill, int state) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < fill->parts.n; i++)
        n += fill->parts.part[i].state == (unsigned)state;
    return n;
}

static bool turn(struct fill *fill, int fd, struct failure *f) {
    progress_show(&fill->progress, fill->read, loader_numbers(fill->loader)->bytes);
    return loader_turn(fill->loader, fd, f);
}

/* Reads more, once there is something to read. */
static bool receive(struct fill *fill, int64_t *idle_since, struct failure *f) {
    struct source *source = fill->source;
    struct pollfd p = {.fd = source_fd(source), .events = POLLIN};
    if (p.fd < 0 || poll(&p, 1, 0) > 0) {
        *idle_since = interrupt_clock();
        return source_receive(source, f);
    }
    if (interrupt_clock() - *idle_since > SLOW_SOURCE_MS) {
        loader_flush(fill->loader);
        *idle_since = interrupt_clock();
    }
    return turn(fill, p.fd, f);
}

/* Until the source ends, or all parts are lost. */
static bool read_source(struct fill *fill, struct failure *f) {
    int64_t idle_since = interrupt_clock();
    struct source_item value;
    while (count_parts(fill, PART_OPEN) > 0) {
        enum source_answer answer = SOURCE_ITEM;
        while (answer == SOURCE_ITEM && loader_has_room(fill->loader)) {
            answer = source_next(fill->source, &value, f);
            if (answer == SOURCE_ITEM) take_value(fill, &value);
        }
        if (answer == SOURCE_FAILED) return false;
        if (answer == SOURCE_END) return true;
        if (interrupt_came()) return interrupt_fail(f);
        bool good =
            answer == SOURCE_EMPTY ? receive(fill, &idle_since, f) : turn(fill, -1, f);
        if (!good) return false;
    }
    return true;
}

static bool load(struct fill *fill, struct failure *f) {
    fill->read = 0;
    fill->item.bad = 0;
    if (!source_begin(fill->source, f)) return false;
    progress_begin(&fill->progress, !fill->s->json, fill->source->count);
    bool good = read_source(fill, f);
    if (good) loader_flush(fill->loader);
    while (good && !loader_is_done(fill->loader))
        good = turn(fill, -1, f);
    progress_clear();
    return good;
}

static bool judge(struct fill *fill, struct failure *f) {
    if (fill->item.bad > 0)
        return fail(f, EXIT_ITEMS,
                    "%llu value%s of %s can't be %s: mend %s, or see --binary",
                    (unsigned long long)fill->item.bad, fill->item.bad == 1 ? "" : "s",
                    fill->source->name, fill->item.bad == 1 ? "an item" : "items",
                    fill->item.bad == 1 ? "it" : "them");
    if (fill->read == 0 && !fill->s->empty)
        return fail(
            f, EXIT_SOURCE,
            "%s has no items: everything would be absent; if that is right, give --empty",
            fill->source->name);
    return fewer_allowed(&fill->parts, fill->read, fill->source->name, fill->s, f);
}

/* The estimate was so far off that the filter would be too small, or a waste. */
static bool misjudged(struct fill *fill) {
    if (!fill->source->estimated || fill->s->capacity || fill->corrected) return false;
    if (fill->read <= fill->capacity && fill->read >= fill->capacity / 4) return false;
    fill->corrected = true;
    fill->capacity = with_room(fill->read);
    progress_say(
        "%s has %llu items, not about %llu: the fill begins again with room for %llu",
        fill->source->name, (unsigned long long)fill->read,
        (unsigned long long)fill->source->count, (unsigned long long)fill->capacity);
    fill->source->count = fill->read;
    return true;
}

static bool commit_all(struct fill *fill, struct failure *f) {
    for (uint32_t i = 0; i < fill->parts.n; i++)
        if (!rebuild_check(fill->nodes, &fill->parts.part[i], fill->s, fill->parts.n, i, f))
            return false;
    for (uint32_t i = 0; i < fill->parts.n; i++) {
        struct part *p = &fill->parts.part[i];
        if (interrupt_came()) return interrupt_fail(f);
        if (p->state == PART_OPEN && !rebuild_commit(fill->nodes, p, fill->s, f))
            return false;
    }
    return true;
}

/* A node that gave no answer isn't asked again: its parts lie side by side. */
static bool abort_all(struct fill *fill, int64_t until, struct failure *f) {
    const struct node *silent = NULL;
    bool good = true;
    for (uint32_t i = 0; i < fill->parts.n && interrupt_clock() < until; i++) {
        struct part *p = &fill->parts.part[i];
        const struct node *node = fill->nodes->owner[split_slot(p->key, strlen(p->key))];
        if (p->state != PART_OPEN) continue;
        bool undone = (!node || node != silent) && rebuild_abort(fill->nodes, p, f);
        if (!undone) silent = node;
        good = good && undone;
    }
    return good;
}

/* Between the first COMMIT and the last, a node may have failed over. */
static bool verify_all(struct fill *fill, struct failure *f) {
    for (uint32_t i = 0; i < fill->parts.n; i++)
        if (!rebuild_verify(fill->nodes, &fill->parts.part[i], f)) return false;
    return true;
}

static bool pass(struct fill *fill, struct failure *f) {
    fill->passes++;
    if (!start_all(fill, f) || !settle(fill, f) || !load(fill, f)) return false;
    if (count_parts(fill, PART_OPEN) == 0) return true;
    if (!judge(fill, f)) return false;
    if (!misjudged(fill)) return commit_all(fill, f);
    return abort_all(fill, INT64_MAX, f);
}

static bool may_pass_again(struct fill *fill, struct failure *f) {
    uint32_t lost = count_parts(fill, PART_LOST);
    if (lost == 0) return true;
    if (!fill->source->repeats)
        return fail(
            f, EXIT_SERVER,
            "the server restarted or failed over and lost the rebuild, and %s can't be "
            "read again: run this once more",
            fill->source->name);
    if (fill->passes >= PASSES_MAX)
        return fail(
            f, EXIT_SERVER,
            "the rebuild was lost %u times: look at the server, then run this once more",
            fill->passes);
    progress_say(
        "%s: the server restarted, failed over or was told BF.LOADING, or another loader "
        "took over: the fill begins again (%u of %u keys)",
        fill->filter, lost, fill->parts.n);
    return interrupt_sleep(500, f);
}

static bool fill_all(struct fill *fill, struct failure *f) {
    while (count_parts(fill, PART_DONE) < fill->parts.n) {
        if (!pass(fill, f)) return false;
        if (count_parts(fill, PART_DONE) == fill->parts.n && !verify_all(fill, f))
            return false;
        if (!may_pass_again(fill, f)) return false;
    }
    return true;
}

/* ---- the end ---- */

static void report_json(const struct fill *fill, double seconds) {
    const struct loader_numbers *n = loader_numbers(fill->loader);
    json_open(stdout, NULL);
    json_text(stdout, "filter", fill->filter);
    json_count(stdout, "items", fill->read);
    json_count(stdout, "capacity", fill->capacity);
    json_rate(stdout, "error_rate", strtod(fill->parts.part[0].rate, NULL));
    json_count(stdout, "parts", fill->parts.n);
    json_rate(stdout, "seconds", seconds);
    json_rate(stdout, "seconds_settling", (double)fill->settled / 1000);
    json_count(stdout, "bytes_sent", n->bytes);
    json_count(stdout, "batches_sent_again", n->sent_again);
    json_count(stdout, "redirections", n->redirections);
    json_count(stdout, "passes", fill->passes);
    json_close(stdout);
    json_end_line(stdout);
}

/* "200 k items in 5.1s, 5s of them settling (1.96 M/s after it), ..." */
static void say_how_fast(const struct fill *fill, int64_t ms) {
    char items[NUMBERS_TEXT], time[NUMBERS_TEXT], settled[NUMBERS_TEXT], rate[NUMBERS_TEXT];
    int64_t at_work = ms > fill->settled ? ms - fill->settled : 1;
    printf("%s item%s in %s", numbers_show_count(items, fill->read),
           fill->read == 1 ? "" : "s", numbers_show_time(time, ms));
    if (fill->settled >= 100)
        printf(", settling for %s of it", numbers_show_time(settled, fill->settled));
    printf(" (%s/s)", numbers_show_count(rate, fill->read * 1000 / (uint64_t)at_work));
}

static void report(const struct fill *fill) {
    char capacity[NUMBERS_TEXT];
    const struct loader_numbers *n = loader_numbers(fill->loader);
    int64_t ms = interrupt_clock() - fill->began;
    if (fill->s->json) {
        report_json(fill, (double)ms / 1000);
        return;
    }
    printf("%s is ready: ", fill->filter);
    say_how_fast(fill, ms);
    printf(", room for %s, error rate %s\n", numbers_show_count(capacity, fill->capacity),
           fill->parts.part[0].rate);
    if (n->sent_again || n->redirections || fill->passes > 1)
        printf("on the way, batches sent again: %llu, redirections: %llu, passes: %u\n",
               (unsigned long long)n->sent_again, (unsigned long long)n->redirections,
               fill->passes);
    if (fill->read > fill->capacity)
        printf("more items than --capacity: the filter has grown, and asks in more places; "
               "take %llu next time\n",
               (unsigned long long)with_room(fill->read));
}

/* Whatever was begun is undone, where the server can still be reached; in a moment, not in
 * --timeout for each part. */
static void undo(struct fill *fill, struct failure *f) {
    struct settings brief = *fill->s;
    brief.timeout = brief.timeout < 1000 ? brief.timeout : 1000;
    nodes_hurry(fill->nodes, &brief);
    struct failure ignored;
    interrupt_undo();
    abort_all(fill, interrupt_clock() + UNDO_MS, &ignored);
    uint32_t left = count_parts(fill, PART_OPEN), done = count_parts(fill, PART_DONE);
    size_t at = strlen(f->text);
    if (left > 0)
        snprintf(
            f->text + at, sizeof(f->text) - at,
            "; %u rebuild%s begun could not be undone: the next run does, after --stale",
            left, left == 1 ? " that was" : "s that were");
    else if (done > 0)
        snprintf(f->text + at, sizeof(f->text) - at, "; %u of %u keys are filled and ready",
                 done, fill->parts.n);
    fill->nodes->settings = fill->s;
}

static void report_json_of_dry_run(const struct fill *fill) {
    json_open(stdout, NULL);
    json_text(stdout, "filter", fill->filter);
    json_bool(stdout, "dry_run", true);
    json_text(stdout, "source", fill->source->name);
    json_count(stdout, "items", fill->source->count);
    json_bool(stdout, "items_are_estimated", fill->source->estimated);
    json_count(stdout, "capacity", fill->capacity);
    json_count(stdout, "parts", fill->parts.n);
    json_close(stdout);
    json_end_line(stdout);
}

static void say_what_would_be_done(const struct fill *fill) {
    if (fill->s->json) {
        report_json_of_dry_run(fill);
        return;
    }
    const char *old = fill->parts.part[0].rate;
    const char *rate = fill->s->error ? fill->s->error
                       : *old         ? old
                                      : "as the server's bf-error-rate says";
    printf("%s: %llu item%s%s\n", fill->source->name,
           (unsigned long long)fill->source->count, fill->source->count == 1 ? "" : "s",
           fill->source->estimated ? ", estimated" : "");
    printf("%s: ", fill->filter);
    if (fill->s->parts)
        printf("%u key%s, each with ", fill->parts.n, fill->parts.n == 1 ? "" : "s");
    printf("room for %llu items, error rate %s\n", (unsigned long long)part_capacity(fill),
           rate);
    printf("nothing was done (--dry-run)\n");
}

bool run_fill(const struct settings *s, struct failure *f) {
    struct fill fill = {.s = s, .filter = s->operands[0], .began = interrupt_clock()};
    bool good = look(&fill, f);
    if (good && s->dry_run)
        say_what_would_be_done(&fill);
    else if (good) {
        good = fill_all(&fill, f);
        if (good)
            report(&fill);
        else
            undo(&fill, f);
    }
    loader_free(fill.loader);
    if (fill.parts.part) part_free(&fill.parts);
    nodes_close(fill.nodes);
    if (fill.source) source_close(fill.source);
    free(fill.made);
    return good;
}
