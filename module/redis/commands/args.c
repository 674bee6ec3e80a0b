/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/args_line.h"
#include "commands/reply.h"
#include "core/kinds/redisbloom/redisbloom.h"
#include "links/upstream.h"
#include "settings/settings.h"

/* The options of each command. */
#define LIBRARY_OPTIONS (BIT(VARIANT) | BIT(SEED_NUMBER) | BIT(ENCODE))
#define RESERVE_OPTIONS                                                                    \
    (BIT(EXPANSION) | BIT(NONSCALING) | BIT(KIND) | BIT(LOADING) | BIT(READY))
#define INSERT_OPTIONS                                                                     \
    (BIT(CAPACITY) | BIT(ERROR) | BIT(EXPANSION) | BIT(NOCREATE) | BIT(NONSCALING) |       \
     BIT(ITEMS))
#define VALKEYBLOOM_OPTIONS (BIT(TIGHTENING) | BIT(SEED)) /* in its stream only */
#define START_OPTIONS                                                                      \
    (BIT(CAPACITY) | BIT(ERROR) | BIT(EXPANSION) | BIT(NONSCALING) | BIT(KIND) |           \
     BIT(EMPTY) | BIT(REPLACE) | LIBRARY_OPTIONS)
#define IMPORT_OPTIONS                                                                     \
    (LIBRARY_OPTIONS | BIT(HASHES) | BIT(BITS) | BIT(COUNT) | BIT(CAPACITY) | BIT(ERROR) | \
     BIT(PROVE))
#define PART_OPTIONS                                                                       \
    (BIT(COUNT) | BIT(HASHES) | BIT(SEED_NUMBER) | BIT(BITS) | BIT(VARIANT))
#define READY_OPTIONS    (BIT(EX) | BIT(PXAT) | BIT(XX))
#define COMMIT_OPTIONS   (BIT(EX) | BIT(PXAT))
#define UPSTREAM_OPTIONS (BIT(SINCE) | BIT(OF)) /* in our stream only */

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

/* Everything but the state comes from the other filter. */
static bool settle_like(const struct line *l) {
    if (!(l->seen & BIT(LIKE)) || !(l->seen & ~(BIT(LIKE) | BIT(LOADING) | BIT(READY))))
        return true;
    return reply_error(l->ctx, "ERR LIKE takes all but LOADING and READY from the other"),
           false;
}

/* ---- the lines of commands ---- */

bool args_read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct wish *wish, RedisModuleString **like) {
    bool loose = upstream_sent(ctx);
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = 4,
                     .loose = loose,
                     .known = RESERVE_OPTIONS | (loose ? 0 : LIBRARY_OPTIONS | BIT(LIKE)),
                     .dialect = &reserve_words,
                     .wish = wish};
    *wish = args_default_wish(ctx);
    if (!args_error_rate(&l, argv[2]) || !args_capacity(&l, argv[3])) return false;
    if (!args_options(&l)) return false;
    if (l.seen & BIT(LOADING) && l.seen & BIT(READY))
        return reply_error(ctx, "ERR a filter is LOADING or READY, not both"), false;
    if (l.seen & BIT(LOADING)) wish->state = STATE_LOADING;
    if (l.seen & BIT(READY)) wish->state = STATE_READY;
    *like = l.like;
    return settle_like(&l) && settle_expansion(&l) && args_settle_form(&l);
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
    if (!args_options(&l)) return false;
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
    if (!args_options(&l)) return false;
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
    if (!args_options(&l)) return false;
    start->may_be_empty = l.seen & BIT(EMPTY);
    start->says_size = l.seen & (BIT(CAPACITY) | BIT(ERROR));
    return settle_expansion(&l) && args_settle_form(&l);
}

bool args_read_import(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                      struct import *import) {
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = 4,
                     .known = IMPORT_OPTIONS,
                     .dialect = &own_words,
                     .wish = &import->wish,
                     .import = import};
    *import = (struct import){.items = IMPORT_NO_ITEMS};
    if (!args_kind_of(&l, argv[2]) || !args_options(&l) || !args_settle_import(&l))
        return false;
    import->hashes = l.hashes;
    import->bits = l.bits;
    import->first_proof = l.at;
    if (l.at < argc || !(l.seen & BIT(PROVE))) return true;
    return reply_error(ctx, "ERR PROVE needs an item"), false;
}

bool args_read_part(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int at,
                    struct import *import, unsigned *said) {
    struct line l = {.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = at,
                     .known = PART_OPTIONS,
                     .dialect = &own_words,
                     .wish = &import->wish,
                     .import = import};
    import->items = IMPORT_NO_ITEMS;
    if (!args_options(&l)) return false;
    *said = 0;
    if (!args_settle_part(&l, said)) return false;
    import->hashes = l.hashes;
    import->bits = l.bits;
    return true;
}
