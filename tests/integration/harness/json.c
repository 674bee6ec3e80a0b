/* SPDX-License-Identifier: BSD-3-Clause */

/* json.c - reads JSON by recursive descent; see json.h. */

#include "json.h"

#include "check.h"
#include "files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct text {
    const char *at;
};

static void *keep(size_t bytes) {
    void *block = calloc(1, bytes);
    if (!block) FAIL("no memory");
    test_defer(free, block);
    return block;
}

static char next(struct text *in) {
    while (isspace((unsigned char)*in->at))
        in->at++;
    return *in->at;
}

static void take(struct text *in, char wanted) {
    if (next(in) != wanted)
        FAIL("no JSON: '%c' is missing before \"%.20s\"", wanted, in->at);
    in->at++;
}

/* \uXXXX does not occur in the manifests but below 128. */
static char escaped(struct text *in) {
    char c = *in->at++;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == 'r') return '\r';
    if (c != 'u') return c;
    char digits[5] = {0};
    memcpy(digits, in->at, 4);
    in->at += 4;
    return (char)strtol(digits, NULL, 16);
}

static const char *read_text(struct text *in) {
    take(in, '"');
    const char *end = in->at;
    while (*end && *end != '"')
        end += *end == '\\' ? 2 : 1;
    char *text = keep((size_t)(end - in->at) + 1);
    for (char *to = text; *in->at && *in->at != '"';)
        *to++ = *in->at == '\\' ? (in->at++, escaped(in)) : *in->at++;
    take(in, '"');
    return text;
}

static struct json *read_value(struct text *in);

static void read_children(struct text *in, struct json *parent, char close) {
    struct json **end = &parent->first;
    in->at++;
    while (next(in) != close) {
        const char *name = NULL;
        if (parent->count > 0) take(in, ',');
        if (close == '}') {
            next(in);
            name = read_text(in);
            take(in, ':');
        }
        *end = read_value(in);
        (*end)->name = name;
        end = &(*end)->next;
        parent->count++;
    }
    in->at++;
}

static void read_word(struct text *in, struct json *out) {
    const char *from = in->at;
    while (isalnum((unsigned char)*in->at) || (*in->at && strchr("+-.", *in->at)))
        in->at++;
    size_t length = (size_t)(in->at - from);
    char *word = keep(length + 1);
    memcpy(word, from, length);
    if (length == 0) FAIL("no JSON: \"%.20s\"", from);
    out->text = word;
    out->type = *word == 'n' ? JSON_NULL : strchr("tf", *word) ? JSON_BOOL : JSON_NUMBER;
    out->number = *word == 't' ? 1 : strtod(word, NULL);
}

static struct json *read_value(struct text *in) {
    struct json *value = keep(sizeof *value);
    switch (next(in)) {
    case '{':
        value->type = JSON_OBJECT;
        read_children(in, value, '}');
        break;
    case '[':
        value->type = JSON_LIST;
        read_children(in, value, ']');
        break;
    case '"':
        value->type = JSON_TEXT;
        value->text = read_text(in);
        break;
    default:
        read_word(in, value);
    }
    return value;
}

const struct json *json_read(const char *text) {
    struct text in = {text};
    return read_value(&in);
}

const struct json *json_read_file(const char *path) {
    return json_read(file_read(path).bytes);
}

const struct json *json_field(const struct json *object, const char *name) {
    JSON_EACH(child, object)
    if (child->name && strcmp(child->name, name) == 0)
        return child->type == JSON_NULL ? NULL : child;
    return NULL;
}

const struct json *json_need(const struct json *object, const char *name) {
    const struct json *field = json_field(object, name);
    if (!field) FAIL("there is no field \"%s\"", name);
    return field;
}

const char *json_text(const struct json *object, const char *name) {
    return json_need(object, name)->text;
}

long long json_int(const struct json *object, const char *name) {
    return (long long)json_need(object, name)->number;
}
