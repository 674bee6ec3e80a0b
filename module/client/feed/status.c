/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c - bulwark feed status: whether the filter is kept, as both sides tell: the slot,
 * and each part's filter and state. It asks no feed, so it also tells of one that is
 * gone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "group.h"
#include "status.h"
#include "server/nodes.h"
#include "fill/part.h"
#include "survey/survey.h"

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

/* ---- the answer ---- */

static uint32_t count_following(const struct status *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nparts; i++)
        n += s->part[i].found == FOLLOWING;
    return n;
}

static bool conclude(const struct status *s, struct failure *f) {
    if (s->server.code) {
        *f = s->server;
        return false;
    }
    uint32_t following = count_following(s);
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
        status_write_json(&s, stdout);
    else
        status_show(&s);
    bool good = conclude(&s, f);
    free(s.part);
    part_free(&parts);
    return good;
}
