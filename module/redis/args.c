/* SPDX-License-Identifier: BSD-3-Clause */
#include "args.h"

#include <string.h>
#include <strings.h>

#include "core/chain.h"
#include "core/kinds/redisbloom/redisbloom.h"
#include "core/kinds/valkeybloom/valkeybloom.h"
#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "make.h"
#include "options.h"
#include "reply.h"
#include "settings.h"
#include "upstream.h"

#define BIT(o) OPTION_BIT(OPTION_##o)

/* Which options each command has. */
#define RESERVE_OPTIONS                                                                    \
    (BIT(EXPANSION) | BIT(NONSCALING) | BIT(KIND) | BIT(LOADING) | BIT(READY))
#define INSERT_OPTIONS                                                                     \
    (BIT(CAPACITY) | BIT(ERROR) | BIT(EXPANSION) | BIT(NOCREATE) | BIT(NONSCALING) |       \
     BIT(ITEMS))
#define VALKEYBLOOM_OPTIONS (BIT(TIGHTENING) | BIT(SEED)) /* in its stream only */
#define START_OPTIONS                                                                      \
    (BIT(CAPACITY) | BIT(ERROR) | BIT(EXPANSION) | BIT(NONSCALING) | BIT(KIND))
#define READY_OPTIONS     (BIT(EX) | BIT(PXAT) | BIT(XX))
#define COMMIT_OPTIONS    BIT(EX)
#define FOLLOWING_OPTIONS (BIT(PXAT) | BIT(SINCE) | BIT(OF)) /* in our stream only */

/* The options of one command line, and what becomes of them. */
struct parser {
    struct options in;
    struct wish *wish;
    struct vow *vow;
};

bool args_is_word(RedisModuleString *text, const char *word) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    return length == strlen(word) && !strcasecmp(bytes, word);
}

struct wish args_default_wish(RedisModuleCtx *ctx) {
    if (upstream_sent(ctx))
        return (struct wish){.kind = &kind_redisbloom,
                             .error = REDISBLOOM_ERROR,
                             .capacity = REDISBLOOM_CAPACITY,
                             .expansion = REDISBLOOM_GROWTH,
                             .growth = REDISBLOOM_GROWTH};
    return (struct wish){.kind = settings.kind,
                         .error = settings.error_rate,
                         .capacity = settings.initial_size,
                         .expansion = settings.expansion_factor,
                         .growth = settings.expansion_factor};
}

/* ---- values: each replies and says false if it can't be what is meant ---- */

static bool read_error_rate(struct parser *p, RedisModuleString *text) {
    if (RedisModule_StringToDouble(text, &p->wish->error) != REDISMODULE_OK)
        return reply_error(p->in.ctx, p->in.dialect->bad_error_rate), false;
    if (!(p->wish->error > 0 && p->wish->error < 1))
        return reply_refusal(p->in.ctx, p->in.argv[1], BLOOM_BAD_ERROR_RATE), false;
    return true;
}

static bool read_capacity(struct parser *p, RedisModuleString *text) {
    long long *capacity = &p->wish->capacity;
    if (RedisModule_StringToLongLong(text, capacity) != REDISMODULE_OK)
        return reply_error(p->in.ctx, p->in.dialect->bad_capacity), false;
    if (*capacity < 1 || *capacity > (long long)CHAIN_CAPACITY_MAX)
        return reply_refusal(p->in.ctx, p->in.argv[1], BLOOM_BAD_CAPACITY), false;
    return true;
}

static bool read_expansion(struct parser *p, RedisModuleString *text) {
    long long *expansion = &p->wish->expansion;
    if (RedisModule_StringToLongLong(text, expansion) != REDISMODULE_OK)
        return reply_error(p->in.ctx, p->in.dialect->bad_expansion), false;
    /* Other masters have had other limits. */
    if (*expansion < 0 || *expansion > (p->in.loose ? UINT32_MAX : CHAIN_EXPANSION_MAX))
        return reply_error(p->in.ctx, "ERR expansion must be in the range [0, 32768]"),
               false;
    p->wish->growth = *expansion;
    return true;
}

static bool read_kind(struct parser *p, RedisModuleString *text) {
    const struct kind *kind = settings_kind(text);
    if (!kind) return reply_option_error(p->in.ctx, "ERR unknown kind '%s'", text), false;
    if (kind != p->wish->kind) p->wish->parameter = 0; /* it was the other kind's */
    p->wish->kind = kind;
    return true;
}

/* Only valkey-bloom knows these two, so the filter is one of its. Without a seed it would
 * be another on every replica. */
static void wish_for_valkeybloom(struct parser *p) {
    p->wish->kind = &kind_valkeybloom;
    if (p->wish->has_seed) return;
    memcpy(p->wish->seed, valkeybloom_fixed_seed, sizeof p->wish->seed);
    p->wish->has_seed = true;
}

static bool read_tightening(struct parser *p, RedisModuleString *text) {
    double *ratio = &p->wish->parameter;
    if (RedisModule_StringToDouble(text, ratio) != REDISMODULE_OK ||
        !(*ratio > 0 && *ratio < 1))
        return reply_error(p->in.ctx, "ERR bad tightening ratio"), false;
    wish_for_valkeybloom(p);
    return true;
}

static bool read_seed(struct parser *p, RedisModuleString *text) {
    size_t length;
    const char *seed = RedisModule_StringPtrLen(text, &length);
    if (length != VALKEYBLOOM_SEED_LENGTH)
        return reply_error(p->in.ctx, "ERR invalid seed"), false;
    wish_for_valkeybloom(p);
    valkeybloom_read_seed((const unsigned char *)seed, &p->wish->seed[0],
                          &p->wish->seed[1]);
    server_hide_argument(p->in.ctx, p->in.at - 1);
    return true;
}

static bool read_time(struct parser *p, RedisModuleString *text, int64_t *ms) {
    long long time;
    if (RedisModule_StringToLongLong(text, &time) != REDISMODULE_OK)
        return reply_error(p->in.ctx, "ERR value is not an integer or out of range"), false;
    if (time <= 0) return reply_error(p->in.ctx, "ERR invalid lease time"), false;
    *ms = time;
    return true;
}

static bool read_seconds(struct parser *p, RedisModuleString *text) {
    int64_t seconds;
    if (!read_time(p, text, &seconds)) return false;
    if (seconds > (INT64_MAX - p->vow->now) / 1000)
        return reply_error(p->in.ctx, "ERR invalid lease time"), false;
    p->vow->lease = p->vow->now + 1000 * seconds;
    return true;
}

/* ---- options ---- */

/* Reads the option that p->in is at, and its value. */
static bool read_option(struct parser *p) {
    enum option o;
    RedisModuleString *value;
    if (!options_next(&p->in, &o, &value)) return false;
    switch (o) {
    case OPTION_CAPACITY:
        return read_capacity(p, value);
    case OPTION_ERROR:
        return read_error_rate(p, value);
    case OPTION_EXPANSION:
        return read_expansion(p, value);
    case OPTION_KIND:
        return read_kind(p, value);
    case OPTION_TIGHTENING:
        return read_tightening(p, value);
    case OPTION_SEED:
        return read_seed(p, value);
    case OPTION_EX:
        return read_seconds(p, value);
    case OPTION_PXAT:
        return read_time(p, value, &p->vow->lease);
    case OPTION_OF:
        p->vow->of = value;
        return true;
    case OPTION_SINCE:
        return read_time(p, value, &p->vow->now);
    default:
        return true;
    }
}

/* NONSCALING goes with no EXPANSION but 0, which says the same. */
static bool settle_expansion(struct parser *p) {
    if (!p->in.seen[OPTION_NONSCALING]) return true;
    if (p->in.seen[OPTION_EXPANSION] && p->wish->expansion != 0 && !p->in.loose)
        return reply_error(p->in.ctx, "Nonscaling filters cannot expand"), false;
    p->wish->expansion = 0;
    return true;
}

bool args_read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct wish *wish) {
    struct parser p = {.in = {.ctx = ctx,
                              .argv = argv,
                              .argc = argc,
                              .at = 4,
                              .loose = upstream_sent(ctx),
                              .known = RESERVE_OPTIONS,
                              .dialect = &options_reserve_dialect},
                       .wish = wish};
    *wish = args_default_wish(ctx);
    if (!read_error_rate(&p, argv[2]) || !read_capacity(&p, argv[3])) return false;
    while (p.in.at < argc)
        if (!read_option(&p)) return false;
    if (p.in.seen[OPTION_LOADING] && p.in.seen[OPTION_READY])
        return reply_error(ctx, "ERR a filter is LOADING or READY, not both"), false;
    if (p.in.seen[OPTION_LOADING]) wish->state = STATE_LOADING;
    if (p.in.seen[OPTION_READY]) wish->state = STATE_READY;
    return settle_expansion(&p);
}

bool args_read_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                      struct insert *insert) {
    struct parser p = {.in = {.ctx = ctx,
                              .argv = argv,
                              .argc = argc,
                              .at = 2,
                              .loose = upstream_sent(ctx),
                              .known = INSERT_OPTIONS,
                              .dialect = &options_insert_dialect},
                       .wish = &insert->wish};
    if (p.in.loose) p.in.known |= VALKEYBLOOM_OPTIONS;
    insert->wish = args_default_wish(ctx);
    while (p.in.at < argc && !p.in.seen[OPTION_ITEMS])
        if (!read_option(&p)) return false;
    bool without_items = insert->wish.has_seed; /* valkey-bloom may only create */
    if (p.in.at == argc && !without_items) return reply_wrong_arity(ctx), false;

    insert->create = !p.in.seen[OPTION_NOCREATE];
    insert->first_item = p.in.at;
    return settle_expansion(&p);
}

bool args_read_vow(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                   bool may_renew, struct vow *vow) {
    struct parser p = {.in = {.ctx = ctx,
                              .argv = argv,
                              .argc = argc,
                              .at = at,
                              .known = may_renew ? READY_OPTIONS : COMMIT_OPTIONS,
                              .dialect = &options_own_dialect},
                       .vow = vow};
    *vow = (struct vow){.now = RedisModule_Milliseconds()};
    if (upstream_sent(ctx)) p.in.known |= FOLLOWING_OPTIONS;
    while (p.in.at < argc)
        if (!read_option(&p)) return false;
    if (p.in.seen[OPTION_EX] && p.in.seen[OPTION_PXAT])
        return reply_error(ctx, "ERR EX and PXAT can't be given together"), false;
    vow->renew = p.in.seen[OPTION_XX];
    return true;
}

bool args_read_start(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                     struct wish *wish) {
    struct parser p = {.in = {.ctx = ctx,
                              .argv = argv,
                              .argc = argc,
                              .at = at,
                              .known = START_OPTIONS,
                              .dialect = &options_own_dialect},
                       .wish = wish};
    while (p.in.at < argc)
        if (!read_option(&p)) return false;
    return settle_expansion(&p);
}
