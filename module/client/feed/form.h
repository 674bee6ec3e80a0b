/* SPDX-License-Identifier: BSD-3-Clause */
/* form.h - how an item is made of a row's columns.
 *
 *     user:{id}:{sku}     "user:" id ":" sku ""
 *
 * {{ and }} stand for braces. A value is written as PostgreSQL writes it. */
#ifndef FEED_FORM_H
#define FEED_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

#define FORM_COLUMNS_MAX 16

struct form {
    size_t n;                               /* columns */
    const char *column[FORM_COLUMNS_MAX];   /* names, as PostgreSQL has them */
    const char *text[FORM_COLUMNS_MAX + 1]; /* before each column, and behind the last */
};

/* A column, at least one; fills the failure otherwise. */
bool form_read(const char *text, struct form *out, struct failure *f);

/* The item of these values, in the order of the columns. Writes at most `room` bytes, and
 * returns how many there are. */
struct form_value {
    const char *text;
    size_t length;
};
size_t form_make(const struct form *form, const struct form_value *values, char *out,
                 size_t room);

#endif
