/* SPDX-License-Identifier: BSD-3-Clause */

/* render.c - replies as text; see render.h. */

#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void render_to(FILE *out, const redisReply *r);

static void render_bulk(FILE *out, const char *bytes, size_t len) {
    putc('"', out);
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte >= 0x20 && byte < 0x7f)
            putc(byte, out);
        else
            fprintf(out, "\\x%02x", byte);
    }
    putc('"', out);
}

/* Every second separator of a map is a colon. */
static void render_elements(FILE *out, const redisReply *r, const char *brackets) {
    bool map = r->type == REDIS_REPLY_MAP;
    putc(brackets[0], out);
    for (size_t i = 0; i < r->elements; i++) {
        if (i > 0) fputs(map && i % 2 ? ": " : ", ", out);
        render_to(out, r->element[i]);
    }
    putc(brackets[1], out);
}

static void render_to(FILE *out, const redisReply *r) {
    switch (r->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_VERB:
        render_bulk(out, r->str, r->len);
        break;
    case REDIS_REPLY_INTEGER:
        fprintf(out, "%lld", r->integer);
        break;
    case REDIS_REPLY_NIL:
        fputs("nil", out);
        break;
    case REDIS_REPLY_BOOL:
        fputs(r->integer ? "true" : "false", out);
        break;
    case REDIS_REPLY_ERROR:
        fprintf(out, "(error) %s", r->str);
        break;
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_BIGNUM:
    case REDIS_REPLY_DOUBLE:
        fputs(r->str, out);
        break;
    case REDIS_REPLY_ARRAY:
    case REDIS_REPLY_SET:
        render_elements(out, r, "[]");
        break;
    case REDIS_REPLY_MAP:
        render_elements(out, r, "{}");
        break;
    case REDIS_REPLY_PUSH:
        putc('>', out);
        render_elements(out, r, "[]");
        break;
    default:
        fprintf(out, "(type %d)", r->type);
    }
}

char *render(const redisReply *reply) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    render_to(out, reply);
    fclose(out);
    return text;
}

/* The classic walk: remember the last star and let it swallow one more character
 * whenever what follows it does not fit. */
bool text_matches(const char *text, const char *pattern) {
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
