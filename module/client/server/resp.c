/* SPDX-License-Identifier: BSD-3-Clause */
/* resp.c - see resp.h. */
#include "resp.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* A number with its mark before and its end of line behind. */
#define HEAD_BYTES 32
#define END_BYTES  2

static char *make_room(struct resp *r, size_t more) {
    if (r->room - r->n < more) {
        r->room = 2 * (r->n + more);
        r->bytes = fail_grow(r->bytes, r->room);
    }
    return r->bytes + r->n;
}

static char *write_end(char *to) {
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

/* Each item has one: snprintf() would take longer than all the rest. */
static char *write_head(char *to, char mark, size_t n) {
    char digits[20];
    size_t k = 0;
    *to++ = mark;
    do
        digits[k++] = (char)('0' + n % 10);
    while (n /= 10);
    while (k > 0)
        *to++ = digits[--k];
    return write_end(to);
}

void resp_begin(struct resp *r, size_t words) {
    char *to = make_room(r, HEAD_BYTES);
    r->n += (size_t)(write_head(to, '*', words) - to);
}

void resp_word(struct resp *r, const void *bytes, size_t length) {
    char *from = make_room(r, HEAD_BYTES + length + END_BYTES);
    char *to = write_head(from, '$', length);
    if (length) memcpy(to, bytes, length);
    r->n += (size_t)(write_end(to + length) - from);
}

void resp_text(struct resp *r, const char *text) {
    resp_word(r, text, strlen(text));
}

void resp_append(struct resp *r, const struct resp *more) {
    if (!more->n) return;
    memcpy(make_room(r, more->n), more->bytes, more->n);
    r->n += more->n;
}

void resp_clear(struct resp *r) {
    r->n = 0;
}

void resp_free(struct resp *r) {
    free(r->bytes);
    *r = (struct resp){.n = 0};
}
