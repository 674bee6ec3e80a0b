/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h. */
#include "nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "reply.h"
#include "server_auth.h"

/* Between two tries: short enough that a fail-over isn't felt twice. */
#define AGAIN_MS 50

/* What a try has at least: cut short at the end, it would say less than the one before. */
#define TRY_MS 200

/* How long a node may take to say who has which slots. */
#define MAP_MS 1000

struct node *nodes_at(struct nodes *nodes, const struct address *at) {
    for (size_t i = 0; i < nodes->n; i++) {
        struct node *node = nodes->node[i];
        if (node->at.port == at->port && strcmp(node->at.host, at->host) == 0) return node;
    }
    if (nodes->n == NODES_MAX) return NULL;
    nodes->node = fail_grow(nodes->node, (nodes->n + 1) * sizeof(struct node *));
    struct node *made = fail_alloc(sizeof(*made));
    made->at = *at;
    nodes->node[nodes->n++] = made;
    return made;
}

void nodes_drop(struct node *node) {
    redisFree(node->c);
    node->c = NULL;
}

bool nodes_is_silent(const struct node *node) {
    return node->c->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* hiredis calls a time-out what the system does. */
void nodes_lose(struct node *node, struct failure *f) {
    bool silent = nodes_is_silent(node);
    char text[ADDRESS_TEXT];
    node->answers = false;
    if (interrupt_came())
        interrupt_fail(f);
    else if (silent)
        fail(f, EXIT_SERVER, "the server at %s does not answer",
             server_show(&node->at, text));
    else
        server_explain(node->c, &node->at, f);
    nodes_drop(node);
}

bool nodes_connect(struct nodes *nodes, struct node *node, struct failure *f) {
    return nodes_connect_within(nodes, node, nodes->settings->timeout, f);
}

bool nodes_connect_within(struct nodes *nodes, struct node *node, int64_t ms,
                          struct failure *f) {
    struct settings brief = *nodes->settings;
    if (node->c) return true;
    if (ms < brief.timeout) brief.timeout = ms > 1 ? ms : 1;
    node->c = server_connect(&brief, &node->at, f);
    node->answers = node->c != NULL;
    return node->answers;
}

/* A node that should be called by a name and has none is "?"; its address may be in the
 * list after port and id: "ip", the address. NULL: it isn't told. */
static const char *host_of(const redisReply *r) {
    const char *host = r->element[0]->str;
    if (!host || strcmp(host, "?") != 0) return host ? host : "";
    const redisReply *more = r->elements > 3 ? r->element[3] : NULL;
    for (size_t i = 0; more && i + 1 < more->elements; i += 2)
        if (more->element[i]->str && strcmp(more->element[i]->str, "ip") == 0)
            return more->element[i + 1]->str;
    return NULL;
}

/* host, port, id, ...; an empty host is the one that was asked. NULL: not to be used. */
static struct node *take_node(struct nodes *nodes, const redisReply *r,
                              const struct node *from) {
    if (r->type != REDIS_REPLY_ARRAY || r->elements < 2 ||
        r->element[1]->type != REDIS_REPLY_INTEGER)
        return NULL;
    struct address at = from->at;
    const char *host = host_of(r);
    if (!host) return NULL;
    if (*host) snprintf(at.host, sizeof(at.host), "%s", host);
    if (!server_take_port(r->element[1]->integer, &at.port)) return NULL;
    return nodes_at(nodes, &at);
}

/* A word of an answer of CLUSTER SLOTS: start, end, the master, its replicas. */
static bool take_slots(struct nodes *nodes, const redisReply *r, const struct node *from) {
    if (r->type != REDIS_REPLY_ARRAY || r->elements < 3 ||
        r->element[0]->type != REDIS_REPLY_INTEGER ||
        r->element[1]->type != REDIS_REPLY_INTEGER)
        return false;
    long long first = r->element[0]->integer, last = r->element[1]->integer;
    if (first < 0 || last >= SPLIT_SLOTS || first > last) return false;
    struct node *master = take_node(nodes, r->element[2], from);
    for (size_t i = 3; i < r->elements; i++)
        take_node(nodes, r->element[i], from);
    for (long long slot = first; slot <= last; slot++)
        nodes->owner[slot] = master;
    return master != NULL;
}

static bool refuse_map(const char *error, const struct node *from, struct failure *f) {
    char text[ADDRESS_TEXT];
    if (strstr(error, "cluster support disabled"))
        return fail(f, EXIT_REFUSED,
                    "the server at %s is no node of a cluster: leave -c out",
                    server_show(&from->at, text));
    if (reply_begins(error, "NOPERM"))
        return fail(f, EXIT_REFUSED,
                    "the ACL user needs cluster|slots (Redis 6: cluster) and asking (%s)",
                    error);
    return server_admits(error, f) &&
           fail(f, EXIT_REFUSED, "CLUSTER SLOTS is refused: %s", error);
}

static bool take_map(struct nodes *nodes, const redisReply *r, const struct node *from,
                     struct failure *f) {
    if (r->type == REDIS_REPLY_ERROR) return refuse_map(r->str, from, f);
    struct node *known[SPLIT_SLOTS];
    memcpy(known, nodes->owner, sizeof(known));
    memset(nodes->owner, 0, sizeof(nodes->owner));
    bool good = r->type == REDIS_REPLY_ARRAY && r->elements > 0;
    for (size_t i = 0; good && i < r->elements; i++)
        good = take_slots(nodes, r->element[i], from);
    if (good) return true;
    memcpy(nodes->owner, known, sizeof(known));
    if (nodes->n == NODES_MAX)
        return fail(f, EXIT_REFUSED, "more than %d nodes were named: is this a cluster?",
                    NODES_MAX);
    return fail(f, EXIT_SERVER, "the cluster has no slots: is it complete?");
}

/* A node that hangs must not keep the others from being asked. */
static bool ask_map(struct nodes *nodes, struct node *node, int64_t until,
                    struct failure *f) {
    const char *words[] = {"CLUSTER", "SLOTS"};
    int64_t left = until - interrupt_clock(), ms = left < MAP_MS ? left : MAP_MS;
    int64_t limit = interrupt_clock() + ms;
    if (!nodes_connect_within(nodes, node, ms, f)) return false;
    redisReply *r = nodes_ask_node(node, limit, f, 2, words);
    bool good = r && take_map(nodes, r, node, f);
    freeReplyObject(r);
    return good;
}

/* Any node that is known will do; but not always the same, which may be one that is cut off
 * and doesn't know what has changed. Those that did not answer come last: each may cost a
 * second. */
static bool ask_any(struct nodes *nodes, bool answers, int64_t until, struct failure *f) {
    for (size_t i = 0, n = nodes->n; i < n; i++) {
        struct node *node = nodes->node[nodes->turn++ % n];
        if (interrupt_came()) return interrupt_fail(f);
        if (interrupt_clock() >= until) return false;
        if (node->answers == answers && ask_map(nodes, node, until, f)) return true;
    }
    return false;
}

static bool refresh_cluster(struct nodes *nodes, struct failure *f) {
    struct address at;
    if (nodes->n == 0) {
        if (!server_find(nodes->settings, &at, f)) return false;
        nodes_at(nodes, &at);
    }
    int64_t until = interrupt_clock() + nodes->settings->timeout;
    fail(f, EXIT_SERVER, "no node of the cluster says who has which slots");
    return ask_any(nodes, true, until, f) || ask_any(nodes, false, until, f);
}

/* Only one node, which may have moved: with sentinels. */
static bool refresh_single(struct nodes *nodes, struct failure *f) {
    struct address at;
    if (!server_find(nodes->settings, &at, f)) return false;
    struct node *node = nodes_at(nodes, &at);
    if (!node)
        return fail(f, EXIT_REFUSED, "the sentinels have named more than %d masters",
                    NODES_MAX);
    for (size_t slot = 0; slot < SPLIT_SLOTS; slot++)
        nodes->owner[slot] = node;
    return nodes_connect(nodes, node, f);
}

bool nodes_refresh(struct nodes *nodes, struct failure *f) {
    return nodes->settings->cluster ? refresh_cluster(nodes, f) : refresh_single(nodes, f);
}

void nodes_hurry(struct nodes *nodes, const struct settings *s) {
    nodes->settings = s;
}

struct nodes *nodes_new(const struct settings *s) {
    struct nodes *nodes = fail_alloc(sizeof(*nodes));
    nodes->settings = s;
    return nodes;
}

struct nodes *nodes_open(const struct settings *s, struct failure *f) {
    struct nodes *nodes = nodes_new(s);
    bool good = nodes_refresh(nodes, f);
    for (size_t slot = 0; good && slot < SPLIT_SLOTS; slot++)
        if (nodes->owner[slot]) good = nodes_connect(nodes, nodes->owner[slot], f);
    if (good) return nodes;
    nodes_close(nodes);
    return NULL;
}

void nodes_close(struct nodes *nodes) {
    if (!nodes) return;
    for (size_t i = 0; i < nodes->n; i++) {
        nodes_drop(nodes->node[i]);
        free(nodes->node[i]);
    }
    free(nodes->node);
    free(nodes);
}

/* "MOVED 3999 127.0.0.1:6381", and the same with ASK. An empty host: the one that was
 * asked. False for one that has no name. */
static bool take_address(const char *text, const struct node *from, struct address *to) {
    const char *at = strrchr(text, ' '), *colon = strrchr(text, ':');
    if (!at || !colon || colon < at) return false;
    size_t length = (size_t)(colon - at - 1);
    *to = from->at;
    if (length >= sizeof(to->host) || (length == 1 && at[1] == '?')) return false;
    if (length) snprintf(to->host, sizeof(to->host), "%.*s", (int)length, at + 1);
    return server_parse_port(colon + 1, strlen(colon + 1), &to->port);
}

enum redirection nodes_redirection(const redisReply *error, const struct node *from,
                                   struct address *to) {
    static const char *const later[] = {"LOADING ",    "CLUSTERDOWN ", "TRYAGAIN ",
                                        "MASTERDOWN ", "READONLY ",    "BUSY ",
                                        "MOVED ",      "ASK "};
    if (reply_begins(error->str, "MOVED ") && take_address(error->str, from, to))
        return REDIRECT_MOVED;
    if (reply_begins(error->str, "ASK ") && take_address(error->str, from, to))
        return REDIRECT_ASK;
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
        if (reply_begins(error->str, later[i])) return REDIRECT_LATER;
    return REDIRECT_NONE;
}

static redisReply *ask(struct node *node, int64_t until, struct failure *f,
                       const struct question *q) {
    redisReply *r = reply_ask_up_to(node->c, until, q->n, q->words, q->lengths, q->most);
    if (!r) nodes_lose(node, f);
    return r;
}

redisReply *nodes_ask_node(struct node *node, int64_t until, struct failure *f, size_t n,
                           const char *const *words) {
    return ask(node, until, f, &(struct question){.n = n, .words = (const char **)words});
}

/* One try at one node, which is connected. */
static redisReply *ask_once(struct node *node, int64_t until, bool asking,
                            const struct question *q, struct failure *f) {
    if (asking) {
        static const char *const words[] = {"ASKING"};
        redisReply *r = nodes_ask_node(node, until, f, 1, words);
        if (!r || r->type == REDIS_REPLY_ERROR) return r;
        freeReplyObject(r);
    }
    return ask(node, until, f, q);
}

static unsigned slot_of(const struct question *q) {
    return split_slot(q->key, q->key_length ? q->key_length : strlen(q->key));
}

static struct node *node_of(struct nodes *nodes, const struct question *q) {
    unsigned slot = q->key ? slot_of(q) : 0;
    struct node *node = nodes->owner[slot];
    return node || q->key ? node : nodes->node[0];
}

static void move(struct nodes *nodes, const struct question *q, const struct address *to) {
    nodes->owner[slot_of(q)] = nodes_at(nodes, to);
}

bool nodes_fail_redirected(const struct node *from, struct failure *f) {
    char text[ADDRESS_TEXT];
    return fail(f, EXIT_REFUSED, "the server at %s is a node of a cluster: give -c",
                server_show(&from->at, text));
}

/* What the last try has come to is told if it was the last one. */
static bool note_later(const struct node *node, const struct question *q, const char *error,
                       struct failure *f) {
    char text[ADDRESS_TEXT];
    if (reply_begins(error, "CLUSTERDOWN"))
        return fail(
            f, EXIT_SERVER,
            "the cluster doesn't serve the slot of %s: is the cluster complete? (%s)",
            q->key ? q->key : "the filter", error);
    if (reply_begins(error, "READONLY"))
        return fail(f, EXIT_SERVER, "the server at %s is a replica: name its master",
                    server_show(&node->at, text));
    return fail(f, EXIT_SERVER, "the server at %s says: %s", server_show(&node->at, text),
                error);
}

/* One try, and what to do next. */
struct try {
    int64_t until;
    struct node *node; /* NULL: nobody has the slot */
    bool asking, connected;
    redisReply *r;
    enum redirection where;
    struct address to;
};

static void try_it(struct nodes *nodes, struct try *t, const struct question *q,
                   struct failure *f) {
    int64_t least = interrupt_clock() + TRY_MS, until = t->until > least ? t->until : least;
    t->connected =
        t->node && nodes_connect_within(nodes, t->node, until - interrupt_clock(), f);
    t->r = t->connected ? ask_once(t->node, until, t->asking, q, f) : NULL;
    t->where = t->r && t->r->type == REDIS_REPLY_ERROR
                   ? nodes_redirection(t->r, t->node, &t->to)
                   : REDIRECT_NONE;
    if (t->where != REDIRECT_NONE) note_later(t->node, q, t->r->str, f);
}

/* To whom it is sent next; nodes that send it to and fro are given time. */
static bool go_on(struct nodes *nodes, struct try *t, const struct question *q,
                  unsigned tries, struct failure *f) {
    struct failure ignored;
    t->asking = t->where == REDIRECT_ASK;
    if (t->where == REDIRECT_MOVED && q->key) move(nodes, q, &t->to);
    if (t->where == REDIRECT_LATER || t->where == REDIRECT_NONE || tries % 4 == 0) {
        if (!interrupt_sleep(AGAIN_MS, f)) return false;
        nodes_refresh(nodes, &ignored);
        t->asking = false;
    }
    t->node = t->asking ? nodes_at(nodes, &t->to) : node_of(nodes, q);
    return true;
}

redisReply *nodes_ask(struct nodes *nodes, const struct question *q, struct failure *f) {
    struct try t = {.until = interrupt_clock() + nodes->settings->timeout,
                    .node = node_of(nodes, q)};
    fail(f, EXIT_SERVER, "nobody serves the slot of %s: is the cluster complete?",
         q->key ? q->key : "the filter");
    if (interrupt_came()) {
        interrupt_fail(f);
        return NULL;
    }
    for (unsigned tries = 1;; tries++) {
        try_it(nodes, &t, q, f);
        if (t.r && t.where == REDIRECT_NONE) return t.r;
        freeReplyObject(t.r);
        if (t.connected && !t.r && q->once) return NULL;
        bool elsewhere = t.where == REDIRECT_MOVED || t.where == REDIRECT_ASK;
        if (elsewhere && !nodes->settings->cluster) {
            nodes_fail_redirected(t.node, f);
            return NULL;
        }
        if (interrupt_came()) interrupt_fail(f);
        if (interrupt_clock() >= t.until || !go_on(nodes, &t, q, tries, f)) return NULL;
    }
}

redisReply *nodes_ask_well(struct nodes *nodes, const struct question *q,
                           struct failure *f) {
    redisReply *r = nodes_ask(nodes, q, f);
    if (!r || r->type != REDIS_REPLY_ERROR) return r;
    fail(f, EXIT_REFUSED, "%s for %s is refused: %s", q->words[0],
         q->key ? q->key : "the filter", r->str);
    freeReplyObject(r);
    return NULL;
}
