/* SPDX-License-Identifier: BSD-3-Clause */
/* line.c - see line.h. */
#include "line.h"

#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"

bool line_open(struct line *l, const struct settings *s, struct failure *f) {
    struct group *login = group_new(GROUP_LOGIN, NULL);
    if (l->c || l->first) {
        group_free(login);
        return l->c || fail(f, EXIT_SERVER, "%s", l->why);
    }
    *l = (struct line){.node = l->node};
    l->c = server_begin(s, &l->node->at, &login->replies, f);
    for (unsigned i = 0; i < login->replies; i++)
        login->reply[i] = REPLY_OK;
    if (l->c && login->replies)
        line_send(l, login);
    else
        group_free(login);
    return l->c != NULL;
}

void line_break(struct line *l, const char *why) {
    if (!l->c) return;
    snprintf(l->why, sizeof(l->why), "%.255s", why);
    redisFree(l->c);
    l->c = NULL;
    l->broke = true;
}

static void lose(struct line *l) {
    struct failure f;
    server_explain(l->c, &l->node->at, &f);
    line_break(l, f.text);
}

static void break_with(struct line *l, const char *what, const char *why) {
    char text[ADDRESS_TEXT], words[sizeof(l->why)];
    snprintf(words, sizeof(words), "the server at %.80s %s%.100s",
             server_show(&l->node->at, text), what, why);
    line_break(l, words);
}

void line_send(struct line *l, struct group *g) {
    if (l->c && g->bytes.n) redisAppendFormattedCommand(l->c, g->bytes.bytes, g->bytes.n);
    resp_free(&g->bytes);
    g->sent_at = interrupt_clock();
    if (l->last)
        l->last->next = g;
    else
        l->first = g;
    l->last = g;
    l->groups++;
}

void line_write(struct line *l) {
    int done = 0;
    if (l->c && redisBufferWrite(l->c, &done) != REDIS_OK) lose(l);
}

bool line_wants_to_write(const struct line *l) {
    return l->c && server_wants_to_write(l->c);
}

void line_read(struct line *l) {
    if (l->c && redisBufferRead(l->c) != REDIS_OK) lose(l);
}

void line_hurry(struct line *l, int64_t ms) {
    int64_t now = interrupt_clock();
    if (!l->c || !l->first || now - l->first->sent_at <= ms || now - l->heard_at <= ms)
        return;
    break_with(l, "does not answer", "");
}

static struct group *pull(struct line *l) {
    struct group *g = l->first;
    l->first = g->next;
    if (!l->first) l->last = NULL;
    l->groups--;
    return g;
}

/* Whatever has come for the first group. */
static void read_replies(struct line *l) {
    while (l->c && l->first->got < l->first->replies) {
        void *reply = NULL;
        if (redisGetReplyFromReader(l->c, &reply) != REDIS_OK) lose(l);
        if (!reply) return;
        l->heard_at = interrupt_clock();
        group_take(l->first, reply);
    }
}

struct group *line_receive(struct line *l) {
    if (!l->first) return NULL;
    read_replies(l);
    if (l->c && l->first->got < l->first->replies) return NULL;
    struct group *g = pull(l);
    if (g->got < g->replies) group_fail(g, l->why);
    if (g->kind == GROUP_LOGIN && g->failed) break_with(l, "lets nobody in: ", g->why);
    return g;
}
