/* SPDX-License-Identifier: BSD-3-Clause */
/* survey_keys.c - which keys are filters: SCAN by type, never KEYS, and seldom.
 *
 * A SCAN walks through all keys of a server, and a cache has many. So what it found is kept
 * until the number of filters has changed or one of them has gone; a type of which there is
 * no filter is not looked for, and when all have been found the walk ends. INFO bf tells
 * these numbers; without them, or with a pattern, a walk comes again after a while. A walk
 * may be spread over several looks: until it has ended, what was known before and what it
 * has found so far is shown.
 *
 * Filters that are named are not looked for, unless there is none of the name: then it may
 * be the name of a filter in parts. */
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "server/reply.h"
#include "survey.h"

#define AGAIN_MS       60000  /* when nothing seems to have changed */
#define AGAIN_SOON_MS  5000   /* when something has */
#define KEYS_IN_A_STEP "2000" /* about a millisecond of the server's time */

/* Of a walk: half a billion keys. And of the filters of a node. A server that lies would be
 * walked through for ever, and listened to until there is no memory. */
#define STEPS_MAX   (1 << 18)
#define FILTERS_MAX (1 << 20)
#define BYTES_MAX   (256u << 20) /* of their names */

/* Types that only one kind has, and how many filters there are of it. The last type is
 * ours: it has all that the others haven't, of whatever kind. */
static const struct {
    const char *type, *count;
} types[] = {{"MBbloom--", "bf_filters_redisbloom"},
             {"bloomfltr", "bf_filters_valkeybloom"},
             {"bulwarkBF", "bf_filters"}};

#define TYPES (sizeof(types) / sizeof(*types))

/* ---- keys ---- */

void survey_forget_keys(struct survey_keys *keys) {
    for (size_t i = 0; i < keys->n; i++)
        free(keys->at[i].text);
    free(keys->at);
    *keys = (struct survey_keys){NULL, 0, 0};
}

static struct survey_key *add_key(struct survey_keys *keys, const char *text,
                                  size_t length) {
    if (keys->n == keys->room) {
        keys->room = keys->room ? 2 * keys->room : 16;
        keys->at = fail_grow(keys->at, keys->room * sizeof(*keys->at));
    }
    keys->at[keys->n] = (struct survey_key){fail_strndup(text, length), length, false};
    return &keys->at[keys->n++];
}

static int by_length(const void *a, const void *b) {
    const struct survey_key *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? 1 : -1;
    return memcmp(x->text, y->text, x->length);
}

/* SCAN may tell of a key several times. How many there are from the first on. */
static size_t keep_each_once(struct survey_keys *keys, size_t first) {
    size_t kept = first;
    if (keys->n == first) return 0;
    qsort(keys->at + first, keys->n - first, sizeof(*keys->at), by_length);
    for (size_t i = first; i < keys->n; i++) {
        if (kept > first && by_length(&keys->at[kept - 1], &keys->at[i]) == 0)
            free(keys->at[i].text);
        else
            keys->at[kept++] = keys->at[i];
    }
    keys->n = kept;
    return kept - first;
}

/* ---- a walk ---- */

static bool refused(struct survey *v, const struct survey_node *n, const char *words) {
    if (v->trouble.code != EXIT_DONE) return false;
    return fail(&v->trouble, EXIT_REFUSED,
                "the server at %s refuses SCAN: name the filters, as in bulwark list users "
                "(%.200s)",
                n->name, words);
}

static bool take_step(struct survey *v, struct survey_node *n, const redisReply *r) {
    struct survey_walk *w = &n->walk;
    if (r->type == REDIS_REPLY_ERROR) return refused(v, n, r->str);
    if (r->elements != 2 || !r->element[0]->str || r->element[0]->len >= sizeof(w->cursor))
        return refused(v, n, "its reply is not one of SCAN");
    if (strcmp(w->cursor, r->element[0]->str) == 0)
        return refused(v, n, "its cursor stays where it is");
    memcpy(w->cursor, r->element[0]->str, r->element[0]->len + 1);
    const redisReply *found = r->element[1];
    for (size_t i = 0; i < found->elements; i++) {
        const redisReply *key = found->element[i];
        if (key->str) add_key(&w->found, key->str, key->len);
        w->bytes += key->len;
    }
    if (++w->steps < STEPS_MAX && w->found.n < FILTERS_MAX && w->bytes < BYTES_MAX)
        return true;
    return refused(v, n, "it doesn't end");
}

static bool step(struct survey *v, struct survey_node *n) {
    struct survey_walk *w = &n->walk;
    const char *pattern = v->settings->match;
    const char *words[] = {"SCAN",  *w->cursor ? w->cursor : "0",
                           "TYPE",  types[w->type].type,
                           "COUNT", KEYS_IN_A_STEP,
                           "MATCH", pattern};
    redisAppendCommandArgv(n->node->c, pattern ? 8 : 6, words, NULL);
    redisReply *r = reply_take(n->node->c, interrupt_clock() + v->settings->timeout);
    if (!r) return survey_lose(v, n);
    bool good = take_step(v, n, r);
    freeReplyObject(r);
    return good;
}

/* All filters of the type that there are; with the last type, all filters. */
static bool has_all(struct survey_node *n) {
    struct survey_walk *w = &n->walk;
    uint64_t wanted = UINT64_MAX;
    size_t first = w->type == TYPES - 1 ? 0 : w->first;
    survey_number(n, types[w->type].count, &wanted);
    if (strcmp(w->cursor, "0") == 0 || wanted == 0) return true;
    return w->found.n - first >= wanted && keep_each_once(&w->found, first) >= wanted;
}

static void begin_walk(struct survey_node *n) {
    survey_forget_keys(&n->walk.found);
    n->walk =
        (struct survey_walk){.under_way = true, .filters = survey_count(n, "bf_filters")};
}

static void note_walk(struct survey_node *n, uint64_t filters) {
    n->walk.under_way = false;
    n->scanned_at = interrupt_clock();
    n->scanned_filters = filters;
}

/* True when it has come to its end; false: the time is over, or it can't go on. */
static bool walk(struct survey *v, struct survey_node *n, int64_t until) {
    struct survey_walk *w = &n->walk;
    if (!w->under_way) begin_walk(n);
    while (w->type < TYPES) {
        if (has_all(n)) {
            w->type++;
            w->first = w->found.n;
            w->cursor[0] = '\0';
            continue;
        }
        if (interrupt_came() || interrupt_clock() >= until) return false;
        if (!step(v, n)) return w->under_way = false;
    }
    survey_forget_keys(&n->known);
    n->known = w->found;
    w->found = (struct survey_keys){NULL, 0, 0};
    keep_each_once(&n->known, 0);
    note_walk(n, w->filters);
    return true;
}

/* What it has found so far, if it goes on later. */
static void show_found(struct survey_node *n) {
    const struct survey_keys *found = &n->walk.found;
    for (size_t i = 0; i < found->n && n->known.n < FILTERS_MAX; i++)
        add_key(&n->known, found->at[i].text, found->at[i].length);
    keep_each_once(&n->known, 0);
}

bool survey_is_walking(const struct survey *v) {
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].up && v->node[i].walk.under_way) return true;
    return false;
}

/* ---- when ---- */

/* Nothing can have come that isn't counted. */
static bool is_counted(const struct survey *v, const struct survey_node *n) {
    uint64_t filters;
    if (!survey_number(n, "bf_filters", &filters)) return false;
    return v->settings->noperands || (!v->settings->match && n->known.n == filters);
}

static bool is_due(const struct survey *v, const struct survey_node *n) {
    int64_t age = interrupt_clock() - n->scanned_at;
    bool changed = n->lost_keys || survey_count(n, "bf_filters") != n->scanned_filters;
    if (n->scanned_at == 0 || n->walk.under_way) return true;
    return age > (changed ? AGAIN_SOON_MS : AGAIN_MS) && (changed || !is_counted(v, n));
}

static bool any_is_due(const struct survey *v) {
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].up && is_due(v, &v->node[i])) return true;
    return v->moved || v->unserved;
}

/* For all we know: a user may lack the right to INFO. */
static bool is_ours(const struct survey_node *n) {
    return n->up && (n->bulwark[0] || !n->version[0]);
}

/* Another node is the first each time, so that none takes all the time. */
static void walk_all(struct survey *v, int64_t until) {
    for (size_t i = 0; i < v->nnodes; i++) {
        struct survey_node *n = &v->node[(i + v->looks) % v->nnodes];
        if (is_ours(n) && is_due(v, n) && !walk(v, n, until)) show_found(n);
    }
}

/* ---- names ---- */

/* A name on the command line. As list shows it, "users:{*}" means the parts, too. */
struct name {
    const char *text;
    size_t length; /* without ":{*}" */
    bool parts;
};

static struct name name_of(const char *operand) {
    size_t length = strlen(operand), tail = strlen(":{*}");
    bool parts = length > tail && strcmp(operand + length - tail, ":{*}") == 0;
    return (struct name){operand, parts ? length - tail : length, parts};
}

static bool is_part_of(const struct survey_key *key, const struct name *name) {
    return survey_stem(key) == name->length &&
           memcmp(key->text, name->text, name->length) == 0;
}

static struct survey_node *owner(struct survey *v, const struct name *name) {
    const struct node *node = v->nodes->owner[split_slot(name->text, name->length)];
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].node == node) return &v->node[i];
    return NULL;
}

/* A node that doesn't answer has it, for all we know, and isn't asked for the next. */
static bool is_there(struct survey *v, const struct name *name) {
    const char *words[] = {"BF.INFO", name->text, "ITEMS"};
    struct survey_node *n = owner(v, name);
    struct failure f = {.code = EXIT_DONE};
    struct address to;
    if (name->parts || !n) return false;
    if (!n->up) return true;
    int64_t until = interrupt_clock() + v->settings->timeout;
    redisReply *r = nodes_ask_node(n->node, until, &f, 3, words);
    bool refuses = r && r->type == REDIS_REPLY_ERROR;
    bool missing = refuses && strstr(r->str, "not found");
    if (refuses && nodes_redirection(r, n->node, &to) == REDIRECT_LATER)
        fail(&f, EXIT_SERVER, "the server at %s says: %s", n->name, r->str);
    if (f.code != EXIT_DONE) survey_away(v, n, &f);
    freeReplyObject(r);
    return !missing;
}

static bool add_parts(struct survey *v, const struct name *name) {
    bool any = false;
    for (size_t i = 0; i < v->nnodes; i++) {
        const struct survey_keys *known = &v->node[i].known;
        for (size_t k = 0; k < known->n; k++) {
            if (!is_part_of(&known->at[k], name)) continue;
            add_key(&v->node[i].named, known->at[k].text, known->at[k].length);
            any = true;
        }
    }
    return any;
}

/* Each name is asked of whoever has its slot; the parts of one that isn't there, too.
 * Before the walks have ended, nobody knows whether it has parts. */
static void find_named(struct survey *v, int64_t until) {
    bool there[OPERANDS_MAX], all = true;
    for (size_t i = 0; i < v->settings->noperands; i++) {
        struct name name = name_of(v->settings->operands[i]);
        all &= there[i] = is_there(v, &name);
    }
    for (size_t i = 0; i < v->nnodes; i++) {
        if (all) note_walk(&v->node[i], survey_count(&v->node[i], "bf_filters"));
        survey_forget_keys(&v->node[i].named);
    }
    if (!all) walk_all(v, until);
    v->unserved = false;
    for (size_t i = 0; i < v->settings->noperands; i++) {
        struct name name = name_of(v->settings->operands[i]);
        struct survey_node *n = owner(v, &name);
        v->unserved |= !n;
        if (!there[i] && (add_parts(v, &name) || survey_is_walking(v))) continue;
        if (n) add_key(&n->named, name.text, strlen(name.text))->absent = !there[i];
    }
}

void survey_find_keys(struct survey *v) {
    int64_t until = v->walk_ms ? interrupt_clock() + v->walk_ms : INT64_MAX;
    if (v->settings->noperands == 0)
        walk_all(v, until);
    else if (any_is_due(v))
        find_named(v, until);
}

static bool is_shown(const struct survey *v, const struct name *name,
                     const struct survey_key *key) {
    for (size_t i = 0; i < v->nfilters; i++) {
        const struct survey_key *shown = &v->filter[i].key;
        if (is_part_of(shown, name) || by_length(shown, key) == 0) return true;
    }
    return false;
}

void survey_note_unserved(struct survey *v) {
    for (size_t i = 0; i < v->settings->noperands && !survey_is_walking(v); i++) {
        const char *text = v->settings->operands[i];
        struct name name = name_of(text);
        struct survey_key key = {(char *)text, strlen(text), true};
        if (v->nodes->owner[split_slot(name.text, name.length)] || v->nnodes == 0) continue;
        if (!is_shown(v, &name, &key))
            survey_add_missing(
                v, &key, "nobody serves the slot of %.200s: is the cluster complete?");
    }
}
