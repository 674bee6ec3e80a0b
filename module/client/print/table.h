/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - rows of cells, aligned for people.
 *
 *     struct table *t = table_new("lrr", "FILTER", "ITEMS", "SIZE");    l: left, r: right
 *     table_cell(t, "%s", name); table_cell(t, ...); table_cell(t, ...);
 *     table_note(t, "advice: %s", text);      a line below the row
 *     table_spare(t, "2");                    SIZE goes first if there is no room
 *     table_print(t, stdout, 80);             and it is gone
 *
 * Columns that are empty in every row aren't printed. */
#ifndef CLIENT_TABLE_H
#define CLIENT_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table;

/* A letter and a heading for each column. */
struct table *table_new(const char *sides, ...);
void table_cell(struct table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_note(struct table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Which columns go, one after the other, if the first can't give way any further: their
 * numbers, from 0. A number that is cut would be another number. */
void table_spare(struct table *t, const char *columns);

/* No line is wider; 0: any may be. First the cells of the first column are cut, as far as
 * that is of use; then columns go; and what is still too long is cut. */
void table_print(struct table *t, FILE *out, size_t width);

#endif
