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
    size_t changed; /* how many items changed a bit */
    bool created;
    size_t growths;
    bool is_effect; /* the call brings items and nothing else: it can be sent on as it is */
};

/* Sends on what was added since the last time, so that replicas see the items
 * before a growth as before it. */
static void tell(struct adding *a) {
    bool as_it_is = a->is_effect && a->told == 0 && a->done == a->n;
    a->changed += replicate_items(a->ctx, a->name, a->items + a->told, a->added + a->told,
                                  a->done - a->told, as_it_is);
    a->told = a->done;
}

/* Adds up to a block of items; less than asked for means that there is no room. */
static size_t add_block(struct adding *a, size_t block, enum chain_full when_full) {
    struct item items[ITEMS_BLOCK];
    read_items(a->items + a->done, block, items);
    return chain_add(a->v->live, items, block, a->added + a->done, when_full);
}

/* A followed effect goes where it went on the master. A native filter's goes into the
 * last layer, full or not: there it fitted, or was put over capacity on purpose. A plain
 * foreign filter may come from a master that sends no growth: it grows by its product's
 * rule, and takes the item all the same if it may not. What the master accepted must not
 * be denied here, even if the master counts otherwise or has other settings. */
static enum bloom_status make_room(struct adding *a, enum chain_full *when_full) {
    bool followed = server_is_followed(a->ctx);
    bool by_rule = a->v->live->kind->foreign && a->v->standing.state == STATE_PLAIN;
    if (followed && (!by_rule || a->v->live->missing > 0)) {
        *when_full = CHAIN_EXCEED;
        return BLOOM_OK;
    }
    tell(a);
    enum bloom_status status = grow(a->ctx, a->name, a->v);
    a->growths += status >= 0;
    if (status >= 0 || !followed) return status;
    *when_full = CHAIN_EXCEED;
    return BLOOM_OK;
}

/* Adds the items in order. On a refusal those before it stay, and are told of. */
static enum bloom_status add_items(struct adding *a) {
    enum chain_full when_full = CHAIN_STOP;
    enum bloom_status status = BLOOM_OK;
    uint64_t before = chain_items(a->v->live);
    if (a->v->live->missing > 0 && !server_is_followed(a->ctx)) return BLOOM_PARTIAL;

    while (a->done < a->n && status >= 0) {
        size_t block = a->n - a->done < ITEMS_BLOCK ? a->n - a->done : ITEMS_BLOCK;
        size_t dealt_with = add_block(a, block, when_full);
        a->done += dealt_with;
        if (dealt_with < block) status = make_room(a, &when_full);
    }
    tell(a);
    stats_items_came(chain_items(a->v->live) - before);
    return status;
}

/* Last of all: a listener may delete the key, and the filter with it. */
static void announce_all(const struct adding *a) {
    if (a->created) announce(a->ctx, a->name, "bf.reserve");
    for (size_t i = 0; i < a->growths; i++)
        announce(a->ctx, a->name, "bf.grow");
    if (a->changed > 0) announce(a->ctx, a->name, "bf.add");
}

/* Finds the filter, or makes it: as BF.INSERT says, else by the settings. False if it
 * replied an error. */
static bool find_or_create(struct adding *a, const struct insert *insert) {
    if (!find_to_write(a->ctx, a->name, &a->v)) return false;
    if (a->v) return true;
    struct wish wish = insert ? insert->wish : default_wish(a->ctx);
    enum bloom_status status =
        insert && !insert->create ? BLOOM_NOT_FOUND : create(a->ctx, a->name, &wish, &a->v);
    if (status < 0) reply_unless_followed(a->ctx, status);
    a->created = status >= 0;
    return a->created;
}

/* The answers so far, and the refusal of the item that ended it. */
static void reply_answers(const struct adding *a, enum bloom_status status) {
    RedisModule_ReplyWithArray(a->ctx, (long)(a->done + (status < 0)));
    for (size_t i = 0; i < a->done; i++)
        reply_bool(a->ctx, a->added[i]);
    if (status < 0) reply_refusal(a->ctx, status);
}

/* Adds the items and replies an array. */
static int add_many(RedisModuleCtx *ctx, RedisModuleString *name,
                    const struct insert *insert, RedisModuleString **items, int n) {
    struct adding a = {
        .ctx = ctx, .name = name, .items = items, .n = (size_t)n, .is_effect = !insert};
    if (!find_or_create(&a, insert)) return REDISMODULE_OK; /* It replied. */

    uint8_t few[FEW];
    a.added = n > FEW ? RedisModule_Alloc((size_t)n) : few;
    enum bloom_status status = add_items(&a);
    if (status == BLOOM_PARTIAL || (status < 0 && server_is_followed(ctx)))
        reply_unless_followed(ctx, status);
    else
        reply_answers(&a, status);
    announce_all(&a);
    if (a.added != few) RedisModule_Free(a.added);
    return REDISMODULE_OK;
}

/* BF.ADD key item
 * 1 if the item was certainly new, 0 if it was probably there already. */
int cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    uint8_t added = 0;
    struct adding a = {.ctx = ctx,
                       .name = argv[1],
                       .items = argv + 2,
                       .n = 1,
                       .added = &added,
                       .is_effect = true};
    if (!find_or_create(&a, NULL)) return REDISMODULE_OK; /* It replied. */
    enum bloom_status status = add_items(&a);
    announce_all(&a);
    return status < 0 ? reply_unless_followed(ctx, status) : reply_bool(ctx, added);
}

/* BF.MADD key item [item ...]
 * BF.ADD for each item: an array of its answers. */
int cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);
    return add_many(ctx, argv[1], NULL, argv + 2, argc - 2);
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
        load_data(ctx, argv[1], argv[insert.first_item], &insert.wish, NULL) == BLOOM_OK)
        return reply_ok(ctx); /* a BF.LOAD in disguise: see cmd_load.c */
    return add_many(ctx, argv[1], &insert, argv + insert.first_item,
                    argc - insert.first_item);
}
