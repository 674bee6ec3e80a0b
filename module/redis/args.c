/* SPDX-License-Identifier: BSD-3-Clause */
#include "args.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "config.h"
#include "core/chain.h"
#include "core/codec_valkeybloom.h"
#include "core/redisbloom.h"
#include "core/valkeybloom.h"
#include "reply.h"

enum option {
    CAPACITY,
    ERROR,
    EXPANSION,
    KIND,
    TIGHTENING,
    SEED,
    EX,
    PXAT,
    SINCE,
    XX,
    LOADING,
    READY,
    NOCREATE,
    NONSCALING,
    ITEMS,
    UNKNOWN
};

static const struct {
    const char *word;
    bool has_value;
} options[] = {
    [CAPACITY] = {"CAPACITY", true},
    [ERROR] = {"ERROR", true},
    [EXPANSION] = {"EXPANSION", true},
    [KIND] = {"KIND", true},
    [TIGHTENING] = {"TIGHTENING", true},
    [SEED] = {"SEED", true},
    [NOCREATE] = {"NOCREATE", false},
    [NONSCALING] = {"NONSCALING", false},
    [ITEMS] = {"ITEMS", false},
    [EX] = {"EX", true},
    [PXAT] = {"PXAT", true},
    [SINCE] = {"SINCE", true},
    [XX] = {"XX", false},
    [LOADING] = {"LOADING", false},
    [READY] = {"READY", false},
};

/* Options as a set. */
#define BIT(o) (1u << (o))

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
#define FOLLOWING_OPTIONS (BIT(PXAT) | BIT(SINCE)) /* of both, in our stream only */

/* What RedisBloom says, which differs between its commands, and what we say in commands
 * that it doesn't have. A %s stands for the option. */
struct dialect {
    const char *bad_error_rate, *bad_capacity, *bad_expansion, *unknown;
    const char *no_value; /* NULL: the server's words for a wrong number of arguments */
};

static const struct dialect reserve_dialect = {
    .bad_error_rate = "ERR bad error rate",
    .bad_capacity = "ERR bad capacity",
    .bad_expansion = "ERR bad expansion",
    .no_value = "ERR no expansion",
    .unknown = "ERR unknown option '%s'",
};

static const struct dialect insert_dialect = {
    .bad_error_rate = "Bad error rate",
    .bad_capacity = "Bad capacity",
    .bad_expansion = "Bad expansion",
    .unknown = "Unknown argument received",
};

static const struct dialect own_dialect = {
    .bad_error_rate = "ERR bad error rate",
    .bad_capacity = "ERR bad capacity",
    .bad_expansion = "ERR bad expansion",
    .no_value = "ERR option '%s' needs a value",
    .unknown = "ERR unknown option '%s'",
};

/* The options of one command line, while they are being read. */
struct parser {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc, at;
    bool loose;     /* as RedisBloom reads */
    unsigned known; /* the options that the command has */
    const struct dialect *dialect;
    bool seen[UNKNOWN];
    struct wish *wish;
    struct vow *vow;
};

bool is_word(RedisModuleString *text, const char *word) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    return length == strlen(word) && !strcasecmp(bytes, word);
}

struct wish default_wish(RedisModuleCtx *ctx) {
    if (server_is_followed(ctx))
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
        return reply_error(p->ctx, p->dialect->bad_error_rate), false;
    if (!(p->wish->error > 0 && p->wish->error < 1))
        return reply_refusal(p->ctx, BLOOM_BAD_ERROR_RATE), false;
    return true;
}

static bool read_capacity(struct parser *p, RedisModuleString *text) {
    long long *capacity = &p->wish->capacity;
    if (RedisModule_StringToLongLong(text, capacity) != REDISMODULE_OK)
        return reply_error(p->ctx, p->dialect->bad_capacity), false;
    if (*capacity < 1 || *capacity > (long long)CHAIN_CAPACITY_MAX)
        return reply_refusal(p->ctx, BLOOM_BAD_CAPACITY), false;
    return true;
}

static bool read_expansion(struct parser *p, RedisModuleString *text) {
    long long *expansion = &p->wish->expansion;
    if (RedisModule_StringToLongLong(text, expansion) != REDISMODULE_OK)
        return reply_error(p->ctx, p->dialect->bad_expansion), false;
    /* Other masters have had other limits. */
    if (*expansion < 0 || *expansion > (p->loose ? UINT32_MAX : CHAIN_EXPANSION_MAX))
        return reply_error(p->ctx, "ERR expansion must be in the range [0, 32768]"), false;
    p->wish->growth = *expansion;
    return true;
}

static bool read_kind(struct parser *p, RedisModuleString *text) {
    const struct kind *kind = kind_called(text);
    if (!kind) return reply_option_error(p->ctx, "ERR unknown kind '%s'", text), false;
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
    double *ratio = &p->wish->tightening;
    if (RedisModule_StringToDouble(text, ratio) != REDISMODULE_OK ||
        !(*ratio > 0 && *ratio < 1))
        return reply_error(p->ctx, "ERR bad tightening ratio"), false;
    wish_for_valkeybloom(p);
    return true;
}

static bool read_seed(struct parser *p, RedisModuleString *text) {
    size_t length;
    const char *seed = RedisModule_StringPtrLen(text, &length);
    if (length != VALKEYBLOOM_SEED_LENGTH)
        return reply_error(p->ctx, "ERR invalid seed"), false;
    wish_for_valkeybloom(p);
    valkeybloom_read_seed((const unsigned char *)seed, &p->wish->seed[0],
                          &p->wish->seed[1]);
    server_hide_argument(p->ctx, p->at - 1);
    return true;
}

static bool read_time(struct parser *p, RedisModuleString *text, int64_t *ms) {
    long long time;
    if (RedisModule_StringToLongLong(text, &time) != REDISMODULE_OK)
        return reply_error(p->ctx, "ERR value is not an integer or out of range"), false;
    if (time <= 0) return reply_error(p->ctx, "ERR invalid lease time"), false;
    *ms = time;
    return true;
}

static bool read_seconds(struct parser *p, RedisModuleString *text) {
    int64_t seconds;
    if (!read_time(p, text, &seconds)) return false;
    if (seconds > (INT64_MAX - p->vow->now) / 1000)
        return reply_error(p->ctx, "ERR invalid lease time"), false;
    p->vow->lease = p->vow->now + 1000 * seconds;
    return true;
}

/* ---- options ---- */

static enum option by_first_letters(const char *text) {
    switch (tolower((unsigned char)text[0])) {
    case 'i':
        return ITEMS;
    case 'c':
        return CAPACITY;
    case 'e':
        return tolower((unsigned char)text[1]) == 'r' ? ERROR : EXPANSION;
    case 'n':
        return text[1] && tolower((unsigned char)text[2]) == 'c' ? NOCREATE : NONSCALING;
    default:
        return UNKNOWN;
    }
}

static enum option option_at(const struct parser *p, int at) {
    RedisModuleString *text = p->argv[at];
    for (enum option o = 0; o < UNKNOWN; o++)
        if (p->known & BIT(o) && is_word(text, options[o].word)) return o;
    bool letters = p->loose && p->known & BIT(ITEMS); /* BF.INSERT */
    enum option loose =
        letters ? by_first_letters(RedisModule_StringPtrLen(text, NULL)) : UNKNOWN;
    return loose < UNKNOWN && p->known & BIT(loose) ? loose : UNKNOWN;
}

/* The value after the option at p->at, or NULL: then the error has been replied. */
static RedisModuleString *value_of_option(struct parser *p) {
    if (p->at + 1 < p->argc) return p->argv[++p->at];
    if (p->dialect->no_value)
        reply_option_error(p->ctx, p->dialect->no_value, p->argv[p->at]);
    else
        RedisModule_WrongArity(p->ctx);
    return NULL;
}

static bool refuse_unknown(struct parser *p) {
    if (p->loose) return true;
    reply_option_error(p->ctx, p->dialect->unknown, p->argv[p->at]);
    return false;
}

/* Reads the option at p->at with its value, and leaves p->at after both. */
static bool read_option(struct parser *p, enum option o) {
    RedisModuleString *value = NULL;
    if (o == UNKNOWN) {
        if (!refuse_unknown(p)) return false;
        p->at++;
        return true;
    }
    if (p->seen[o] && !p->loose)
        return reply_option_error(p->ctx, "ERR option '%s' given twice", p->argv[p->at]),
               false;
    p->seen[o] = true;

    if (options[o].has_value && !(value = value_of_option(p))) return false;
    p->at++;
    switch (o) {
    case CAPACITY:
        return read_capacity(p, value);
    case ERROR:
        return read_error_rate(p, value);
    case EXPANSION:
        return read_expansion(p, value);
    case KIND:
        return read_kind(p, value);
    case TIGHTENING:
        return read_tightening(p, value);
    case SEED:
        return read_seed(p, value);
    case EX:
        return read_seconds(p, value);
    case PXAT:
        return read_time(p, value, &p->vow->lease);
    case SINCE:
        return read_time(p, value, &p->vow->now);
    default:
        return true;
    }
}

/* NONSCALING goes with no EXPANSION but 0, which says the same. */
static bool settle_expansion(struct parser *p) {
    if (!p->seen[NONSCALING]) return true;
    if (p->seen[EXPANSION] && p->wish->expansion != 0 && !p->loose)
        return reply_error(p->ctx, "Nonscaling filters cannot expand"), false;
    p->wish->expansion = 0;
    return true;
}

bool read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                  struct wish *wish) {
    struct parser p = {.ctx = ctx,
                       .argv = argv,
                       .argc = argc,
                       .at = 4,
                       .wish = wish,
                       .loose = server_is_followed(ctx),
                       .known = RESERVE_OPTIONS,
                       .dialect = &reserve_dialect};
    *wish = default_wish(ctx);
    if (!read_error_rate(&p, argv[2]) || !read_capacity(&p, argv[3])) return false;
    while (p.at < argc)
        if (!read_option(&p, option_at(&p, p.at))) return false;
    if (p.seen[LOADING] && p.seen[READY])
        return reply_error(ctx, "ERR a filter is LOADING or READY, not both"), false;
    if (p.seen[LOADING]) wish->state = STATE_LOADING;
    if (p.seen[READY]) wish->state = STATE_READY;
    return settle_expansion(&p);
}

bool read_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                 struct insert *insert) {
    struct parser p = {.ctx = ctx,
                       .argv = argv,
                       .argc = argc,
                       .at = 2,
                       .wish = &insert->wish,
                       .loose = server_is_followed(ctx),
                       .known = INSERT_OPTIONS,
                       .dialect = &insert_dialect};
    if (p.loose) p.known |= VALKEYBLOOM_OPTIONS;
    insert->wish = default_wish(ctx);
    while (p.at < argc && !p.seen[ITEMS])
        if (!read_option(&p, option_at(&p, p.at))) return false;
    bool without_items = insert->wish.has_seed; /* valkey-bloom may only create */
    if (p.at == argc && !without_items) return RedisModule_WrongArity(ctx), false;

    insert->create = !p.seen[NOCREATE];
    insert->first_item = p.at;
    return settle_expansion(&p);
}

bool read_vow(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
              bool may_renew, struct vow *vow) {
    struct parser p = {.ctx = ctx,
                       .argv = argv,
                       .argc = argc,
                       .at = at,
                       .vow = vow,
                       .known = may_renew ? READY_OPTIONS : COMMIT_OPTIONS,
                       .dialect = &own_dialect};
    *vow = (struct vow){.now = RedisModule_Milliseconds()};
    if (server_is_followed(ctx)) p.known |= FOLLOWING_OPTIONS;
    while (p.at < argc)
        if (!read_option(&p, option_at(&p, p.at))) return false;
    if (p.seen[EX] && p.seen[PXAT])
        return reply_error(ctx, "ERR EX and PXAT can't be given together"), false;
    vow->renew = p.seen[XX];
    return true;
}

bool read_start(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                struct wish *wish) {
    struct parser p = {.ctx = ctx,
                       .argv = argv,
                       .argc = argc,
                       .at = at,
                       .wish = wish,
                       .known = START_OPTIONS,
                       .dialect = &own_dialect};
    while (p.at < argc)
        if (!read_option(&p, option_at(&p, p.at))) return false;
    return settle_expansion(&p);
}
