/* SPDX-License-Identifier: BSD-3-Clause */
/* sink_part.c - see sink_part.h. */
#include "sink_part.h"

#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "server/split.h"

/* How long a part that is BEHIND is left alone between two looks. */
#define LOOK_MS_FIRST 100
#define LOOK_MS_AWAY  1000 /* nobody answers: a look costs a connection */
#define LOOK_MS_LAST  5000 /* somebody does: what is wrong costs a replay each time */

/* Whoever answers within this is there: for a lease, since one that ends meanwhile would
 * have ended anyway; but a server may be busy for longer than a short one. */
#define ANSWER_MS_MIN 2000
#define ANSWER_MS_MAX 5000

int64_t sink_patience(const struct sink *s) {
    int64_t ms = s->config->lease;
    return ms < ANSWER_MS_MIN ? ANSWER_MS_MIN : ms > ANSWER_MS_MAX ? ANSWER_MS_MAX : ms;
}

bool part_is_live(const struct sink_part *p) {
    return p->stage == SINK_REPLAYING || p->stage == SINK_FILLING ||
           p->stage == SINK_FOLLOWING;
}

bool part_has_none_on_its_way(const struct sink_part *p) {
    return p->groups_done == p->groups_sent;
}

/* ---- stages ---- */

/* What is on its way is nobody's any more. */
static void disown(struct sink *s, const struct sink_part *p) {
    for (size_t i = 0; i < s->nlines; i++)
        for (struct group *g = s->line[i]->first; g; g = g->next)
            if (g->part == p) g->part = NULL;
}

void part_set_stage(struct sink *s, struct sink_part *p, enum sink_stage stage) {
    disown(s, p);
    resp_clear(&p->open);
    p->open_items = 0;
    p->groups_sent = p->groups_done = 0;
    p->beat = p->next_beat = (struct sink_beat){.number = 0};
    p->looking = p->found = false;
    if (stage == SINK_BEHIND && p->stage != SINK_BEHIND) p->kept = s->old;
    p->stage = stage;
}

void part_lose(struct sink *s, struct sink_part *p, const char *why) {
    snprintf(p->why, sizeof(p->why), "%.255s", why);
    p->token[0] = '\0';
    p->vouched_until = 0;
    p->line = NULL;
    part_set_stage(s, p, SINK_LOST);
}

/* At once the first time, later and later if it goes on. */
static void pause_up_to(struct sink_part *p, int64_t most) {
    pause_begin(&p->pause, most);
    if (p->pause.ms == 0) p->pause.ms = LOOK_MS_FIRST;
}

void part_is_away(struct sink_part *p) {
    pause_up_to(p, LOOK_MS_AWAY);
}

void part_trouble(struct sink *s, struct sink_part *p, const char *why) {
    s->trouble++;
    snprintf(p->why, sizeof(p->why), "%.255s", why);
    p->line = NULL;
    part_set_stage(s, p, SINK_BEHIND);
    pause_up_to(p, LOOK_MS_LAST);
}

/* Since it was vouched for just now. */
void part_follows(struct sink *s, struct sink_part *p) {
    p->stage = SINK_FOLLOWING;
    p->why[0] = '\0';
    p->pause.ms = 0;
    p->said_until = interrupt_clock() + s->config->lease;
}

void part_note_vouched(struct sink_part *p, int64_t deadline, int64_t clock) {
    p->vouched_until = interrupt_clock() + deadline - clock;
}

/* ---- lines ---- */

/* The nodes' list only grows. */
static void make_lines(struct sink *s) {
    if (s->nlines == s->nodes->n) return;
    s->line = fail_grow(s->line, s->nodes->n * sizeof(struct line *));
    for (; s->nlines < s->nodes->n; s->nlines++) {
        s->line[s->nlines] = fail_alloc(sizeof(struct line));
        s->line[s->nlines]->node = s->nodes->node[s->nlines];
    }
}

struct line *part_line(struct sink *s, const struct sink_part *p, struct failure *f) {
    const struct node *node = s->nodes->owner[split_slot(p->key, strlen(p->key))];
    struct line *line = NULL;
    make_lines(s);
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->node == node) line = s->line[i];
    if (!line && s->unmapped.text[0])
        *f = s->unmapped;
    else if (!line)
        fail(f, EXIT_SERVER, "nobody serves the slot of %s", p->key);
    return line && line_open(line, &s->settings, f) ? line : NULL;
}

/* ---- its state ---- */

void part_write_state(const struct sink *s, struct sink_part *p, char *out) {
    p->state.deleted = s->deleted;
    p->state.write++;
    state_write(&p->state, out);
}

void part_note_stored(struct sink_part *p, const char *text, uint64_t lsn) {
    snprintf(p->stored, sizeof(p->stored), "%s", text);
    p->stored_lsn = lsn;
    p->not_stored = false;
}
