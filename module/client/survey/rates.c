/* SPDX-License-Identifier: BSD-3-Clause */
/* rates.c - see rates.h. */
#include "rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a node or a filter, at the last look. */
struct sample {
    char *name;
    size_t length;
    struct survey_answers answers;
    uint64_t hits, items, received;
    size_t parts;
};

struct samples {
    struct sample *at; /* sorted by_name */
    size_t n;
};

struct memory {
    int64_t when;
    struct samples nodes, filters;
};

static void forget(struct samples *s) {
    for (size_t i = 0; i < s->n; i++)
        free(s->at[i].name);
    free(s->at);
    *s = (struct samples){NULL, 0};
}

struct memory *rates_new(void) {
    return fail_alloc(sizeof(struct memory));
}

void rates_free(struct memory *r) {
    forget(&r->nodes);
    forget(&r->filters);
    free(r);
}

static struct sample sample_of_node(const struct survey_node *n) {
    struct sample s = {.name = (char *)n->name, .length = strlen(n->name), .parts = 1};
    s.answers.absent = survey_count(n, "bf_absent_answers");
    s.answers.maybe = survey_count(n, "bf_maybe_answers");
    s.answers.exists_no = survey_count(n, "bf_exists_no");
    s.answers.exists_maybe = survey_count(n, "bf_exists_maybe");
    s.hits = survey_count(n, "bf_hits");
    s.items = survey_count(n, "bf_items");
    for (size_t i = 0; i < SURVEY_CAUSES; i++) {
        char field[48];
        snprintf(field, sizeof(field), "bf_unknown_%s", survey_cause_names[i]);
        s.answers.unknown[i] = survey_count(n, field);
    }
    return s;
}

static struct sample sample_of_filter(const struct survey_filter *f) {
    return (struct sample){.name = f->key.text,
                           .length = f->key.length,
                           .answers = f->answers,
                           .items = f->items,
                           .received = f->rebuilding ? f->rebuild_received : 0,
                           .parts = f->parts};
}

static int by_name(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? 1 : -1;
    return memcmp(x->name, y->name, x->length);
}

static void sort(struct samples *s) {
    if (s->n) qsort(s->at, s->n, sizeof(*s->at), by_name);
}

static void keep(struct samples *s, struct sample sample) {
    sample.name = fail_strndup(sample.name, sample.length);
    s->at[s->n++] = sample;
}

void rates_remember(struct memory *r, const struct survey *v) {
    forget(&r->nodes);
    forget(&r->filters);
    r->when = v->began;
    r->nodes.at = fail_alloc(v->nnodes * sizeof(struct sample));
    r->filters.at = fail_alloc(v->nfilters * sizeof(struct sample));
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].up) keep(&r->nodes, sample_of_node(&v->node[i]));
    for (size_t i = 0; i < v->nfilters; i++)
        keep(&r->filters, sample_of_filter(&v->filter[i]));
    sort(&r->nodes);
    sort(&r->filters);
}

static const struct sample *find(const struct samples *s, const struct sample *like) {
    return s->n ? bsearch(like, s->at, s->n, sizeof(*like), by_name) : NULL;
}

double rates_seconds(const struct memory *r, const struct survey *v) {
    return r->when ? (double)(v->began - r->when) / 1000 : NAN;
}

static double since(uint64_t now, uint64_t before, double seconds) {
    return (double)(now >= before ? now - before : now) / seconds;
}

/* Of numbers that may fall: a commit swaps in a smaller generation. */
static double gained(uint64_t now, uint64_t before, double seconds) {
    return now > before ? (double)(now - before) / seconds : 0;
}

/* The parts' counters are of several processes, and of their sum nobody can tell how much
 * has begun anew. */
static bool is_comparable(const struct sample *now, const struct sample *before) {
    const struct survey_answers *a = &now->answers, *b = &before->answers;
    if (now->parts != before->parts) return false;
    bool fell = a->absent < b->absent || a->maybe < b->maybe ||
                a->exists_no < b->exists_no || a->exists_maybe < b->exists_maybe;
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        fell |= a->unknown[i] < b->unknown[i];
    return !fell || now->parts == 1;
}

static struct rates compare(const struct memory *r, const struct survey *v,
                            struct samples *s, struct sample now) {
    const struct sample *before = find(s, &now);
    double seconds = rates_seconds(r, v);
    if (!before || !(seconds > 0) || !is_comparable(&now, before))
        return (struct rates){.known = false};
    const struct survey_answers *a = &now.answers, *b = &before->answers;
    struct rates rates = {.known = true};
    rates.absent = since(a->absent, b->absent, seconds);
    rates.maybe = since(a->maybe, b->maybe, seconds);
    rates.exists_no = since(a->exists_no, b->exists_no, seconds);
    rates.exists_maybe = since(a->exists_maybe, b->exists_maybe, seconds);
    rates.hits = since(now.hits, before->hits, seconds);
    rates.adds = gained(now.items, before->items, seconds);
    rates.loads = gained(now.received, before->received, seconds);
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        rates.unknown[i] = since(a->unknown[i], b->unknown[i], seconds);
    return rates;
}

struct rates rates_of_node(struct memory *r, const struct survey *v,
                           const struct survey_node *n) {
    if (!n->up) return (struct rates){.known = false};
    return compare(r, v, &r->nodes, sample_of_node(n));
}

struct rates rates_of_filter(struct memory *r, const struct survey *v,
                             const struct survey_filter *f) {
    return compare(r, v, &r->filters, sample_of_filter(f));
}

void rates_add(struct rates *sum, const struct rates *more) {
    sum->known |= more->known;
    sum->absent += more->absent;
    sum->maybe += more->maybe;
    sum->exists_no += more->exists_no;
    sum->exists_maybe += more->exists_maybe;
    sum->hits += more->hits;
    sum->adds += more->adds;
    sum->loads += more->loads;
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        sum->unknown[i] += more->unknown[i];
}

double rates_unknown(const struct rates *r) {
    double sum = 0;
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        sum += r->unknown[i];
    return sum;
}

double rates_questions(const struct rates *r) {
    return r->absent + r->maybe + r->exists_no + r->exists_maybe + r->hits +
           rates_unknown(r);
}

double rates_kept_away(const struct rates *r) {
    double all = rates_questions(r);
    return r->known && all > 0 ? (r->absent + r->exists_no + r->hits) / all : NAN;
}
