/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_add.c - BF.ADD, BF.MADD and BF.INSERT: one adding of items, three syntaxes. */
#include "args.h"
#include "commands.h"
#include "items.h"
#include "keyspace.h"
#include "replicate.h"
#include "reply.h"
#include "stats.h"

/* Answers of so many items fit on the stack. */
#define FEW 512

/* One adding of items while it is under way. */
struct adding {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    struct value *v;
    RedisModuleString **items;
    size_t n;
    uint8_t *added; /* the answer for each item that was dealt with */
    size_t done;    /* how many were */
    size_t told;    /* how many of these replicas know of */
};

/* Sends on what was added since the last time, so that replicas see the items
 * before a growth as before it. */
static size_t tell(struct adding *a) {
    size_t changed = replicate_items(a->ctx, a->name, a->items + a->told,
                                     a->added + a->told, a->done - a->told);
    a->told = a->done;
    return changed;
}

/* Adds up to a block of items; less than asked for means that there is no room. */
static size_t add_block(struct adding *a, size_t block, enum chain_full when_full) {
    struct item items[ITEMS_BLOCK];
    read_items(a->items + a->done, block, items);
    return chain_add(a->v->live, items, block, a->added + a->done, when_full);
}

/* A followed effect goes where it went on the master. A native filter's goes into the
 * last layer, full or not: there it fitted, or was put over capacity on purpose. A plain
 * foreign filter grows, or refuses, by its product's rule, as it did there. */
static enum bloom_status make_room(struct adding *a, enum chain_full *when_full) {
    bool by_rule = a->v->live->kind->foreign && value_is_plain(a->v);
    if (server_is_followed(a->ctx) && (!by_rule || a->v->live->missing > 0)) {
        *when_full = CHAIN_EXCEED;
        return BLOOM_OK;
    }
    tell(a);
    return grow(a->ctx, a->name, a->v);
}

/* Adds the items in order. On a refusal those before it stay, and are told of. */
static enum bloom_status add_items(struct adding *a) {
    enum chain_full when_full = CHAIN_STOP;
    enum bloom_status status = BLOOM_OK;
    if (a->v->live->missing > 0 && !server_is_followed(a->ctx)) return BLOOM_PARTIAL;

    while (a->done < a->n && status >= 0) {
        size_t block = a->n - a->done < ITEMS_BLOCK ? a->n - a->done : ITEMS_BLOCK;
        size_t dealt_with = add_block(a, block, when_full);
        a->done += dealt_with;
        if (dealt_with < block) status = make_room(a, &when_full);
    }
    tell(a);

    size_t changed = 0;
    for (size_t i = 0; i < a->done; i++)
        changed += a->added[i];
    if (changed > 0) {
        stats_items_came(changed);
        announce(a->ctx, a->name, "bf.add");
    }
    return status;
}

/* What a followed command can't do its master couldn't do either. It isn't told: an
 * error from a replica is a reason for alarm. */
static bool is_quiet(const struct adding *a, enum bloom_status status) {
    return status < 0 && server_is_followed(a->ctx);
}

/* The answers so far, and the refusal of the item that ended it. */
static void reply_answers(const struct adding *a, enum bloom_status status) {
    RedisModule_ReplyWithArray(a->ctx, (long)(a->done + (status < 0)));
    for (size_t i = 0; i < a->done; i++)
        reply_bool(a->ctx, a->added[i]);
    if (status < 0) reply_refusal(a->ctx, status);
}

/* Adds the items to a filter, which is made to the wish if there is none, and
 * replies an array. */
static int add_many(RedisModuleCtx *ctx, RedisModuleString *name, const struct wish *wish,
                    RedisModuleString **items, int n) {
    struct value *v;
    if (!find_to_write(ctx, name, &v)) return REDISMODULE_OK; /* It replied. */
    if (!v && !wish)
        return server_is_followed(ctx) ? reply_ok(ctx)
                                       : reply_refusal(ctx, BLOOM_NOT_FOUND);
    enum bloom_status status = v ? BLOOM_OK : create(ctx, name, wish, &v);
    if (status < 0) return reply_refusal(ctx, status);

    uint8_t few[FEW];
    uint8_t *added = n > FEW ? RedisModule_Alloc((size_t)n) : few;
    struct adding a = {ctx, name, v, items, (size_t)n, added, 0, 0};
    status = add_items(&a);
    if (is_quiet(&a, status))
        reply_ok(ctx);
    else if (status == BLOOM_PARTIAL)
        reply_refusal(ctx, status);
    else
        reply_answers(&a, status);
    if (added != few) RedisModule_Free(added);
    return REDISMODULE_OK;
}

/* BF.ADD key item
 * 1 if the item was certainly new, 0 if it was probably there already. */
int cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct value *v;
    struct wish wish = default_wish(ctx);
    if (!find_to_write(ctx, argv[1], &v)) return REDISMODULE_OK; /* It replied. */
    enum bloom_status status = v ? BLOOM_OK : create(ctx, argv[1], &wish, &v);
    if (status < 0) return reply_refusal(ctx, status);

    uint8_t added;
    struct adding a = {ctx, argv[1], v, argv + 2, 1, &added, 0, 0};
    status = add_items(&a);
    if (is_quiet(&a, status)) return reply_ok(ctx);
    return status < 0 ? reply_refusal(ctx, status) : reply_bool(ctx, added);
}

/* BF.MADD key item [item ...]
 * BF.ADD for each item: an array of its answers. */
int cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);
    struct wish wish = default_wish(ctx);
    return add_many(ctx, argv[1], &wish, argv + 2, argc - 2);
}

/* BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING]
 *           ITEMS item [item ...]
 * BF.MADD that says what a filter should be like if it has to be made. */
int cmd_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 4) return RedisModule_WrongArity(ctx);
    struct insert insert;
    if (!read_insert(ctx, argv, argc, &insert)) return REDISMODULE_OK; /* It replied. */
    if (insert.wish.has_seed && argc == insert.first_item + 1 &&
        !key_exists(ctx, argv[1]) &&
        load_data(ctx, argv[1], argv[insert.first_item], NULL) == BLOOM_OK)
        return reply_ok(ctx); /* a BF.LOAD in disguise: see cmd_load.c */
    return add_many(ctx, argv[1], insert.create ? &insert.wish : NULL,
                    argv + insert.first_item, argc - insert.first_item);
}
