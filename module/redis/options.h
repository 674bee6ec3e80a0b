/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the words after a command's fixed arguments.
 *
 * Knows which options there are, which of them take a value, and what is said of one that
 * is unknown, given twice or without its value. What a value means is args.h's. */
#ifndef BULWARK_OPTIONS_H
#define BULWARK_OPTIONS_H

#include "server.h"

enum option {
    OPTION_CAPACITY,
    OPTION_ERROR,
    OPTION_EXPANSION,
    OPTION_KIND,
    OPTION_TIGHTENING,
    OPTION_SEED,
    OPTION_EX,
    OPTION_PXAT,
    OPTION_SINCE,
    OPTION_OF,
    OPTION_XX,
    OPTION_LOADING,
    OPTION_READY,
    OPTION_EMPTY,
    OPTION_REPLACE,
    OPTION_NOCREATE,
    OPTION_NONSCALING,
    OPTION_ITEMS,
    OPTION_UNKNOWN /* none of them */
};

/* Options as a set. */
#define OPTION_BIT(o) (1u << (o))

/* What RedisBloom says, which differs between its commands, and what we say in commands
 * that it doesn't have. A %s stands for the option. */
struct dialect {
    const char *bad_error_rate, *bad_capacity, *bad_expansion, *unknown;
    const char *no_value;     /* NULL: the server's words for a wrong number of arguments */
    const char *no_expansion; /* the same for EXPANSION; NULL: as for the others */
};

extern const struct dialect options_reserve_dialect, options_insert_dialect,
    options_own_dialect;

/* The options of one command line, while they are being read. */
struct options {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc, at;
    bool loose;     /* as RedisBloom reads: see args.h */
    unsigned known; /* the options that the command has */
    const struct dialect *dialect;
    bool seen[OPTION_UNKNOWN];
};

/* The option at in->at, which has to be less than in->argc, and its value, or NULL if it
 * takes none; in->at is then after both. False if it can't be there: then the error has
 * been replied. OPTION_UNKNOWN only if loose: to be ignored. */
bool options_next(struct options *in, enum option *o, RedisModuleString **value);

#endif
