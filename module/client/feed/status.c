/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c - bulwark feed status: whether the filter is kept, as both sides tell: the slot,
 * and each part's filter and state. It asks no feed, so it also tells of one that is gone.
 *
 *     The slot bulwark_users is read by a feed, and holds 1.2 MiB of WAL.
 *     The filter is less than 4 KiB of WAL behind.
 *
 *     FILTER  STATE      PARTS  ITEMS   LEASE  DELETED  FILLED
 *     users   following      1  12.3 k   1.8s       17  2h10m ago */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actions.h"
#include "database.h"
#include "group.h"
#include "print/json.h"
#include "server/nodes.h"
#include "print/numbers.h"
#include "fill/part.h"
#include "survey/survey.h"
#include "print/table.h"
#include "print/terminal.h"

/* From bad to good: parts are shown by it, the worst first. */
enum found { UNREACHED, NO_FILTER, NOT_KEPT, FILLING, ALARMED, UNKNOWN, FOLLOWING, FOUND };

static const char *const found_names[FOUND] = {
    "unreached", "no filter", "not kept", "filling", "loading", "unknown", "following"};

/* What a table at rest is behind at most, between two beats. */
#define BEATS_BYTES 4096

struct part_status {
    const char *key;
    enum found found;
    char why[160]; /* it isn't FOLLOWING; or empty */
    struct state state;
    uint64_t items;
    int64_t lease_left; /* ms */
};

struct status {
    const struct feed_config *config;
    struct slot slot;
    struct failure database; /* EXIT_DONE: it was asked */
    struct failure server;   /* EXIT_DONE: it was asked, too */
    struct part_status *part;
    uint32_t nparts;
};

/* ---- a part ---- */

static redisReply *ask(struct nodes *nodes, const char *key, size_t n, const char **words,
                       struct failure *f) {
    struct question q = {.n = n, .words = words, .key = key, .once = true};
    bool may_be_missing = strcmp(words[0], "BF.INFO") == 0;
    return may_be_missing ? nodes_ask(nodes, &q, f) : nodes_ask_well(nodes, &q, f);
}

static void name_causes(const struct survey_filter *filter, char *out, size_t room) {
    size_t n = 0;
    *out = '\0';
    for (size_t i = 0; i < SURVEY_CAUSES && n < room; i++)
        if (filter->unknown_by >> i & 1)
            n += (size_t)snprintf(out + n, room - n, "%s%s", n ? ", " : "",
                                  survey_cause_names[i]);
}

static void judge(const struct feed_config *c, const redisReply *state,
                  const struct survey_filter *filter, struct part_status *out) {
    bool kept = state->type == REDIS_REPLY_STRING &&
                state_read(state->str, state->len, &out->state) &&
                strcmp(out->state.slot, c->slot) == 0;
    bool filling = kept && strcmp(out->state.generation, STATE_FILLING) == 0;
    name_causes(filter, out->why, sizeof(out->why));
    out->items = filter->items;
    if (filling || filter->rebuilding)
        out->found = FILLING;
    else if (!kept || strcmp(out->state.generation, filter->generation) != 0)
        out->found = NOT_KEPT;
    else if (filter->state != SURVEY_READY)
        out->found = ALARMED;
    else
        out->found = filter->unknown_by || out->lease_left <= 0 ? UNKNOWN : FOLLOWING;
    /* A nightly rebuild goes on beside a generation that is vouched for. */
    if (out->found == FILLING && kept && !filling && !filter->unknown_by)
        out->found = FOLLOWING;
}

static void look_at(const struct feed_config *c, struct nodes *nodes, const char *key,
                    struct part_status *out) {
    struct failure f = {.text = ""};
    struct survey_filter filter = {.items = 0};
    char *place = state_key(key, c->settings.cluster);
    redisReply *state = ask(nodes, key, 2, (const char *[]){"GET", place}, &f);
    redisReply *info =
        state ? ask(nodes, key, 3, (const char *[]){"BF.INFO", key, "FULL"}, &f) : NULL;
    redisReply *now = info ? ask(nodes, key, 1, (const char *[]){"TIME"}, &f) : NULL;
    *out = (struct part_status){.key = key, .found = UNREACHED};
    if (!now) {
        snprintf(out->why, sizeof(out->why), "%.150s", f.text);
    } else if (!survey_read_filter(info, &filter)) {
        out->found = NO_FILTER;
    } else {
        bool leased = filter.lease_left != SURVEY_NEVER;
        out->lease_left = leased ? filter.lease_left - group_clock(now) : 0;
        judge(c, state, &filter, out);
    }
    freeReplyObject(state);
    freeReplyObject(info);
    freeReplyObject(now);
    free(place);
}

/* ---- both sides ---- */

static void look_at_database(struct status *s) {
    struct database d = {.config = s->config};
    struct failure *f = &s->database;
    if (database_open(&d, f)) database_slot(&d, &s->slot, f);
    database_close(&d);
}

static void leave_out(const struct failure *why, const char *key, struct part_status *out) {
    *out = (struct part_status){.key = key, .found = UNREACHED};
    snprintf(out->why, sizeof(out->why), "%.150s", why->text);
}

static void look_at_filter(struct status *s, struct parts *parts) {
    struct nodes *nodes = nodes_open(&s->config->settings, &s->server);
    part_make(parts, s->config->filter, (uint32_t)s->config->settings.parts);
    s->nparts = parts->n;
    s->part = fail_alloc(parts->n * sizeof(*s->part));
    for (uint32_t i = 0; i < parts->n; i++)
        if (nodes)
            look_at(s->config, nodes, parts->part[i].key, &s->part[i]);
        else
            leave_out(&s->server, parts->part[i].key, &s->part[i]);
    if (!nodes) return;
    s->server.code = EXIT_DONE; /* of several nodes one may have been asked in vain */
    nodes_close(nodes);
}

/* What the part that is furthest behind has; 0: none has anything. */
static uint64_t lsn_of(const struct status *s) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->nparts; i++)
        if (s->part[i].state.lsn && s->part[i].state.lsn < least)
            least = s->part[i].state.lsn;
    return least == UINT64_MAX ? 0 : least;
}

/* ---- for people ---- */

/* Each beat is WAL, too, and what PostgreSQL notes by itself. */
static void show_lag(uint64_t bytes) {
    char text[NUMBERS_TEXT];
    bool close = bytes < BEATS_BYTES;
    printf("The filter is %s of WAL behind.\n",
           close ? "less than 4 KiB" : numbers_show_bytes(text, bytes));
}

static void show_database(const struct status *s) {
    char bytes[NUMBERS_TEXT];
    const struct slot *slot = &s->slot;
    const char *name = s->config->slot;
    if (s->database.code)
        printf("PostgreSQL: %s.\n", s->database.text);
    else if (!slot->exists)
        printf("There is no slot %s: no feed has run, or it was dropped.\n", name);
    else if (slot->lost)
        printf("The slot %s is lost: PostgreSQL has removed WAL that it needs.\n", name);
    else
        printf(slot->active ? "The slot %s is read by a feed, and holds %s of WAL.\n"
                            : "No feed reads the slot %s, which holds %s of WAL.\n",
               name, numbers_show_bytes(bytes, lsn_distance(slot->restart, slot->now)));
    if (slot->exists && lsn_of(s)) show_lag(lsn_distance(lsn_of(s), slot->now));
}

/* All parts that were found so, as one row. */
struct row {
    uint32_t parts;
    uint64_t items, deleted;
    int64_t lease_left, filled;
    const char *why;
};

static struct row sum(const struct status *s, enum found found) {
    struct row row = {.lease_left = INT64_MAX, .filled = INT64_MAX, .why = ""};
    for (uint32_t i = 0; i < s->nparts; i++) {
        const struct part_status *p = &s->part[i];
        if (p->found != found) continue;
        row.parts++;
        row.items += p->items;
        if (p->state.deleted > row.deleted) row.deleted = p->state.deleted;
        if (p->lease_left < row.lease_left) row.lease_left = p->lease_left;
        if (p->state.filled < row.filled) row.filled = p->state.filled;
        if (p->why[0]) row.why = p->why;
    }
    return row;
}

static void add_row(struct table *t, const char *filter, enum found found,
                    const struct row *row) {
    char number[NUMBERS_TEXT];
    table_cell(t, "%s", filter);
    table_cell(t, "%s", found_names[found]);
    table_cell(t, "%" PRIu32, row->parts);
    table_cell(t, "%s", numbers_show_count(number, row->items));
    table_cell(t, "%s",
               found == FOLLOWING ? numbers_show_time(number, row->lease_left) : "-");
    table_cell(t, "%s", numbers_show_count(number, row->deleted));
    if (row->filled > 0)
        table_cell(t, "%s ago",
                   numbers_show_time(number, 1000 * ((int64_t)time(NULL) - row->filled)));
    else
        table_cell(t, "-");
    if (row->why[0]) table_note(t, "%s", row->why);
}

static void show(const struct status *s) {
    size_t width = 0, height;
    struct table *t = table_new("llrrrrl", "FILTER", "STATE", "PARTS", "ITEMS", "LEASE",
                                "DELETED", "FILLED");
    show_database(s);
    for (enum found found = 0; found < FOUND; found++) {
        struct row row = sum(s, found);
        if (row.parts) add_row(t, s->config->filter, found, &row);
    }
    terminal_size(&width, &height);
    putchar('\n');
    table_print(t, stdout, width);
}

/* ---- for programs ---- */

static void write_slot(const struct status *s, FILE *out) {
    json_open(out, NULL);
    json_text(out, "slot", s->config->slot);
    json_text(out, "trouble", s->database.code ? s->database.text : NULL);
    json_bool(out, "exists", s->slot.exists);
    json_bool(out, "active", s->slot.active);
    json_bool(out, "lost", s->slot.lost);
    json_count(out, "held_bytes", lsn_distance(s->slot.restart, s->slot.now));
    json_count(out, "lag_bytes", lsn_distance(lsn_of(s), s->slot.now));
    json_close(out);
    json_end_line(out);
}

static void write_part(const struct part_status *p, FILE *out) {
    char lsn[LSN_TEXT];
    json_open(out, NULL);
    json_text(out, "filter", p->key);
    json_text(out, "state", found_names[p->found]);
    json_text(out, "why", p->why[0] ? p->why : NULL);
    json_count(out, "items", p->items);
    json_count(out, "lease_ms", p->lease_left > 0 ? (uint64_t)p->lease_left : 0);
    json_text(out, "lsn", p->state.lsn ? lsn_show(lsn, p->state.lsn) : NULL);
    json_count(out, "deleted", p->state.deleted);
    json_count(out, "filled", p->state.filled > 0 ? (uint64_t)p->state.filled : 0);
    json_close(out);
    json_end_line(out);
}

static void write_json(const struct status *s, FILE *out) {
    write_slot(s, out);
    for (uint32_t i = 0; i < s->nparts; i++)
        write_part(&s->part[i], out);
}

/* ---- the answer ---- */

static bool conclude(const struct status *s, struct failure *f) {
    if (s->server.code) {
        *f = s->server;
        return false;
    }
    uint32_t following = sum(s, FOLLOWING).parts;
    if (s->database.code || !s->slot.active)
        return fail(f, EXIT_REFUSED, "no feed follows %s", s->config->table);
    if (following < s->nparts)
        return fail(f, EXIT_REFUSED, "%" PRIu32 " of %" PRIu32 " parts of %s follow %s",
                    following, s->nparts, s->config->filter, s->config->table);
    return true;
}

bool feed_status(const struct feed_config *c, struct failure *f) {
    struct status s = {.config = c};
    struct parts parts = {.n = 0};
    look_at_database(&s);
    look_at_filter(&s, &parts);
    if (c->settings.json)
        write_json(&s, stdout);
    else
        show(&s);
    bool good = conclude(&s, f);
    free(s.part);
    part_free(&parts);
    return good;
}
