/* SPDX-License-Identifier: BSD-3-Clause */
/* args_line.h - a command line while it is read: for args*.c alone.
 *
 *     args.c           which options each command has, and what they mean together
 *     args_options.c   the table of options, and how they are told apart
 *     args_values.c    their values
 *     args_form.c      what only filters of other libraries have */
#ifndef BULWARK_ARGS_LINE_H
#define BULWARK_ARGS_LINE_H

#include "commands/args.h"

enum option {
    OPTION_CAPACITY,
    OPTION_ERROR,
    OPTION_EXPANSION,
    OPTION_KIND,
    OPTION_TIGHTENING,
    OPTION_SEED,        /* of valkey-bloom: bytes */
    OPTION_SEED_NUMBER, /* of a library's filter */
    OPTION_HASHES,
    OPTION_BITS,
    OPTION_VARIANT,
    OPTION_ENCODE,
    OPTION_LIKE,
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
    OPTION_COUNT, /* ITEMS n */
    OPTION_PROVE, /* items follow, as after the next one */
    OPTION_ITEMS,
    OPTION_UNKNOWN /* none of them */
};

#define BIT(o) (1u << OPTION_##o)

/* The options that are words before items. */
#define LAST_OPTIONS (BIT(ITEMS) | BIT(PROVE))

/* RedisBloom's words, which differ between its commands, and ours in commands that it
 * doesn't have. A %s stands for the option. */
struct dialect {
    const char *bad_error_rate, *bad_capacity, *bad_expansion, *unknown;
    const char *no_value;     /* NULL: the server's words for a wrong number of arguments */
    const char *no_expansion; /* the same for EXPANSION; NULL: no_value */
};

/* One command line while it is read. */
struct line {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc, at;   /* at: the next argument to read */
    bool loose;     /* as RedisBloom reads */
    unsigned known; /* the options that the command has */
    unsigned seen;  /* those that have been read */
    const struct dialect *dialect;

    /* What only filters of other libraries have, until it is known what kind it is. */
    uint64_t hashes, bits, seed;
    uint8_t encoding;
    RedisModuleString *variant;

    /* The result: the one that the command fills in. */
    struct wish *wish;
    struct vow *vow;
    struct start *start;
    struct import *import;
    RedisModuleString *like;
};

/* Reads options up to the end, or up to the items. Here and below: false if an error was
 * replied. */
bool args_options(struct line *l);

/* Puts what only filters of other libraries have into the wish, if the kind can have it.
 * The second form also refuses if something is missing that an import needs. The third,
 * for a kind that has a form, tells what was said: FORM_... */
bool args_settle_form(struct line *l);
bool args_settle_import(struct line *l);
bool args_settle_part(struct line *l, unsigned *said);

bool args_error_rate(struct line *l, RedisModuleString *text);
bool args_capacity(struct line *l, RedisModuleString *text);
bool args_expansion(struct line *l, RedisModuleString *text);
bool args_kind(struct line *l, RedisModuleString *text);
bool args_tightening(struct line *l, RedisModuleString *text);
bool args_seed(struct line *l, RedisModuleString *text);
bool args_seconds(struct line *l, RedisModuleString *text);
bool args_until(struct line *l, RedisModuleString *text);
bool args_since(struct line *l, RedisModuleString *text);
bool args_of(struct line *l, RedisModuleString *text);
bool args_idle(struct line *l, RedisModuleString *text);

bool args_seed_number(struct line *l, RedisModuleString *text);
bool args_hashes(struct line *l, RedisModuleString *text);
bool args_bits(struct line *l, RedisModuleString *text);
bool args_variant(struct line *l, RedisModuleString *text);
bool args_encode(struct line *l, RedisModuleString *text);
bool args_count(struct line *l, RedisModuleString *text);
bool args_like(struct line *l, RedisModuleString *text);

/* Refuses a word, and lists those that there are: n, or fewer up to NULL. */
bool args_refuse_word(const struct line *l, const char *what, RedisModuleString *text,
                      const char *const *words, size_t n);

/* The kind of that name in a positional argument. */
bool args_kind_of(struct line *l, RedisModuleString *text);

#endif
