/* SPDX-License-Identifier: BSD-3-Clause */

/* storm_rows.c - writers, readers, and the judge; see storm.h. */

#include "storm.h"

enum { RECENT = 60, WAIT_MS = 50 };

static unsigned part_of(const struct storm *s, long item) {
    return spread_part(s->spread, item);
}

static void note_committed(struct storm *s, long item) {
    s->rows[s->commits++] = item;
    s->ordinal[item] = s->commits;
}

void rows_before(struct storm *s) {
    database_run(s->database,
                 "DROP TABLE IF EXISTS items; CREATE TABLE items (id bigint PRIMARY KEY);"
                 "INSERT INTO items SELECT generate_series(1, %d)",
                 ROWS_BEFORE);
    for (long item = 1; item <= ROWS_BEFORE; item++)
        note_committed(s, item);
    s->next = ROWS_BEFORE + 1;
}

/* -------------------------------------------------------------------------
 * Writers
 * ---------------------------------------------------------------------- */

static bool waited(struct storm *s, struct storm_writer *w, size_t who) {
    redisReply *r = visit_node(s, &w->visitor, who, "WAIT 1 %d", WAIT_MS);
    bool enough = r && r->type == REDIS_REPLY_INTEGER && r->integer >= 1;
    freeReplyObject(r);
    s->counts.short_waits += !enough;
    return enough;
}

static bool add(struct storm *s, struct storm_writer *w, bool first) {
    size_t who;
    unsigned part = part_of(s, w->item);
    redisReply *r = visit(s, &w->visitor, part, &who, "BF.INSERT %s NOCREATE ITEMS %ld",
                          s->spread->key[part], w->item);
    bool added = r && r->type == REDIS_REPLY_ARRAY;
    freeReplyObject(r);
    added = added && (!first || !s->mode->waits || waited(s, w, who));
    if (first && added) s->added[w->item] = (struct added){story_time(), who};
    return added;
}

static void say(struct storm_writer *w, const char *statements) {
    free(database_try(w->session, statements, w->item));
}

static void give_up(struct storm *s, struct storm_writer *w) {
    say(w, "ROLLBACK");
    w->stage = IDLE;
    s->counts.given_up++;
}

void storm_write(struct storm *s, struct storm_writer *w) {
    switch (w->stage) {
    case IDLE:
        if (s->next == ITEMS_MAX) return;
        w->item = s->next++;
        say(w, "BEGIN; INSERT INTO items VALUES (%ld)");
        w->stage = INSERTED;
        break;
    case INSERTED:
        if (add(s, w, true))
            w->stage = ADDED;
        else if (storm_below(s, 4) == 0)
            give_up(s, w);
        break;
    case ADDED:
        say(w, "COMMIT");
        note_committed(s, w->item);
        s->counts.writes++;
        w->stage = COMMITTED;
        break;
    case COMMITTED:
        add(s, w, false);
        w->stage = IDLE;
    }
}

/* -------------------------------------------------------------------------
 * The judge
 * ---------------------------------------------------------------------- */

static void show_filter(struct storm *s, size_t node, unsigned part) {
    redisReply *r = tell(s, node, "BF.INFO %s FULL", s->spread->key[part]);
    for (size_t i = 0; r && i + 1 < r->elements; i += 2) {
        const redisReply *value = r->element[i + 1];
        if (value->str && *value->str) story("  %s: %s", r->element[i]->str, value->str);
    }
    freeReplyObject(r);
}

static bool is_slave(struct storm *s, size_t node) {
    redisReply *r = visit_node(s, &s->stray, node, "ROLE");
    bool is = r && r->type == REDIS_REPLY_ARRAY && strcmp(r->element[0]->str, "slave") == 0;
    freeReplyObject(r);
    return is;
}

/* What it was not told of, since it was cut off by then, and another node took the add. A
 * part that came to it later brings all. */
static bool is_in_gap(const struct storm *s, size_t node, long item) {
    long cut = s->cut_at[node];
    struct moved moved = s->moved[part_of(s, item)];
    bool came_later = moved.to == node && moved.at > cut;
    return cut >= 0 && s->ordinal[item] > cut && s->added[item].node != node && !came_later;
}

static void convict(struct storm *s, size_t node, long item) {
    unsigned part = part_of(s, item);
    struct added added = s->added[item];
    story("!! node %zu denies row %ld, commit %ld of %ld, part %u", node, item,
          s->ordinal[item], s->commits, part);
    story("   it was added at %.4f at node %zu", added.at, added.node);
    show_filter(s, node, part);
    s->counts.wrong++;
    s->caught = true;
    if (!s->mode->careless) FAIL("row %ld is there and was denied by node %zu", item, node);
}

static const char *word_of(const redisReply *r) {
    if (r && r->type == REDIS_REPLY_ARRAY && r->elements > 0) r = r->element[0];
    return r && r->str && r->type != REDIS_REPLY_ERROR ? r->str : "";
}

static void judge(struct storm *s, size_t node, long item, const char *word) {
    struct storm_counts *n = &s->counts;
    bool denied = strcmp(word, "absent") == 0;
    if (item >= STRANGER) {
        n->strangers += *word != 0;
        n->strangers_denied += denied;
        return;
    }
    n->asked++;
    n->errors += !*word;
    n->unknown += strcmp(word, "unknown") == 0;
    n->maybe += strcmp(word, "maybe") == 0;
    if (!denied) return;
    if (is_in_gap(s, node, item))
        n->gap++;
    else
        convict(s, node, item);
}

/* -------------------------------------------------------------------------
 * Readers
 * ---------------------------------------------------------------------- */

static long any_row(struct storm *s) {
    long most = s->commits;
    long at = storm_below(s, 2) && most > RECENT ? most - RECENT + storm_below(s, RECENT)
                                                 : storm_below(s, most);
    return s->rows[at];
}

void storm_read(struct storm *s) {
    size_t who;
    long item = storm_below(s, 8) ? any_row(s) : STRANGER + storm_below(s, STRANGER);
    unsigned part = part_of(s, item);
    const char *key = s->spread->key[part];
    redisReply *r =
        storm_below(s, 2)
            ? visit(s, &s->reader, part, &who, "BF.CHECK %s %ld", key, item)
            : visit(s, &s->reader, part, &who, "BF.GUARD %s cache:%s %ld", key, key, item);
    judge(s, who, item, word_of(r));
    freeReplyObject(r);
}

/* A node that has been replaced and knows it has no excuse any more. */
void storm_stray(struct storm *s) {
    size_t node = (size_t)storm_below(s, (long)s->n);
    long item = any_row(s);
    unsigned part = part_of(s, item);
    if (!s->node[node]->pid || s->paused[node]) return;
    if (s->cut_at[node] >= 0 && is_slave(s, node)) {
        story("node %zu knows that it is replaced", node);
        s->cut_at[node] = -1;
    }
    redisReply *r =
        visit_node(s, &s->stray, node, "BF.CHECK %s %ld", s->spread->key[part], item);
    const char *word = word_of(r);
    s->counts.strays += *word != 0;
    s->counts.strays_maybe += strcmp(word, "maybe") == 0;
    judge(s, node, item, word);
    freeReplyObject(r);
}

/* All is well, but an answer may be late. */
static void check_row(struct storm *s, long item) {
    unsigned part = part_of(s, item);
    double limit = wait_deadline();
    size_t who;
    redisReply *r;
    while (
        r = visit(s, &s->reader, part, &who, "BF.CHECK %s %ld", s->spread->key[part], item),
        !*word_of(r)) {
        freeReplyObject(r);
        wait_a_little(limit, __FILE__, __LINE__, "an answer");
    }
    judge(s, who, item, word_of(r));
    freeReplyObject(r);
}

void storm_check_rows(struct storm *s) {
    struct storm_counts before = s->counts;
    visitor_refresh(s, &s->reader);
    for (long i = 0; i < s->commits; i++)
        check_row(s, s->rows[i]);
    for (long i = 0; i < ROWS_BEFORE; i++)
        check_row(s, STRANGER + i);
    CHECK_INT(s->counts.maybe - before.maybe, s->commits);
    CHECK(s->counts.strangers_denied - before.strangers_denied > ROWS_BEFORE * 9 / 10);
}
