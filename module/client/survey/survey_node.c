/* SPDX-License-Identifier: BSD-3-Clause */
/* survey_node.c - what a node says of itself: some sections of INFO, and TIME, in one round
 * trip. A user who may not ask for some of them does without. What is
 * kept as text may go to a terminal. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "server/reply.h"
#include "survey.h"
#include "print/text.h"

static const char *const questions[] = {
    "INFO server",  "INFO memory", "INFO persistence", "INFO replication", "INFO bf",
    "INFO cluster", "TIME"};
/* A module has some fifty. */
#define NUMBERS_MAX 256

/* A node that has begun to answer has this for the rest, however late it is. */
#define REST_MS 200

/* A signal that comes just before poll() begins doesn't end it. */
#define STEP_MS 100

#define QUESTIONS (sizeof(questions) / sizeof(*questions))

/* Takes the value of a line "name:value"; false if it has none of that name, or a longer
 * one. */
static bool take(const char *line, size_t length, const char *name, char *out,
                 size_t room) {
    size_t skip = strlen(name);
    if (length <= skip || strncmp(line, name, skip) != 0 || line[skip] != ':') return false;
    size_t rest = length - skip - 1;
    if (rest >= room) return false;
    memcpy(out, line + skip + 1, rest);
    out[rest] = '\0';
    text_tame(out, false);
    return true;
}

static void take_number(struct survey_node *n, const char *line, size_t length) {
    const char *colon = memchr(line, ':', length);
    if (!colon || strncmp(line, "bf_", 3) != 0) return;
    size_t name = (size_t)(colon - line), digits = length - name - 1;
    struct survey_number number = {.value = 0};
    if (name >= sizeof(number.name) || digits == 0 || digits > 20) return;
    if (strspn(colon + 1, "0123456789") < digits) return;
    memcpy(number.name, line, name);
    number.value = strtoull(colon + 1, NULL, 10);
    if (n->nnumbers >= NUMBERS_MAX) return;
    if (!n->numbers) n->numbers = fail_alloc(NUMBERS_MAX * sizeof(number));
    n->numbers[n->nnumbers++] = number;
}

/* Forks tell their own version, and Redis' for the sake of old clients. */
static void take_version(struct survey_node *n, const char *line, size_t length) {
    static const struct {
        const char *field, *product;
    } versions[] = {{"redis_version", "Redis"},
                    {"valkey_version", "Valkey"},
                    {"redict_version", "Redict"}};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        if (i == 0 && n->version[0]) continue;
        if (take(line, length, versions[i].field, n->version, sizeof(n->version)))
            snprintf(n->product, sizeof(n->product), "%s", versions[i].product);
    }
}

static void take_line(struct survey_node *n, const char *line, size_t length) {
    char number[24];
    take_version(n, line, length);
    take(line, length, "bf_version", n->bulwark, sizeof(n->bulwark));
    take(line, length, "bf_trust_warnings", n->trust_warnings, sizeof(n->trust_warnings));
    take(line, length, "role", n->role, sizeof(n->role));
    if (take(line, length, "used_memory", number, sizeof(number)))
        n->memory = strtoull(number, NULL, 10);
    if (take(line, length, "maxmemory", number, sizeof(number)))
        n->memory_limit = strtoull(number, NULL, 10);
    if (take(line, length, "loading", number, sizeof(number)))
        n->loading = strcmp(number, "0") != 0;
    if (take(line, length, "cluster_enabled", number, sizeof(number)))
        n->in_cluster = strcmp(number, "0") != 0;
    take_number(n, line, length);
}

static void take_info(struct survey_node *n, const redisReply *r) {
    n->tells = true;
    for (const char *line = r->str; line && *line;) {
        size_t length = strcspn(line, "\r\n");
        take_line(n, line, length);
        line += length;
        line += strspn(line, "\r\n");
    }
}

static void take_time(struct survey_node *n, const redisReply *r) {
    if (r->elements != 2 || !r->element[0]->str || !r->element[1]->str) return;
    long long s = atoll(r->element[0]->str), us = atoll(r->element[1]->str);
    if (s > 0 && s < SURVEY_TIME_MAX / 1000) n->clock = s * 1000 + us / 1000;
}

static void forget(struct survey_node *n) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    n->clock = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    free(n->numbers);
    n->numbers = NULL;
    n->nnumbers = 0;
    n->loading = n->tells = n->in_cluster = false;
    n->memory = n->memory_limit = 0;
    n->product[0] = n->version[0] = n->bulwark[0] = n->role[0] = n->trust_warnings[0] =
        '\0';
}

/* A replica doesn't say master in any case; "slave" is the word of old. */
static void settle(struct survey *v, struct survey_node *n) {
    if (strcmp(n->role, "slave") == 0) strcpy(n->role, "replica");
    if (n->bulwark[0] || !n->version[0] || v->trouble.code != EXIT_DONE) return;
    fail(&v->trouble, EXIT_REFUSED,
         "the server at %s has no Bulwark: load bulwark.so, or look whether RedisBloom or "
         "valkey-bloom is in its place (MODULE LIST)",
         n->name);
}

static void be_away(struct survey *v, struct survey_node *n, const char *does) {
    struct failure f;
    fail(&f, EXIT_SERVER, "the server at %s is %s", n->name, does);
    survey_away(v, n, &f);
}

/* Other errors than these are of this user's rights. */
static void take_error(struct survey *v, struct survey_node *n, const char *error) {
    struct failure f;
    if (reply_begins(error, "BUSY ")) be_away(v, n, "busy with a script");
    if (!server_admits(error, &f)) survey_away(v, n, &f);
    n->loading |= reply_begins(error, "LOADING ");
}

/* False: the connection has failed. */
static bool read_answers(struct survey *v, struct survey_node *n, int64_t until) {
    for (size_t i = 0; i < QUESTIONS; i++) {
        redisReply *r = reply_take(n->node->c, until);
        if (!r) return false;
        if (r->type == REDIS_REPLY_ERROR)
            take_error(v, n, r->str);
        else if (r->type == REDIS_REPLY_ARRAY)
            take_time(n, r);
        else
            take_info(n, r);
        freeReplyObject(r);
    }
    if (n->loading) be_away(v, n, "loading its data");
    if (n->up) settle(v, n);
    n->kept = n->node->c;
    return true;
}

/* Sends the questions. */
static void begin(struct survey *v, struct survey_node *n, int64_t ms) {
    struct failure f;
    forget(n);
    n->up = nodes_connect_within(v->nodes, n->node, ms, &f);
    if (!n->up) {
        survey_away(v, n, &f);
        return;
    }
    for (size_t i = 0; i < QUESTIONS; i++)
        redisAppendCommand(n->node->c, questions[i]);
    reply_send(n->node->c, interrupt_clock() + ms);
}

/* What the server has closed since the last look, since it was idle or restarted, is opened
 * again. */
static void finish(struct survey *v, struct survey_node *n, bool kept, int64_t until) {
    if (read_answers(v, n, until)) return;
    if (kept && !nodes_is_silent(n->node)) {
        nodes_drop(n->node);
        n->walk.under_way = false; /* a cursor is for one process */
        begin(v, n, until - interrupt_clock());
        if (!n->up || read_answers(v, n, until)) return;
    }
    survey_lose(v, n);
}

/* Until all have begun to answer; the fd of one that has is then -1. */
static void wait_for_all(struct pollfd *ready, size_t n, int64_t until) {
    size_t silent = n;
    for (int64_t left = 1; silent > 0 && left > 0 && !interrupt_came();) {
        left = until - interrupt_clock();
        poll(ready, (nfds_t)n, (int)(left < 0 ? 0 : left < STEP_MS ? left : STEP_MS));
        silent = 0;
        for (size_t i = 0; i < n; i++) {
            if (ready[i].revents) ready[i].fd = -1;
            silent += ready[i].fd >= 0;
        }
    }
}

/* All at a time: those that hang cost the time of one. */
void survey_ask_nodes(struct survey *v) {
    struct pollfd *ready = fail_alloc(v->nnodes * sizeof(*ready));
    bool *kept = fail_alloc(v->nnodes * sizeof(*kept));
    int64_t until = interrupt_clock() + v->settings->timeout;
    for (size_t i = 0; i < v->nnodes; i++) {
        struct survey_node *n = &v->node[i];
        kept[i] = n->node->c && n->node->c == n->kept;
        begin(v, n, (until - interrupt_clock()) / (int64_t)(v->nnodes - i));
        ready[i] = (struct pollfd){n->up ? n->node->c->fd : -1, POLLIN, 0};
    }
    wait_for_all(ready, v->nnodes, until);
    for (size_t i = 0; i < v->nnodes; i++) {
        int64_t now = interrupt_clock();
        bool begun = ready[i].fd < 0;
        if (v->node[i].up)
            finish(v, &v->node[i], kept[i],
                   begun && until < now + REST_MS ? now + REST_MS : until);
    }
    free(ready);
    free(kept);
}
