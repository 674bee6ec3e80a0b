/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the command line: one table of subcommands, one of options.
 *
 * Help, the manual page and shell completion are printed from the same tables (help.h). */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "settings.h"

/* What a subcommand takes: a bit each. */
enum {
    FOR_PLAN = 1 << 0,
    FOR_FILL = 1 << 1,
    FOR_LIST = 1 << 2,
    FOR_WATCH = 1 << 3,
    FOR_METRICS = 1 << 4,
    FOR_PARTS = 1 << 5,
    FOR_HELP = 1 << 6,
    FOR_FEED = 1 << 7,
    FOR_IMPORT = 1 << 8,
    FOR_EXPORT = 1 << 9,
    FOR_MERGE = 1 << 10,
    FOR_COVERS = 1 << 11,
    FOR_SERVER = FOR_FILL | FOR_LIST | FOR_WATCH | FOR_METRICS | FOR_IMPORT | FOR_EXPORT |
                 FOR_MERGE | FOR_COVERS,
};

struct subcommand {
    const char *name;
    unsigned bit;
    const char *operands; /* as help shows them */
    size_t least, most;   /* how many operands it takes */
    const char *summary;  /* a line */
    const char *text;     /* paragraphs for --help and the manual page, a line each */
    const char *example;  /* the same: command lines */
    bool (*run)(const struct settings *s, struct failure *f);
};

extern const struct subcommand subcommands[]; /* ends with a name of NULL */

/* NULL if there is none. */
const struct subcommand *options_subcommand(const char *name);

/* The same; fills the failure if there is none. */
const struct subcommand *options_wanted(const char *name, struct failure *f);

struct option {
    const char *name; /* without its dashes */
    char letter;      /* 0: none */
    const char *argument;
    enum option_type {
        OPTION_FLAG,
        OPTION_TEXT,
        OPTION_TEXTS,  /* may be given several times */
        OPTION_CHOICE, /* one of the texts in `argument`, which has | between them */
        OPTION_SECRET, /* a text that is wiped from the command line */
        OPTION_COUNT,
        OPTION_RATE, /* kept as text: "0.001" must arrive as it was written */
        OPTION_TIME,
        OPTION_BYTES,
    } type;
    size_t field; /* in struct settings */
    unsigned taken_by;
    const char *initial; /* as it would be written; NULL: 0, or none */
    const char *help;    /* a sentence without its dot */
};

/* Ends with a name of NULL. A row that no subcommand takes is a heading, in its `help`, for
 * the rows after it. */
extern const struct option options[];

/* Reads what follows the subcommand's name. `help` is set if --help was among it; nothing
 * else matters then. Texts point into argv. */
bool options_read(const struct subcommand *command, int argc, char **argv,
                  struct settings *out, bool *help, struct failure *f);

#endif
