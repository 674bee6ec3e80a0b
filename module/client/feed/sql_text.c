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

char *sql_role(const struct feed_config *c) {
    char *user = NULL;
    PQconninfoOption *all = PQconninfoParse(c->database, NULL);
    for (const PQconninfoOption *o = all; o && o->keyword; o++)
        if (strcmp(o->keyword, "user") == 0 && o->val && *o->val)
            user = fail_strndup(o->val, strlen(o->val));
    PQconninfoFree(all);
    return user;
}
