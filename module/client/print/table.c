/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - see table.h. */
#include "table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "text.h"

#define COLUMNS_MAX 24

/* The first column keeps at least that, so that its cells can be told apart. */
#define FIRST_WIDTH 16

/* The first row is the heading. A note is a row with one cell. */
struct table {
    size_t columns, cells;
    char sides[COLUMNS_MAX + 1];
    size_t width[COLUMNS_MAX];
    const char *spare; /* columns that may go, as digits */
    char **cell;       /* all rows, one after the other; notes too, which begin with NOTE */
};

#define NOTE '\n'

static void put(struct table *t, char *text) {
    if ((t->cells & (t->cells - 1)) == 0) {
        t->cell = fail_grow(t->cell, (t->cells ? 2 * t->cells : 1) * sizeof(*t->cell));
    }
    t->cell[t->cells++] = text;
}

struct table *table_new(const char *sides, ...) {
    struct table *t = fail_alloc(sizeof(*t));
    va_list headings;
    t->spare = "";
    t->columns = strlen(sides);
    memcpy(t->sides, sides, t->columns);
    va_start(headings, sides);
    for (size_t i = 0; i < t->columns; i++) {
        const char *heading = va_arg(headings, const char *);
        put(t, fail_strndup(heading, strlen(heading)));
    }
    va_end(headings);
    return t;
}

void table_spare(struct table *t, const char *columns) {
    t->spare = columns;
}

void table_cell(struct table *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put(t, fail_vtext(format, arguments));
    va_end(arguments);
}

void table_note(struct table *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = fail_vtext(format, arguments), *note = fail_alloc(strlen(text) + 2);
    va_end(arguments);
    note[0] = NOTE;
    strcpy(note + 1, text);
    free(text);
    put(t, note);
}

static size_t excess(const struct table *t, size_t width) {
    size_t all = 0;
    for (size_t i = 0; i < t->columns; i++)
        if (t->width[i] > 0) all += t->width[i] + 2;
    return all > width + 2 ? all - width - 2 : 0;
}

/* A column that goes may leave room to the first. */
static void shrink(struct table *t, size_t width) {
    size_t *first = &t->width[0], wanted = *first;
    size_t least = wanted < FIRST_WIDTH ? wanted : FIRST_WIDTH;
    *first = least;
    for (const char *c = t->spare; *c && excess(t, width) > 0; c++)
        t->width[*c - '0'] = 0;
    *first = wanted;
    size_t over = excess(t, width);
    *first = over > wanted - least ? least : wanted - over;
}

/* Of its cells but the heading, the widest; then the heading counts, too. */
static void measure(struct table *t, size_t most) {
    size_t column = t->columns;
    for (size_t i = t->columns; i < t->cells; i++) {
        if (t->cell[i][0] == NOTE) continue;
        size_t *widest = &t->width[column++ % t->columns], width = text_width(t->cell[i]);
        if (width > *widest) *widest = width;
    }
    for (size_t i = 0; i < t->columns; i++) {
        size_t width = text_width(t->cell[i]);
        if (t->width[i] > 0 && t->width[i] < width) t->width[i] = width;
    }
    if (most) shrink(t, most);
}

static void pad(FILE *out, size_t n) {
    while (n-- > 0)
        putc(' ', out);
}

static void print_cell(const struct table *t, FILE *out, size_t column, const char *text) {
    size_t width = t->width[column], own = text_width(text);
    if (width == 0) return;
    if (own > width) {
        fprintf(out, "%.*s\u2026", (int)text_cut(text, width - 1), text);
        own = width;
    } else if (t->sides[column] == 'l') {
        fputs(text, out);
    }
    pad(out, width - own);
    if (t->sides[column] == 'r') fputs(text, out);
    pad(out, 2);
}

static void print_line(char *line, FILE *out, size_t width) {
    size_t end = strlen(line);
    if (width) end = text_cut(line, width);
    while (end > 0 && line[end - 1] == ' ')
        end--;
    fprintf(out, "%.*s\n", (int)end, line);
}

/* The row or the note that begins at a cell; how many cells it has. */
static size_t print_row(const struct table *t, FILE *out, size_t at) {
    if (t->cell[at][0] == NOTE) {
        fprintf(out, "    %s", t->cell[at] + 1);
        return 1;
    }
    for (size_t i = 0; i < t->columns && at + i < t->cells; i++)
        print_cell(t, out, i, t->cell[at + i]);
    return t->columns;
}

void table_print(struct table *t, FILE *out, size_t width) {
    measure(t, width);
    for (size_t at = 0; at < t->cells;) {
        char *line = NULL;
        size_t room;
        FILE *row = fail_memstream(&line, &room);
        at += print_row(t, row, at);
        fclose(row);
        print_line(line, out, width);
        free(line);
    }
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i]);
    free(t->cell);
    free(t);
}
