/* SPDX-License-Identifier: BSD-3-Clause */
/* follow.c - see follow.h. */
#include "follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netstring.h"

static const char items[] = "items ";

void follow_begin(struct follow *w, const struct feed_config *c, struct sink *s,
                  struct heart *h) {
    *w = (struct follow){.config = c, .sink = s, .heart = h};
}

void follow_end(struct follow *w) {
    free(w->item);
}

void follow_anew(struct follow *w) {
    w->relation = 0;
    w->deleted = 0;
    w->rest = NULL;
}

/* ---- rows ---- */

/* Partitions come under the name of their table: publish_via_partition_root. */
static bool is_our_table(const struct follow *w, const struct pgoutput *change) {
    return strcmp(change->schema, w->config->schema) == 0 &&
           strcmp(change->name, w->config->relation) == 0;
}

static bool take_relation(struct follow *w, const struct pgoutput *change,
                          struct failure *f) {
    const struct recipe *recipe = &w->config->item;
    if (!is_our_table(w, change)) return true;
    for (size_t i = 0; i < recipe->n; i++) {
        size_t column = 0;
        while (column < change->ncolumns &&
               strcmp(change->columns[column], recipe->column[i]) != 0)
            column++;
        if (column == change->ncolumns)
            return fail(f, EXIT_SOURCE,
                        "the table %s has no column %s any more, or the publication leaves "
                        "it out",
                        w->config->table, recipe->column[i]);
        w->column[i] = column;
    }
    w->relation = change->relation;
    return true;
}

/* A long value that was left alone may stand in the row as it was. */
static struct pgoutput_value value_at(const struct pgoutput *change, size_t column) {
    struct pgoutput_value v = change->values[column];
    bool is_known = v.kind != PGOUTPUT_UNCHANGED || column >= change->nold ||
                    change->old[column].kind != PGOUTPUT_TEXT;
    return is_known ? v : change->old[column];
}

/* A long value isn't sent that was left alone. If the item is made of nothing else, it is
 * in the filter already; and in the one that is being filled, unless its row has moved from
 * where the loader is still to come to where it has been. */
static void note_unchanged(struct follow *w, const struct pgoutput *change) {
    if (w->config->item.n > 1)
        sink_lose(w->sink,
                  "a row was updated whose item has values that are too long to be "
                  "sent again: see item in the configuration");
    else if (change->nold && w->sink->is_read)
        sink_lose(w->sink,
                  "a row's key was changed during a fill, and its item is too long to be "
                  "sent again: see item in the configuration");
}

/* A row with a NULL in its item has none. */
static bool take_row(struct follow *w, const struct pgoutput *change, struct failure *f) {
    struct recipe_value values[RECIPE_COLUMNS_MAX];
    const struct recipe *recipe = &w->config->item;
    bool unchanged = false;
    if (change->relation != w->relation) return true;
    for (size_t i = 0; i < recipe->n; i++) {
        if (w->column[i] >= change->ncolumns)
            return fail(f, EXIT_SOURCE, "a row of %s has fewer columns than the table",
                        w->config->table);
        const struct pgoutput_value v = value_at(change, w->column[i]);
        if (v.kind == PGOUTPUT_NULL) return true;
        unchanged = unchanged || v.kind == PGOUTPUT_UNCHANGED;
        values[i] = (struct recipe_value){v.text, v.length};
    }
    if (unchanged) {
        note_unchanged(w, change);
        return true;
    }
    size_t length = recipe_make(recipe, values, w->item, w->room);
    if (length > w->room) {
        w->room = 2 * length;
        w->item = fail_grow(w->item, w->room);
        recipe_make(recipe, values, w->item, w->room);
    }
    sink_add(w->sink, w->item, length);
    return true;
}

/* ---- messages ---- */

/* Items as the trigger of `announce` sends them. Anybody may send what isn't whole: nothing
 * is known of what it was to be, and the stream would never get past it. */
bool follow_rest(struct follow *w) {
    const char *item;
    size_t n;
    while (w->rest && sink_has_room(w->sink)) {
        if (netstring_next(&w->rest, w->rest_end, &item, &n)) {
            sink_add(w->sink, item, n);
            continue;
        }
        if (w->rest != w->rest_end) sink_lose(w->sink, "an announcement can't be read");
        if (w->rest_at) sink_commit(w->sink, w->rest_at);
        w->rest = NULL;
    }
    return !w->rest;
}

/* Nobody announces with `lag`; but whoever may connect can send messages. */
static bool is_announcement(const struct follow *w, const struct pgoutput *change) {
    return w->config->announce && change->length >= sizeof(items) - 1 &&
           memcmp(change->content, items, sizeof(items) - 1) == 0;
}

/* Once, although the stream may bring it again. */
static void take_refill(struct follow *w, const struct pgoutput *change) {
    static const char word[] = FOLLOW_REFILL;
    if (change->length != sizeof(word) - 1 || change->at <= w->refill_at ||
        memcmp(change->content, word, sizeof(word) - 1) != 0)
        return;
    w->refill_at = change->at;
    w->sink->refill_is_wanted = true;
}

static void take_message(struct follow *w, const struct pgoutput *change) {
    if (strcmp(change->prefix, w->config->prefix) != 0) return;
    if (!change->transactional) sink_begin(w->sink, change->at);
    if (is_announcement(w, change)) {
        w->rest = change->content + sizeof(items) - 1;
        w->rest_end = change->content + change->length;
        w->rest_at = change->transactional ? 0 : change->at;
        return;
    }
    take_refill(w, change);
    uint64_t beat = heart_receive(w->heart, change->content, change->length);
    if (!change->transactional) sink_commit(w->sink, change->at);
    if (beat) sink_beat_back(w->sink, beat);
}

/* Of what was deleted before a TRUNCATE nothing is left to count. */
static void count_deleted(struct follow *w) {
    uint64_t all = sink_items(w->sink);
    w->sink->deleted += w->deleted;
    if (w->truncated && w->sink->deleted < all) w->sink->deleted = all;
}

bool follow_change(struct follow *w, const struct pgoutput *change, struct failure *f) {
    switch (change->type) {
    case PGOUTPUT_RELATION:
        return take_relation(w, change, f);
    case PGOUTPUT_INSERT:
    case PGOUTPUT_UPDATE:
        return take_row(w, change, f);
    case PGOUTPUT_DELETE:
        w->deleted += change->relation == w->relation;
        break;
    case PGOUTPUT_TRUNCATE:
        if (pgoutput_has(change, w->relation)) w->truncated = true;
        break;
    case PGOUTPUT_COMMIT:
        count_deleted(w);
        sink_commit(w->sink, change->end);
        break;
    case PGOUTPUT_MESSAGE:
        take_message(w, change);
        break;
    case PGOUTPUT_BEGIN:
        w->deleted = 0;
        w->truncated = false;
        sink_begin(w->sink, change->end);
        break;
    case PGOUTPUT_OTHER:
        break;
    }
    return true;
}
