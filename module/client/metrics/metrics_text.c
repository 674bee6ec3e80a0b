/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics_text.c - see metrics_text.h. Each metric's lines stand together, below one HELP
 * and one TYPE. */
#include "metrics_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics_table.h"
#include "print/text.h"

void metrics_head(FILE *out, const char *name, enum metric_type type, const char *help) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
            type == METRIC_COUNTER ? "counter" : "gauge");
}

/* What text_show() writes has no newline, and tells any two keys apart. */
void metrics_label(FILE *out, const char *bytes, size_t length) {
    char *shown = text_shown(bytes, length);
    for (const char *c = shown; *c; c++) {
        if (*c == '"' || *c == '\\') putc('\\', out);
        putc(*c, out);
    }
    free(shown);
}

/* Whole numbers are written whole. */
static void value(FILE *out, double n) {
    if (n == floor(n) && fabs(n) < 9e15)
        fprintf(out, " %.0f\n", n);
    else
        fprintf(out, " %.9g\n", n);
}

static void open_labels(FILE *out, const char *name, const struct survey_node *n) {
    fprintf(out, "%s{node=\"", name);
    if (n) metrics_label(out, n->name, strlen(n->name));
    putc('"', out);
}

/* ---- nodes ---- */

/* What refuses INFO may be without Bulwark, and so without a shield, for all we know. */
static bool is_up(const struct survey_node *n) {
    return n->up && n->bulwark[0];
}

/* One for each node; -1: this one has none. */
static double up(const struct survey_node *n) {
    return is_up(n);
}

static double trust_warnings(const struct survey_node *n) {
    return is_up(n) ? n->trust_warnings[0] != '\0' : -1;
}

static double memory(const struct survey_node *n) {
    return n->memory ? (double)n->memory : -1;
}

static double memory_limit(const struct survey_node *n) {
    return n->memory ? (double)n->memory_limit : -1;
}

static void write_each(const struct survey *v, const char *name, const char *help,
                       double (*of)(const struct survey_node *n), FILE *out) {
    metrics_head(out, name, METRIC_GAUGE, help);
    for (size_t i = 0; i < v->nnodes; i++) {
        if (of(&v->node[i]) < 0) continue;
        open_labels(out, name, &v->node[i]);
        putc('}', out);
        value(out, of(&v->node[i]));
    }
}

static void write_about(const struct survey *v, FILE *out) {
    metrics_head(out, "bulwark_info", METRIC_GAUGE, "Always 1; what the server is.");
    for (size_t i = 0; i < v->nnodes; i++) {
        const struct survey_node *n = &v->node[i];
        if (!n->up || !n->tells) continue;
        open_labels(out, "bulwark_info", n);
        fprintf(out, ",version=\"");
        metrics_label(out, n->bulwark, strlen(n->bulwark));
        fprintf(out, "\",product=\"%s\",product_version=\"", n->product);
        metrics_label(out, n->version, strlen(n->version));
        fprintf(out, "\",role=\"");
        metrics_label(out, n->role, strlen(n->role));
        fputs("\"} 1\n", out);
    }
}

static void write_metric(const struct survey *v, const struct metric *m, FILE *out) {
    bool first = m == metrics_of_nodes || strcmp(m->name, m[-1].name) != 0;
    if (first) metrics_head(out, m->name, m->type, m->help);
    for (size_t i = 0; i < v->nnodes; i++) {
        uint64_t n;
        if (!survey_number(&v->node[i], m->field, &n)) continue;
        open_labels(out, m->name, &v->node[i]);
        if (m->label) fprintf(out, ",%s=\"%s\"", m->label, m->value);
        fprintf(out, "} %llu\n", (unsigned long long)n);
    }
}

/* ---- filters ---- */

static void open_filter(FILE *out, const char *name, const struct survey_filter *f) {
    open_labels(out, name, f->node);
    fputs(",filter=\"", out);
    metrics_label(out, f->key.text, f->key.length);
    putc('"', out);
}

static void write_filter(const struct filter_metric *m, const struct survey_filter *f,
                         FILE *out) {
    double n = f->state == SURVEY_MISSING ? NAN : m->value(f);
    if (isnan(n)) return;
    open_filter(out, m->name, f);
    putc('}', out);
    value(out, n);
}

/* Counters of parts by node: the sum over all nodes would fall when one begins anew, as if
 * all had. */
static void write_shares(const struct survey *v, const struct filter_metric *m,
                         const struct survey_filter *f, FILE *out) {
    for (size_t i = 0; i < v->nnodes; i++) {
        struct survey_filter share = *f;
        if (f->shares[i].parts == 0) continue;
        share.node = &v->node[i];
        share.answers = f->shares[i].answers;
        write_filter(m, &share, out);
    }
}

static void write_filters(const struct survey *v, const struct filter_metric *m,
                          FILE *out) {
    metrics_head(out, m->name, m->type, m->help);
    for (size_t i = 0; i < v->nfilters; i++) {
        const struct survey_filter *f = &v->filter[i];
        if (f->shares && m->type == METRIC_COUNTER)
            write_shares(v, m, f, out);
        else
            write_filter(m, f, out);
    }
}

/* A line for each of the names, which is 1 for those whose bits are set. */
static void write_names(const struct survey_filter *f, const char *metric, const char *kind,
                        const char *const *names, unsigned n, unsigned bits, FILE *out) {
    for (unsigned i = 0; i < n; i++) {
        open_filter(out, metric, f);
        fprintf(out, ",%s=\"%s\"} %u\n", kind, names[i], bits >> i & 1);
    }
}

static void write_states(const struct survey *v, FILE *out) {
    static const char name[] = "bulwark_filter_state";
    metrics_head(out, name, METRIC_GAUGE, "1 for the state that the filter is in.");
    for (size_t i = 0; i < v->nfilters; i++)
        write_names(&v->filter[i], name, "state", survey_state_names, SURVEY_STATES,
                    1u << v->filter[i].state, out);
}

static void write_causes(const struct survey *v, FILE *out) {
    static const char name[] = "bulwark_filter_unknown_by";
    metrics_head(out, name, METRIC_GAUGE, "1 for each cause why it answers unknown now.");
    for (size_t i = 0; i < v->nfilters; i++)
        write_names(&v->filter[i], name, "cause", survey_cause_names, SURVEY_CAUSES,
                    v->filter[i].unknown_by, out);
}

/* Why it isn't, stands in a comment: a label would make another series of each reason. */
static void write_complete(const struct survey *v, FILE *out) {
    const struct survey_node *mute = NULL;
    bool good = v->trouble.code == EXIT_DONE;
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].up && !v->node[i].tells) mute = &v->node[i];
    metrics_head(
        out, "bulwark_scrape_complete", METRIC_GAUGE,
        "0 if a server was away or refused an answer, a filter that was named is missing, "
        "or not all keys were looked at yet.");
    if (!good)
        fprintf(out, "# %.*s\n", (int)strcspn(v->trouble.text, "\n"), v->trouble.text);
    else if (mute)
        fprintf(out, "# %s refuses INFO: the ACL user needs info\n", mute->name);
    else if (survey_is_walking(v))
        fputs("# not all keys were looked at yet\n", out);
    fprintf(out, "bulwark_scrape_complete %d\n", good && !mute && !survey_is_walking(v));
}

void metrics_write(const struct survey *v, FILE *out) {
    write_each(v, "bulwark_up", "1 if the server answers and has Bulwark.", up, out);
    if (v->nnodes == 0) fputs("bulwark_up{node=\"\"} 0\n", out);
    write_about(v, out);
    write_each(v, "bulwark_trust_warnings",
               "1 if the server's settings contradict what bf-trust promises.",
               trust_warnings, out);
    write_each(v, "bulwark_server_memory_bytes", "Memory that the server uses.", memory,
               out);
    write_each(v, "bulwark_server_memory_limit_bytes", "Its maxmemory; 0: none.",
               memory_limit, out);
    for (const struct metric *m = metrics_of_nodes; m->name; m++)
        write_metric(v, m, out);
    write_states(v, out);
    write_causes(v, out);
    for (const struct filter_metric *m = metrics_of_filters; m->name; m++)
        write_filters(v, m, out);
    metrics_head(out, "bulwark_scrape_duration_seconds", METRIC_GAUGE,
                 "What this scrape took.");
    fprintf(out, "bulwark_scrape_duration_seconds %.3f\n", (double)v->took / 1000);
    write_complete(v, out);
}
