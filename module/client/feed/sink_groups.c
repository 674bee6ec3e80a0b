/* SPDX-License-Identifier: BSD-3-Clause */
/* sink_groups.c - see sink_part.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "look.h"
#include "refill/record.h"
#include "sink_part.h"
#include "survey/survey.h"

/* ---- what is sent ---- */

static void send_group(struct sink_part *p, struct line *l, struct group *g) {
    line_send(l, g);
    p->groups_sent++;
}

/* Where there are connections, it costs nothing to be quick. */
void part_send_look(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = ""};
    struct line *l = part_line(s, p, &f);
    if (!l) {
        snprintf(p->why, sizeof(p->why), "%.255s", f.text);
        part_is_away(p);
        return;
    }
    struct group *g = group_new(GROUP_LOOK, p);
    GROUP_ADD(g, REPLY_STATE, "GET", p->state_key);
    GROUP_ADD(g, REPLY_INFO, "BF.INFO", p->key, "FULL");
    send_group(p, l, g);
    p->line = l;
    p->looking = true;
}

/* They take less than a line that is silent would be given up after. A replica that is
 * asked for its file together with the adds says that they aren't there yet, and nothing
 * else for a second: so it is asked for the adds first. */
static void add_waits(const struct sink *s, struct group *g) {
    const struct feed_config *c = s->config;
    uint64_t files = c->wait_aof - (c->wait_aof > 0);
    char n[24], ms[24];
    snprintf(ms, sizeof(ms), "%" PRId64, sink_patience(s) * 3 / 4);
    snprintf(n, sizeof(n), "%" PRIu64, c->wait_replicas > files ? c->wait_replicas : files);
    if (c->wait_replicas || files) GROUP_ADD(g, REPLY_WAIT, "WAIT", n, ms);
    snprintf(n, sizeof(n), "%" PRIu64, files);
    if (c->wait_aof) GROUP_ADD(g, REPLY_WAITAOF, "WAITAOF", "1", n, ms);
}

static void add_get(const struct sink_part *p, struct group *g) {
    GROUP_ADD(g, REPLY_STATE, "GET", p->state_key);
}

static void add_set(const struct sink *s, struct sink_part *p, struct group *g) {
    part_write_state(s, p, g->stored);
    g->stored_lsn = p->state.lsn;
    GROUP_ADD(g, REPLY_STORED, "SET", p->state_key, g->stored);
}

/* All open items, so that all commits up to the position are in it with them. */
void part_send_adds(struct sink *s, struct sink_part *p) {
    const char *const words[] = {"BF.INSERT", p->key, "NOCREATE", "ITEMS"};
    struct group *g = group_new(GROUP_ADDS, p);
    if (s->position > p->sent_lsn) p->sent_lsn = s->position;
    g->lsn = p->sent_lsn;
    add_get(p, g);
    group_add_more(g, REPLY_ADDED, 4, words, &p->open, p->open_items);
    add_set(s, p, g);
    GROUP_ADD(g, REPLY_ITEMS, "BF.CARD", p->key);
    add_waits(s, g);
    s->items += p->open_items;
    resp_clear(&p->open);
    p->open_items = 0;
    send_group(p, p->line, g);
}

void part_send_vouch(struct sink *s, struct sink_part *p) {
    char until[24];
    struct group *g = group_new(GROUP_VOUCH, p);
    g->deadline = p->beat.clock + s->config->lease;
    snprintf(until, sizeof(until), "%" PRId64, g->deadline);
    add_get(p, g);
    GROUP_ADD(g, REPLY_INFO, "BF.INFO", p->key, "FULL");
    GROUP_ADD(g, REPLY_READY, "BF.READY", p->key, "PXAT", until, "XX");
    add_set(s, p, g);
    GROUP_ADD(g, REPLY_ITEMS, "BF.CARD", p->key);
    GROUP_ADD(g, REPLY_CLOCK, "TIME");
    p->said_until = interrupt_clock() + s->config->lease;
    send_group(p, p->line, g);
}

/* Nobody vouches for a part that is FILLING; it goes on from here. */
void part_send_state(struct sink *s, struct sink_part *p, bool is_first) {
    struct group *g = group_new(is_first ? GROUP_FIRST : GROUP_STATE, p);
    add_get(p, g);
    add_set(s, p, g);
    send_group(p, p->line, g);
}

void sink_send_clock(struct line *l) {
    struct group *g = group_new(GROUP_CLOCK, NULL);
    GROUP_ADD(g, REPLY_CLOCK, "TIME");
    line_send(l, g);
    l->clock_is_asked = true;
}

static void send_revoke(struct sink_part *p, struct line *l) {
    p->vouched_until = 0;
    struct group *g = group_new(GROUP_OTHER, NULL);
    GROUP_ADD(g, REPLY_ANY, "BF.READY", p->key, "PXAT", "1");
    line_send(l, g);
}

bool sink_forget_fill(struct sink *s) {
    struct sink_part *p = &s->part[0];
    if (!p->line || !p->line->c) return false;
    char *key = record_key(p->state_key);
    struct group *g = group_new(GROUP_OTHER, NULL);
    GROUP_ADD(g, REPLY_ANY, "DEL", key);
    line_send(p->line, g);
    free(key);
    return true;
}

/* What was there before the state that we have just set, or nothing at all. */
static void send_back(const struct sink_part *p, struct line *l, const struct group *g) {
    struct group *back = group_new(GROUP_OTHER, NULL);
    if (g->state[0])
        GROUP_ADD(back, REPLY_ANY, "SET", p->state_key, g->state);
    else
        GROUP_ADD(back, REPLY_ANY, "DEL", p->state_key);
    line_send(l, back);
}

/* ---- what its replies mean ---- */

static bool enough_copies(const struct feed_config *c, const struct group *g) {
    if (g->kind != GROUP_ADDS) return true;
    int64_t replicas = (int64_t)c->wait_replicas, files = (int64_t)c->wait_aof;
    return (!replicas || g->copies >= replicas) &&
           (!files || (g->files[0] >= 1 && g->files[1] >= files - 1));
}

/* Its deadline is further away than a lease: the server's clock was set back after it was
 * asked, and the filter would be believed for too long. */
static bool clock_was_set_back(const struct sink *s, const struct group *g) {
    return g->kind == GROUP_VOUCH && g->clock && g->deadline - g->clock > s->config->lease;
}

/* It isn't what we have stored last. */
static bool has_gone_back(const struct sink_part *p, const struct group *g) {
    return g->kind != GROUP_FIRST && strcmp(g->state, p->stored) != 0;
}

/* Somebody has renamed another one to its key, which is ready, too: the server sees nothing
 * wrong with that. */
static bool is_another(const struct sink_part *p, const struct group *g) {
    struct survey_filter filter = {.node = NULL};
    return g->kind == GROUP_VOUCH && g->info && survey_read_filter(g->info, &filter) &&
           strcmp(filter.generation, p->state.generation) != 0;
}

static void note_not_stored(struct sink *s, const struct group *g) {
    s->not_stored = g->not_stored;
    if (g->not_stored)
        snprintf(s->why_not_stored, sizeof(s->why_not_stored), "%.255s", g->why);
}

static void acknowledge(struct sink *s, struct sink_part *p, const struct group *g) {
    p->groups_done++;
    if (g->kind == GROUP_ADDS && g->lsn > p->state.lsn) p->state.lsn = g->lsn;
    if (g->kind == GROUP_ADDS || g->kind == GROUP_VOUCH) p->state.items = g->items;
    if (g->kind == GROUP_VOUCH && g->vouched) {
        s->vouched++;
        part_note_vouched(p, g->deadline, g->clock);
    }
    note_not_stored(s, g);
    p->not_stored = g->not_stored;
    if (!g->not_stored)
        part_note_stored(p, g->stored, g->stored_lsn);
    else if (g->kind == GROUP_FIRST)
        part_note_stored(p, g->state, p->stored_lsn);
}

static void take_look(struct sink *s, struct sink_part *p, const struct group *g) {
    struct failure f = {.text = ""};
    part_set_stage(s, p, SINK_BEHIND);
    if (g->failed) {
        snprintf(p->why, sizeof(p->why), "%s", g->why);
        p->line = NULL;
        part_is_away(p);
        return;
    }
    struct state state;
    if (!look_is_ours(s, g->state, g->info, &state, &f)) {
        part_lose(s, p, f.text);
        return;
    }
    p->state = state;
    p->room = look_room(g->info);
    p->sent_lsn = state.lsn;
    part_note_stored(p, g->state, state.lsn);
    if (state.deleted > s->deleted) s->deleted = state.deleted;
    p->found = true;
}

/* Its lease has ended, say, since the beat was on its way for too long. Nothing of what was
 * acknowledged is missing as long as the state is the last one that was stored. */
static void ask_desk(struct sink_part *p) {
    if (p->stage != SINK_FOLLOWING) return;
    snprintf(p->why, sizeof(p->why), "its lease had ended, or it was in doubt");
    p->vouched_until = 0;
    p->stage = SINK_REPLAYING;
}

static void revoke(struct sink *s, struct sink_part *p, struct line *l, const char *why) {
    if (l->c) send_revoke(p, l);
    part_trouble(s, p, why);
}

static void take_group(struct sink *s, struct line *l, const struct group *g) {
    struct sink_part *p = g->part;
    if (g->kind == GROUP_CLOCK) l->clock_is_asked = false;
    if (g->clock) l->clock = g->clock;
    if (!p) return;
    if (g->kind == GROUP_LOOK) {
        take_look(s, p, g);
    } else if (g->failed) {
        part_trouble(s, p, g->why);
    } else if (has_gone_back(p, g)) {
        if (l->c) send_back(p, l, g);
        if (l->c && g->kind == GROUP_VOUCH) send_revoke(p, l);
        part_trouble(s, p, "the server has gone back to an older state");
    } else if (!enough_copies(s->config, g)) {
        part_trouble(s, p, "too few replicas or files have it (wait-replicas, wait-aof)");
    } else if (is_another(p, g)) {
        revoke(s, p, l, "the filter was replaced by another");
    } else if (clock_was_set_back(s, g)) {
        revoke(s, p, l, "the server's clock was set back");
    } else {
        acknowledge(s, p, g);
        if (g->refused) ask_desk(p);
    }
}

void sink_take_replies(struct sink *s, struct line *l) {
    for (struct group *g; (g = line_receive(l));) {
        take_group(s, l, g);
        group_free(g);
    }
}
