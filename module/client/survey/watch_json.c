/* SPDX-License-Identifier: BSD-3-Clause */
/* watch_json.c - see watch_json.h. */
#include "watch_json.h"

#include <time.h>

#include "print/json.h"
#include "show.h"

static void show_rates(const struct rates *r, bool of_filter, FILE *out) {
    if (!r->known) {
        json_text(out, "a_second", NULL);
        return;
    }
    json_open(out, "a_second");
    json_rate(out, "absent", r->absent);
    json_rate(out, "maybe", r->maybe);
    json_rate(out, "exists_no", r->exists_no);
    json_rate(out, "exists_maybe", r->exists_maybe);
    if (!of_filter) json_rate(out, "hits", r->hits);
    json_rate(out, "adds", r->adds);
    if (of_filter) json_rate(out, "loads", r->loads);
    json_open(out, "unknown");
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        json_rate(out, survey_cause_names[i], r->unknown[i]);
    json_close(out);
    json_close(out);
}

static void show_node(struct memory *m, const struct survey *v, const struct survey_node *n,
                      FILE *out) {
    struct rates r = rates_of_node(m, v, n);
    json_open(out, NULL);
    show_json_node(n, out);
    json_count(out, "memory", n->memory);
    show_rates(&r, false, out);
    json_rate(out, "answered_without_database", rates_kept_away(&r));
    json_close(out);
}

static void show_filter(struct memory *m, const struct survey *v,
                        const struct survey_filter *f, FILE *out) {
    struct rates r = rates_of_filter(m, v, f);
    json_open(out, NULL);
    show_json_filter(f, out);
    show_rates(&r, true, out);
    json_close(out);
}

void watch_json(struct memory *m, const struct survey *v, FILE *out) {
    json_open(out, NULL);
    json_count(out, "time", (uint64_t)time(NULL));
    json_rate(out, "seconds", rates_seconds(m, v));
    json_open_list(out, "nodes");
    for (size_t i = 0; i < v->nnodes; i++)
        show_node(m, v, &v->node[i], out);
    json_close_list(out);
    json_open_list(out, "filters");
    for (size_t i = 0; i < v->nfilters; i++)
        show_filter(m, v, &v->filter[i], out);
    json_close_list(out);
    json_open_list(out, "warnings");
    survey_warn(v, show_json_warning, out);
    json_close_list(out);
    json_close(out);
    json_end_line(out);
}
