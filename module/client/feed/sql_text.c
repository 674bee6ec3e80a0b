/* SPDX-License-Identifier: BSD-3-Clause */
/* sql_text.c - see sql_text.h. */
#include "sql_text.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In these quotes; what is in `escaped` is doubled, or gets the escape before it. */
static char *quoted(const char *text, char quote, const char *escaped, char escape) {
    char *out = fail_alloc(2 * strlen(text) + 3), *to = out;
    *to++ = quote;
    for (; *text; text++) {
        if (strchr(escaped, *text)) *to++ = escape ? escape : *text;
        *to++ = *text;
    }
    *to = quote;
    return out;
}

char *sql_name(const char *name) {
    return quoted(name, '"', "\"", 0);
}

char *sql_literal(const char *text) {
    return quoted(text, '\'', "'", 0);
}

static char *joined(char *a, const char *between, char *b) {
    size_t room = strlen(a) + strlen(between) + strlen(b) + 1;
    char *out = fail_alloc(room);
    snprintf(out, room, "%s%s%s", a, between, b);
    free(a);
    free(b);
    return out;
}

char *sql_table(const struct feed_config *c) {
    return joined(sql_name(c->schema), ".", sql_name(c->relation));
}

char *sql_columns(const struct feed_config *c) {
    char *out = fail_strndup("{", 1);
    for (size_t i = 0; i < c->item.n; i++)
        out = joined(out, i ? "," : "", quoted(c->item.column[i], '"', "\"\\", '\\'));
    return joined(out, "}", fail_strndup("", 0));
}

/* For format(). What has a backslash is written so that it is read alike under any
 * standard_conforming_strings: the writer's session of announce decides. */
static void write_format(const struct recipe *recipe, FILE *out) {
    bool escaped = false;
    for (size_t i = 0; i <= recipe->n; i++)
        escaped = escaped || strchr(recipe->text[i], '\\');
    fputs(escaped ? "E'" : "'", out);
    for (size_t i = 0; i <= recipe->n; i++) {
        for (const char *c = recipe->text[i]; *c; c++) {
            if (strchr("'%\\", *c)) putc(*c, out);
            putc(*c, out);
        }
        if (i < recipe->n) fputs("%s", out);
    }
    putc('\'', out);
}

/* format() writes values by their types' own functions, as pgoutput does: || would not. */
char *sql_item(const struct recipe *recipe, const char *row) {
    char *sql = NULL;
    size_t length;
    FILE *out = open_memstream(&sql, &length);
    fputs("pg_catalog.format(", out);
    write_format(recipe, out);
    for (size_t i = 0; i < recipe->n; i++) {
        char *name = sql_name(recipe->column[i]);
        fprintf(out, ", %s%s", row, name);
        free(name);
    }
    putc(')', out);
    fclose(out);
    return sql;
}

char *sql_has_item(const struct recipe *recipe, const char *row) {
    char *sql = NULL;
    size_t length;
    FILE *out = open_memstream(&sql, &length);
    for (size_t i = 0; i < recipe->n; i++) {
        char *name = sql_name(recipe->column[i]);
        fprintf(out, "%s%s%s IS NOT NULL", i ? " AND " : "", row, name);
        free(name);
    }
    fclose(out);
    return sql;
}

char *sql_role(const struct feed_config *c) {
    char *user = NULL;
    PQconninfoOption *all = PQconninfoParse(c->database, NULL);
    for (const PQconninfoOption *o = all; o && o->keyword; o++)
        if (strcmp(o->keyword, "user") == 0 && o->val && *o->val)
            user = fail_strndup(o->val, strlen(o->val));
    PQconninfoFree(all);
    return user;
}
