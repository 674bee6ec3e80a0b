/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - see json.h. */
#include "json.h"

#include <math.h>
#include <string.h>

#include "text.h"

static bool first = true; /* in the object or list that is open */

static void begin(FILE *out, const char *name) {
    if (!first) putc(',', out);
    first = false;
    if (name) fprintf(out, "\"%s\":", name);
}

static void open_with(FILE *out, const char *name, char bracket) {
    begin(out, name);
    putc(bracket, out);
    first = true;
}

static void close_with(FILE *out, char bracket) {
    putc(bracket, out);
    first = false;
}

void json_open(FILE *out, const char *name) {
    open_with(out, name, '{');
}

void json_close(FILE *out) {
    close_with(out, '}');
}

void json_open_list(FILE *out, const char *name) {
    open_with(out, name, '[');
}

void json_close_list(FILE *out) {
    close_with(out, ']');
}

void json_bytes(FILE *out, const char *name, const char *text, size_t length) {
    begin(out, name);
    putc('"', out);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        uint32_t point;
        size_t n = text_utf8((const unsigned char *)text + i, length - i, &point);
        if (n == 0 || c < 0x20 || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else if (n == 2 && point < 0xa0) /* controls that are UTF-8 */
            fprintf(out, "\\u%04x", (unsigned)point);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else
            fwrite(text + i, 1, n, out);
        i += n ? n : 1;
    }
    putc('"', out);
}

void json_text(FILE *out, const char *name, const char *text) {
    if (text) {
        json_bytes(out, name, text, strlen(text));
        return;
    }
    begin(out, name);
    fputs("null", out);
}

void json_count(FILE *out, const char *name, uint64_t n) {
    begin(out, name);
    fprintf(out, "%llu", (unsigned long long)n);
}

void json_rate(FILE *out, const char *name, double rate) {
    begin(out, name);
    if (isfinite(rate))
        fprintf(out, "%.6g", rate);
    else
        fputs("null", out);
}

void json_bool(FILE *out, const char *name, bool yes) {
    begin(out, name);
    fputs(yes ? "true" : "false", out);
}

void json_end_line(FILE *out) {
    putc('\n', out);
    first = true;
}
