/* SPDX-License-Identifier: BSD-3-Clause */
/* source_lines.c - a file whose items are its lines, or end with a NUL byte each.
 *
 * A line longer than an item may be is given once, cut, and skipped to its end. */
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "item.h"
#include "source_file.h"

struct source_lines {
    struct source_file file;
    char stop;
    bool skipping; /* the rest of a line whose beginning was given */
};

/* There is no end of a line in what was read. */
static enum source_answer next_of_rest(struct source_lines *s, struct source_item *out,
                                       struct failure *f) {
    struct source_file *file = &s->file;
    char *text = file->buffer + file->at;
    size_t length = s->skipping ? 0 : file->end - file->at;
    if (length > ITEM_BYTES_MAX || (file->ended && length)) {
        s->skipping = !file->ended;
        file->at = file->end;
        *out = (struct source_item){text, length, ++file->row};
        return SOURCE_ITEM;
    }
    if (s->skipping) file->at = file->end;
    return file->ended ? source_file_end(file, f) : SOURCE_EMPTY;
}

static enum source_answer next(struct source *base, struct source_item *out,
                               struct failure *f) {
    struct source_lines *s = (struct source_lines *)base;
    struct source_file *file = &s->file;
    if (!source_file_begun(file)) return SOURCE_EMPTY;
    for (;;) {
        char *text = file->buffer + file->at;
        char *stop = memchr(text, s->stop, file->end - file->at);
        if (!stop) return next_of_rest(s, out, f);
        file->at += (size_t)(stop - text) + 1;
        if (!s->skipping) {
            *out = (struct source_item){text, (size_t)(stop - text), ++file->row};
            return SOURCE_ITEM;
        }
        s->skipping = false;
    }
}

static bool begin(struct source *base, struct failure *f) {
    ((struct source_lines *)base)->skipping = false;
    return source_file_begin(base, f);
}

/* In 32 bits, of which the compiler makes a fast loop; a buffer has fewer bytes. */
static uint32_t count_byte(const char *text, size_t length, char byte) {
    uint32_t n = 0;
    for (size_t i = 0; i < length; i++)
        n += text[i] == byte;
    return n;
}

/* What next() would give, in a fifth of its time: each line is an item, and so is what
 * comes after the last end of a line. */
static bool count(struct source_lines *s, struct failure *f) {
    struct source_file *file = &s->file;
    char last = s->stop;
    if (!file->regular) return true;
    begin(&file->source, f);
    while (!file->ended) {
        if (interrupt_came()) return interrupt_fail(f);
        if (!source_file_receive(&file->source, f)) return false;
        if (!source_file_begun(file) || file->at == file->end) continue;
        size_t length = file->end - file->at;
        file->source.count += count_byte(file->buffer + file->at, length, s->stop);
        last = file->buffer[file->end - 1];
        file->at = file->end;
    }
    file->source.count += last != s->stop;
    return source_file_end(file, f) == SOURCE_END;
}

static const struct source_kind kind = {.next = next,
                                        .receive = source_file_receive,
                                        .fd = source_file_fd,
                                        .begin = begin,
                                        .close = source_file_close};

struct source *source_lines_open(const struct settings *settings, struct failure *f) {
    struct source_lines *s = fail_alloc(sizeof(*s));
    s->file.source.kind = &kind;
    s->stop = settings->null ? '\0' : '\n';
    if (source_file_open(&s->file, settings, f) && count(s, f)) return &s->file.source;
    source_file_close(&s->file.source);
    return NULL;
}
