/* SPDX-License-Identifier: BSD-3-Clause */

/* storm_visit.c - clients that find the master of a part, lose it and find the next; see
 * storm.h. */

#include "storm.h"

#include <stdarg.h>

#define MOMENT  60000 /* us that an answer may take */
#define LEFT_BE 0.6   /* s that a node is not asked which gave none */
#define JUMPS   4     /* MOVED and ASK that are followed */

static int shown_port(const struct storm *s, size_t node) {
    return s->all ? cluster_port(s->all, node) : sentinels_port(s->watched, node);
}

size_t node_at(const struct storm *s, long long port) {
    for (size_t i = 0; i < s->n; i++)
        if (s->node[i]->port == port || shown_port(s, i) == port) return i;
    return s->n;
}

static void hang_up(struct visitor *v, size_t node) {
    redisFree(v->wire[node]);
    v->wire[node] = NULL;
}

void visitor_leave(struct visitor *v) {
    for (size_t i = 0; i < STORM_NODES; i++)
        hang_up(v, i);
}

static redisContext *wire_to(struct storm *s, struct visitor *v, size_t node) {
    struct timeval limit = {.tv_usec = MOMENT};
    int port = v->direct ? s->node[node]->port : shown_port(s, node);
    if (v->wire[node] || seconds_now() < v->silent_until[node]) return v->wire[node];
    redisContext *c = redisConnectWithTimeout("127.0.0.1", port, limit);
    if (c && !c->err) redisSetTimeout(c, limit);
    if (c && !c->err && v->direct && s->all) freeReplyObject(redisCommand(c, "READONLY"));
    v->wire[node] = c;
    if (c && !c->err) return c;
    hang_up(v, node);
    v->silent_until[node] = seconds_now() + LEFT_BE;
    return NULL;
}

static redisReply *visit_with(struct storm *s, struct visitor *v, size_t node, bool asking,
                              const char *format, va_list args) {
    redisContext *c = wire_to(s, v, node);
    if (!c) return NULL;
    if (asking) freeReplyObject(redisCommand(c, "ASKING"));
    redisReply *r = c->err ? NULL : redisvCommand(c, format, args);
    if (r) return r;
    hang_up(v, node);
    v->silent_until[node] = seconds_now() + LEFT_BE;
    return NULL;
}

redisReply *visit_node(struct storm *s, struct visitor *v, size_t node, const char *format,
                       ...) {
    va_list args;
    va_start(args, format);
    redisReply *r = visit_with(s, v, node, false, format, args);
    va_end(args);
    return r;
}

/* -------------------------------------------------------------------------
 * Who is the master
 * ---------------------------------------------------------------------- */

static void read_map(struct storm *s, struct visitor *v, const redisReply *slots) {
    for (size_t i = 0; i < slots->elements; i++) {
        redisReply **range = slots->element[i]->element;
        size_t node = node_at(s, range[2]->element[1]->integer);
        for (unsigned part = 0; part < s->spread->parts && node < s->n; part++) {
            long long slot = s->slot[part];
            if (range[0]->integer <= slot && slot <= range[1]->integer)
                v->owner[part] = node;
        }
    }
}

static void ask_a_sentinel(struct storm *s, struct visitor *v) {
    struct timeval limit = {.tv_usec = MOMENT};
    const struct server *sentinel = s->watched->sentinel[storm_below(s, SENTINELS)];
    redisContext *c = redisConnectWithTimeout("127.0.0.1", sentinel->port, limit);
    redisReply *r =
        c && !c->err ? redisCommand(c, "SENTINEL GET-MASTER-ADDR-BY-NAME shop") : NULL;
    if (r && r->type == REDIS_REPLY_ARRAY && r->elements == 2) {
        size_t node = node_at(s, atoll(r->element[1]->str));
        if (node < s->n) v->owner[0] = node;
    }
    freeReplyObject(r);
    redisFree(c);
}

void visitor_refresh(struct storm *s, struct visitor *v) {
    if (s->watched) {
        ask_a_sentinel(s, v);
        return;
    }
    size_t node = (size_t)storm_below(s, (long)s->n);
    redisReply *r = visit_node(s, v, node, "CLUSTER SLOTS");
    if (r && r->type == REDIS_REPLY_ARRAY) read_map(s, v, r);
    freeReplyObject(r);
}

/* "MOVED 1584 127.0.0.1:7003". */
static size_t pointed_at(const struct storm *s, const redisReply *r) {
    const char *colon = strrchr(r->str, ':');
    return colon ? node_at(s, atoll(colon + 1)) : s->n;
}

static bool starts(const redisReply *r, const char *word) {
    return r && r->type == REDIS_REPLY_ERROR && strncmp(r->str, word, strlen(word)) == 0;
}

redisReply *visit(struct storm *s, struct visitor *v, unsigned part, size_t *who,
                  const char *format, ...) {
    bool asking = false;
    redisReply *r = NULL;
    *who = v->owner[part];
    for (int jump = 0; jump < JUMPS; jump++) {
        va_list args;
        va_start(args, format);
        r = visit_with(s, v, *who, asking, format, args);
        va_end(args);
        bool moved = starts(r, "MOVED");
        asking = starts(r, "ASK ");
        if (!moved && !asking) break;
        size_t node = pointed_at(s, r);
        if (node == s->n) break;
        *who = node;
        if (moved) v->owner[part] = node;
        if (jump + 1 < JUMPS) freeReplyObject(r);
    }
    if (!r || starts(r, "READONLY") || starts(r, "CLUSTERDOWN")) visitor_refresh(s, v);
    return r;
}

/* -------------------------------------------------------------------------
 * The operator
 * ---------------------------------------------------------------------- */

/* A connection each: he isn't asked often. */
static redisReply *tell_with(struct storm *s, size_t node, const char *format,
                             va_list args) {
    struct timeval limit = {.tv_sec = 2, .tv_usec = MOMENT};
    if (!s->node[node]->pid || s->paused[node]) return NULL;
    redisContext *c = redisConnectWithTimeout("127.0.0.1", s->node[node]->port, limit);
    if (c && !c->err) redisSetTimeout(c, limit);
    redisReply *r = c && !c->err ? redisvCommand(c, format, args) : NULL;
    redisFree(c);
    return r;
}

redisReply *tell(struct storm *s, size_t node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *r = tell_with(s, node, format, args);
    va_end(args);
    return r;
}

bool tell_ok(struct storm *s, size_t node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *r = tell_with(s, node, format, args);
    va_end(args);
    bool ok = r && r->type != REDIS_REPLY_ERROR;
    if (!ok) story("node %zu says %s to %s", node, r ? r->str : "nothing", format);
    freeReplyObject(r);
    return ok;
}
