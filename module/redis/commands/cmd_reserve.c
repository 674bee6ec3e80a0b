/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_reserve.c - BF.RESERVE: an empty filter, made to measure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/args.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "keys/announce.h"
#include "keys/find.h"
#include "keys/make.h"
#include "text.h"
#include "watch/eviction.h"

#define KEY_IS_MADE (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define KEY_IS_READ (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)

static void say_key(RedisModuleCtx *ctx, int at, int use) {
    if (RedisModule_KeyAtPosWithFlags)
        RedisModule_KeyAtPosWithFlags(ctx, at, use);
    else
        RedisModule_KeyAtPos(ctx, at);
}

/* Servers ask for the keys before anybody has looked at the number of arguments, and nobody
 * is there to reply to. */
static int say_keys(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc > 1) say_key(ctx, 1, KEY_IS_MADE);
    for (int i = 4; i + 1 < argc; i++)
        if (text_is_word(argv[i], "LIKE")) say_key(ctx, i + 1, KEY_IS_READ);
    return REDISMODULE_OK;
}

/* The numbers have to be said, and to be the other's. Its capacity is that of all its
 * layers or of the first, which is what was asked for. */
static bool has_numbers(const struct chain *c, const struct wish *wish) {
    uint64_t capacity = (uint64_t)wish->capacity;
    return wish->error == c->error &&
           (capacity == c->layers[0].capacity || capacity == chain_capacity(c));
}

#define RATE_MAX 32

/* With the fewest digits that mean the same rate: it is to be typed. */
static void write_rate(char text[RATE_MAX], double rate) {
    int digits = 0;
    do
        snprintf(text, RATE_MAX, "%.*g", ++digits, rate);
    while (strtod(text, NULL) != rate);
}

static int refuse_numbers(RedisModuleCtx *ctx, RedisModuleString *like,
                          const struct chain *c) {
    char words[160], rate[RATE_MAX];
    write_rate(rate, c->error);
    snprintf(words, sizeof words,
             "ERR '%%s' was made for an error rate of %s and %" PRIu64 " items", rate,
             chain_capacity(c));
    return reply_option_error(ctx, words, like);
}

/* False if an error was replied. */
static bool make_like(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleString *like,
                      const struct wish *wish) {
    struct filter *other, *f;
    struct chain *c;
    if (!find_to_read(ctx, like, &other)) return false;
    if (!other) return reply_refusal(ctx, like, BLOOM_NOT_FOUND), false;
    if (!has_numbers(other->live, wish))
        return refuse_numbers(ctx, like, other->live), false;
    enum bloom_status status = make_alike(ctx, other->live, &c);
    if (status >= 0) status = make_filter_of(ctx, name, c, wish->state, false, &f);
    if (status < 0) reply_refusal(ctx, name, status);
    return status >= 0;
}

static bool make_anew(RedisModuleCtx *ctx, RedisModuleString *name,
                      const struct wish *wish) {
    struct filter *f;
    enum bloom_status status = make_filter(ctx, name, wish, &f);
    if (status < 0) reply_refusal(ctx, name, status);
    return status >= 0;
}

/* BF.RESERVE key error capacity [EXPANSION n | NONSCALING] [KIND kind] [VARIANT v] [SEED n]
 *            [ENCODE encoding] [LIKE other] [LOADING | READY]
 * Makes an empty filter. */
int cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (RedisModule_IsKeysPositionRequest(ctx)) return say_keys(ctx, argv, argc);
    if (argc < 4) return reply_wrong_arity(ctx);

    struct wish wish;
    RedisModuleString *like;
    if (!args_read_reserve(ctx, argv, argc, &wish, &like))
        return REDISMODULE_OK; /* It replied. */
    if (find_taken(ctx, argv[1])) return reply_refusal(ctx, argv[1], BLOOM_EXISTS);

    if (like ? !make_like(ctx, argv[1], like, &wish) : !make_anew(ctx, argv[1], &wish))
        return REDISMODULE_OK; /* It replied. */
    if (wish.state == STATE_READY) eviction_warn(ctx, argv[1]);
    announce(ctx, argv[1], "bf.reserve");
    if (wish.state == STATE_READY) announce(ctx, argv[1], "bf.ready");
    return reply_ok(ctx);
}
