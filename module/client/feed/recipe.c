/* SPDX-License-Identifier: BSD-3-Clause */
/* recipe.c - see recipe.h. */
#include "recipe.h"

#include <string.h>

/* The text up to the next column, or the end, with its doubled braces made single. NULL: a
 * brace that stands alone. */
static const char *take_text(const char **at) {
    char *out = fail_strndup(*at, strlen(*at)), *to = out;
    for (; **at; (*at)++) {
        bool brace = **at == '{' || **at == '}';
        if (brace && (*at)[1] == **at)
            (*at)++;
        else if (**at == '{')
            break;
        else if (brace)
            return NULL;
        *to++ = **at;
    }
    *to = '\0';
    return out;
}

bool recipe_read(const char *text, struct recipe *out, struct failure *f) {
    const char *at = text;
    for (out->n = 0;; out->n++) {
        if (!(out->text[out->n] = take_text(&at)))
            return fail(f, EXIT_USAGE, "a } that ends no column: }} stands for a brace");
        if (!*at) break;
        const char *end = strchr(at, '}');
        if (!end || end == at + 1)
            return fail(f, EXIT_USAGE,
                        "a { with no column: it is like user:{id}; {{ stands "
                        "for a brace");
        if (out->n == RECIPE_COLUMNS_MAX)
            return fail(f, EXIT_USAGE, "at most %d columns", RECIPE_COLUMNS_MAX);
        out->column[out->n] = fail_strndup(at + 1, (size_t)(end - at - 1));
        at = end + 1;
    }
    return out->n > 0 ? true : fail(f, EXIT_USAGE, "no column in it: it is like user:{id}");
}

static size_t put(char *out, size_t room, size_t n, const char *text, size_t length) {
    if (length && n + length <= room) memcpy(out + n, text, length);
    return n + length;
}

size_t recipe_make(const struct recipe *recipe, const struct recipe_value *values,
                   char *out, size_t room) {
    size_t n = 0;
    for (size_t i = 0; i < recipe->n; i++) {
        n = put(out, room, n, recipe->text[i], strlen(recipe->text[i]));
        n = put(out, room, n, values[i].text, values[i].length);
    }
    return put(out, room, n, recipe->text[recipe->n], strlen(recipe->text[recipe->n]));
}
