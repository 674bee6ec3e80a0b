/* SPDX-License-Identifier: BSD-3-Clause */
/* recipe.h - how an item is made of a row's columns.
 *
 *     user:{id}:{sku}     "user:" id ":" sku ""
 *
 * {{ and }} stand for braces. A value is written as PostgreSQL writes it. */
#ifndef FEED_RECIPE_H
#define FEED_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

#define RECIPE_COLUMNS_MAX 16

struct recipe {
    size_t n;                                 /* columns */
    const char *column[RECIPE_COLUMNS_MAX];   /* names, as PostgreSQL has them */
    const char *text[RECIPE_COLUMNS_MAX + 1]; /* before each column, and behind the last */
};

/* A column, at least one; fills the failure otherwise. */
bool recipe_read(const char *text, struct recipe *out, struct failure *f);

/* The item of these values, in the order of the columns. Writes at most `room` bytes, and
 * returns how many there are. */
struct recipe_value {
    const char *text;
    size_t length;
};
size_t recipe_make(const struct recipe *recipe, const struct recipe_value *values,
                   char *out, size_t room);

#endif
