/* SPDX-License-Identifier: BSD-3-Clause */
/* show.c - a survey for people: see show.h. */
#include "show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print/numbers.h"
#include "print/table.h"
#include "print/text.h"

char *show_name(const struct survey_filter *f) {
    return text_shown(f->key.text, f->key.length);
}

/* The causes that the state itself is are left out. All words together fit. */
const char *show_state(char *out, const struct survey_filter *f) {
    const char *state = survey_state_names[f->state], *before = " (";
    int n = sprintf(out, "%s", state);
    if (f->in_state < f->parts) n += sprintf(out + n, " %zu/%zu", f->in_state, f->parts);
    for (size_t i = 0; i < SURVEY_CAUSES; i++) {
        if (!(f->unknown_by >> i & 1) || strcmp(survey_cause_names[i], state) == 0)
            continue;
        n += sprintf(out + n, "%s%s", before, survey_cause_names[i]);
        before = ", ";
    }
    if (*before == ',') strcpy(out + n, ")");
    return out;
}

const char *show_rebuild(char *out, const struct survey_filter *f) {
    char items[NUMBERS_TEXT], age[NUMBERS_TEXT];
    snprintf(out, SHOW_TEXT, "rebuild: %s item%s in %s%s",
             numbers_show_count(items, f->rebuild_received),
             f->rebuild_received == 1 ? "" : "s",
             numbers_show_time(age, f->rebuild_age * 1000),
             f->interrupted ? ", interrupted" : "");
    return out;
}

/* Two digits that count are enough to compare it with what was asked for. */
const char *show_rate(char *out, double rate) {
    if (isnan(rate))
        snprintf(out, SHOW_TEXT, "-");
    else if (rate > 0 && rate < 1e-12)
        snprintf(out, SHOW_TEXT, "<1e-12");
    else
        snprintf(out, SHOW_TEXT, "%.2g", rate);
    return out;
}

const char *show_share(char *out, double share) {
    if (isnan(share))
        snprintf(out, SHOW_TEXT, "-");
    else
        snprintf(out, SHOW_TEXT, share < 0.0995 && share > 0 ? "%.1f%%" : "%.0f%%",
                 100 * share);
    return out;
}

/* ---- nodes ---- */

static void add_memory(struct table *t, const struct survey_node *n) {
    char used[NUMBERS_TEXT], limit[NUMBERS_TEXT];
    numbers_show_bytes(used, n->memory);
    if (!n->memory)
        table_cell(t, "%s", "");
    else if (n->memory_limit)
        table_cell(t, "%s of %s", used, numbers_show_bytes(limit, n->memory_limit));
    else
        table_cell(t, "%s", used);
}

static void add_node(struct table *t, const struct survey_node *n) {
    char bytes[NUMBERS_TEXT];
    table_cell(t, "%s", n->name);
    table_cell(t, "%s %s", n->up ? n->product : "away", n->up ? n->version : "");
    table_cell(t, "%s", n->up ? n->bulwark : "");
    if (n->nnumbers) {
        table_cell(t, "%llu", (unsigned long long)survey_count(n, "bf_filters"));
        table_cell(t, "%s", numbers_show_bytes(bytes, survey_count(n, "bf_bytes")));
    } else {
        table_cell(t, "%s", "");
        table_cell(t, "%s", "");
    }
    add_memory(t, n);
    table_cell(t, "%s", n->up ? n->role : "");
}

void show_nodes(const struct survey *v, FILE *out, size_t width) {
    struct table *t = table_new("lllrrrl", "SERVER", "PRODUCT", "BULWARK", "FILTERS",
                                "SIZE", "MEMORY", "ROLE");
    table_spare(t, "24351");
    for (size_t i = 0; i < v->nnodes; i++)
        add_node(t, &v->node[i]);
    table_print(t, out, width);
}

/* ---- filters ---- */

static void add_notes(struct table *t, const struct survey_filter *f) {
    char text[SHOW_TEXT];
    if (f->layers > 1) table_note(t, "%llu layers", (unsigned long long)f->layers);
    if (f->rebuilding) table_note(t, "%s", show_rebuild(text, f));
    if (f->advice[0]) table_note(t, "%s%s", f->advice, f->parts > 1 ? " (a part)" : "");
}

static void add_missing(struct table *t, const char *name) {
    table_cell(t, "%s", name);
    table_cell(t, "%s", "missing");
    for (size_t i = 0; i < 6; i++)
        table_cell(t, "%s", "");
}

static void add_filter(struct table *t, const struct survey_filter *f) {
    char text[SHOW_TEXT], number[NUMBERS_TEXT], *name = show_name(f);
    if (f->state == SURVEY_MISSING) {
        add_missing(t, name);
        free(name);
        return;
    }
    table_cell(t, "%s", name);
    table_cell(t, "%s", show_state(text, f));
    table_cell(t, "%s", numbers_show_count(number, f->items));
    table_cell(t, "%s", numbers_show_count(number, f->capacity));
    table_cell(t, "%s", show_share(text, f->full));
    table_cell(t, "%s", show_rate(text, f->estimated));
    table_cell(t, "%s", show_rate(text, f->error));
    table_cell(t, "%s", numbers_show_bytes(number, f->bytes));
    add_notes(t, f);
    free(name);
}

static void show_filters(const struct survey *v, FILE *out, size_t width) {
    struct table *t = table_new("llrrrrrr", "FILTER", "STATE", "ITEMS", "CAPACITY", "FULL",
                                "ERROR", "TARGET", "SIZE");
    table_spare(t, "637254");
    for (size_t i = 0; i < v->nfilters; i++)
        add_filter(t, &v->filter[i]);
    table_print(t, out, width);
}

/* ---- warnings ---- */

struct paper {
    FILE *out;
    size_t width;
};

static void print_warning(void *context, const struct survey_node *n,
                          const struct survey_filter *f, const char *sentence) {
    const struct paper *paper = context;
    char *name = f ? show_name(f) : fail_text("%s:", n->name);
    char *text = fail_text("%s %s.", name, sentence);
    text_wrap(paper->out, text, paper->width);
    free(text);
    free(name);
}

void show_warnings(const struct survey *v, FILE *out, size_t width) {
    struct paper paper = {out, width};
    survey_warn(v, print_warning, &paper);
}

void show_list(const struct survey *v, FILE *out, size_t width) {
    char *text = NULL;
    size_t length = 0;
    if (v->nnodes) show_nodes(v, out, width);
    if (v->nfilters) {
        putc('\n', out);
        show_filters(v, out, width);
    } else if (v->trouble.code == EXIT_DONE) {
        fputs("\nThere is no filter here.\n", out);
    }
    FILE *warnings = fail_memstream(&text, &length);
    show_warnings(v, warnings, width);
    fclose(warnings);
    if (length) fprintf(out, "\n%s", text);
    free(text);
}
