/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - reads command lines.
 *
 *     BF.INSERT key   CAPACITY 100 NOCREATE ITEMS   a b c
 *               \_/   \_________________________/   \___/
 *              fixed            options               rest
 *
 * Fixed arguments and the rest belong to the command. Options are words in any order, with
 * or without a value. How strictly they are read depends on who sent them. What comes from
 * upstream (upstream.h) may be RedisBloom's, and is read as RedisBloom reads it:
 *
 *                             from a client          RESERVE, INSERT from upstream
 *     -------------------     -------------------    ------------------------------
 *     an option is            its word, any case     in INSERT, its first letters
 *     unknown                 refused                ignored
 *     given twice             refused                the last one counts
 *     no value                refused                refused
 *     EXPANSION               up to 32768            up to 32 bits
 *     NONSCALING EXPANSION n  refused, unless n = 0  never grows
 *
 * The other commands are ours: their options are strict from anywhere. Some options come
 * from upstream only: valkey-bloom's TIGHTENING and SEED, and our own SINCE and OF.
 *
 * A new option is a word in the enum (args_line.h), a row in the table of options
 * (args_options.c), and a bit in the set of each command that has it (args.c). */
#ifndef BULWARK_ARGS_H
#define BULWARK_ARGS_H

#include "keys/make.h"
#include "server.h"
#include "commands/vouch.h"

/* BF.RESERVE key error capacity [EXPANSION n | NONSCALING] [KIND kind] [VARIANT v] [SEED n]
 *            [ENCODE encoding] [LIKE other] [LOADING | READY]
 * *like: the other filter's name, or NULL. False, here and below, if the arguments are
 * wrong: then the error has been replied. */
bool args_read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct wish *wish, RedisModuleString **like);

/* BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING]
 * ITEMS item [item ...]
 * From upstream also what valkey-bloom sends: TIGHTENING ratio, SEED bytes, and no items
 * at all. */
struct insert {
    struct wish wish;
    bool may_make;  /* it may make the filter if there is none */
    int first_item; /* its index in argv */
};
bool args_read_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                      struct insert *insert);

/* The options of BF.READY and BF.REBUILD COMMIT from argv[at] on: [EX seconds | PXAT ms],
 * for READY also [XX]. A time in the past is refused, except 1, which revokes. From
 * upstream also SINCE ms and OF filter, and any time. */
bool args_read_vow(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                   bool may_renew, struct vow *vow);

/* The options of BF.REBUILD START: [ERROR e] [CAPACITY n] [EXPANSION n | NONSCALING]
 * [KIND kind] [VARIANT v] [SEED n] [ENCODE encoding] [EMPTY] [REPLACE seconds]. Options
 * not given keep their value in start->wish. */
struct start {
    struct wish wish;
    bool says_size;    /* CAPACITY or ERROR was given */
    bool may_be_empty; /* COMMIT may find nothing loaded: the table is empty */
    long long replace; /* replace a rebuild idle for this many seconds; 0: never */
};
bool args_read_start(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                     struct start *start);

/* BF.IMPORT key kind data [HASHES k] [SEED n] [BITS n] [VARIANT v] [ENCODE encoding]
 *           [ITEMS n] [CAPACITY n] [ERROR e] [PROVE item [item ...]] */
#define IMPORT_NO_ITEMS (-1)
struct import {
    struct wish wish; /* without state; capacity and error are 0 if they weren't given */
    uint64_t hashes, bits; /* 0 if they weren't given */
    long long items;       /* IMPORT_NO_ITEMS if they weren't given */
    int first_proof;       /* index in argv of the first item after PROVE, or argc */
};
bool args_read_import(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                      struct import *import);

/* The end of BF.REBUILD IMPORT, from argv[at] on: ITEMS n [HASHES k] [SEED n] [BITS n]
 * [VARIANT v]. What the generation has already, of import->wish.kind, may be said to make
 * sure. *said: which of these, FORM_... import->items is IMPORT_NO_ITEMS if they
 * weren't given. */
bool args_read_part(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                    struct import *import, unsigned *said);

/* The wish for a filter if the command says nothing: the settings, unless the command came
 * from upstream. A Bulwark master would have sent the filter's header, so such a command is
 * RedisBloom's, and every replica must make the same filter of it: RedisBloom's defaults.
 * Or it is an add to one of our filters that was lost here: see bf-missing-key in
 * cmd_add.c. */
struct wish args_default_wish(RedisModuleCtx *ctx);

#endif
