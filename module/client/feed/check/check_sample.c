/* SPDX-License-Identifier: BSD-3-Clause */
/* check_sample.c - some rows as items, for a person to compare with what the application
 * asks for: see check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "feed/sql_text.h"
#include "print/text.h"

#define ROWS 10

static char *question(const struct feed_config *c) {
    char *sql = NULL, *table = sql_table(c);
    size_t length;
    FILE *out = open_memstream(&sql, &length);
    fputs("SELECT ", out);
    for (size_t i = 0; i < c->item.n; i++) {
        char *name = sql_name(c->item.column[i]);
        fprintf(out, "%s%s", i ? ", " : "", name);
        free(name);
    }
    fprintf(out, " FROM %s LIMIT %d", table, ROWS);
    fclose(out);
    free(table);
    return sql;
}

static void show_item(const struct feed_config *c, const PGresult *r, int row) {
    struct recipe_value values[RECIPE_COLUMNS_MAX];
    char item[1024];
    for (size_t i = 0; i < c->item.n; i++) {
        if (PQgetisnull(r, row, (int)i)) return;
        values[i] = (struct recipe_value){PQgetvalue(r, row, (int)i),
                                          (size_t)PQgetlength(r, row, (int)i)};
    }
    size_t length = recipe_make(&c->item, values, item, sizeof(item));
    if (length > sizeof(item)) return;
    fputs("           ", stdout);
    text_show(stdout, item, length);
    putchar('\n');
}

/* In a configuration these stand for themselves. */
static void check_template(struct check *k) {
    const char *text = k->config->template, *end = text + strlen(text) - 1;
    if (strstr(text, " #"))
        check_say(k, CHECK_WARNING,
                  "item has a # in it, which is a part of each item: a comment stands on a "
                  "line of its own");
    if (end > text && *text == *end && strchr("\"'", *text))
        check_say(k, CHECK_WARNING,
                  "item is in quotes, which are a part of each item: leave them out");
}

void check_sample(struct check *k) {
    if (k->errors > 0) return;
    check_template(k);
    char *sql = question(k->config);
    PGresult *r = check_ask(k, sql);
    free(sql);
    if (!r) return;
    if (PQntuples(r) == 0)
        check_say(k, CHECK_OK, "the table is empty: there is no item to show");
    else
        check_say(k, CHECK_OK, "items are like these; the application must ask just so:");
    for (int row = 0; row < PQntuples(r); row++)
        show_item(k->config, r, row);
    PQclear(r);
}
