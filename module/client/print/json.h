/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - writes JSON, an object on a line.
 *
 *     json_open(out, NULL);             {
 *     json_text(out, "key", "users");    "key":"users",
 *     json_count(out, "items", 5);       "items":5
 *     json_close(out);                  }
 *
 * Texts that are no UTF-8 keep their bytes as \u00xx, so that a line is always JSON. */
#ifndef CLIENT_JSON_H
#define CLIENT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The name is NULL for the outermost object, and for elements of a list. */
void json_open(FILE *out, const char *name);
void json_close(FILE *out);
void json_open_list(FILE *out, const char *name);
void json_close_list(FILE *out);
void json_text(FILE *out, const char *name, const char *text); /* NULL: null */
void json_bytes(FILE *out, const char *name, const char *text, size_t length);
void json_count(FILE *out, const char *name, uint64_t n);
void json_rate(FILE *out, const char *name, double rate);
void json_bool(FILE *out, const char *name, bool yes);
void json_end_line(FILE *out);

#endif
