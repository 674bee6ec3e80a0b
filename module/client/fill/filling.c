/* SPDX-License-Identifier: BSD-3-Clause */
/* filling.c - the passes of a fill: see filling.h. */
#include "filling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fewer.h"
#include "base/interrupt.h"

/* A server that loses a rebuild more often than this has another trouble. */
#define PASSES_MAX 5

/* Between two looks at the transactions that are under way. */
#define SETTLED_MS 200

uint64_t filling_room_for(uint64_t items) {
    uint64_t more = items + items / 5;
    return more < 1000 ? 1000 : more;
}

uint64_t filling_part_capacity(const struct filling *g) {
    uint32_t n = g->s->parts ? (uint32_t)g->s->parts : 1;
    return split_capacity(g->capacity, n);
}

bool filling_open(struct filling *g, struct failure *f) {
    g->nodes = nodes_open(g->s, f);
    if (!g->nodes) return false;
    part_make(&g->parts, g->filter, (uint32_t)g->s->parts);
    for (uint32_t i = 0; i < g->parts.n; i++)
        if (!rebuild_look(g->nodes, &g->parts.part[i], g->s, f)) return false;
    g->loader = loader_new(g->nodes, &g->parts);
    return true;
}

void filling_close(struct filling *g) {
    loader_free(g->loader);
    if (g->parts.part) part_free(&g->parts);
    nodes_close(g->nodes);
    free(g->made);
}

uint32_t filling_count(const struct filling *g, unsigned state) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->parts.n; i++)
        n += g->parts.part[i].state == state;
    return n;
}

/* ---- START ---- */

bool filling_start_part(struct filling *g, struct part *p, bool clears_way,
                        struct failure *f) {
    struct rebuild_plan plan = {
        .capacity = filling_part_capacity(g), .clears_way = clears_way, .settings = g->s};
    int64_t began = interrupt_clock();
    bool good = rebuild_start(g->nodes, p, &plan, f);
    g->waited += interrupt_clock() - began;
    return good;
}

static bool start_all(struct filling *g, struct failure *f) {
    for (uint32_t i = 0; i < g->parts.n; i++) {
        struct part *p = &g->parts.part[i];
        if (p->state != PART_DONE && !g->ways->start(g, p, f)) return false;
    }
    return !g->ways->started || g->ways->started(g, f);
}

/* Who added an item before START has to have committed it, so that the source shows it.
 * Who adds and then begins a transaction does both within --settle: so the mark comes after
 * that, and the transaction may take its time. */
static bool settle_writers(struct filling *g, struct failure *f) {
    struct source *source = g->source;
    char waits[256], said[256] = "";
    if (!interrupt_sleep(g->s->settle, f) || !source_mark(source, f)) return false;
    for (int64_t began = interrupt_clock();;) {
        if (!source_settled(source, waits, sizeof(waits), f)) return false;
        if (!*waits) return true;
        if (interrupt_clock() - began > g->patience)
            return fail(f, EXIT_SOURCE, "%s: end it, or wait longer with --stale", waits);
        if (strcmp(waits, said) != 0) progress_say("%s", strcpy(said, waits));
        if (g->ways->turned && !g->ways->turned(g, f)) return false;
        if (!interrupt_sleep(SETTLED_MS, f)) return false;
    }
}

static bool settle(struct filling *g, struct failure *f) {
    int64_t began = interrupt_clock();
    bool good = settle_writers(g, f);
    g->settled += interrupt_clock() - began;
    return good;
}

/* ---- CHECK, COMMIT, ABORT ---- */

static bool judge(struct filling *g, struct failure *f) {
    if (g->item.bad > 0)
        return fail(
            f, EXIT_ITEMS, "%llu value%s of %s can't be %s: mend %s, or see --binary",
            (unsigned long long)g->item.bad, g->item.bad == 1 ? "" : "s", g->source->name,
            g->item.bad == 1 ? "an item" : "items", g->item.bad == 1 ? "it" : "them");
    if (g->read == 0 && !g->s->empty)
        return fail(
            f, EXIT_SOURCE,
            "%s has no items: everything would be absent; if that is right, give --empty",
            g->source->name);
    return fewer_allowed(&g->parts, g->read, g->source->name, g->s, f);
}

/* The estimate was so far off that the filter would be too small, or a waste. */
static bool misjudged(struct filling *g) {
    if (!g->source->estimated || g->s->capacity || g->corrected) return false;
    if (g->read <= g->capacity && g->read >= g->capacity / 4) return false;
    g->corrected = true;
    g->capacity = filling_room_for(g->read);
    progress_say(
        "%s has %llu items, not about %llu: the fill begins again with room for %llu",
        g->source->name, (unsigned long long)g->read, (unsigned long long)g->source->count,
        (unsigned long long)g->capacity);
    g->source->count = g->read;
    return true;
}

static bool commit_all(struct filling *g, struct failure *f) {
    for (uint32_t i = 0; i < g->parts.n; i++)
        if (!rebuild_check(g->nodes, &g->parts.part[i], g->s, g->parts.n, i, f))
            return false;
    for (uint32_t i = 0; i < g->parts.n; i++) {
        struct part *p = &g->parts.part[i];
        if (interrupt_came()) return interrupt_fail(f);
        if (p->state == PART_OPEN && !g->ways->commit(g, p, f)) return false;
    }
    return true;
}

/* A node that gave no answer isn't asked again: its parts lie side by side. */
bool filling_abort(struct filling *g, int64_t until, struct failure *f) {
    const struct node *silent = NULL;
    bool good = true;
    for (uint32_t i = 0; i < g->parts.n && interrupt_clock() < until; i++) {
        struct part *p = &g->parts.part[i];
        const struct node *node = g->nodes->owner[split_slot(p->key, strlen(p->key))];
        if (p->state != PART_OPEN) continue;
        bool undone = (!node || node != silent) && rebuild_abort(g->nodes, p, f);
        if (!undone) silent = node;
        good = good && undone;
    }
    return good;
}

/* Between the first COMMIT and the last, a node may have failed over. */
static bool verify_all(struct filling *g, struct failure *f) {
    for (uint32_t i = 0; g->ways->verify && i < g->parts.n; i++)
        if (!g->ways->verify(g, &g->parts.part[i], f)) return false;
    return true;
}

/* ---- passes ---- */

static bool pass(struct filling *g, struct failure *f) {
    g->passes++;
    g->after = NULL;
    if (!start_all(g, f) || (!g->after && !settle(g, f)) || !filling_load(g, f))
        return false;
    if (filling_count(g, PART_OPEN) == 0) return true;
    if (!judge(g, f)) return false;
    if (!misjudged(g)) return commit_all(g, f);
    return filling_abort(g, INT64_MAX, f);
}

static bool may_pass_again(struct filling *g, struct failure *f) {
    uint32_t lost = filling_count(g, PART_LOST);
    if (lost == 0) return true;
    if (!g->source->repeats)
        return fail(
            f, EXIT_SERVER,
            "the server restarted or failed over and lost the rebuild, and %s can't be "
            "read again: run this once more",
            g->source->name);
    if (g->passes >= PASSES_MAX)
        return fail(
            f, EXIT_SERVER,
            "the rebuild was lost %u times: look at the server, then run this once more",
            g->passes);
    progress_say(
        "%s: the server restarted, failed over or was told BF.LOADING, or another loader "
        "took over: the fill begins again (%u of %u keys)",
        g->filter, lost, g->parts.n);
    return interrupt_sleep(500, f);
}

bool filling_run(struct filling *g, struct failure *f) {
    while (filling_count(g, PART_DONE) < g->parts.n) {
        if (!pass(g, f)) return false;
        if (filling_count(g, PART_DONE) == g->parts.n && !verify_all(g, f)) return false;
        if (!may_pass_again(g, f)) return false;
    }
    return true;
}
