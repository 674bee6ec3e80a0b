/* SPDX-License-Identifier: BSD-3-Clause */

/* json.h - JSON as a tree: manifests of fixtures, and what the program prints.
 *
 * For texts that are right: what is not JSON fails the test. Everything belongs to the
 * test and goes with it. */

#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

struct json {
    enum json_type type;
    const char *name; /* in an object */
    const char *text; /* of a text; of a number, as it was written */
    double number;
    size_t count; /* of its children */
    struct json *first, *next;
};

/* The first value in the text. */
const struct json *json_read(const char *text);
const struct json *json_read_file(const char *path);

/* The field of that name, or NULL; NULL has none. */
const struct json *json_field(const struct json *object, const char *name);

/* A field that must be there. */
const struct json *json_need(const struct json *object, const char *name);
const char *json_text(const struct json *object, const char *name);
long long json_int(const struct json *object, const char *name);

#define JSON_EACH(child, parent)                                                           \
    for (const struct json *child = (parent) ? (parent)->first : NULL; child;              \
         child = child->next)

#endif
