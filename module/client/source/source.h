/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h - where a fill's items come from: a file, a pipe, or PostgreSQL.
 *
 *     source_open()          looks at it: is it there, may it be read, how many items
 *     source_mark()          after START
 *       source_settled()     until it is: whoever wrote before START has committed
 *     source_begin()         it is read from its beginning; again for another pass
 *       source_next()        SOURCE_ITEM, SOURCE_ITEM, ..., SOURCE_EMPTY: none is buffered
 *       poll(source_fd())    until there is more, beside what else there is to wait for
 *       source_receive()     takes what has come, without waiting
 *       source_next()        ..., SOURCE_END
 *     source_close()
 *
 * An item that next() gives is as the source has it (before --item): a row's value, a line
 * without its end. It is valid until the next call. Of one that is longer than
 * ITEM_BYTES_MAX there may come only the first bytes, still more than that.
 *
 * Each kind of source is a table of functions over a struct that begins with struct source;
 * source.c only chooses. */
#ifndef CLIENT_SOURCE_H
#define CLIENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "options/settings.h"

enum source_answer {
    SOURCE_ITEM,
    SOURCE_EMPTY, /* call source_receive() when there is something to read */
    SOURCE_END,
    SOURCE_FAILED
};

struct source_item {
    const char *text;
    size_t length;
    uint64_t row; /* its line, record or row, from 1: for messages */
};

struct source;

struct source_kind {
    enum source_answer (*next)(struct source *s, struct source_item *out,
                               struct failure *f);
    bool (*receive)(struct source *s, struct failure *f);
    int (*fd)(const struct source *s);
    bool (*begin)(struct source *s, struct failure *f);
    void (*close)(struct source *s);
    /* For what is read in an order that stays, or NULL. All items up to the last that came
     * lie before this place; NULL: none. It is valid until the next call of next(). */
    const char *(*reached)(const struct source *s, size_t *length);
    /* Begins behind such a place. */
    bool (*begin_after)(struct source *s, const char *place, size_t length,
                        struct failure *f);
    /* NULL, both: it has no transactions. */
    bool (*mark)(struct source *s, struct failure *f);
    bool (*settled)(struct source *s, char *waits, size_t room, struct failure *f);
};

struct source {
    const struct source_kind *kind;
    bool repeats;   /* begin() may be called again */
    bool estimated; /* the count is a guess */
    uint64_t count; /* items, as far as is known; 0: not known, or none */
    char name[256]; /* for messages: "ids.txt", "the table users" */
};

/* By --from, --null, --csv, --pg, --query, --table, --column; refuses what contradicts
 * itself. NULL after a failure. */
struct source *source_open(const struct settings *s, struct failure *f);

static inline enum source_answer source_next(struct source *s, struct source_item *out,
                                             struct failure *f) {
    return s->kind->next(s, out, f);
}

/* Reads once what is there; at most the room of its buffer. */
static inline bool source_receive(struct source *s, struct failure *f) {
    return s->kind->receive(s, f);
}

/* -1: there is always something to read (a regular file). */
static inline int source_fd(const struct source *s) {
    return s->kind->fd(s);
}

static inline bool source_begin(struct source *s, struct failure *f) {
    return s->kind->begin(s, f);
}

static inline bool source_mark(struct source *s, struct failure *f) {
    return !s->kind->mark || s->kind->mark(s, f);
}

/* *waits is set to a sentence while transactions are under way that may have begun before
 * the mark; empty when there are none. */
static inline bool source_settled(struct source *s, char *waits, size_t room,
                                  struct failure *f) {
    *waits = '\0';
    return !s->kind->settled || s->kind->settled(s, waits, room, f);
}

void source_close(struct source *s);

/* The kinds' own: source_lines.c, source_csv.c, postgres.c (or postgres_missing.c). */
struct source *source_lines_open(const struct settings *s, struct failure *f);
struct source *source_csv_open(const struct settings *s, struct failure *f);
struct source *postgres_open(const struct settings *s, struct failure *f);

#endif
