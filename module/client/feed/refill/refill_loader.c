/* SPDX-License-Identifier: BSD-3-Clause */
/* refill_loader.c - see refill_loader.h. */
#include "refill_loader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fill/filling.h"
#include "base/interrupt.h"
#include "record.h"
#include "rows.h"

/* A rebuild of nobody who is at work: the START of a loader that was killed before it could
 * write down the token. */
#define STALE_MS 5000

#define PROGRESS_MS 1000

/* How often is written down how far it is, at most. */
#define RECORD_MS 250

struct loading {
    struct filling filling; /* first: the ways get a pointer to it */
    const struct feed_config *config;
    const enum refill_wish *wishes;
    int from, to;
    struct settings settings;

    struct record record;
    char *place_key; /* of the record: beside the first part */
    bool any_anew;   /* a part was begun in this pass: it has nothing before the key */
    bool went;       /* the feed sends changes */
    bool recorded;   /* this loader has written down a key */
    int64_t said_at; /* clock: progress */

    /* A place that is written down as soon as all before it is acknowledged: so many items
     * of each part. */
    bool waits;
    int64_t marked_at;
    char *place;
    size_t length;
    uint64_t place_read, *items;
};

/* ---- talking ---- */

/* One line, whatever PostgreSQL says. A feed that doesn't listen has ended. */
static void tell(const struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(const struct loading *l, const char *format, ...) {
    char line[REFILL_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    size_t n = strlen(line);
    for (size_t i = 0; i < n; i++)
        if (line[i] == '\n') line[i] = ' ';
    line[n++] = '\n';
    if (write(l->to, line, n) != (ssize_t)n) _exit(EXIT_INTERRUPTED);
}

static void wait_for_go(const struct loading *l) {
    char word[3];
    if (read(l->from, word, sizeof(word)) != sizeof(word)) _exit(EXIT_INTERRUPTED);
}

static void tell_progress(struct loading *l) {
    int64_t now = interrupt_clock();
    if (now - l->said_at < PROGRESS_MS) return;
    l->said_at = now;
    tell(l, "progress %" PRIu64 " %" PRIu64, l->filling.read, l->filling.source->count);
}

/* ---- writing down ---- */

/* Parts that were handed over stay in it: whoever comes next may need them again. */
static bool write_record(struct loading *l, struct failure *f) {
    for (uint32_t i = 0; i < l->filling.parts.n; i++) {
        const struct part *p = &l->filling.parts.part[i];
        bool has =
            p->state == PART_OPEN || (p->state == PART_DONE && l->record.tokens[i][0]);
        if (has && p->state == PART_OPEN)
            memcpy(l->record.tokens[i], p->token, sizeof(p->token));
        if (!has) l->record.tokens[i][0] = '\0';
    }
    l->record.capacity = l->filling.capacity;
    return record_write(l->filling.nodes, l->place_key, &l->record, f);
}

static void set_key(struct loading *l, char *key, size_t length, uint64_t read) {
    free(l->record.key);
    l->record.key = key;
    l->record.length = length;
    l->record.read = read;
}

static void mark_place(struct loading *l) {
    struct filling *g = &l->filling;
    size_t length;
    const char *place =
        g->source->kind->reached ? g->source->kind->reached(g->source, &length) : NULL;
    if (!place || interrupt_clock() - l->marked_at < RECORD_MS) return;
    l->marked_at = interrupt_clock();
    l->place = fail_strndup(place, length);
    l->length = length;
    l->place_read = g->read;
    l->waits = true;
    loader_flush(g->loader);
    for (uint32_t i = 0; i < g->parts.n; i++)
        l->items[i] = g->parts.part[i].items;
}

static bool is_acknowledged(const struct loading *l) {
    for (uint32_t i = 0; i < l->filling.parts.n; i++) {
        const struct part *p = &l->filling.parts.part[i];
        if (p->state == PART_OPEN && loader_acknowledged(p) < l->items[i]) return false;
    }
    return true;
}

static bool turned(struct filling *g, struct failure *f) {
    struct loading *l = (struct loading *)g;
    tell_progress(l);
    if (!g->loads) return true;
    if (!l->waits) mark_place(l);
    if (!l->waits || !is_acknowledged(l)) return true;
    l->waits = false;
    set_key(l, l->place, l->length, l->place_read);
    l->place = NULL;
    l->recorded = true;
    return write_record(l, f);
}

/* ---- the ways of a loader ---- */

static uint32_t index_of(const struct filling *g, const struct part *p) {
    return (uint32_t)(p - g->parts.part);
}

/* One that was taken up is open. */
static bool start(struct filling *g, struct part *p, struct failure *f) {
    struct loading *l = (struct loading *)g;
    if (p->state == PART_OPEN) return true;
    if (!filling_start_part(g, p, false, f)) return false;
    l->any_anew = true;
    tell(l, "start %" PRIu32, index_of(g, p));
    return true;
}

static bool started(struct filling *g, struct failure *f) {
    struct loading *l = (struct loading *)g;
    if (l->any_anew) set_key(l, NULL, 0, 0);
    l->any_anew = l->waits = false;
    free(l->place);
    l->place = NULL;
    if (!write_record(l, f)) return false;
    g->after = l->record.key ? fail_strndup(l->record.key, l->record.length) : NULL;
    g->after_length = l->record.length;
    if (g->after) g->read = l->record.read;
    tell(l, "started");
    wait_for_go(l);
    l->went = true;
    return true;
}

static bool hand_over(struct filling *g, struct part *p, struct failure *f) {
    (void)f;
    tell((struct loading *)g, "part %" PRIu32 " %s %" PRIu64, index_of(g, p), p->token,
         p->items);
    p->state = PART_DONE;
    return true;
}

static const struct filling_ways ways = {
    .start = start, .started = started, .turned = turned, .commit = hand_over};

/* ---- what was left ---- */

/* What has no rebuild, and isn't wanted but for that, is done with. */
static bool take_up(struct loading *l, uint32_t i, struct failure *f) {
    struct filling *g = &l->filling;
    struct part *p = &g->parts.part[i];
    const char *token = l->record.tokens[i];
    bool may = l->wishes[i] == REFILL_LEFT || l->wishes[i] == REFILL_GO_ON;
    if (may && *token && !rebuild_take_up(g->nodes, p, token, f)) return false;
    if (p->state != PART_OPEN && l->wishes[i] <= REFILL_LEFT) p->state = PART_DONE;
    return true;
}

/* Only our own: another's isn't ended by its token. */
static bool undo(struct loading *l, uint32_t i, struct failure *f) {
    struct part *p = &l->filling.parts.part[i];
    char *token = l->record.tokens[i];
    if (!*token || p->state == PART_DONE) return true;
    memcpy(p->token, token, sizeof(p->token));
    *token = '\0';
    return rebuild_abort(l->filling.nodes, p, f);
}

static bool take_up_all(struct loading *l, struct failure *f) {
    struct filling *g = &l->filling;
    if (!record_read(g->nodes, l->place_key, g->parts.n, &l->record, f)) return false;
    for (uint32_t i = 0; i < g->parts.n; i++)
        if (!take_up(l, i, f) || (g->parts.part[i].state != PART_OPEN && !undo(l, i, f)))
            return false;
    return true;
}

/* The table is what was read before, or all begins anew. */
static bool check_identity(struct loading *l, struct failure *f) {
    struct filling *g = &l->filling;
    uint64_t identity = rows_identity(g->source, l->config);
    bool same = l->record.rows == identity && filling_count(g, PART_OPEN) > 0;
    l->record.rows = identity;
    if (same && l->record.capacity) g->capacity = l->record.capacity;
    if (same) return true;
    set_key(l, NULL, 0, 0);
    for (uint32_t i = 0; i < g->parts.n; i++)
        if (!undo(l, i, f)) return false;
    return true;
}

/* ---- the whole ---- */

static bool open_source(struct loading *l, struct failure *f) {
    struct filling *g = &l->filling;
    g->source = rows_open(l->config, &l->settings, &g->item, f);
    if (!g->source) return false;
    g->capacity = g->s->capacity ? g->s->capacity : filling_room_for(g->source->count);
    return check_identity(l, f);
}

static bool fill(struct loading *l, struct failure *f) {
    struct filling *g = &l->filling;
    if (!filling_open(g, f)) return false;
    l->place_key = state_key(g->parts.part[0].key, g->s->cluster);
    if (!take_up_all(l, f)) return false;
    l->items = fail_alloc(g->parts.n * sizeof(*l->items));
    if (filling_count(g, PART_DONE) == g->parts.n)
        return record_delete(g->nodes, l->place_key, f);
    return open_source(l, f) && filling_run(g, f);
}

/* What the next loader can't go on with. A key that can't be gone on behind, too. */
static void clear_up(struct loading *l, enum exit_code why) {
    struct failure ignored;
    struct filling *g = &l->filling;
    bool useless = why == EXIT_ITEMS || (g->passes > 0 && !l->went);
    bool stuck = why == EXIT_SOURCE && g->after && !l->recorded;
    if (useless) filling_abort(g, INT64_MAX, &ignored);
    if (l->place_key && (useless || stuck)) record_delete(g->nodes, l->place_key, &ignored);
}

/* As the options of `bulwark fill`. Nobody is asked whether a table may have shrunk. */
static struct settings settings_for(const struct feed_config *c) {
    struct settings s = c->settings;
    s.pg = c->database;
    s.table = c->table;
    s.kind = "lines";
    s.empty = s.fewer = s.json = true;
    s.standby = false;
    s.settle = s.lease = 0;
    s.stale = STALE_MS;
    return s;
}

void refill_load(const struct feed_config *c, const enum refill_wish *wishes, int from,
                 int to) {
    struct failure f = {.code = EXIT_DONE};
    struct loading l = {.config = c, .wishes = wishes, .from = from, .to = to};
    l.settings = settings_for(c);
    l.filling = (struct filling){
        .ways = &ways, .s = &l.settings, .filter = c->filter, .patience = INT64_MAX};
    bool good = fill(&l, &f);
    if (!good) {
        if (l.filling.nodes) clear_up(&l, f.code);
        tell(&l, "failed %s", f.text);
    } else
        tell(&l, "loaded");
    _exit(good ? EXIT_DONE : (int)f.code);
}
