/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.c - see sink.h. */
#include "sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "desk.h"
#include "base/interrupt.h"
#include "sink_part.h"
#include "server/split.h"

/* A group ends with this many bytes, however few items that are. */
#define GROUP_BYTES (256u << 10)

/* A COMMIT that is refused as often, each time with another beat, has another trouble than
 * a beat that came too late. */
#define COMMITS_MAX 5

/* In a turn no part goes to the desk any more from then on: others wait. */
#define DESKS_MS 2000

/* Between two questions who has which key. */
#define REFRESH_MS 1000

/* ---- opening ---- */

static void name_part(struct sink_part *p, const char *filter, const uint32_t *tag) {
    char text[16];
    size_t room = strlen(filter) + sizeof(":{}") + sizeof(text);
    p->key = fail_alloc(room);
    snprintf(text, sizeof(text), "%u", tag ? *tag : 0);
    if (tag)
        snprintf(p->key, room, "%s:{%s}", filter, text);
    else
        snprintf(p->key, room, "%s", filter);
}

/* Somebody who fed it until a moment ago may have vouched for it. */
static bool open_parts(struct sink *s, struct failure *f) {
    const struct settings *settings = &s->config->settings;
    uint32_t *tags = settings->parts ? split_tags(s->nparts) : NULL;
    bool good = true;
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        name_part(p, s->config->filter, tags ? &tags[i] : NULL);
        p->state_key = state_key(p->key, settings->cluster);
        p->stage = SINK_BEHIND;
        p->said_until = interrupt_clock() + s->config->lease;
        good = good && p->state_key;
    }
    free(tags);
    return good || fail(f, EXIT_USAGE, "no key beside %s is in its slot: its braces",
                        s->config->filter);
}

struct sink *sink_open(const struct feed_config *c, struct failure *f) {
    struct sink *s = fail_alloc(sizeof(*s));
    s->config = c;
    s->settings = c->settings;
    s->settings.timeout = DESK_MS;
    s->nodes = nodes_new(&s->settings);
    s->nparts = c->settings.parts ? (uint32_t)c->settings.parts : 1;
    s->part = fail_alloc(s->nparts * sizeof(*s->part));
    if (open_parts(s, f)) return s;
    sink_close(s);
    return NULL;
}

void sink_close(struct sink *s) {
    if (!s) return;
    for (size_t i = 0; i < s->nlines; i++) {
        line_break(s->line[i], "");
        for (struct group *g; (g = line_receive(s->line[i]));)
            group_free(g);
        free(s->line[i]);
    }
    for (uint32_t i = 0; i < s->nparts; i++) {
        free(s->part[i].key);
        free(s->part[i].state_key);
        resp_free(&s->part[i].open);
    }
    free(s->line);
    free(s->part);
    nodes_close(s->nodes);
    free(s);
}

/* ---- the database ---- */

/* What is known of places in the WAL means nothing in another. */
static void forget_places(struct sink *s) {
    s->position = s->applied = 0;
    for (uint32_t i = 0; i < s->nparts; i++)
        s->part[i].stored_lsn = 0;
}

/* The first time, nothing is known of the parts yet. */
bool sink_database_is(struct sink *s, uint64_t system, uint32_t timeline,
                      uint64_t confirmed) {
    bool other = s->system && (s->system != system || s->timeline != timeline);
    s->system = system;
    s->timeline = timeline;
    s->confirmed = confirmed;
    if (other) forget_places(s);
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        if (!part_is_live(p)) continue;
        if (other)
            part_trouble(s, p, "the database is another, or was promoted or restored");
        else if (s->position < confirmed)
            part_trouble(s, p, "the slot has forgotten what the filter needs");
    }
    if (other) sink_look_again(s);
    return other;
}

bool sink_wal_ends(struct sink *s, uint64_t end) {
    bool beyond = s->position > end;
    for (uint32_t i = 0; i < s->nparts; i++)
        beyond = beyond || (s->part[i].found && s->part[i].state.lsn > end);
    if (!beyond) return false;
    sink_lose(s, "the filter has more than the database: that was put back");
    forget_places(s);
    return true;
}

void sink_view_is(struct sink *s, const struct view *view) {
    bool known = s->view.number || s->view.why[0];
    bool other = known && s->view.number != view->number;
    s->view = *view;
    if (!other) return;
    for (uint32_t i = 0; i < s->nparts; i++)
        if (part_is_live(&s->part[i]) || s->part[i].stage == SINK_LOST)
            part_lose(s, &s->part[i], view->number ? SINK_VIEW_CHANGED : view->why);
    sink_look_again(s);
}

void sink_seen(struct sink *s, uint64_t beat) {
    s->seen = beat;
}

static bool is_to_be_looked_at(const struct sink_part *p) {
    return p->stage == SINK_BEHIND && !p->looking && !p->found && pause_is_over(&p->pause);
}

bool sink_start(const struct sink *s, uint64_t *lsn, bool *anew) {
    uint64_t least = UINT64_MAX;
    bool settled = true;
    *anew = false;
    for (uint32_t i = 0; i < s->nparts; i++) {
        const struct sink_part *p = &s->part[i];
        if (p->looking || (is_to_be_looked_at(p) && !p->pause.ms)) settled = false;
        if (p->found) *anew = true;
        if (p->found && p->state.lsn < least) least = p->state.lsn;
        if (part_is_live(p) && s->position < least) least = s->position;
    }
    *lsn = least == UINT64_MAX ? s->confirmed : least;
    return settled;
}

static bool is_filling(const struct sink_part *p) {
    return strcmp(p->state.generation, STATE_FILLING) == 0;
}

/* Whoever had the slot until now may have vouched just before. */
void sink_has_slot(struct sink *s) {
    for (uint32_t i = 0; i < s->nparts; i++)
        s->part[i].said_until = interrupt_clock() + s->config->lease;
}

/* What is sent after this may be older than what has been sent. */
void sink_restart(struct sink *s, uint64_t lsn) {
    sink_flush(s);
    s->position = lsn;
    s->under_way = 0;
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        p->beat = p->next_beat = (struct sink_beat){.number = 0};
        if (!p->found) continue;
        p->found = false;
        p->stage = is_filling(p) ? SINK_FILLING : SINK_REPLAYING;
    }
}

void sink_look_again(struct sink *s) {
    for (uint32_t i = 0; i < s->nparts; i++)
        s->part[i].found = false;
}

void sink_lose(struct sink *s, const char *why) {
    for (uint32_t i = 0; i < s->nparts; i++)
        part_lose(s, &s->part[i], why);
}

/* ---- the stream ---- */

void sink_begin(struct sink *s, uint64_t lsn) {
    s->under_way = lsn;
}

/* When the stream begins again for one part, others have had what comes. */
void sink_add(struct sink *s, const char *item, size_t length) {
    struct sink_part *p = &s->part[split_part(item, length, s->nparts)];
    if (!part_is_live(p) || s->under_way < p->sent_lsn) return;
    resp_word(&p->open, item, length);
    p->open_items++;
    bool full = p->open_items >= s->config->settings.batch || p->open.n >= GROUP_BYTES;
    if (!full) return;
    s->is_full = part_waits_for_desk(s, p);
    if (!s->is_full) part_send_adds(s, p);
}

void sink_commit(struct sink *s, uint64_t lsn) {
    if (lsn > s->position) s->position = lsn;
}

/* A server that waits for replicas or files does nothing else for us meanwhile: what comes
 * then goes together. */
static bool gathers(const struct sink *s, const struct sink_part *p) {
    return (s->config->wait_replicas || s->config->wait_aof) &&
           !part_has_none_on_its_way(p);
}

static void flush(struct sink *s, bool all) {
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        if (p->open_items && !part_waits_for_desk(s, p) && (all || !gathers(s, p)))
            part_send_adds(s, p);
    }
}

void sink_flush(struct sink *s) {
    flush(s, false);
}

bool sink_has_room(const struct sink *s) {
    if (s->is_full) return false;
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->groups >= s->config->settings.window) return false;
    return true;
}

/* ---- beats ---- */

void sink_ask_clocks(struct sink *s) {
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->c && !s->line[i]->clock_is_asked) sink_send_clock(s->line[i]);
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

/* While one waits for what was before it to be acknowledged, only the newest of those that
 * come meanwhile is kept. Items that wait for the desk aren't sent yet: what comes behind
 * them would vouch for them too early. */
void sink_beat_back(struct sink *s, uint64_t beat) {
    flush(s, true);
    if (s->read_after && beat > s->read_after) s->deleted = s->read_after = 0;
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        if (!part_is_live(p) || p->open_items) continue;
        struct sink_beat *to = p->beat.number ? &p->next_beat : &p->beat;
        *to = (struct sink_beat){.number = beat,
                                 .after = p->groups_sent,
                                 .lsn = s->position,
                                 .clock = p->line->clocks[beat % HEART_BEATS]};
    }
}

static bool is_ripe(const struct sink *s, const struct sink_part *p) {
    return p->beat.number && p->beat.number <= s->seen && p->groups_done >= p->beat.after;
}

static bool commits(const struct sink_part *p) {
    return p->token[0] && p->beat.number > p->token_beat && p->beat.clock &&
           p->stage != SINK_REPLAYING;
}

/* The generation that was lost may only have another name. If it gets its own back, READY
 * XX would vouch for it, as long as it is vouched for. */
static bool may_be_replaced(const struct sink_part *p) {
    return p->stage == SINK_FOLLOWING && !p->not_stored &&
           interrupt_clock() < p->others_until;
}

bool part_waits_for_desk(const struct sink *s, const struct sink_part *p) {
    bool anew = p->stage == SINK_REPLAYING || may_be_replaced(p);
    return is_ripe(s, p) && ((anew && p->beat.clock) || commits(p));
}

static void end_beat(struct sink_part *p) {
    p->beat = p->next_beat;
    p->next_beat.number = 0;
}

/* It may be done although the answer is lost. */
static void note_vouching(const struct sink *s, struct sink_part *p) {
    p->said_until = interrupt_clock() + s->config->lease;
}

/* The generation that there is doesn't wait for the new one. A node that doesn't answer
 * would be waited for by each of its parts. */
static void commit(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = ""};
    int64_t others_until = p->stage == SINK_FILLING ? p->said_until : 0;
    note_vouching(s, p);
    if (desk_commit(s, p, &f)) {
        if (others_until > p->others_until) p->others_until = others_until;
        p->token[0] = '\0';
        part_follows(s, p);
    } else if (f.code != EXIT_BUSY && ++p->refusals >= COMMITS_MAX) {
        p->token[0] = '\0';
        part_trouble(s, p, f.text);
    } else if (p->stage == SINK_FOLLOWING && f.code != EXIT_SERVER) {
        part_send_vouch(s, p);
    }
    if (f.code == EXIT_SERVER && p->line) line_break(p->line, f.text);
}

/* A state that was refused says less than the filter has: a server that restarts with it is
 * not found out by it. */
static void vouch_anew(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = ""};
    if (p->not_stored) {
        part_trouble(s, p, "its state was not stored");
        return;
    }
    note_vouching(s, p);
    if (desk_vouch(s, p, &f))
        part_follows(s, p);
    else if (f.code == EXIT_SERVER && p->line)
        line_break(p->line, f.text);
    else if (f.code != EXIT_BUSY)
        part_trouble(s, p, f.text);
}

/* The clock wasn't known when the beat was sent; or there is a new generation, and the old
 * one has had to be vouched for first. The next beat may be a third of an hour away. */
static bool waits_for_another(const struct sink_part *p, enum sink_stage before) {
    if (p->beat.clock) return before == SINK_REPLAYING && p->token[0];
    return p->stage == SINK_REPLAYING || p->token[0];
}

/* A line that broke takes its parts with it. */
static bool has_time_for_desk(const struct sink *s, const struct sink_part *p) {
    return p->line && p->line->c && interrupt_clock() < s->desk_until;
}

/* The desk's words mustn't overtake what is on its way on the line. */
static void vouch(struct sink *s, struct sink_part *p) {
    enum sink_stage before = p->stage;
    bool desk = part_waits_for_desk(s, p);
    if (desk && (!part_has_none_on_its_way(p) || !has_time_for_desk(s, p))) return;
    if (p->beat.lsn > p->state.lsn) p->state.lsn = p->beat.lsn;
    if (desk)
        commits(p) ? commit(s, p) : vouch_anew(s, p);
    else if (p->stage == SINK_FOLLOWING && p->beat.clock)
        part_send_vouch(s, p);
    else if (p->stage == SINK_FILLING)
        part_send_state(s, p, false);
    if (waits_for_another(p, before)) s->wants_beat = true;
    end_beat(p);
}

static void vouch_all(struct sink *s) {
    s->desk_until = interrupt_clock() + DESKS_MS;
    for (uint32_t i = 0; i < s->nparts; i++)
        if (part_is_live(&s->part[i]) && is_ripe(s, &s->part[i])) vouch(s, &s->part[i]);
}

/* ---- filling ---- */

static void begin_to_fill(struct sink *s, struct sink_part *p) {
    struct failure f = {.text = ""};
    struct line *l = part_line(s, p, &f);
    if (!l) {
        part_lose(s, p, f.text);
        return;
    }
    part_set_stage(s, p, SINK_FILLING);
    p->line = l;
    p->refusals = 0;
    p->sent_lsn = s->position;
    p->stored_lsn = s->position;
    p->state = (struct state){.lsn = s->position,
                              .system = s->system,
                              .timeline = s->timeline,
                              .of = s->config->of,
                              .view = s->view.number,
                              .generation = STATE_FILLING};
    snprintf(p->state.slot, sizeof(p->state.slot), "%s", s->config->slot);
    part_send_state(s, p, true);
}

/* A part that is live takes adds into both generations. */
void sink_fill_begins(struct sink *s, const bool *begun, uint64_t beat) {
    bool all = true;
    for (uint32_t i = 0; i < s->nparts; i++) {
        all = all && begun[i];
        if (begun[i] && s->part[i].stage == SINK_LOST) begin_to_fill(s, &s->part[i]);
    }
    if (all) s->read_after = beat;
}

void sink_fill_ends(struct sink *s, uint32_t part, const char *token, uint64_t count,
                    uint64_t beat) {
    struct sink_part *p = &s->part[part];
    if (p->stage == SINK_LOST) return;
    snprintf(p->token, sizeof(p->token), "%s", token);
    p->token_count = count;
    p->token_beat = beat;
    p->refusals = 0;
}

/* ---- the work ---- */

/* Who has which key is asked when the first look was of no use. */
static void look(struct sink *s) {
    int64_t now = interrupt_clock();
    if (!s->system) return;
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct sink_part *p = &s->part[i];
        if (!is_to_be_looked_at(p)) continue;
        bool known = s->nodes->owner[split_slot(p->key, strlen(p->key))];
        if ((!known || p->pause.ms) && now - s->refreshed_at >= REFRESH_MS) {
            s->unmapped.text[0] = '\0';
            nodes_refresh(s->nodes, &s->unmapped);
            s->refreshed_at = now = interrupt_clock();
        }
        part_send_look(s, p);
    }
}

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

/* Whoever answers on it next is perhaps another process; the desk's connection is to the
 * old one, too. */
static void leave_broken(struct sink *s, const struct line *l) {
    nodes_drop(l->node);
    for (uint32_t i = 0; i < s->nparts; i++)
        if (s->part[i].line == l) part_trouble(s, &s->part[i], l->why);
}

static void receive_from(struct sink *s, struct line *l) {
    line_read(l);
    sink_take_replies(s, l);
    line_hurry(l, sink_patience(s));
    if (!l->broke) return;
    l->broke = false;
    sink_take_replies(s, l);
    leave_broken(s, l);
}

void sink_receive(struct sink *s) {
    for (size_t i = 0; i < s->nlines; i++)
        receive_from(s, s->line[i]);
}

void sink_send(struct sink *s) {
    look(s);
    vouch_all(s);
    s->is_full = false;
    for (size_t i = 0; i < s->nlines; i++)
        if (line_wants_to_write(s->line[i])) line_write(s->line[i]);
}

/* ---- what PostgreSQL is told ---- */

/* A part that has stopped following keeps writers waiting as long as somebody may still say
 * absent for it; also when it is being filled by then: it lacks what came in between. */
static uint64_t applied_by(const struct sink *s, const struct sink_part *p) {
    bool follows = part_is_live(p) && p->stage != SINK_FILLING;
    if (!follows && interrupt_clock() < p->said_until) return s->applied;
    if (!part_is_live(p)) return UINT64_MAX;
    return part_has_none_on_its_way(p) && p->open_items == 0 ? s->position : p->state.lsn;
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

/* What a part that hasn't been looked at needs isn't known. */
static uint64_t needed_by(const struct sink *s, const struct sink_part *p) {
    if (p->stage == SINK_LOST) return UINT64_MAX;
    if (p->stage == SINK_BEHIND && p->kept < p->stored_lsn)
        return p->kept > s->confirmed ? p->kept : s->confirmed;
    return p->stored_lsn > s->confirmed ? p->stored_lsn : s->confirmed;
}

uint64_t sink_needed(const struct sink *s) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->nparts; i++) {
        uint64_t lsn = needed_by(s, &s->part[i]);
        if (lsn < least) least = lsn;
    }
    return least;
}

void sink_let_go(struct sink *s, uint64_t lsn) {
    for (uint32_t i = 0; i < s->nparts; i++)
        if (needed_by(s, &s->part[i]) < lsn)
            part_lose(s, &s->part[i],
                      "the slot would hold more WAL for it than max-slot-wal");
}

uint32_t sink_count(const struct sink *s, enum sink_stage stage) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nparts; i++)
        n += s->part[i].stage == stage;
    return n;
}

uint64_t sink_items(const struct sink *s) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->nparts; i++)
        n += s->part[i].state.items;
    return n;
}
