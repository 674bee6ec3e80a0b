/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.c - see desk.h. */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"
#include "survey.h"

/* A filter that isn't there has no fields. */
struct found {
    bool has_state, has_filter;
    struct state state;
    struct survey_filter filter;
};

/* ---- asking ---- */

/* On the key's own connection, and no other: what is watched is watched there. */
static struct node *node_of(struct sink *s, const struct sink_part *p, struct failure *f) {
    struct node *node = s->nodes->owner[split_slot(p->key, strlen(p->key))];
    if (!node) fail(f, EXIT_SERVER, "nobody serves the slot of %s", p->key);
    return node && nodes_connect(s->nodes, node, f) ? node : NULL;
}

static redisReply *ask(struct node *node, struct failure *f, const char *a, const char *b,
                       const char *c) {
    const char *const words[] = {a, b, c};
    return nodes_ask_node(node, f, c ? 3 : 2, words);
}

static bool read_state(struct found *out, const redisReply *r) {
    out->has_state =
        r->type == REDIS_REPLY_STRING && state_read(r->str, r->len, &out->state);
    return r->type != REDIS_REPLY_ERROR;
}

static bool read_filter(struct found *out, const redisReply *r, struct failure *f) {
    if (r->type != REDIS_REPLY_ERROR) {
        out->has_filter = survey_read_filter(r, &out->filter);
        return true;
    }
    if (strncmp(r->str, "ERR not found", 13) == 0) return true;
    return fail(f, EXIT_REFUSED, "BF.INFO is refused: %s", r->str);
}

/* False: nobody answers, or not what is wanted. */
static bool find(struct node *node, const struct sink_part *p, struct found *out,
                 struct failure *f) {
    *out = (struct found){.has_state = false};
    redisReply *r = ask(node, f, "GET", p->state_key, NULL);
    if (!r) return false;
    bool good = read_state(out, r) || fail(f, EXIT_REFUSED, "GET is refused: %s", r->str);
    freeReplyObject(r);
    if (!good || !(r = ask(node, f, "BF.INFO", p->key, "FULL"))) return false;
    good = read_filter(out, r, f);
    freeReplyObject(r);
    return good;
}

/* ---- judging ---- */

static bool has_doubt(const struct survey_filter *f, const char *word) {
    return strstr(f->doubt, word) != NULL;
}

static bool lost(struct failure *f, const char *why) {
    return fail(f, EXIT_REFUSED, "%s", why);
}

static bool is_of_this_database(const struct sink *s, const struct state *t,
                                struct failure *f) {
    if (strcmp(t->slot, s->config->slot) != 0)
        return lost(f, "another feed has kept this filter");
    if (t->system != s->system) return lost(f, "the filter is of another database system");
    if (t->timeline != s->timeline)
        return lost(f, "the database was promoted, or restored, since");
    return true;
}

static bool is_sound(const struct found *found, struct failure *f) {
    const struct survey_filter *filter = &found->filter;
    if (!found->has_filter) return lost(f, "there is no filter");
    if (!found->has_state) return lost(f, "no feed has kept this filter");
    if (filter->state == SURVEY_LOADING)
        return lost(f, "somebody has sent BF.LOADING: a rebuild ends that");
    if (filter->state != SURVEY_READY) return lost(f, "the filter isn't ready");
    if (strcmp(filter->generation, found->state.generation) != 0)
        return lost(f, "the filter was replaced by another");
    if (has_doubt(filter, "later_version") || has_doubt(filter, "other"))
        return lost(f, "the filter is in a doubt that this version doesn't know");
    return true;
}

/* Where the part goes on from: a filter that was restored has what its count of items
 * proves. */
static bool find_start(const struct sink *s, const struct found *found, uint64_t *from,
                       struct failure *f) {
    const struct state *t = &found->state;
    bool restored = has_doubt(&found->filter, "restore");
    if (restored && found->filter.items < t->items)
        return lost(f, "the filter was restored from an older copy");
    *from = restored ? t->before : t->lsn;
    if (*from >= s->confirmed) return true;
    return lost(f, "the filter is older than what the slot still has");
}

enum desk_verdict desk_look(struct sink *s, struct sink_part *p, uint64_t *from,
                            struct failure *f) {
    struct found found;
    struct node *node = node_of(s, p, f);
    if (!node || !find(node, p, &found, f)) return DESK_AWAY;
    if (!is_sound(&found, f) || !is_of_this_database(s, &found.state, f) ||
        !find_start(s, &found, from, f))
        return DESK_LOST;
    p->state = found.state;
    return DESK_OURS;
}

/* ---- transactions ---- */

static int64_t clock_of(const struct sink *s, const struct node *node, uint64_t beat) {
    for (size_t i = 0; i < s->nlines; i++)
        if (s->line[i]->node == node) return s->line[i]->clocks[beat % HEART_BEATS];
    return 0;
}

/* The reply must be this word; anything else ends the connection, and with it a WATCH and
 * a MULTI. */
static bool tell(struct node *node, struct failure *f, const char *wanted, size_t n,
                 const char *const *words) {
    redisReply *r = nodes_ask_node(node, f, n, words);
    if (!r) return false;
    bool good = r->str && strcmp(r->str, wanted) == 0;
    if (!good)
        fail(f, EXIT_REFUSED, "%s is refused: %s", words[0],
             r->type == REDIS_REPLY_ERROR ? r->str : "an odd reply");
    freeReplyObject(r);
    if (!good) nodes_drop(node);
    return good;
}

#define TELL(node, f, wanted, ...)                                                         \
    tell(node, f, wanted, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),          \
         (const char *[]){__VA_ARGS__})

static bool set_state(struct node *node, const struct sink_part *p, struct failure *f) {
    char text[STATE_TEXT_MAX];
    state_write(&p->state, text);
    return TELL(node, f, "QUEUED", "SET", p->state_key, text);
}

/* Carries out what was queued; the reply's elements must be no errors. */
static redisReply *exec(struct node *node, size_t elements, struct failure *f) {
    static const char *const words[] = {"EXEC"};
    redisReply *r = nodes_ask_node(node, f, 1, words);
    if (!r) return NULL;
    const char *why = NULL;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != elements)
        why =
            r->type == REDIS_REPLY_ERROR ? r->str : "somebody else has changed the filter";
    for (size_t i = 0; !why && i < elements; i++)
        if (r->element[i]->type == REDIS_REPLY_ERROR) why = r->element[i]->str;
    if (!why) return r;
    fail(f, EXIT_REFUSED, "%s", why);
    freeReplyObject(r);
    return NULL;
}

/* The keys are watched; they must be what was acknowledged last. */
static bool is_as_it_was(struct sink *s, struct node *node, struct sink_part *p,
                         struct failure *f) {
    struct found found;
    uint64_t from;
    if (!TELL(node, f, "OK", "WATCH", p->key, p->state_key) || !find(node, p, &found, f))
        return false;
    if (!is_sound(&found, f) || !is_of_this_database(s, &found.state, f) ||
        !find_start(s, &found, &from, f))
        return false;
    if (found.state.lsn == p->state.lsn) return true;
    return fail(f, EXIT_REFUSED, "the server has gone back to an older state");
}

/* False, and the connection is gone: a WATCH or a MULTI must not stay. */
static bool give_up(struct node *node) {
    nodes_drop(node);
    return false;
}

bool desk_vouch(struct sink *s, struct sink_part *p, uint64_t beat, struct failure *f) {
    char until[24];
    struct node *node = node_of(s, p, f);
    int64_t clock = node ? clock_of(s, node, beat) : 0;
    if (!node) return false;
    if (!clock) return fail(f, EXIT_SERVER, "the server's clock isn't known yet");
    snprintf(until, sizeof(until), "%" PRId64, clock + s->config->lease);
    if (!is_as_it_was(s, node, p, f) || !TELL(node, f, "OK", "MULTI") ||
        !TELL(node, f, "QUEUED", "BF.READY", p->key, "PXAT", until) ||
        !set_state(node, p, f))
        return give_up(node);
    redisReply *r = exec(node, 2, f);
    freeReplyObject(r);
    return r != NULL || give_up(node);
}

/* The name of the new generation is known when it is there; until the state has it, a feed
 * that comes after us takes the filter for another's. */
bool desk_commit(struct sink *s, struct sink_part *p, uint64_t beat, struct failure *f) {
    char until[24], count[24];
    struct found found;
    struct node *node = node_of(s, p, f);
    int64_t clock = node ? clock_of(s, node, beat) : 0;
    if (!node) return false;
    if (!clock) return fail(f, EXIT_SERVER, "the server's clock isn't known yet");
    snprintf(until, sizeof(until), "%" PRId64, clock + s->config->lease);
    snprintf(count, sizeof(count), "%" PRIu64, p->token_count);
    if (!TELL(node, f, "OK", "BF.REBUILD", p->key, "COMMIT", p->token, count, "PXAT",
              until) ||
        !find(node, p, &found, f))
        return give_up(node);
    if (!found.has_filter) return fail(f, EXIT_REFUSED, "the filter has gone");
    p->state.lsn = s->position;
    p->state.before = s->position;
    p->state.items = found.filter.items;
    memcpy(p->state.generation, found.filter.generation, sizeof(found.filter.generation));
    if (!TELL(node, f, "OK", "MULTI") || !set_state(node, p, f)) return give_up(node);
    redisReply *r = exec(node, 1, f);
    freeReplyObject(r);
    return r != NULL || give_up(node);
}
