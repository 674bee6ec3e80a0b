/* SPDX-License-Identifier: BSD-3-Clause */
/* survey_parts.c - filters sorted by name, and the parts of a filter as one.
 *
 *     users:{0}  users:{1}  users:{9}  ...        parts: a name, and a number in braces
 *     users:{*}                                   the line that they become
 *
 * Numbers are added up. Of states it has the worst; of causes all; of times the first that
 * ends and the oldest; of shares the mean, since an item is in any part as likely as in any
 * other; but the fullest part's fullness, which is the one that will overflow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "survey.h"

size_t survey_stem(const struct survey_key *k) {
    size_t end = k->length;
    if (end < 5 || k->text[end - 1] != '}') return 0;
    size_t at = end - 1;
    while (at > 0 && k->text[at - 1] >= '0' && k->text[at - 1] <= '9')
        at--;
    bool part = at < end - 1 && at > 2 && k->text[at - 1] == '{' && k->text[at - 2] == ':';
    return part ? at - 2 : 0;
}

static int by_bytes(const void *a, size_t na, const void *b, size_t nb) {
    int order = memcmp(a, b, na < nb ? na : nb);
    return order ? order : (na > nb) - (na < nb);
}

static uint32_t tag(const struct survey_key *k) {
    return (uint32_t)strtoul(k->text + survey_stem(k) + 2, NULL, 10);
}

/* Parts come by their tags. */
static int by_name(const void *a, const void *b) {
    const struct survey_key *x = a, *y = b; /* the first member of a filter */
    size_t nx = survey_stem(x), ny = survey_stem(y);
    if (nx == 0 || ny == 0 || nx != ny || memcmp(x->text, y->text, nx) != 0)
        return by_bytes(x->text, x->length, y->text, y->length);
    uint32_t tx = tag(x), ty = tag(y);
    return tx != ty ? (tx > ty) - (tx < ty)
                    : by_bytes(x->text, x->length, y->text, y->length);
}

static bool is_same(const struct survey_filter *a, const struct survey_filter *b) {
    return a->key.length == b->key.length &&
           memcmp(a->key.text, b->key.text, a->key.length) == 0;
}

static bool are_parts(const struct survey_filter *a, const struct survey_filter *b) {
    size_t n = survey_stem(&a->key);
    return n > 0 && n == survey_stem(&b->key) && memcmp(a->key.text, b->key.text, n) == 0;
}

static int64_t first_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void add_standing(struct survey_filter *sum, const struct survey_filter *part) {
    if (part->state == sum->state) sum->in_state += part->in_state;
    if (part->state > sum->state) {
        sum->state = part->state;
        sum->in_state = part->in_state;
    }
    sum->unknown_by |= part->unknown_by;
    if (!sum->doubt[0]) memcpy(sum->doubt, part->doubt, sizeof(sum->doubt));
    sum->lease_left = first_of(sum->lease_left, part->lease_left);
    sum->vouched_at = first_of(sum->vouched_at, part->vouched_at);
    if (sum->node != part->node) sum->node = NULL;
}

/* Means become sums here, and means again at the end. */
static void add_bits(struct survey_filter *sum, const struct survey_filter *part) {
    sum->capacity += part->capacity;
    sum->items += part->items;
    sum->bytes += part->bytes;
    sum->overfull += part->overfull;
    sum->error += part->error;
    sum->estimated += part->estimated;
    sum->fill += part->fill;
    if (part->layers > sum->layers) sum->layers = part->layers;
    if (!(sum->full >= part->full)) sum->full = part->full;
    if (!sum->advice[0]) memcpy(sum->advice, part->advice, sizeof(sum->advice));
    if (strcmp(sum->kind, part->kind) != 0) strcpy(sum->kind, "several");
    sum->generation[0] = '\0';
}

static void add_rebuild(struct survey_filter *sum, const struct survey_filter *part) {
    if (!part->rebuilding) return;
    if (!sum->rebuilding) {
        sum->rebuild_age = part->rebuild_age;
        sum->rebuild_idle = part->rebuild_idle;
    }
    sum->rebuilding = true;
    sum->interrupted |= part->interrupted;
    if (part->rebuild_age > sum->rebuild_age) sum->rebuild_age = part->rebuild_age;
    sum->rebuild_idle = first_of(sum->rebuild_idle, part->rebuild_idle);
    sum->rebuild_received += part->rebuild_received;
    sum->rebuild_capacity += part->rebuild_capacity;
    sum->rebuild_items += part->rebuild_items;
}

static void add_answers(struct survey_answers *sum, const struct survey_answers *part) {
    sum->exists_no += part->exists_no;
    sum->exists_maybe += part->exists_maybe;
    sum->absent += part->absent;
    sum->maybe += part->maybe;
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        sum->unknown[i] += part->unknown[i];
}

static void add_share(const struct survey *v, struct survey_filter *sum,
                      const struct survey_filter *part) {
    if (!part->node) return;
    struct survey_share *share = &sum->shares[part->node - v->node];
    share->parts++;
    add_answers(&share->answers, &part->answers);
}

static void add_part(struct survey_filter *sum, const struct survey_filter *part) {
    add_standing(sum, part);
    add_bits(sum, part);
    add_rebuild(sum, part);
    add_answers(&sum->answers, &part->answers);
    sum->parts += part->parts;
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The tags of n parts are known: if these are others, some are missing. The parts are
 * sorted by their tags. */
static bool is_whole(const struct survey_filter *parts, size_t n) {
    if (n > SPLIT_PARTS_MAX) return false;
    uint32_t *tags = split_tags((uint32_t)n);
    qsort(tags, n, sizeof(*tags), by_size);
    size_t same = 0;
    while (same < n && tags[same] == tag(&parts[same].key))
        same++;
    free(tags);
    return same == n;
}

static void finish(struct survey_filter *sum, bool whole) {
    size_t n = survey_stem(&sum->key);
    char *name = fail_alloc(n + 5);
    memcpy(name, sum->key.text, n);
    memcpy(name + n, ":{*}", 5);
    free(sum->key.text);
    sum->key = (struct survey_key){name, n + 4, false};
    sum->error /= (double)sum->parts;
    sum->estimated /= (double)sum->parts;
    sum->fill /= (double)sum->parts;
    sum->incomplete = !whole;
}

/* Each key once: a SCAN may tell of it several times, and two nodes while it moves. */
static void drop_repeats(struct survey *v) {
    size_t kept = 0;
    for (size_t i = 0; i < v->nfilters; i++) {
        if (kept && is_same(&v->filter[kept - 1], &v->filter[i]))
            free(v->filter[i].key.text);
        else
            v->filter[kept++] = v->filter[i];
    }
    v->nfilters = kept;
}

/* Some parts of one filter as their sum; they are no more. */
static struct survey_filter join(const struct survey *v, struct survey_filter *parts,
                                 size_t n) {
    bool whole = is_whole(parts, n);
    struct survey_filter sum = parts[0];
    sum.shares = fail_alloc(v->nnodes * sizeof(*sum.shares));
    add_share(v, &sum, &parts[0]);
    for (size_t i = 1; i < n; i++) {
        add_part(&sum, &parts[i]);
        add_share(v, &sum, &parts[i]);
        free(parts[i].key.text);
    }
    finish(&sum, whole);
    return sum;
}

void survey_join_parts(struct survey *v) {
    if (v->nfilters == 0) return;
    qsort(v->filter, v->nfilters, sizeof(*v->filter), by_name);
    drop_repeats(v);
    if (v->settings->each_part) return;
    size_t kept = 0;
    for (size_t i = 0, next; i < v->nfilters; i = next) {
        for (next = i + 1;
             next < v->nfilters && are_parts(&v->filter[i], &v->filter[next]);)
            next++;
        v->filter[kept++] = next - i > 1 ? join(v, &v->filter[i], next - i) : v->filter[i];
    }
    v->nfilters = kept;
}
