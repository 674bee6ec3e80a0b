/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.c - see sink.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "desk.h"
#include "interrupt.h"
#include "sink.h"
#include "split.h"

/* A group ends with this many bytes, however few items that are. */
#define GROUP_BYTES (256u << 10)

/* How long a part that is BEHIND is left alone between two looks. */
#define LOOK_MS_FIRST 100
#define LOOK_MS_LAST  5000

/* A COMMIT that is refused as often, each time with another beat, has another trouble than
 * a beat that came too late. */
#define COMMITS_MAX 5

/* A server gets half of this for WAIT, so that the line isn't taken for dead. */
#define WAIT_MS 1000

static bool is_live(const struct sink_part *p) {
    return p->stage == SINK_REPLAYING || p->stage == SINK_FILLING ||
           p->stage == SINK_FOLLOWING;
}

static bool has_none_on_its_way(const struct sink_part *p) {
    return p->groups_done == p->groups_sent;
}

/* All that came before the beat is acknowledged. */
static bool is_ripe(const struct sink_part *p) {
    return p->beat && p->groups_done >= p->beat_after;
}

static bool commits(const struct sink_part *p) {
    return p->token[0] && p->beat > p->token_beat && p->stage != SINK_REPLAYING;
}

/* Nothing is sent until it has been there. */
static bool waits_for_desk(const struct sink_part *p) {
    return is_ripe(p) && (p->stage == SINK_REPLAYING || commits(p));
}

/* ---- trouble ---- */

/* What is on its way is nobody's any more. */
static void disown(struct sink *s, const struct sink_part *p) {
    for (size_t i = 0; i < s->nlines; i++)
        for (struct group *g = s->line[i]->first; g; g = g->next)
            if (g->part == p) g->part = NULL;
}

static void set_stage(struct sink *s, struct sink_part *p, enum sink_stage stage) {
    disown(s, p);
    resp_clear(&p->open);
    p->open_items = 0;
    p->groups_sent = p->groups_done = 0;
    p->sent_lsn = 0;
    p->beat = 0;
    p->line = NULL;
    p->stage = stage;
}

/* A new generation that hasn't got all adds can't be committed: it is filled again. */
static void trouble(struct sink *s, struct sink_part *p, const char *why) {
    s->trouble++;
    snprintf(p->why, sizeof(p->why), "%s", why);
    p->token[0] = '\0';
    set_stage(s, p, p->stage == SINK_FILLING ? SINK_LOST : SINK_BEHIND);
    p->pause = LOOK_MS_FIRST;
    p->retry_at = interrupt_clock();
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

static struct line *line_of(struct sink *s, const struct sink_part *p) {
    const struct node *node = s->nodes->owner[split_slot(p->key, strlen(p->key))];
    make_lines(s);
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->node == node) return s->line[i];
    return NULL;
}

/* A part that had groups on another line, which are not back, doesn't overtake them. */
static struct line *open_line(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = "nobody serves the key's slot"};
    struct line *l = line_of(s, p);
    if (l && (p->line == l || has_none_on_its_way(p)) &&
        line_open(l, &s->config->settings, &f)) {
        p->line = l;
        return l;
    }
    trouble(s, p, l && l->c ? "the key has moved to another node" : f.text);
    return NULL;
}

/* ---- groups ---- */

/* All commits up to here are in the part, once this group is acknowledged. */
static uint64_t safe_lsn(const struct sink *s, const struct sink_part *p) {
    return s->position > p->sent_lsn ? s->position : p->sent_lsn;
}

static void write_state(const struct sink *s, struct sink_part *p, uint64_t lsn,
                        struct resp *out) {
    char text[STATE_TEXT_MAX];
    struct state next = p->state;
    next.lsn = lsn;
    next.before = p->state.lsn;
    next.deleted = s->deleted;
    resp_begin(out, 3);
    resp_text(out, "SET");
    resp_text(out, p->state_key);
    resp_word(out, text, state_write(&next, text));
}

static void write_words(struct resp *out, const char *a, const char *b) {
    resp_begin(out, b ? 2 : 1);
    resp_text(out, a);
    if (b) resp_text(out, b);
}

static void write_waits(const struct feed_config *c, struct resp *out, struct group *g) {
    char n[24], ms[24];
    snprintf(ms, sizeof(ms), "%d", WAIT_MS);
    if (c->wait_replicas > 0) {
        snprintf(n, sizeof(n), "%llu", (unsigned long long)c->wait_replicas);
        resp_begin(out, 3);
        resp_text(out, "WAIT");
        resp_text(out, n);
        resp_text(out, ms);
        g->replies++;
    }
    if (c->wait_aof > 0) {
        snprintf(n, sizeof(n), "%llu", (unsigned long long)c->wait_aof);
        resp_begin(out, 4);
        resp_text(out, "WAITAOF");
        resp_text(out, "1");
        resp_text(out, n);
        resp_text(out, ms);
        g->replies++;
    }
}

static struct group *new_group(enum group_kind kind, struct sink_part *p, uint64_t lsn) {
    struct group *g = fail_alloc(sizeof(*g));
    g->kind = kind;
    g->part = p;
    g->lsn = lsn;
    g->copies = g->files[0] = g->files[1] = -1;
    return g;
}

/* The open items, and the state that is true with them. */
static void send_adds(struct sink *s, struct sink_part *p) {
    struct line *l = open_line(s, p);
    if (!l) return;
    struct resp out = {.n = 0};
    struct group *g = new_group(GROUP_ADDS, p, safe_lsn(s, p));
    g->replies = 5;
    write_words(&out, "MULTI", NULL);
    resp_begin(&out, 4 + p->open_items);
    resp_text(&out, "BF.INSERT");
    resp_text(&out, p->key);
    resp_text(&out, "NOCREATE");
    resp_text(&out, "ITEMS");
    resp_append(&out, &p->open);
    write_state(s, p, g->lsn, &out);
    write_words(&out, "BF.CARD", p->key);
    write_words(&out, "EXEC", NULL);
    write_waits(s->config, &out, g);
    line_send(l, &out, g);
    resp_free(&out);
    s->items += p->open_items;
    p->sent_lsn = g->lsn;
    p->groups_sent++;
    resp_clear(&p->open);
    p->open_items = 0;
}

static void send_vouch(struct sink *s, struct sink_part *p) {
    struct line *l = open_line(s, p);
    int64_t clock = l ? l->clocks[p->beat % HEART_BEATS] : 0;
    p->beat = 0;
    if (!l || !clock) return; /* a clock that wasn't known then: the next beat has it */
    char until[24];
    struct resp out = {.n = 0};
    uint64_t lsn = p->open_items ? p->sent_lsn : safe_lsn(s, p);
    struct group *g = new_group(GROUP_VOUCH, p, lsn ? lsn : p->state.lsn);
    g->replies = 6;
    g->deadline = clock + s->config->lease;
    snprintf(until, sizeof(until), "%lld", (long long)g->deadline);
    write_words(&out, "MULTI", NULL);
    resp_begin(&out, 5);
    resp_text(&out, "BF.READY");
    resp_text(&out, p->key);
    resp_text(&out, "PXAT");
    resp_text(&out, until);
    resp_text(&out, "XX");
    write_state(s, p, g->lsn, &out);
    write_words(&out, "BF.CARD", p->key);
    write_words(&out, "TIME", NULL);
    write_words(&out, "EXEC", NULL);
    line_send(l, &out, g);
    resp_free(&out);
    p->sent_lsn = g->lsn;
    p->groups_sent++;
    p->said_until = interrupt_clock() + s->config->lease;
}

static void send_revoke(struct sink_part *p, struct line *l) {
    struct resp out = {.n = 0};
    struct group *g = new_group(GROUP_REVOKE, NULL, 0);
    g->replies = 1;
    resp_begin(&out, 4);
    resp_text(&out, "BF.READY");
    resp_text(&out, p->key);
    resp_text(&out, "PXAT");
    resp_text(&out, "1");
    line_send(l, &out, g);
    resp_free(&out);
}

static void send_clock(struct line *l) {
    struct resp out = {.n = 0};
    struct group *g = new_group(GROUP_CLOCK, NULL, 0);
    g->replies = 1;
    write_words(&out, "TIME", NULL);
    line_send(l, &out, g);
    resp_free(&out);
    l->clock_is_asked = true;
}

/* ---- replies ---- */

static bool enough_copies(const struct feed_config *c, const struct group *g) {
    if (g->kind != GROUP_ADDS) return true;
    return (c->wait_replicas == 0 || g->copies >= (int64_t)c->wait_replicas) &&
           (c->wait_aof == 0 || (g->files[0] >= 1 && g->files[1] >= (int64_t)c->wait_aof));
}

/* Its deadline is further away than a lease: the server's clock was set back after it was
 * asked, and the filter would be believed for too long. */
static bool clock_was_set_back(const struct sink *s, const struct group *g) {
    return g->kind == GROUP_VOUCH && g->clock && g->deadline - g->clock > s->config->lease;
}

static void acknowledge(struct sink_part *p, const struct group *g) {
    p->groups_done++;
    p->state.before = p->state.lsn;
    p->state.lsn = g->lsn;
    p->state.items = g->items;
}

static void take_group(struct sink *s, struct line *l, struct group *g) {
    struct sink_part *p = g->part;
    if (g->kind == GROUP_CLOCK) l->clock_is_asked = false;
    if (g->clock) l->clock = g->clock;
    if (!p) return;
    if (g->failed)
        trouble(s, p, g->why);
    else if (!enough_copies(s->config, g))
        trouble(s, p, "too few replicas or files have it (wait-replicas, wait-aof)");
    else if (g->refused)
        trouble(s, p, "the filter isn't ready any more, or is in doubt");
    else if (clock_was_set_back(s, g)) {
        if (l->c) send_revoke(p, l);
        trouble(s, p, "the server's clock was set back");
    } else {
        acknowledge(p, g);
        if (g->kind == GROUP_VOUCH) s->vouched++;
    }
}

static void take_replies(struct sink *s, struct line *l) {
    for (struct group *g; (g = line_receive(l));) {
        take_group(s, l, g);
        free(g);
    }
}

/* ---- the stream ---- */

void sink_add(struct sink *s, const char *item, size_t length) {
    struct sink_part *p = &s->part[split_part(item, length, s->nparts)];
    if (!is_live(p)) return;
    resp_word(&p->open, item, length);
    p->open_items++;
    bool full = p->open_items >= s->config->settings.batch || p->open.n >= GROUP_BYTES;
    if (full && !waits_for_desk(p)) send_adds(s, p);
}

void sink_commit(struct sink *s, uint64_t lsn) {
    if (lsn > s->position) s->position = lsn;
}

void sink_flush(struct sink *s) {
    for (uint32_t i = 0; i < s->nparts; i++)
        if (s->part[i].open_items && !waits_for_desk(&s->part[i]))
            send_adds(s, &s->part[i]);
}

bool sink_has_room(const struct sink *s) {
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->groups >= s->config->settings.window) return false;
    return true;
}

/* What other parts have not sent yet may lie before lsn. */
void sink_restart(struct sink *s, uint64_t lsn) {
    sink_flush(s);
    s->position = lsn;
    for (uint32_t i = 0; i < s->nparts; i++)
        s->part[i].beat = 0;
}

/* ---- beats ---- */

void sink_ask_clocks(struct sink *s) {
    for (uint32_t i = 0; i < s->nparts; i++)
        if (is_live(&s->part[i])) open_line(s, &s->part[i]);
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->c && !s->line[i]->clock_is_asked) send_clock(s->line[i]);
}

bool sink_clocks_are_there(const struct sink *s) {
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->c && s->line[i]->clock_is_asked) return false;
    return true;
}

/* A clock that was asked earlier only makes the lease shorter. */
void sink_beat_sent(struct sink *s, uint64_t beat) {
    for (size_t i = 0; i < s->nlines; i++)
        s->line[i]->clocks[beat % HEART_BEATS] = s->line[i]->clock;
}

void sink_beat_back(struct sink *s, uint64_t beat) {
    sink_flush(s);
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        if (!is_live(p)) continue;
        p->beat = beat;
        p->beat_after = p->groups_sent;
    }
}

void sink_fill_begins(struct sink *s, uint32_t part) {
    struct sink_part *p = &s->part[part];
    if (is_live(p)) return; /* it takes adds, into both generations */
    set_stage(s, p, SINK_FILLING);
    p->state =
        (struct state){.system = s->system, .timeline = s->timeline, .generation = "none"};
    snprintf(p->state.slot, sizeof(p->state.slot), "%s", s->config->slot);
}

void sink_fill_ends(struct sink *s, uint32_t part, const char *token, uint64_t count,
                    uint64_t beat) {
    struct sink_part *p = &s->part[part];
    snprintf(p->token, sizeof(p->token), "%s", token);
    p->token_count = count;
    p->refusals = 0;
    p->token_beat = beat;
}

/* At the desk, where one waits for the answer. */
static void commit(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = ""};
    uint64_t beat = p->beat;
    p->beat = 0;
    if (!desk_commit(s, p, beat, &f)) {
        if (++p->refusals >= COMMITS_MAX) trouble(s, p, f.text);
        return;
    }
    p->token[0] = '\0';
    p->why[0] = '\0';
    p->stage = SINK_FOLLOWING;
    p->said_until = interrupt_clock() + s->config->lease;
}

static void vouch_anew(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = ""};
    uint64_t beat = p->beat;
    p->beat = 0;
    if (!desk_vouch(s, p, beat, &f)) {
        trouble(s, p, f.text);
        return;
    }
    p->stage = SINK_FOLLOWING;
    p->said_until = interrupt_clock() + s->config->lease;
}

/* The desk's words mustn't overtake what is on its way on the line. */
static void vouch(struct sink *s, struct sink_part *p) {
    if (waits_for_desk(p)) {
        if (!has_none_on_its_way(p)) return;
        p->stage == SINK_REPLAYING ? vouch_anew(s, p) : commit(s, p);
    } else if (p->stage == SINK_FOLLOWING)
        send_vouch(s, p);
    else
        p->beat = 0;
}

static void vouch_all(struct sink *s) {
    for (uint32_t i = 0; i < s->nparts; i++)
        if (is_live(&s->part[i]) && is_ripe(&s->part[i])) vouch(s, &s->part[i]);
}

/* ---- looking ---- */

static void pause(struct sink_part *p) {
    p->retry_at = interrupt_clock() + p->pause;
    p->pause = 2 * p->pause < LOOK_MS_LAST ? 2 * p->pause : LOOK_MS_LAST;
}

/* True: it goes on from *from. */
static bool look(struct sink *s, struct sink_part *p, uint64_t *from) {
    struct failure f = {.text = ""};
    switch (desk_look(s, p, from, &f)) {
    case DESK_OURS:
        set_stage(s, p, SINK_REPLAYING);
        p->state.lsn = *from;
        return true;
    case DESK_LOST:
        set_stage(s, p, SINK_LOST);
        break;
    case DESK_AWAY:
        pause(p);
    }
    snprintf(p->why, sizeof(p->why), "%.255s", f.text);
    return false;
}

bool sink_look(struct sink *s, uint64_t *lsn) {
    int64_t now = interrupt_clock();
    bool again = false, refreshed = false;
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        struct failure f;
        uint64_t from;
        if (p->stage != SINK_BEHIND || now < p->retry_at) continue;
        if (!refreshed) nodes_refresh(s->nodes, &f);
        refreshed = true;
        if (!look(s, p, &from)) continue;
        *lsn = again && *lsn < from ? *lsn : from;
        again = true;
    }
    return again;
}

/* ---- the work ---- */

size_t sink_polled(struct sink *s, struct pollfd *out, size_t room) {
    size_t n = 0;
    for (size_t i = 0; i < s->nlines && n < room; i++) {
        const struct line *l = s->line[i];
        if (!l->c) continue;
        short events = line_wants_to_write(l) ? POLLIN | POLLOUT : POLLIN;
        out[n++] = (struct pollfd){.fd = l->c->fd, .events = events};
    }
    return n;
}

void sink_turn(struct sink *s) {
    for (size_t i = 0; i < s->nlines; i++) {
        struct line *l = s->line[i];
        if (l->c) line_read(l);
        take_replies(s, l);
    }
    vouch_all(s);
    for (size_t i = 0; i < s->nlines; i++)
        if (line_wants_to_write(s->line[i])) line_write(s->line[i]);
}

/* ---- what PostgreSQL is told ---- */

/* A part that has stopped following keeps writers waiting as long as somebody may still say
 * absent for it. */
static uint64_t applied_by(const struct sink *s, const struct sink_part *p) {
    if (!is_live(p)) return interrupt_clock() < p->said_until ? s->applied : UINT64_MAX;
    return has_none_on_its_way(p) && p->open_items == 0 ? s->position : p->state.lsn;
}

uint64_t sink_applied(struct sink *s) {
    uint64_t least = s->position;
    for (uint32_t i = 0; i < s->nparts; i++) {
        uint64_t lsn = applied_by(s, &s->part[i]);
        if (lsn < least) least = lsn;
    }
    if (least > s->applied) s->applied = least;
    return s->applied;
}

uint64_t sink_needed(const struct sink *s) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->nparts; i++) {
        const struct sink_part *p = &s->part[i];
        if (p->stage != SINK_LOST && p->state.lsn < least) least = p->state.lsn;
    }
    return least;
}

uint32_t sink_count(const struct sink *s, enum sink_stage stage) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nparts; i++)
        n += s->part[i].stage == stage;
    return n;
}
