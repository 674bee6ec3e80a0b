/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - from arguments to what they mean.
 *
 * Options are whole words in any case and any order, each at most once. What
 * comes from a master or an AOF is read as RedisBloom reads it, since it may be
 * RedisBloom that sent it: whole words first, then, in BF.INSERT, by their first
 * letters, and leftovers are ignored. */
#ifndef BULWARK_ARGS_H
#define BULWARK_ARGS_H

#include "make.h"
#include "server.h"
#include "vouch.h"

/* Is it that word, in any case, and nothing after it? A zero byte ends no argument. */
bool args_is_word(RedisModuleString *text, const char *word);

/* BF.RESERVE key error capacity [EXPANSION n | NONSCALING] [KIND kind] [LOADING | READY]
 * False if the arguments are wrong: then the error has been replied. */
bool args_read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct wish *wish);

/* BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING]
 * ITEMS item [item ...]; likewise. From a master or an AOF also what valkey-bloom sends:
 * TIGHTENING ratio, SEED bytes, and no items at all. */
struct insert {
    struct wish wish;
    bool create;
    int first_item; /* its index in argv */
};
bool args_read_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                      struct insert *insert);

/* The options of BF.READY and BF.REBUILD COMMIT from argv[at] on: [EX seconds | PXAT ms],
 * for READY also [XX]; likewise. A time that is over is refused, except 1, which revokes.
 * From a master or an AOF also SINCE ms and OF filter, and any time. */
bool args_read_vow(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                   bool may_renew, struct vow *vow);

/* The options of BF.REBUILD START: [ERROR e] [CAPACITY n] [EXPANSION n | NONSCALING]
 * [KIND kind] [EMPTY] [REPLACE seconds]; likewise. What isn't said stays as it is in
 * start->wish. */
struct start {
    struct wish wish;
    bool may_be_empty; /* COMMIT may find nothing loaded: the table is empty */
    long long replace; /* a rebuild that got nothing for so many seconds; 0: none */
};
bool args_read_start(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                     struct start *start);

/* What a filter is like that is made without a word about it: the settings say so, but
 * for a command from a master or an AOF. Ours would have sent the filter's header, so it
 * is RedisBloom's, and every replica has to make the same of it: RedisBloom's defaults. Or
 * it is an add to a filter of ours that was lost here: see bf-missing-key in cmd_add.c. */
struct wish args_default_wish(RedisModuleCtx *ctx);

#endif
