/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - bytes from elsewhere, as a terminal may show them.
 *
 * A key may be any bytes, and a terminal obeys some. What is no printable UTF-8 becomes
 * \xff, and a backslash \\, so that two keys never look alike. */
#ifndef CLIENT_TEXT_H
#define CLIENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How many bytes of well-formed UTF-8 begin here; 0: none. */
size_t text_utf8(const unsigned char *at, size_t left, uint32_t *point);

void text_show(FILE *out, const char *bytes, size_t length);

/* The same as a new string. */
char *text_shown(const char *bytes, size_t length);

/* In place: each byte of what is not plain becomes '?'; newlines and tabs stay if `lines`.
 * For texts of servers, of which nothing is made but something to read. */
void text_tame(char *text, bool lines);

/* Places on a line that a text of text_show()'s takes: one a code point. */
size_t text_width(const char *text);

/* A paragraph in lines of that many places, which break between words, if they can, and are
 * indented from the second on; 0: one line. */
void text_wrap(FILE *out, const char *text, size_t width);

/* How many bytes of it take at most so many places. */
size_t text_cut(const char *text, size_t width);

#endif
