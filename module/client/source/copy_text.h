/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_text.h - a value as PostgreSQL's COPY writes it, in its text format.
 *
 *     a newline  \n     a tab  \t     a backslash  \\     any byte  \101, \x41     NULL  \N
 *
 * Needs no libpq. */
#ifndef CLIENT_COPY_TEXT_H
#define CLIENT_COPY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Not the same as the two characters \N in a text, which come as \\N. */
static inline bool copy_text_is_null(const char *text, size_t length) {
    return length == 2 && text[0] == '\\' && text[1] == 'N';
}

/* Puts the bytes that it means in its place, and gives their number: never more than there
 * were. */
size_t copy_text_unescape(char *text, size_t length);

/* Few values have an escape. */
static inline size_t copy_text_decode(char *text, size_t length) {
    return memchr(text, '\\', length) ? copy_text_unescape(text, length) : length;
}

#endif
