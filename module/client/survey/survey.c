/* SPDX-License-Identifier: BSD-3-Clause */
/* survey.c - see survey.h. */
#include "survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "print/text.h"

const char *const survey_cause_names[SURVEY_CAUSES] = {
    [SURVEY_BY_BYPASS] = "bypass",       [SURVEY_BY_MISSING] = "missing",
    [SURVEY_BY_PARTIAL] = "partial",     [SURVEY_BY_PLAIN] = "plain",
    [SURVEY_BY_LOADING] = "loading",     [SURVEY_BY_LATER_VERSION] = "later_version",
    [SURVEY_BY_LINK_DOWN] = "link_down", [SURVEY_BY_REPLICA] = "replica",
    [SURVEY_BY_LEASE] = "lease",         [SURVEY_BY_RESTART] = "restart",
    [SURVEY_BY_FAILOVER] = "failover",   [SURVEY_BY_RESTORE] = "restore",
    [SURVEY_BY_OTHER] = "other",
};

const char *const survey_state_names[SURVEY_STATES] = {"ready", "loading", "plain",
                                                       "later_version", "missing"};

struct survey *survey_open(const struct settings *s, struct failure *f) {
    if (!server_prepare(s, f)) return NULL;
    struct survey *v = fail_alloc(sizeof(*v));
    v->settings = s;
    v->nodes = nodes_new(s);
    return v;
}

static void forget_filters(struct survey *v) {
    for (size_t i = 0; i < v->nfilters; i++) {
        free(v->filter[i].key.text);
        free(v->filter[i].shares);
    }
    free(v->filter);
    v->filter = NULL;
    v->nfilters = 0;
}

static void forget_node(struct survey_node *n) {
    survey_forget_keys(&n->known);
    survey_forget_keys(&n->named);
    survey_forget_keys(&n->walk.found);
    free(n->numbers);
}

void survey_close(struct survey *v) {
    if (!v) return;
    forget_filters(v);
    for (size_t i = 0; i < v->nnodes; i++)
        forget_node(&v->node[i]);
    free(v->node);
    nodes_close(v->nodes);
    free(v);
}

static bool is_master(const struct nodes *nodes, const struct node *node) {
    for (size_t slot = 0; slot < SPLIT_SLOTS; slot++)
        if (nodes->owner[slot] == node) return true;
    return false;
}

static struct survey_node *known(struct survey *v, const struct node *node) {
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].node == node) return &v->node[i];
    return NULL;
}

/* Those that were masters before keep what is known of them; those that are none any more
 * go. */
static void find_masters(struct survey *v) {
    struct nodes *nodes = v->nodes;
    struct survey_node *masters = fail_alloc((nodes->n + 1) * sizeof(*masters));
    size_t n = 0;
    v->moved = false;
    for (size_t i = 0; i < nodes->n; i++) {
        if (!is_master(nodes, nodes->node[i])) continue;
        struct survey_node *before = known(v, nodes->node[i]);
        if (before) {
            masters[n] = *before;
            before->node = NULL;
        }
        v->moved |= !before;
        masters[n].node = nodes->node[i];
        server_show(&nodes->node[i]->at, masters[n].name);
        text_tame(masters[n++].name, false);
    }
    for (size_t i = 0; i < v->nnodes; i++) {
        v->moved |= v->node[i].node != NULL;
        if (v->node[i].node) forget_node(&v->node[i]);
    }
    free(v->node);
    v->node = masters;
    v->nnodes = n;
}

bool survey_away(struct survey *v, struct survey_node *n, const struct failure *why) {
    n->up = n->walk.under_way = false; /* a cursor is for one process */
    snprintf(n->why, sizeof(n->why), "%.500s", why->text);
    if (v->trouble.code == EXIT_DONE) fail(&v->trouble, why->code, "%s", n->why);
    return false;
}

bool survey_lose(struct survey *v, struct survey_node *n) {
    struct failure f;
    nodes_lose(n->node, &f);
    return survey_away(v, n, &f);
}

/* If nobody can say who the masters are, those that were known are asked. */
void survey_look(struct survey *v) {
    struct failure f = {.code = EXIT_DONE};
    v->began = interrupt_clock();
    v->looks++;
    forget_filters(v);
    v->trouble.code = EXIT_DONE;
    bool found = nodes_refresh(v->nodes, &f);
    find_masters(v);
    if (!found && v->nnodes == 0) v->trouble = f;
    survey_ask_nodes(v);
    survey_find_keys(v);
    survey_ask_filters(v);
    survey_note_unserved(v);
    survey_join_parts(v);
    if (interrupt_came()) interrupt_fail(&v->trouble);
    v->took = interrupt_clock() - v->began;
}

struct survey_filter *survey_add_filter(struct survey *v, const struct survey_key *key) {
    /* Room for twice as many whenever the number is a power of two. */
    if ((v->nfilters & (v->nfilters - 1)) == 0) {
        size_t room = v->nfilters ? 2 * v->nfilters : 1;
        struct survey_filter *more = fail_alloc(room * sizeof(*more));
        if (v->nfilters) memcpy(more, v->filter, v->nfilters * sizeof(*more));
        free(v->filter);
        v->filter = more;
    }
    struct survey_filter *made = &v->filter[v->nfilters++];
    made->key =
        (struct survey_key){fail_strndup(key->text, key->length), key->length, false};
    made->parts = made->in_state = 1;
    return made;
}

bool survey_number(const struct survey_node *n, const char *name, uint64_t *out) {
    for (size_t i = 0; i < n->nnumbers; i++) {
        if (strcmp(n->numbers[i].name, name) != 0) continue;
        *out = n->numbers[i].value;
        return true;
    }
    return false;
}

uint64_t survey_count(const struct survey_node *n, const char *name) {
    uint64_t value = 0;
    survey_number(n, name, &value);
    return value;
}

uint64_t survey_sum(const struct survey *v, const char *name) {
    uint64_t sum = 0;
    for (size_t i = 0; i < v->nnodes; i++)
        sum += survey_count(&v->node[i], name);
    return sum;
}
