/* SPDX-License-Identifier: BSD-3-Clause */
/* pgoutput.c - see pgoutput.h. Numbers have their highest byte first. */
#include "pgoutput.h"

#include <string.h>

/* What is still to be read. Once something is missing, everything is. */
struct input {
    const unsigned char *at;
    size_t left;
    bool good;
};

static const unsigned char *take(struct input *in, size_t n) {
    const unsigned char *at = in->at;
    if (!in->good || in->left < n) {
        in->good = false;
        return NULL;
    }
    in->at += n;
    in->left -= n;
    return at;
}

static uint64_t take_number(struct input *in, size_t bytes) {
    uint64_t n = 0;
    const unsigned char *at = take(in, bytes);
    for (size_t i = 0; at && i < bytes; i++)
        n = n << 8 | at[i];
    return n;
}

/* A text that ends with NUL. */
static const char *take_name(struct input *in) {
    const unsigned char *end = in->good ? memchr(in->at, 0, in->left) : NULL;
    if (!end) {
        in->good = false;
        return "";
    }
    return (const char *)take(in, (size_t)(end - in->at) + 1);
}

static size_t take_ncolumns(struct input *in) {
    uint64_t n = take_number(in, 2);
    if (n > PGOUTPUT_COLUMNS_MAX) in->good = false;
    return in->good ? (size_t)n : 0;
}

/* flags, name, type, modifier */
static void read_relation(struct input *in, struct pgoutput *out) {
    out->relation = (uint32_t)take_number(in, 4);
    out->schema = take_name(in);
    out->name = take_name(in);
    take(in, 1); /* replica identity */
    out->ncolumns = take_ncolumns(in);
    for (size_t i = 0; i < out->ncolumns; i++) {
        take(in, 1);
        out->columns[i] = take_name(in);
        take(in, 8);
    }
}

static struct pgoutput_value take_value(struct input *in) {
    struct pgoutput_value value = {.kind = PGOUTPUT_NULL};
    switch (take_number(in, 1)) {
    case 'n':
        break;
    case 'u':
        value.kind = PGOUTPUT_UNCHANGED;
        break;
    case 't':
        value.kind = PGOUTPUT_TEXT;
        value.length = (size_t)take_number(in, 4);
        value.text = (const char *)take(in, value.length);
        break;
    default:
        in->good = false;
    }
    return value;
}

static size_t read_row(struct input *in, struct pgoutput_value *out) {
    size_t n = take_ncolumns(in);
    for (size_t i = 0; i < n; i++)
        out[i] = take_value(in);
    return n;
}

/* An UPDATE may have the old row, or its key, before the new one. */
static void read_change(struct input *in, struct pgoutput *out) {
    out->relation = (uint32_t)take_number(in, 4);
    uint64_t which = take_number(in, 1);
    if (out->type == PGOUTPUT_UPDATE && (which == 'K' || which == 'O')) {
        out->nold = read_row(in, out->old);
        which = take_number(in, 1);
    }
    if (which != 'N') in->good = false;
    out->ncolumns = read_row(in, out->values);
}

static void read_message(struct input *in, struct pgoutput *out) {
    out->transactional = take_number(in, 1) & 1;
    out->at = take_number(in, 8);
    out->prefix = take_name(in);
    out->length = (size_t)take_number(in, 4);
    out->content = (const char *)take(in, out->length);
}

static void read_commit(struct input *in, struct pgoutput *out) {
    take(in, 1 + 8); /* flags, where the commit begins */
    out->end = take_number(in, 8);
}

#define NUMBER 4 /* bytes of a relation's */

static void read_truncate(struct input *in, struct pgoutput *out) {
    out->nrelations = (size_t)take_number(in, NUMBER);
    take(in, 1); /* CASCADE, RESTART IDENTITY */
    out->relations = take(in, out->nrelations * NUMBER);
}

bool pgoutput_has(const struct pgoutput *truncate, uint32_t relation) {
    struct input in = {
        .at = truncate->relations, .left = truncate->nrelations * NUMBER, .good = true};
    for (size_t i = 0; i < truncate->nrelations; i++)
        if ((uint32_t)take_number(&in, NUMBER) == relation) return true;
    return false;
}

bool pgoutput_read(const void *bytes, size_t length, struct pgoutput *out) {
    struct input in = {.at = bytes, .left = length, .good = true};
    out->ncolumns = out->nold = 0;
    switch (take_number(&in, 1)) {
    case 'B':
        out->type = PGOUTPUT_BEGIN;
        out->end = take_number(&in, 8);
        break;
    case 'C':
        out->type = PGOUTPUT_COMMIT;
        read_commit(&in, out);
        break;
    case 'R':
        out->type = PGOUTPUT_RELATION;
        read_relation(&in, out);
        break;
    case 'I':
        out->type = PGOUTPUT_INSERT;
        read_change(&in, out);
        break;
    case 'U':
        out->type = PGOUTPUT_UPDATE;
        read_change(&in, out);
        break;
    case 'D':
        out->type = PGOUTPUT_DELETE;
        out->relation = (uint32_t)take_number(&in, 4);
        break;
    case 'T':
        out->type = PGOUTPUT_TRUNCATE;
        read_truncate(&in, out);
        break;
    case 'M':
        out->type = PGOUTPUT_MESSAGE;
        read_message(&in, out);
        break;
    case 'O':
    case 'Y':
        out->type = PGOUTPUT_OTHER;
        break;
    default:
        return false;
    }
    return in.good;
}
