/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c - see group.h. */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "server/reply.h"

/* Errors of BF.READY that are answers. A lease would have ended before it begins: the beat
 * was on its way for so long, and the next one may be quicker. An empty filter isn't ready:
 * somebody has raised the alarm. */
#define LATE  "ERR PXAT is in the past"
#define EMPTY "ERR filter is empty"

struct group *group_new(enum group_kind kind, struct sink_part *p) {
    struct group *g = fail_alloc(sizeof(*g));
    g->kind = kind;
    g->part = p;
    g->copies = g->files[0] = g->files[1] = -1;
    return g;
}

void group_free(struct group *g) {
    resp_free(&g->bytes);
    freeReplyObject(g->info);
    free(g);
}

/* ---- commands ---- */

void group_add_more(struct group *g, enum group_reply is, size_t n,
                    const char *const *words, const struct resp *more, size_t nmore) {
    g->reply[g->replies++] = is;
    resp_begin(&g->bytes, n + nmore);
    for (size_t i = 0; i < n; i++)
        resp_text(&g->bytes, words[i]);
    if (more) resp_append(&g->bytes, more);
}

void group_add(struct group *g, enum group_reply is, size_t n, const char *const *words) {
    group_add_more(g, is, n, words, NULL, 0);
}

/* ---- replies ---- */

/* An error in a reply, wherever it stands; NULL: none. */
static const char *error_in(const redisReply *r) {
    const char *error = r->type == REDIS_REPLY_ERROR ? r->str : NULL;
    for (size_t i = 0; !error && i < r->elements; i++)
        error = error_in(r->element[i]);
    return error;
}

int64_t group_clock(const redisReply *r) {
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2) return 0;
    const char *s = r->element[0]->str, *us = r->element[1]->str;
    return s && us ? strtoll(s, NULL, 10) * 1000 + strtoll(us, NULL, 10) / 1000 : 0;
}

void group_fail(struct group *g, const char *why) {
    if (!g->failed) snprintf(g->why, sizeof(g->why), "%.255s", why);
    g->failed = true;
}

/* What is longer is none of ours. */
static void take_state(struct group *g, const redisReply *r) {
    bool fits = r->type == REDIS_REPLY_STRING && r->len < sizeof(g->state);
    if (fits) memcpy(g->state, r->str, r->len + 1);
}

/* The watermark stays where it was: that is no reason to stop adding. A server that has no
 * memory left refuses SET, and takes adds. */
static void take_stored(struct group *g, const redisReply *r, const char *error) {
    g->not_stored = error || r->type != REDIS_REPLY_STATUS;
    if (g->not_stored && !g->failed)
        snprintf(g->why, sizeof(g->why), "%.255s", error ? error : "an odd reply to SET");
}

static void take_files(struct group *g, const redisReply *r) {
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2) return;
    g->files[0] = r->element[0]->integer;
    g->files[1] = r->element[1]->integer;
}

static void take_ready(struct group *g, const redisReply *r) {
    g->vouched = r->type == REDIS_REPLY_STATUS;
    g->refused = !g->vouched;
}

static void take_good(struct group *g, enum group_reply is, redisReply *r) {
    switch (is) {
    case REPLY_STATE:
        take_state(g, r);
        break;
    case REPLY_EXEC:
        if (r->type != REDIS_REPLY_ARRAY)
            group_fail(g, "somebody else has changed the filter");
        break;
    case REPLY_ITEMS:
        g->items = r->type == REDIS_REPLY_INTEGER ? (uint64_t)r->integer : 0;
        break;
    case REPLY_READY:
        take_ready(g, r);
        break;
    case REPLY_CLOCK:
        g->clock = group_clock(r);
        break;
    case REPLY_WAIT:
        g->copies = r->type == REDIS_REPLY_INTEGER ? r->integer : 0;
        break;
    case REPLY_WAITAOF:
        take_files(g, r);
        break;
    case REPLY_ANY:
    case REPLY_OK:
    case REPLY_ADDED:
    case REPLY_STORED:
    case REPLY_INFO:
        break;
    }
}

/* A filter that isn't there is an answer to BF.INFO. */
static bool is_expected(enum group_reply is, const char *error) {
    if (is == REPLY_INFO) return reply_begins(error, "ERR not found");
    if (is == REPLY_READY) return reply_begins(error, LATE) || reply_begins(error, EMPTY);
    return is == REPLY_ANY;
}

void group_take(struct group *g, redisReply *r) {
    enum group_reply is = g->reply[g->got++];
    const char *error = error_in(r);
    if (is == REPLY_STORED)
        take_stored(g, r, error);
    else if (error && !is_expected(is, error))
        group_fail(g, error);
    else
        take_good(g, is, r);
    if (is != REPLY_INFO || g->info)
        freeReplyObject(r);
    else
        g->info = r;
}
