/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/args.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "commands/reply.h"
#include "core/chain.h"
#include "core/kinds/redisbloom/redisbloom.h"
#include "core/kinds/valkeybloom/valkeybloom.h"
#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "keys/make.h"
#include "links/upstream.h"
#include "settings/settings.h"
#include "text.h"

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

#define BIT(o) (1u << OPTION_##o)

/* The options of each command. */
#define RESERVE_OPTIONS                                                                    \
    (BIT(EXPANSION) | BIT(NONSCALING) | BIT(KIND) | BIT(LOADING) | BIT(READY))
#define INSERT_OPTIONS                                                                     \
    (BIT(CAPACITY) | BIT(ERROR) | BIT(EXPANSION) | BIT(NOCREATE) | BIT(NONSCALING) |       \
     BIT(ITEMS))
#define VALKEYBLOOM_OPTIONS (BIT(TIGHTENING) | BIT(SEED)) /* in its stream only */
#define START_OPTIONS                                                                      \
    (BIT(CAPACITY) | BIT(ERROR) | BIT(EXPANSION) | BIT(NONSCALING) | BIT(KIND) |           \
     BIT(EMPTY) | BIT(REPLACE))
#define READY_OPTIONS    (BIT(EX) | BIT(PXAT) | BIT(XX))
#define COMMIT_OPTIONS   (BIT(EX) | BIT(PXAT))
#define UPSTREAM_OPTIONS (BIT(SINCE) | BIT(OF)) /* in our stream only */

/* RedisBloom's words, which differ between its commands, and ours in commands that it
 * doesn't have. A %s stands for the option. */
struct dialect {
    const char *bad_error_rate, *bad_capacity, *bad_expansion, *unknown;
    const char *no_value;     /* NULL: the server's words for a wrong number of arguments */
    const char *no_expansion; /* the same for EXPANSION; NULL: no_value */
};

static const struct dialect reserve_words = {
    .bad_error_rate = "ERR bad error rate",
    .bad_capacity = "ERR bad capacity",
    .bad_expansion = "ERR bad expansion",
    .no_value = "ERR option '%s' needs a value",
    .no_expansion = "ERR no expansion",
    .unknown = "ERR unknown option '%s'",
};

static const struct dialect insert_words = {
    .bad_error_rate = "Bad error rate",
    .bad_capacity = "Bad capacity",
    .bad_expansion = "Bad expansion",
    .unknown = "Unknown argument received",
};

static const struct dialect own_words = {
    .bad_error_rate = "ERR bad error rate",
    .bad_capacity = "ERR bad capacity",
    .bad_expansion = "ERR bad expansion",
    .no_value = "ERR option '%s' needs a value",
    .unknown = "ERR unknown option '%s'",
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

    /* The result: the one that the command fills in. */
    struct wish *wish;
    struct vow *vow;
    struct start *start;
};

struct wish args_default_wish(RedisModuleCtx *ctx) {
    if (upstream_sent(ctx))
        return (struct wish){.kind = &kind_redisbloom,
                             .error = REDISBLOOM_ERROR,
                             .capacity = REDISBLOOM_CAPACITY,
                             .expansion = REDISBLOOM_GROWTH,
                             .asked_expansion = REDISBLOOM_GROWTH};
    return (struct wish){.kind = settings.kind,
                         .error = settings.error_rate,
                         .capacity = settings.initial_size,
                         .expansion = settings.expansion_factor,
                         .asked_expansion = settings.expansion_factor};
}

/* ---- values: each replies an error and returns false if the value is invalid ---- */

static bool read_error_rate(struct line *l, RedisModuleString *text) {
    if (RedisModule_StringToDouble(text, &l->wish->error) != REDISMODULE_OK)
        return reply_error(l->ctx, l->dialect->bad_error_rate), false;
    if (!(l->wish->error > 0 && l->wish->error < 1))
        return reply_refusal(l->ctx, l->argv[1], BLOOM_BAD_ERROR_RATE), false;
    return true;
}

static bool read_capacity(struct line *l, RedisModuleString *text) {
    long long *capacity = &l->wish->capacity;
    if (RedisModule_StringToLongLong(text, capacity) != REDISMODULE_OK)
        return reply_error(l->ctx, l->dialect->bad_capacity), false;
    if (*capacity < 1 || *capacity > (long long)CHAIN_CAPACITY_MAX)
        return reply_refusal(l->ctx, l->argv[1], BLOOM_BAD_CAPACITY), false;
    return true;
}

static bool read_expansion(struct line *l, RedisModuleString *text) {
    long long *expansion = &l->wish->expansion;
    if (RedisModule_StringToLongLong(text, expansion) != REDISMODULE_OK)
        return reply_error(l->ctx, l->dialect->bad_expansion), false;
    /* Other masters may have had other limits. */
    if (*expansion < 0 || *expansion > (l->loose ? UINT32_MAX : CHAIN_EXPANSION_MAX))
        return reply_error(l->ctx, "ERR expansion must be in the range [0, 32768]"), false;
    l->wish->asked_expansion = *expansion;
    return true;
}

/* Names the kinds that exist. */
static bool refuse_kind(const struct line *l, RedisModuleString *text) {
    char words[256];
    int length = snprintf(words, sizeof words, "ERR unknown kind '%%s': ");
    for (size_t i = 0; i < KINDS; i++)
        length += snprintf(words + length, sizeof words - (size_t)length, "%s%s",
                           i > 0 ? ", " : "", kinds[i]->name);
    reply_option_error(l->ctx, words, text);
    return false;
}

static bool read_kind(struct line *l, RedisModuleString *text) {
    const struct kind *kind = settings_kind(text);
    if (!kind) return refuse_kind(l, text);
    if (kind != l->wish->kind) l->wish->parameter = 0; /* it was the other kind's */
    l->wish->kind = kind;
    return true;
}

/* Only valkey-bloom has these two options, so the filter is of its kind. Without a seed the
 * filter would differ on every replica. */
static void wish_for_valkeybloom(struct line *l) {
    l->wish->kind = &kind_valkeybloom;
    if (l->wish->has_seed) return;
    memcpy(l->wish->seed, valkeybloom_fixed_seed, sizeof l->wish->seed);
    l->wish->has_seed = true;
}

static bool read_tightening(struct line *l, RedisModuleString *text) {
    double *ratio = &l->wish->parameter;
    if (RedisModule_StringToDouble(text, ratio) != REDISMODULE_OK ||
        !(*ratio > 0 && *ratio < 1))
        return reply_error(l->ctx, "ERR bad tightening ratio"), false;
    wish_for_valkeybloom(l);
    return true;
}

static bool read_seed(struct line *l, RedisModuleString *text) {
    size_t length;
    const char *seed = RedisModule_StringPtrLen(text, &length);
    if (length != VALKEYBLOOM_SEED_LENGTH)
        return reply_error(l->ctx, "ERR invalid seed"), false;
    wish_for_valkeybloom(l);
    valkeybloom_read_seed((const unsigned char *)seed, &l->wish->seed[0],
                          &l->wish->seed[1]);
    server_hide_argument(l->ctx, l->at - 1); /* both have been passed */
    return true;
}

static bool read_time(struct line *l, RedisModuleString *text, int64_t *ms) {
    long long time;
    if (RedisModule_StringToLongLong(text, &time) != REDISMODULE_OK)
        return reply_error(l->ctx, "ERR value is not an integer or out of range"), false;
    if (time <= 0) return reply_error(l->ctx, "ERR invalid lease time"), false;
    *ms = time;
    return true;
}

static bool read_seconds(struct line *l, RedisModuleString *text) {
    int64_t seconds;
    if (!read_time(l, text, &seconds)) return false;
    if (seconds > (INT64_MAX - l->vow->now) / 1000)
        return reply_error(l->ctx, "ERR invalid lease time"), false;
    l->vow->lease = l->vow->now + 1000 * seconds;
    return true;
}

static bool read_of(struct line *l, RedisModuleString *text) {
    l->vow->of = text;
    return true;
}

static bool read_until(struct line *l, RedisModuleString *text) {
    return read_time(l, text, &l->vow->lease);
}

static bool read_since(struct line *l, RedisModuleString *text) {
    return read_time(l, text, &l->vow->now);
}

static bool read_idle(struct line *l, RedisModuleString *text) {
    long long *seconds = &l->start->replace;
    if (RedisModule_StringToLongLong(text, seconds) != REDISMODULE_OK)
        return reply_error(l->ctx, "ERR value is not an integer or out of range"), false;
    if (*seconds < 1 || *seconds > INT32_MAX)
        return reply_error(l->ctx, "ERR REPLACE takes seconds, from 1 on"), false;
    return true;
}

/* The PXAT that revokes a lease on purpose. */
#define REVOKED 1

/* A Unix time in seconds is about a thousandth of now in ms. Anything between a tenth of
 * that and ten times that looks like one. */
#define SECONDS_LOW_SHARE  10000
#define SECONDS_HIGH_SHARE 100

static bool looks_like_seconds(int64_t time, int64_t now) {
    return time > now / SECONDS_LOW_SHARE && time < now / SECONDS_HIGH_SHARE;
}

/* A lease that is in the past by mistake would leave its sender believing that the filter
 * is ready. A master's lease was valid when it was sent. */
static bool check_lease(struct line *l) {
    const struct vow *vow = l->vow;
    if (!(l->seen & BIT(PXAT)) || vow->lease == REVOKED || vow->lease > vow->now ||
        upstream_sent(l->ctx))
        return true;
    reply_error(l->ctx, looks_like_seconds(vow->lease, vow->now)
                            ? "ERR PXAT takes milliseconds, and this looks like seconds"
                            : "ERR PXAT is in the past (use 1 to revoke)");
    return false;
}

/* ---- options ---- */

static const struct {
    const char *word;
    bool (*read)(struct line *l, RedisModuleString *value); /* NULL: it has no value */
} options[] = {
    [OPTION_CAPACITY] = {"CAPACITY", read_capacity},
    [OPTION_ERROR] = {"ERROR", read_error_rate},
    [OPTION_EXPANSION] = {"EXPANSION", read_expansion},
    [OPTION_KIND] = {"KIND", read_kind},
    [OPTION_TIGHTENING] = {"TIGHTENING", read_tightening},
    [OPTION_SEED] = {"SEED", read_seed},
    [OPTION_EX] = {"EX", read_seconds},
    [OPTION_PXAT] = {"PXAT", read_until},
    [OPTION_SINCE] = {"SINCE", read_since},
    [OPTION_OF] = {"OF", read_of},
    [OPTION_XX] = {"XX", NULL},
    [OPTION_LOADING] = {"LOADING", NULL},
    [OPTION_READY] = {"READY", NULL},
    [OPTION_EMPTY] = {"EMPTY", NULL},
    [OPTION_REPLACE] = {"REPLACE", read_idle},
    [OPTION_NOCREATE] = {"NOCREATE", NULL},
    [OPTION_NONSCALING] = {"NONSCALING", NULL},
    [OPTION_ITEMS] = {"ITEMS", NULL},
};

_Static_assert(sizeof options / sizeof *options == OPTION_UNKNOWN, "enum option");

/* Tells the options of BF.INSERT apart as RedisBloom does. */
static enum option by_first_letters(const char *text) {
    switch (tolower((unsigned char)text[0])) {
    case 'i':
        return OPTION_ITEMS;
    case 'c':
        return OPTION_CAPACITY;
    case 'e':
        return tolower((unsigned char)text[1]) == 'r' ? OPTION_ERROR : OPTION_EXPANSION;
    case 'n':
        return text[1] && tolower((unsigned char)text[2]) == 'c' ? OPTION_NOCREATE
                                                                 : OPTION_NONSCALING;
    default:
        return OPTION_UNKNOWN;
    }
}

static enum option option_of(const struct line *l, RedisModuleString *text) {
    for (enum option o = 0; o < OPTION_UNKNOWN; o++)
        if (l->known & 1u << o && text_is_word(text, options[o].word)) return o;
    if (!l->loose || !(l->known & BIT(ITEMS))) return OPTION_UNKNOWN;
    return by_first_letters(RedisModule_StringPtrLen(text, NULL));
}

static bool refuse_without_value(const struct line *l, enum option o,
                                 RedisModuleString *text) {
    if (o == OPTION_EXPANSION && l->dialect->no_expansion)
        reply_error(l->ctx, l->dialect->no_expansion);
    else if (l->dialect->no_value)
        reply_option_error(l->ctx, l->dialect->no_value, text);
    else
        reply_wrong_arity(l->ctx);
    return false;
}

/* Reads the option at l->at, and its value. */
static bool read_option(struct line *l) {
    RedisModuleString *text = l->argv[l->at++];
    enum option o = option_of(l, text);
    if (o == OPTION_UNKNOWN)
        return l->loose || (reply_option_error(l->ctx, l->dialect->unknown, text), false);
    if (l->seen & 1u << o && !l->loose)
        return reply_option_error(l->ctx, "ERR option '%s' given twice", text), false;
    l->seen |= 1u << o;
    if (!options[o].read) return true;
    if (l->at == l->argc) return refuse_without_value(l, o, text);
    l->at++;
    return options[o].read(l, l->argv[l->at - 1]);
}

/* Reads options up to the end, or to ITEMS. */
static bool read_options(struct line *l) {
    while (l->at < l->argc && !(l->seen & BIT(ITEMS)))
        if (!read_option(l)) return false;
    return true;
}

/* NONSCALING is compatible only with EXPANSION 0, which means the same, and so are kinds
 * that never grow. */
static bool settle_expansion(struct line *l) {
    if (l->wish->kind->exceeds && l->seen & BIT(EXPANSION) && l->wish->expansion != 0 &&
        !l->loose)
        return reply_error(l->ctx, "ERR filters of this kind never grow"), false;
    if (!(l->seen & BIT(NONSCALING))) return true;
    if (l->seen & BIT(EXPANSION) && l->wish->expansion != 0 && !l->loose)
        return reply_error(l->ctx, "Nonscaling filters cannot expand"), false;
    l->wish->expansion = 0;
    return true;
}

/* ---- the lines of commands ---- */

bool args_read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct wish *wish) {
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = 4,
                     .loose = upstream_sent(ctx),
                     .known = RESERVE_OPTIONS,
                     .dialect = &reserve_words,
                     .wish = wish};
    *wish = args_default_wish(ctx);
    if (!read_error_rate(&l, argv[2]) || !read_capacity(&l, argv[3])) return false;
    if (!read_options(&l)) return false;
    if (l.seen & BIT(LOADING) && l.seen & BIT(READY))
        return reply_error(ctx, "ERR a filter is LOADING or READY, not both"), false;
    if (l.seen & BIT(LOADING)) wish->state = STATE_LOADING;
    if (l.seen & BIT(READY)) wish->state = STATE_READY;
    return settle_expansion(&l);
}

bool args_read_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                      struct insert *insert) {
    bool loose = upstream_sent(ctx);
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = 2,
                     .loose = loose,
                     .known = INSERT_OPTIONS | (loose ? VALKEYBLOOM_OPTIONS : 0),
                     .dialect = &insert_words,
                     .wish = &insert->wish};
    insert->wish = args_default_wish(ctx);
    if (!read_options(&l)) return false;
    bool without_items = insert->wish.has_seed; /* valkey-bloom may only create */
    if (l.at == argc && !without_items) return reply_wrong_arity(ctx), false;

    insert->may_make = !(l.seen & BIT(NOCREATE));
    insert->first_item = l.at;
    return settle_expansion(&l);
}

bool args_read_vow(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                   bool may_renew, struct vow *vow) {
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = at,
                     .known = (may_renew ? READY_OPTIONS : COMMIT_OPTIONS) |
                              (upstream_sent(ctx) ? UPSTREAM_OPTIONS : 0),
                     .dialect = &own_words,
                     .vow = vow};
    *vow = (struct vow){.now = RedisModule_Milliseconds()};
    if (!read_options(&l)) return false;
    if (l.seen & BIT(EX) && l.seen & BIT(PXAT))
        return reply_error(ctx, "ERR EX and PXAT can't be given together"), false;
    vow->renew = l.seen & BIT(XX);
    return check_lease(&l);
}

bool args_read_start(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                     struct start *start) {
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = at,
                     .known = START_OPTIONS,
                     .dialect = &own_words,
                     .wish = &start->wish,
                     .start = start};
    start->replace = 0;
    if (!read_options(&l)) return false;
    start->may_be_empty = l.seen & BIT(EMPTY);
    return settle_expansion(&l);
}
