/* SPDX-License-Identifier: BSD-3-Clause */
/* source_csv.c - a file of comma-separated values (RFC 4180), one column of which is the
 * items.
 *
 *     12,Anna,"said ""hello"", and left",x       LF or CR LF ends a row, but not in quotes
 *     ^  ^    ^      ^^
 *     |  |    |      |`- QUOTED again        BETWEEN   before a value's first byte
 *     |  |    |      `-- AFTER_QUOTE         PLAIN     in a value without quotes
 *     |  |    `--------- QUOTED              AFTER_CR  only LF may follow
 *     |  `-------------- PLAIN
 *     `----------------- BETWEEN
 *
 * Rows may be of any length: what was read is forgotten, but for the value that is wanted.
 * A quote where none may be is a failure, and not an attempt to guess: a row that was cut
 * wrongly would give a wrong item. */
#include <stdlib.h>
#include <string.h>

#include "item.h"
#include "print/numbers.h"
#include "source_file.h"

enum place { BETWEEN, PLAIN, QUOTED, AFTER_QUOTE, AFTER_CR };
enum step { ON, ROW, BROKEN };

struct source_csv {
    struct source_file file;
    uint64_t wanted; /* column, from 1 */
    bool header;
    enum place place;
    uint64_t column; /* the one that is being read, from 1 */
    size_t length;
    /* Of the wanted column, as far as it was read. What was cut is too long even without
     * a CR at its end. */
    char value[ITEM_BYTES_MAX + 2];
};

static void append(struct source_csv *s, const char *bytes, size_t n) {
    size_t room = sizeof(s->value) - s->length;
    if (s->column != s->wanted) return;
    if (n > room) n = room;
    memcpy(s->value + s->length, bytes, n);
    s->length += n;
}

/* What follows the wanted column is skipped at once if there are no quotes in it. */
static enum step end_value(struct source_csv *s) {
    struct source_file *file = &s->file;
    const char *from = file->buffer + file->at, *stop = NULL;
    s->place = BETWEEN;
    if (s->column++ == s->wanted) stop = memchr(from, '\n', file->end - file->at);
    if (!stop || memchr(from, '"', (size_t)(stop - from))) return ON;
    file->at += (size_t)(stop - from) + 1;
    return ROW;
}

/* A CR before the LF belongs to the end of the row. */
static enum step end_plain_row(struct source_csv *s) {
    if (s->column == s->wanted && s->length && s->value[s->length - 1] == '\r') s->length--;
    return ROW;
}

static enum step step_plain(struct source_csv *s) {
    static const bool special[256] = {[','] = true, ['\n'] = true, ['"'] = true};
    struct source_file *file = &s->file;
    const char *from = file->buffer + file->at, *end = file->buffer + file->end, *p = from;
    while (p < end && !special[(unsigned char)*p])
        p++;
    append(s, from, (size_t)(p - from));
    file->at += (size_t)(p - from);
    if (p == end) return ON;
    file->at++;
    return *p == ',' ? end_value(s) : *p == '\n' ? end_plain_row(s) : BROKEN;
}

static enum step step_quoted(struct source_csv *s) {
    struct source_file *file = &s->file;
    const char *from = file->buffer + file->at;
    const char *quote = memchr(from, '"', file->end - file->at);
    size_t n = quote ? (size_t)(quote - from) : file->end - file->at;
    append(s, from, n);
    file->at += n + (quote != NULL);
    if (quote) s->place = AFTER_QUOTE;
    return ON;
}

static enum step step_after_quote(struct source_csv *s) {
    char c = s->file.buffer[s->file.at++];
    if (c == '\n') return ROW;
    if (c == ',') return end_value(s);
    if (c == '"') append(s, "\"", 1);
    s->place = c == '"' ? QUOTED : AFTER_CR;
    return c == '"' || c == '\r' ? ON : BROKEN;
}

/* There is at least one byte. */
static enum step step(struct source_csv *s) {
    switch (s->place) {
    case BETWEEN:
        s->place = s->file.buffer[s->file.at] == '"' ? QUOTED : PLAIN;
        s->file.at += s->place == QUOTED;
        return ON;
    case PLAIN:
        return step_plain(s);
    case QUOTED:
        return step_quoted(s);
    case AFTER_QUOTE:
        return step_after_quote(s);
    case AFTER_CR:
        return s->file.buffer[s->file.at++] == '\n' ? ROW : BROKEN;
    }
    return BROKEN;
}

static enum source_answer fail_row(struct source_csv *s, struct failure *f,
                                   const char *why) {
    fail(f, EXIT_SOURCE, "row %llu of %s %s", (unsigned long long)s->file.row + 1,
         s->file.source.name, why);
    return SOURCE_FAILED;
}

static enum source_answer fail_columns(struct source_csv *s, struct failure *f) {
    fail(f, EXIT_SOURCE, "row %llu of %s has too few columns (%llu) for --csv %llu",
         (unsigned long long)s->file.row + 1, s->file.source.name,
         (unsigned long long)s->column, (unsigned long long)s->wanted);
    return SOURCE_FAILED;
}

/* All of it has been read; the last row may lack its end. */
static enum step last_step(struct source_csv *s) {
    if (s->place == QUOTED) return BROKEN;
    if (s->place == PLAIN) return end_plain_row(s);
    return s->place == BETWEEN && s->column == 1 ? ON : ROW;
}

static enum source_answer end_row(struct source_csv *s, struct source_item *out,
                                  struct failure *f) {
    if (s->column < s->wanted) return fail_columns(s, f);
    *out = (struct source_item){s->value, s->length, ++s->file.row};
    s->place = BETWEEN;
    s->column = 1;
    s->length = 0;
    return SOURCE_ITEM;
}

static enum source_answer next_row(struct source_csv *s, struct source_item *out,
                                   struct failure *f) {
    struct source_file *file = &s->file;
    enum step did = ON;
    while (did == ON && file->at < file->end)
        did = step(s);
    if (did == ON && file->ended) did = last_step(s);
    if (did == ROW) return end_row(s, out, f);
    if (did == BROKEN)
        return fail_row(s, f,
                        s->place == QUOTED
                            ? "has a quote that isn't closed"
                            : "has a quote where none may be: in CSV, a value "
                              "with quotes stands in quotes, its own doubled");
    return file->ended ? source_file_end(file, f) : SOURCE_EMPTY;
}

static enum source_answer next(struct source *base, struct source_item *out,
                               struct failure *f) {
    struct source_csv *s = (struct source_csv *)base;
    if (!source_file_begun(&s->file)) return SOURCE_EMPTY;
    enum source_answer answer = next_row(s, out, f);
    if (answer == SOURCE_ITEM && out->row == 1 && s->header) return next_row(s, out, f);
    return answer;
}

static bool begin(struct source *base, struct failure *f) {
    struct source_csv *s = (struct source_csv *)base;
    s->place = BETWEEN;
    s->column = 1;
    s->length = 0;
    return source_file_begin(base, f);
}

static const struct source_kind kind = {.next = next,
                                        .receive = source_file_receive,
                                        .fd = source_file_fd,
                                        .begin = begin,
                                        .close = source_file_close};

struct source *source_csv_open(const struct settings *settings, struct failure *f) {
    struct source_csv *s = fail_alloc(sizeof(*s));
    s->file.source.kind = &kind;
    s->file.fd = -1;
    s->header = settings->header;
    if (!numbers_count(settings->csv, &s->wanted) || s->wanted == 0)
        fail(f, EXIT_USAGE, "--csv wants a column's number, from 1, not '%s'",
             settings->csv);
    else if (source_file_open(&s->file, settings, f) && source_file_count(&s->file, f))
        return &s->file.source;
    source_file_close(&s->file.source);
    return NULL;
}
