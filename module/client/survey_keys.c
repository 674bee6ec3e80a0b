/* SPDX-License-Identifier: BSD-3-Clause */
/* survey_keys.c - which keys are filters: SCAN by type, never KEYS, and seldom.
 *
 * A SCAN walks through all keys of a server, and a cache has many. So what it found is kept
 * until the number of filters has changed, one of them has gone, or a while has passed; a
 * kind of which there is no filter is not looked for, and when all have been found the walk
 * ends. INFO bf tells these numbers.
 *
 * Filters that are named are not looked for, unless there is none of the name: then it may
 * be the name of a filter in parts. */
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "reply.h"
#include "survey.h"

#define AGAIN_MS       60000  /* when nothing seems to have changed */
#define AGAIN_SOON_MS  5000   /* when something has */
#define KEYS_IN_A_STEP "2000" /* about a millisecond of the server's time */

static const struct {
    const char *type, *count;
} kinds[] = {{"bulwarkBF", "bf_filters_lines"},
             {"MBbloom--", "bf_filters_redisbloom"},
             {"bloomfltr", "bf_filters_valkeybloom"}};

void survey_forget_keys(struct survey_node *n) {
    for (size_t i = 0; i < n->nkeys; i++)
        free(n->keys[i].text);
    free(n->keys);
    n->keys = NULL;
    n->nkeys = n->room = 0;
}

static void add_key(struct survey_node *n, const char *text, size_t length) {
    if (n->nkeys == n->room) {
        n->room = n->room ? 2 * n->room : 16;
        n->keys = fail_grow(n->keys, n->room * sizeof(*n->keys));
    }
    n->keys[n->nkeys++] = (struct survey_key){fail_strndup(text, length), length};
}

static int by_bytes(const void *a, const void *b) {
    const struct survey_key *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? 1 : -1;
    return memcmp(x->text, y->text, x->length);
}

/* SCAN may tell of a key several times. How many there are from the first on. */
static size_t keep_each_once(struct survey_node *n, size_t first) {
    size_t kept = first;
    if (n->nkeys == first) return 0;
    qsort(n->keys + first, n->nkeys - first, sizeof(*n->keys), by_bytes);
    for (size_t i = first; i < n->nkeys; i++) {
        if (kept > first && by_bytes(&n->keys[kept - 1], &n->keys[i]) == 0)
            free(n->keys[i].text);
        else
            n->keys[kept++] = n->keys[i];
    }
    n->nkeys = kept;
    return kept - first;
}

/* ---- SCAN ---- */

/* One walk over a node's keys, for one type. */
struct walk {
    struct survey *v;
    struct survey_node *n;
    const char *type, *pattern;
    uint64_t wanted; /* keys of that type; UINT64_MAX: not known */
    size_t first;    /* of the keys found by this walk */
    char cursor[24];
};

static bool refused(struct walk *w, const char *words) {
    if (w->v->trouble.code != EXIT_DONE) return false;
    return fail(&w->v->trouble, EXIT_REFUSED,
                "the server at %s refuses SCAN: name the filters, as in bulwark list users "
                "(%.200s)",
                w->n->name, words);
}

static bool take_step(struct walk *w, const redisReply *r) {
    if (r->type == REDIS_REPLY_ERROR) return refused(w, r->str);
    if (r->elements != 2 || !r->element[0]->str || r->element[0]->len >= sizeof(w->cursor))
        return refused(w, "its reply is not one of SCAN");
    memcpy(w->cursor, r->element[0]->str, r->element[0]->len + 1);
    const redisReply *found = r->element[1];
    for (size_t i = 0; i < found->elements; i++) {
        const redisReply *key = found->element[i];
        if (key->str) add_key(w->n, key->str, key->len);
    }
    return true;
}

static bool step(struct walk *w) {
    const char *words[] = {"SCAN",  w->cursor,      "TYPE",  w->type,
                           "COUNT", KEYS_IN_A_STEP, "MATCH", w->pattern};
    redisContext *c = w->n->node->c;
    redisAppendCommandArgv(c, w->pattern ? 8 : 6, words, NULL);
    redisReply *r = reply_take(c, interrupt_clock() + w->v->settings->timeout);
    if (!r) return survey_lose(w->v, w->n);
    bool good = take_step(w, r);
    freeReplyObject(r);
    return good;
}

static bool has_all(const struct walk *w) {
    return w->n->nkeys - w->first >= w->wanted &&
           keep_each_once(w->n, w->first) >= w->wanted;
}

static bool walk(struct walk *w) {
    strcpy(w->cursor, "0");
    w->first = w->n->nkeys;
    do {
        if (interrupt_came() || !step(w)) return false;
    } while (strcmp(w->cursor, "0") != 0 && !has_all(w));
    keep_each_once(w->n, w->first);
    return true;
}

static bool scan(struct survey *v, struct survey_node *n, const char *pattern) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct walk w = {v, n, kinds[i].type, pattern, UINT64_MAX, 0, ""};
        survey_number(n, kinds[i].count, &w.wanted);
        if (w.wanted > 0 && !walk(&w)) return false;
    }
    return true;
}

/* ---- names ---- */

/* "users" as a pattern of its parts: users:{*}; what SCAN takes for a wildcard is none. */
static void pattern_of_parts(const char *name, char *out, size_t room) {
    size_t n = 0;
    for (; *name && n + 8 < room; name++) {
        if (strchr("*?[]\\^-", *name)) out[n++] = '\\';
        out[n++] = *name;
    }
    snprintf(out + n, room - n, ":{*}");
}

/* A node that doesn't answer has it, for all we know, and isn't asked for the next. */
static bool is_there(struct survey *v, struct survey_node *n, const char *name) {
    const char *words[] = {"BF.INFO", name, "ITEMS"};
    struct failure f = {.code = EXIT_DONE};
    struct address to;
    redisReply *r = nodes_ask_node(n->node, &f, 3, words);
    bool refuses = r && r->type == REDIS_REPLY_ERROR;
    bool missing = refuses && strstr(r->str, "not found");
    if (refuses && nodes_redirection(r, n->node, &to) == REDIRECT_LATER)
        fail(&f, EXIT_SERVER, "the server at %s says: %s", n->name, r->str);
    if (f.code != EXIT_DONE) survey_away(v, n, &f);
    freeReplyObject(r);
    return !missing;
}

static bool find_parts(struct survey *v, const char *name) {
    char pattern[2048];
    size_t found = 0;
    pattern_of_parts(name, pattern, sizeof(pattern));
    for (size_t i = 0; i < v->nnodes; i++) {
        size_t before = v->node[i].nkeys;
        if (v->node[i].up) scan(v, &v->node[i], pattern);
        found += v->node[i].nkeys - before;
    }
    return found > 0;
}

static struct survey_node *owner(struct survey *v, const char *name) {
    const struct node *node = v->nodes->owner[split_slot(name, strlen(name))];
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].node == node) return &v->node[i];
    return NULL;
}

/* As list shows it, "users:{*}" means the parts, too. */
static void find_named(struct survey *v, const char *operand) {
    size_t length = strlen(operand), tail = strlen(":{*}");
    bool parts = length > tail && strcmp(operand + length - tail, ":{*}") == 0;
    char *name = fail_strndup(operand, parts ? length - tail : length);
    struct survey_node *n = owner(v, name);
    bool there = !parts && n && (!n->up || is_there(v, n, name));
    if (there || !find_parts(v, name)) {
        if (n) add_key(n, operand, length);
    }
    free(name);
}

/* ---- when ---- */

static bool is_due(const struct survey_node *n) {
    int64_t age = interrupt_clock() - n->scanned_at;
    bool changed = n->lost_keys || survey_count(n, "bf_filters") != n->scanned_filters;
    return n->scanned_at == 0 || age > AGAIN_MS || (changed && age > AGAIN_SOON_MS);
}

static bool any_is_due(const struct survey *v) {
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].up && is_due(&v->node[i])) return true;
    return false;
}

static void note_scan(struct survey_node *n) {
    n->scanned_at = interrupt_clock();
    n->scanned_filters = survey_count(n, "bf_filters");
}

static bool is_ours(const struct survey_node *n) {
    return n->up && (n->bulwark[0] || !n->version[0]);
}

static void find_all_named(struct survey *v) {
    if (!any_is_due(v)) return;
    for (size_t i = 0; i < v->nnodes; i++)
        survey_forget_keys(&v->node[i]);
    for (size_t i = 0; i < v->settings->noperands; i++)
        find_named(v, v->settings->operands[i]);
    for (size_t i = 0; i < v->nnodes; i++)
        note_scan(&v->node[i]);
}

void survey_find_keys(struct survey *v) {
    if (v->settings->noperands) {
        find_all_named(v);
        return;
    }
    for (size_t i = 0; i < v->nnodes; i++) {
        struct survey_node *n = &v->node[i];
        if (!is_ours(n) || !is_due(n)) continue;
        survey_forget_keys(n);
        if (scan(v, n, v->settings->match)) note_scan(n);
    }
}
