/* SPDX-License-Identifier: BSD-3-Clause */
/* line.c - see line.h. */
#include "line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"

/* Between two tries to connect. */
#define AGAIN_MS 100

bool line_open(struct line *l, const struct settings *s, struct failure *f) {
    if (l->c) return true;
    if (l->first || interrupt_clock() < l->retry_at) return false;
    l->retry_at = interrupt_clock() + AGAIN_MS;
    l->clock = 0;
    memset(l->clocks, 0, sizeof(l->clocks));
    l->clock_is_asked = false;
    l->c = server_connect(s, &l->node->at, f);
    if (!l->c) return false;
    int flags = fcntl(l->c->fd, F_GETFL);
    fcntl(l->c->fd, F_SETFL, flags | O_NONBLOCK);
    l->c->flags &= ~REDIS_BLOCK;
    return true;
}

void line_break(struct line *l) {
    redisFree(l->c);
    l->c = NULL;
}

void line_send(struct line *l, const struct resp *commands, struct group *g) {
    redisAppendFormattedCommand(l->c, commands->bytes, commands->n);
    if (l->last)
        l->last->next = g;
    else
        l->first = g;
    l->last = g;
    l->groups++;
}

bool line_write(struct line *l) {
    int done = 0;
    if (redisBufferWrite(l->c, &done) == REDIS_OK) return true;
    line_break(l);
    return false;
}

bool line_wants_to_write(const struct line *l) {
    return l->c && l->c->obuf && *l->c->obuf;
}

bool line_read(struct line *l) {
    if (redisBufferRead(l->c) == REDIS_OK) return true;
    line_break(l);
    return false;
}

/* ---- what replies say ---- */

static void note_failure(struct group *g, const char *why) {
    if (!g->failed) snprintf(g->why, sizeof(g->why), "%s", why);
    g->failed = true;
}

static const redisReply *error_in(const redisReply *r) {
    if (r->type == REDIS_REPLY_ERROR) return r;
    for (size_t i = 0; i < r->elements; i++) {
        const redisReply *error = error_in(r->element[i]);
        if (error) return error;
    }
    return NULL;
}

/* Of TIME: seconds and microseconds, as text. */
static int64_t clock_of(const redisReply *r) {
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2) return 0;
    const char *s = r->element[0]->str, *us = r->element[1]->str;
    return s && us ? strtoll(s, NULL, 10) * 1000 + strtoll(us, NULL, 10) / 1000 : 0;
}

/* EXEC of adds: [added..., OK, items]; of a vouching: [OK or nil, OK, items, time]. */
static void take_exec(struct group *g, const redisReply *r) {
    size_t wanted = g->kind == GROUP_VOUCH ? 4 : 3;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != wanted) {
        note_failure(g, "the transaction was not carried out");
        return;
    }
    g->refused = g->kind == GROUP_VOUCH && r->element[0]->type == REDIS_REPLY_NIL;
    if (r->element[2]->type == REDIS_REPLY_INTEGER)
        g->items = (uint64_t)r->element[2]->integer;
    if (g->kind == GROUP_VOUCH) g->clock = clock_of(r->element[3]);
}

/* WAIT says a number, WAITAOF two. */
static void take_wait(struct group *g, const redisReply *r) {
    if (r->type == REDIS_REPLY_INTEGER) g->copies = r->integer;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2) return;
    g->files[0] = r->element[0]->integer;
    g->files[1] = r->element[1]->integer;
}

/* MULTI, the commands, which are QUEUED, EXEC, and perhaps WAIT and WAITAOF. */
static void take(struct group *g, const redisReply *r) {
    unsigned exec = g->kind == GROUP_VOUCH ? 5 : 4, place = g->got++;
    const redisReply *error = error_in(r);
    if (error)
        note_failure(g, error->str);
    else if (g->kind == GROUP_CLOCK)
        g->clock = clock_of(r);
    else if (place == exec)
        take_exec(g, r);
    else if (place > exec)
        take_wait(g, r);
}

static struct group *pull(struct line *l) {
    struct group *g = l->first;
    l->first = g->next;
    if (!l->first) l->last = NULL;
    l->groups--;
    return g;
}

static bool read_replies(struct line *l) {
    while (l->c && l->first && l->first->got < l->first->replies) {
        void *reply = NULL;
        if (redisGetReplyFromReader(l->c, &reply) != REDIS_OK) line_break(l);
        if (!reply) return false;
        take(l->first, reply);
        freeReplyObject(reply);
    }
    return l->c != NULL;
}

struct group *line_receive(struct line *l) {
    if (!l->first || (l->c && !read_replies(l) && l->c)) return NULL;
    struct group *g = pull(l);
    if (g->got < g->replies) note_failure(g, "the connection to the server broke");
    return g;
}
