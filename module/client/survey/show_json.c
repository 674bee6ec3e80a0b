/* SPDX-License-Identifier: BSD-3-Clause */
/* show_json.c - a survey for programs: an object on each line, whose first member tells
 * what it is: node, filter or warning. */
#include "print/json.h"
#include "show.h"

/* Times that never were are null. */
static void time(FILE *out, const char *name, int64_t value, bool known) {
    if (!known)
        json_text(out, name, NULL);
    else if (value >= 0)
        json_count(out, name, (uint64_t)value);
    else
        json_rate(out, name, (double)value);
}

void show_json_node(const struct survey_node *n, FILE *out) {
    json_text(out, "node", n->name);
    json_bool(out, "up", n->up);
    json_text(out, "why", n->up ? NULL : n->why);
}

static void show_node(const struct survey_node *n, FILE *out) {
    json_open(out, NULL);
    show_json_node(n, out);
    json_text(out, "product", n->product);
    json_text(out, "version", n->version);
    json_text(out, "bulwark", n->bulwark);
    json_text(out, "role", n->role);
    json_count(out, "memory", n->memory);
    json_count(out, "memory_limit", n->memory_limit);
    json_text(out, "trust_warnings", n->trust_warnings);
    for (size_t i = 0; i < n->nnumbers; i++)
        json_count(out, n->numbers[i].name, n->numbers[i].value);
    json_close(out);
    json_end_line(out);
}

static void show_causes_of(unsigned causes, FILE *out) {
    json_open_list(out, "unknown_by");
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        if (causes >> i & 1) json_text(out, NULL, survey_cause_names[i]);
    json_close_list(out);
}

static void show_rebuild_of(const struct survey_filter *f, FILE *out) {
    if (!f->rebuilding) {
        json_text(out, "rebuild", NULL);
        return;
    }
    json_open(out, "rebuild");
    json_count(out, "seconds_since_start", (uint64_t)f->rebuild_age);
    time(out, "seconds_since_load", f->rebuild_idle, f->rebuild_idle != SURVEY_NEVER);
    json_count(out, "received", f->rebuild_received);
    json_bool(out, "interrupted", f->interrupted);
    json_count(out, "capacity", f->rebuild_capacity);
    json_count(out, "items", f->rebuild_items);
    json_close(out);
}

static void show_answers(const struct survey_filter *f, FILE *out) {
    const struct survey_answers *a = &f->answers;
    if (f->state == SURVEY_MISSING) {
        json_text(out, "answers", NULL);
        return;
    }
    json_open(out, "answers");
    json_count(out, "exists_no", a->exists_no);
    json_count(out, "exists_maybe", a->exists_maybe);
    json_count(out, "absent", a->absent);
    json_count(out, "maybe", a->maybe);
    json_open(out, "unknown");
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        json_count(out, survey_cause_names[i], a->unknown[i]);
    json_close(out);
    json_close(out);
}

/* Of one that isn't there. */
static void show_no_sizes(FILE *out) {
    static const char *const names[] = {"kind",
                                        "items",
                                        "capacity",
                                        "full",
                                        "fill",
                                        "error_rate",
                                        "estimated_error_rate",
                                        "bytes",
                                        "layers",
                                        "overfull",
                                        "expansion",
                                        "generation",
                                        "advice"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        json_text(out, names[i], NULL);
}

static void show_sizes(const struct survey_filter *f, FILE *out) {
    if (f->state == SURVEY_MISSING) {
        show_no_sizes(out);
        return;
    }
    json_text(out, "kind", f->kind);
    json_count(out, "items", f->items);
    json_count(out, "capacity", f->capacity);
    json_rate(out, "full", f->full);
    json_rate(out, "fill", f->fill);
    json_rate(out, "error_rate", f->error);
    json_rate(out, "estimated_error_rate", f->estimated);
    json_count(out, "bytes", f->bytes);
    json_count(out, "layers", f->layers);
    json_count(out, "overfull", f->overfull);
    json_count(out, "expansion", f->expansion);
    json_text(out, "generation", f->generation[0] ? f->generation : NULL);
    json_text(out, "advice", f->advice[0] ? f->advice : NULL);
}

void show_json_filter(const struct survey_filter *f, FILE *out) {
    json_bytes(out, "filter", f->key.text, f->key.length);
    json_text(out, "node", f->node ? f->node->name : NULL);
    json_count(out, "parts", f->parts);
    json_text(out, "state", survey_state_names[f->state]);
    json_count(out, "parts_in_state", f->in_state);
    json_bool(out, "parts_missing", f->incomplete);
    show_causes_of(f->unknown_by, out);
    json_text(out, "doubt", f->doubt);
    time(out, "lease_left_ms", f->lease_left, f->lease_left != SURVEY_NEVER);
    time(out, "vouched_for_at_ms", f->vouched_at, f->vouched_at != 0);
    show_sizes(f, out);
    show_rebuild_of(f, out);
    show_answers(f, out);
}

void show_json_warning(void *out, const struct survey_node *n,
                       const struct survey_filter *f, const char *sentence) {
    json_open(out, NULL);
    json_text(out, "warning", sentence);
    json_text(out, "node", n ? n->name : NULL);
    if (f)
        json_bytes(out, "filter", f->key.text, f->key.length);
    else
        json_text(out, "filter", NULL);
    json_close(out);
}

static void show_warning(void *out, const struct survey_node *n,
                         const struct survey_filter *f, const char *sentence) {
    show_json_warning(out, n, f, sentence);
    json_end_line(out);
}

void show_json(const struct survey *v, FILE *out) {
    for (size_t i = 0; i < v->nnodes; i++)
        show_node(&v->node[i], out);
    for (size_t i = 0; i < v->nfilters; i++) {
        json_open(out, NULL);
        show_json_filter(&v->filter[i], out);
        json_close(out);
        json_end_line(out);
    }
    survey_warn(v, show_warning, out);
}
