/* SPDX-License-Identifier: BSD-3-Clause */
/* import_rebuild.c - see import_rebuild.h. */
#include "import_rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "call.h"
#include "command.h"
#include "fill/fewer.h"
#include "fill/rebuild.h"
#include "form_items.h"
#include "print/numbers.h"
#include "proof.h"
#include "whole_file.h"

/* What was begun is undone in this time, or left to the next run. */
#define UNDO_MS 1000

struct remaking {
    const struct settings *s;
    struct nodes *nodes;
    struct parts parts;
    struct whole_file data;
    uint64_t items;
};

static bool fail_lost(const struct part *p, struct failure *f) {
    return fail(f, EXIT_SERVER,
                "the server restarted or failed over and lost the rebuild of %s: run this "
                "once more",
                p->key);
}

static bool count(struct remaking *m, struct failure *f) {
    const struct settings *s = m->s;
    m->items = s->items;
    if (!m->items && !form_items(s, &m->data, &m->items, f)) return false;
    if (!m->items && !s->empty)
        return fail(f, EXIT_SOURCE,
                    "%.200s printed a filter without items: if that is right, give --empty",
                    s->rebuild);
    if (!m->items || s->expect.n) return true;
    return fail(f, EXIT_SOURCE,
                "%.200s printed a filter that has items: name some by --prove, as --empty "
                "is for one without",
                s->rebuild);
}

static bool import(struct remaking *m, struct part *p, struct failure *f) {
    const struct settings *s = m->s;
    char items[24];
    struct call c = {.key = p->key, .once = true};
    snprintf(items, sizeof(items), "%llu", (unsigned long long)m->items);
    call_text(&c, "BF.REBUILD");
    call_text(&c, p->key);
    call_text(&c, "IMPORT");
    call_text(&c, p->token);
    call_word(&c, m->data.bytes, m->data.length);
    call_option(&c, "ITEMS", items);
    call_form(&c, s);
    redisReply *r = call_ask(&c, m->nodes, f);
    if (r) p->items = m->items;
    bool good = r != NULL;
    freeReplyObject(r);
    call_free(&c);
    return good;
}

/* From START to COMMIT. */
static bool remake(struct remaking *m, struct part *p, struct failure *f) {
    const struct settings *s = m->s;
    struct rebuild_plan plan = {
        .capacity = s->capacity, .clears_way = s->stale == 0, .settings = s};
    if (!rebuild_start(m->nodes, p, &plan, f) || !interrupt_sleep(s->settle, f) ||
        !command_output(s->rebuild, &m->data, f) || !count(m, f) ||
        !fewer_allowed(&m->parts, m->items, s->rebuild, s, f) || !import(m, p, f) ||
        !rebuild_check(m->nodes, p, s, 1, 0, f))
        return false;
    if (p->state == PART_OPEN && !rebuild_commit(m->nodes, p, s, f)) return false;
    return p->state == PART_DONE || fail_lost(p, f);
}

static void undo(struct remaking *m, struct part *p) {
    struct settings brief = *m->s;
    struct failure ignored;
    if (p->state != PART_OPEN) return;
    brief.timeout = brief.timeout < UNDO_MS ? brief.timeout : UNDO_MS;
    nodes_hurry(m->nodes, &brief);
    interrupt_undo();
    rebuild_abort(m->nodes, p, &ignored);
    nodes_hurry(m->nodes, m->s);
}

static void report(const struct remaking *m, const struct part *p) {
    char size[NUMBERS_TEXT], items[NUMBERS_TEXT];
    printf("%s is ready: %s, %s items\n", p->key, numbers_show_bytes(size, m->data.length),
           numbers_show_count(items, m->items));
}

static bool run(struct remaking *m, struct failure *f) {
    part_make(&m->parts, m->s->operands[0], 0);
    struct part *p = &m->parts.part[0];
    bool good = rebuild_look(m->nodes, p, m->s, f) && remake(m, p, f);
    if (good)
        report(m, p);
    else
        undo(m, p);
    part_free(&m->parts);
    return good;
}

static bool check_settings(const struct settings *s, struct failure *f) {
    if (s->lease % 1000) return fail(f, EXIT_USAGE, "--lease wants whole seconds");
    if (!s->prove.n && !s->prove_file && !s->empty)
        return fail(
            f, EXIT_USAGE,
            "--rebuild wants --prove or --prove-file: what is built denies at once, "
            "and how items became bytes is not in it");
    return s->items || form_items_prepare(s, f);
}

bool import_rebuild(const struct settings *s, struct failure *f) {
    struct settings ours = *s;
    struct remaking m = {.s = &ours};
    ours.kind = s->operands[1];
    bool good = check_settings(&ours, f) && proof_read(s, &ours.expect, f) &&
                (m.nodes = nodes_open(&ours, f)) && run(&m, f);
    nodes_close(m.nodes);
    free(m.data.bytes);
    proof_free(&ours.expect);
    return good;
}
