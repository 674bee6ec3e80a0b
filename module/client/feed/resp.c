/* SPDX-License-Identifier: BSD-3-Clause */
/* resp.c - see resp.h. */
#include "resp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define HEAD_BYTES 32 /* a number and its marks */

static char *make_room(struct resp *r, size_t more) {
    if (r->room - r->n < more) {
        r->room = 2 * (r->n + more);
        r->bytes = fail_grow(r->bytes, r->room);
    }
    return r->bytes + r->n;
}

static void put(struct resp *r, const void *bytes, size_t length) {
    memcpy(make_room(r, length), bytes, length);
    r->n += length;
}

static void head(struct resp *r, char mark, size_t n) {
    char text[HEAD_BYTES];
    put(r, text, (size_t)snprintf(text, sizeof(text), "%c%zu\r\n", mark, n));
}

void resp_begin(struct resp *r, size_t words) {
    head(r, '*', words);
}

void resp_word(struct resp *r, const void *bytes, size_t length) {
    head(r, '$', length);
    put(r, bytes, length);
    put(r, "\r\n", 2);
}

void resp_text(struct resp *r, const char *text) {
    resp_word(r, text, strlen(text));
}

void resp_append(struct resp *r, const struct resp *more) {
    if (more->n) put(r, more->bytes, more->n);
}

void resp_clear(struct resp *r) {
    r->n = 0;
}

void resp_free(struct resp *r) {
    free(r->bytes);
    *r = (struct resp){.n = 0};
}
