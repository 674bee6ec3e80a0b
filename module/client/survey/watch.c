/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - a survey each second, with rates: on a terminal redrawn in place, otherwise a
 * block after the other, or JSON. Ends by Ctrl-C, which is no failure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "print/numbers.h"
#include "rates.h"
#include "run.h"
#include "show.h"
#include "print/table.h"
#include "print/terminal.h"
#include "print/text.h"
#include "watch_json.h"

/* A server that hangs must not keep the others from being seen. */
#define TIMEOUT_MS 3000

/* ---- what is drawn ---- */

static uint64_t whole(double rate) {
    return rate < 1e18 ? (uint64_t)(rate + 0.5) : (uint64_t)1e18;
}

static void rate_cell(struct table *t, const struct rates *r, double rate) {
    char number[NUMBERS_TEXT];
    if (!r->known)
        table_cell(t, "-");
    else if (rate > 0 && rate < 9.95)
        table_cell(t, "%.1f", rate);
    else
        table_cell(t, "%s", numbers_show_count(number, whole(rate)));
}

static struct rates sum_of_nodes(struct memory *m, const struct survey *v) {
    struct rates sum = {.known = false};
    for (size_t i = 0; i < v->nnodes; i++) {
        struct rates r = rates_of_node(m, v, &v->node[i]);
        rates_add(&sum, &r);
    }
    return sum;
}

static void add_answer(struct table *t, const struct rates *all, const char *name,
                       double rate) {
    char share[SHOW_TEXT];
    double questions = rates_questions(all);
    table_cell(t, "%s", name);
    rate_cell(t, all, rate);
    table_cell(t, "%s",
               show_share(share, all->known && questions > 0 ? rate / questions : NAN));
}

static void draw_answers(const struct rates *r, FILE *out, size_t width) {
    struct table *t = table_new("lrr", "ANSWERS", "A SECOND", "SHARE");
    add_answer(t, r, "hit: out of the cache", r->hits);
    add_answer(t, r, "absent: kept away", r->absent + r->exists_no);
    add_answer(t, r, "maybe: database", r->maybe + r->exists_maybe);
    add_answer(t, r, "unknown: database", rates_unknown(r));
    for (size_t i = 0; i < SURVEY_CAUSES; i++) {
        char name[48];
        snprintf(name, sizeof(name), "    %s", survey_cause_names[i]);
        if (r->unknown[i] > 0) add_answer(t, r, name, r->unknown[i]);
    }
    table_print(t, out, width);
    char share[SHOW_TEXT];
    fprintf(out, "Answered without the database: %s\n",
            show_share(share, rates_kept_away(r)));
}

static void add_filter(struct table *t, const struct survey_filter *f,
                       const struct rates *r) {
    char text[SHOW_TEXT], number[NUMBERS_TEXT], *name = show_name(f);
    table_cell(t, "%s", name);
    table_cell(t, "%s", show_state(text, f));
    rate_cell(t, r, r->absent + r->exists_no);
    rate_cell(t, r, r->maybe + r->exists_maybe);
    rate_cell(t, r, rates_unknown(r));
    rate_cell(t, r, r->adds);
    table_cell(t, "%s", show_share(text, f->full));
    table_cell(t, "%s", show_rate(text, f->estimated));
    if (f->rebuilding && r->known)
        table_note(t, "%s, %s/s", show_rebuild(text, f),
                   numbers_show_count(number, whole(r->loads)));
    else if (f->rebuilding)
        table_note(t, "%s", show_rebuild(text, f));
    free(name);
}

static void draw_filters(struct memory *m, const struct survey *v, FILE *out,
                         size_t width) {
    struct table *t = table_new("llrrrrrr", "FILTER", "STATE", "ABSENT/S", "MAYBE/S",
                                "UNKNOWN/S", "ADDS/S", "FULL", "ERROR");
    table_spare(t, "765");
    for (size_t i = 0; i < v->nfilters; i++) {
        struct rates r = rates_of_filter(m, v, &v->filter[i]);
        add_filter(t, &v->filter[i], &r);
    }
    table_print(t, out, width);
}

/* Of a node that is away, the warnings tell. */
static bool is_told(const struct survey *v) {
    for (size_t i = 0; i < v->nnodes; i++)
        if (!v->node[i].up) return true;
    return v->trouble.code != EXIT_REFUSED;
}

static void draw(struct memory *m, const struct survey *v, FILE *out, size_t width) {
    struct rates sum = sum_of_nodes(m, v);
    char clock[16];
    time_t now = time(NULL);
    strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
    fprintf(out, "%s\n", clock);
    show_nodes(v, out, width);
    putc('\n', out);
    draw_answers(&sum, out, width);
    putc('\n', out);
    draw_filters(m, v, out, width);
    putc('\n', out);
    show_warnings(v, out, width);
    if (!is_told(v)) text_wrap(out, v->trouble.text, width);
}

/* ---- the screen ---- */

static void open_screen(void) {
    /* The alternate screen, without a cursor; what is wider is cut. */
    fputs("\033[?1049h\033[?25l\033[?7l", stdout);
}

static void close_screen(void) {
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
}

static size_t count_lines(const char *text) {
    size_t n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

/* From the top; each line is cut, and cleared to its end; what is below goes. The last row
 * stays empty, or tells how many lines have no room. */
static void put_on_screen(char *text, size_t columns, size_t rows) {
    fputs("\033[H", stdout);
    for (size_t row = 1; *text && row < rows; row++) {
        size_t end = strcspn(text, "\n"), cut = text_cut(text, columns);
        printf("%.*s\033[K\n", (int)(cut < end ? cut : end), text);
        text += end + (text[end] == '\n');
    }
    size_t left = count_lines(text);
    if (left) printf("... %zu more lines", left);
    fputs("\033[J", stdout);
}

static void show_on_screen(struct memory *m, const struct survey *v) {
    char *text = NULL;
    size_t length, columns = 80, rows = 24;
    terminal_size(&columns, &rows);
    FILE *out = fail_memstream(&text, &length);
    draw(m, v, out, columns);
    fclose(out);
    put_on_screen(text, columns, rows);
    free(text);
}

/* ---- looks ---- */

static void show(struct memory *m, const struct survey *v, bool screen) {
    if (v->settings->json)
        watch_json(m, v, stdout);
    else if (screen)
        show_on_screen(m, v);
    else {
        draw(m, v, stdout, 0);
        putchar('\n');
    }
    fflush(stdout);
}

/* Nothing to show, and why: only at the first look; what goes later may come again. */
static bool is_hopeless(const struct survey *v) {
    return v->nfilters == 0 && v->trouble.code != EXIT_DONE && !interrupt_came();
}

static bool look_again(struct survey *v, struct memory *m, bool screen, struct failure *f) {
    const struct settings *s = v->settings;
    for (uint64_t looks = 1;; looks++) {
        int64_t began = interrupt_clock();
        show(m, v, screen);
        rates_remember(m, v);
        if ((s->count && looks >= s->count) || ferror(stdout)) return true;
        int64_t left = s->interval - (interrupt_clock() - began);
        if (left > 0 && !interrupt_sleep(left, f)) return true;
        survey_look(v);
        if (interrupt_came()) return true;
    }
}

bool run_watch(const struct settings *given, struct failure *f) {
    struct settings s = *given;
    if (s.timeout > TIMEOUT_MS) s.timeout = TIMEOUT_MS;
    if (s.interval < 100) return fail(f, EXIT_USAGE, "--interval wants 100ms or more");
    struct survey *v = survey_open(&s, f);
    if (!v) return false;
    v->walk_ms = SURVEY_WALK_MS;
    survey_look(v);
    size_t columns, rows;
    bool good = !is_hopeless(v), screen = good && !s.json && terminal_size(&columns, &rows);
    if (!good) *f = v->trouble;
    if (screen) open_screen();
    struct memory *m = rates_new();
    if (good) good = look_again(v, m, screen, f);
    if (screen) close_screen();
    rates_free(m);
    survey_close(v);
    return good;
}
