/* SPDX-License-Identifier: BSD-3-Clause */
/* survey_filter.c - BF.INFO FULL of each filter, many on their way at a time.
 *
 * What a reply says is found by the names of its fields: arrays of RESP2 and maps of RESP3
 * are the same here, [name, value, name, value, ...]. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "server/reply.h"
#include "survey.h"
#include "print/text.h"

/* Requests on their way to a node: what they take in the server's buffers is small. */
#define WINDOW 256

/* ---- reading ---- */

static bool is_nil(const redisReply *r) {
    return !r || r->type == REDIS_REPLY_NIL;
}

static uint64_t number(const redisReply *r, const char *name) {
    const redisReply *value = reply_field(r, name);
    bool good = value && value->type == REDIS_REPLY_INTEGER && value->integer > 0;
    return good ? (uint64_t)value->integer : 0;
}

/* Of times, in `unit` ms. */
static int64_t time_of(const redisReply *r, const char *name, uint64_t unit) {
    uint64_t n = number(r, name), most = SURVEY_TIME_MAX / unit;
    return (int64_t)(n < most ? n : most);
}

/* Text in RESP2. */
static double rate(const redisReply *r, const char *name) {
    const redisReply *value = reply_field(r, name);
    if (!value) return NAN;
    if (value->type == REDIS_REPLY_DOUBLE) return value->dval;
    if (value->type == REDIS_REPLY_INTEGER) return (double)value->integer;
    return value->str ? strtod(value->str, NULL) : NAN;
}

static void text(const redisReply *r, const char *name, char *out, size_t room) {
    const redisReply *value = reply_field(r, name);
    snprintf(out, room, "%s", value && value->str ? value->str : "");
    text_tame(out, false);
}

/* Which of these names; `other` if none of them. */
static unsigned place(const char *word, const char *const *names, unsigned n,
                      unsigned other) {
    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], word) == 0) return i;
    return other;
}

static void read_standing(const redisReply *r, struct survey_filter *out) {
    char word[32];
    text(r, "State", word, sizeof(word));
    out->state = place(word, survey_state_names, SURVEY_LATER, SURVEY_LATER);
    text(r, "Unknown by", word, sizeof(word));
    unsigned cause = place(word, survey_cause_names, SURVEY_BY_OTHER, SURVEY_BY_OTHER);
    out->unknown_by = word[0] ? 1u << cause : 0;
    const redisReply *doubt = reply_field(r, "Doubt");
    for (size_t i = 0, n = 0; doubt && i < doubt->elements; i++) {
        const char *name = doubt->element[i]->str ? doubt->element[i]->str : "?";
        if (n + strlen(name) + 2 >= sizeof(out->doubt)) break;
        n += (size_t)sprintf(out->doubt + n, "%s%s", n ? "," : "", name);
    }
    text_tame(out->doubt, false);
    bool leased = !is_nil(reply_field(r, "Lease until ms"));
    out->lease_left = leased ? time_of(r, "Lease until ms", 1) : SURVEY_NEVER;
    if (leased && out->node) out->lease_left -= out->node->clock;
    out->vouched_at = time_of(r, "Vouched for at ms", 1);
}

static void read_bits(const redisReply *r, struct survey_filter *out) {
    out->capacity = number(r, "Capacity");
    out->bytes = number(r, "Size");
    out->layers = number(r, "Number of filters");
    out->items = number(r, "Number of items inserted");
    out->expansion = number(r, "Expansion rate");
    out->overfull = number(r, "Overfull");
    out->error = rate(r, "Error rate");
    out->estimated = rate(r, "Estimated error rate");
    out->fill = rate(r, "Fill");
    out->full = out->capacity ? (double)out->items / (double)out->capacity : NAN;
    text(r, "Kind", out->kind, sizeof(out->kind));
    text(r, "Advice", out->advice, sizeof(out->advice));
    text(r, "Generation", out->generation, sizeof(out->generation));
}

static void read_rebuild(const redisReply *r, struct survey_filter *out) {
    out->rebuilding = !is_nil(r);
    if (!out->rebuilding) return;
    out->rebuild_age = time_of(r, "Seconds since START", 1000);
    bool fed = !is_nil(reply_field(r, "Seconds since LOAD"));
    out->rebuild_idle = fed ? time_of(r, "Seconds since LOAD", 1000) : SURVEY_NEVER;
    out->rebuild_received = number(r, "Received");
    out->interrupted = number(r, "Interrupted") != 0;
    out->rebuild_capacity = number(r, "Capacity");
    out->rebuild_items = number(r, "Items");
}

static void read_answers(const redisReply *r, struct survey_answers *out) {
    const redisReply *unknown = reply_field(r, "unknown");
    out->exists_no = number(r, "exists_no");
    out->exists_maybe = number(r, "exists_maybe");
    out->absent = number(r, "absent");
    out->maybe = number(r, "maybe");
    for (size_t i = 0; unknown && i + 1 < unknown->elements; i += 2) {
        const redisReply *name = unknown->element[i], *n = unknown->element[i + 1];
        if (!name->str || n->type != REDIS_REPLY_INTEGER || n->integer < 0) continue;
        unsigned cause =
            place(name->str, survey_cause_names, SURVEY_BY_OTHER, SURVEY_BY_OTHER);
        out->unknown[cause] += (uint64_t)n->integer;
    }
}

bool survey_read_filter(const redisReply *r, struct survey_filter *out) {
    if (!reply_field(r, "State")) return false;
    read_standing(r, out);
    read_bits(r, out);
    read_rebuild(reply_field(r, "Rebuild"), out);
    read_answers(reply_field(r, "Answers"), &out->answers);
    return true;
}

/* ---- asking ---- */

static bool is_named(const struct survey *v) {
    return v->settings->noperands > 0;
}

static void note(struct survey *v, const struct survey_node *n, const struct survey_key *k,
                 const char *words) {
    if (v->trouble.code != EXIT_DONE) return;
    char *name = text_shown(k->text, k->length);
    if (strncmp(words, "NOPERM", 6) == 0)
        fail(&v->trouble, EXIT_REFUSED,
             "the ACL user needs bf.info for the key %.200s (%.300s)", name, words);
    else
        fail(&v->trouble, EXIT_REFUSED, "BF.INFO %.200s FULL at %s: %.300s", name, n->name,
             words);
    free(name);
}

void survey_add_missing(struct survey *v, const struct survey_key *key, const char *why) {
    struct survey_filter *f = survey_add_filter(v, key);
    f->state = SURVEY_MISSING;
    f->lease_left = SURVEY_NEVER;
    f->error = f->estimated = f->fill = f->full = NAN;
    f->unknown_by = 1u << SURVEY_BY_MISSING;
    if (v->trouble.code == EXIT_DONE) fail(&v->trouble, EXIT_REFUSED, why, key->text);
}

/* Of those that were not named, it went between SCAN and this. */
static void take_missing(struct survey *v, struct survey_node *n,
                         const struct survey_key *k) {
    n->lost_keys |= !k->absent;
    if (is_named(v)) survey_add_missing(v, k, "there is no filter called %.200s");
}

static void take(struct survey *v, struct survey_node *n, const struct survey_key *k,
                 const redisReply *r) {
    if (r->type == REDIS_REPLY_ERROR) {
        if (strstr(r->str, "not found"))
            take_missing(v, n, k);
        else
            note(v, n, k, r->str);
        return;
    }
    struct survey_filter *f = survey_add_filter(v, k);
    f->node = n;
    if (survey_read_filter(r, f)) return;
    note(v, n, k, "the reply has no State: this is no Bulwark, or one before 1.0");
    free(f->key.text);
    v->nfilters--;
}

/* A key that is on its way to another node: asked for again, alone. False: nobody answers,
 * and nobody would for the next. */
static bool follow(struct survey *v, struct survey_node *n, const struct survey_key *k) {
    const char *words[] = {"BF.INFO", k->text, "FULL"};
    const size_t lengths[] = {7, k->length, 4};
    const struct question q = {.n = 3,
                               .words = words,
                               .lengths = lengths,
                               .key = k->text,
                               .key_length = k->length};
    struct failure f;
    n->lost_keys = true;
    redisReply *r = nodes_ask(v->nodes, &q, &f);
    bool answered = r != NULL;
    if (answered)
        take(v, n, k, r);
    else if (v->trouble.code == EXIT_DONE)
        v->trouble = f;
    freeReplyObject(r);
    return answered;
}

/* What is to be had later isn't waited for: the look would take --timeout for each key. */
static bool is_redirected(const redisReply *r, const struct survey_node *n) {
    struct address to;
    if (r->type != REDIS_REPLY_ERROR) return false;
    enum redirection where = nodes_redirection(r, n->node, &to);
    return where == REDIRECT_MOVED || where == REDIRECT_ASK;
}

/* Keys from ... to - 1. Those that are elsewhere wait until all replies are in: then the
 * connection is free. */
static bool ask(struct survey *v, struct survey_node *n, const struct survey_keys *keys,
                size_t from, size_t to) {
    size_t elsewhere[WINDOW], nelsewhere = 0;
    for (size_t i = from; i < to; i++) {
        const char *words[] = {"BF.INFO", keys->at[i].text, "FULL"};
        const size_t lengths[] = {7, keys->at[i].length, 4};
        redisAppendCommandArgv(n->node->c, 3, words, lengths);
    }
    int64_t until = interrupt_clock() + v->settings->timeout;
    for (size_t i = from; i < to; i++) {
        redisReply *r = reply_take(n->node->c, until);
        if (!r) return survey_lose(v, n);
        if (is_redirected(r, n))
            elsewhere[nelsewhere++] = i;
        else
            take(v, n, &keys->at[i], r);
        freeReplyObject(r);
    }
    for (size_t i = 0; i < nelsewhere; i++)
        if (!follow(v, n, &keys->at[elsewhere[i]])) return false;
    return true;
}

static void ask_node(struct survey *v, struct survey_node *n) {
    const struct survey_keys *keys = is_named(v) ? &n->named : &n->known;
    for (size_t i = 0; n->up && n->node->c && i < keys->n && !interrupt_came();
         i += WINDOW) {
        size_t to = i + WINDOW < keys->n ? i + WINDOW : keys->n;
        if (!ask(v, n, keys, i, to)) return;
    }
}

void survey_ask_filters(struct survey *v) {
    for (size_t i = 0; i < v->nnodes; i++) {
        v->node[i].lost_keys = false;
        ask_node(v, &v->node[i]);
    }
}
