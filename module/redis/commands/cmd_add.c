/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_add.c - BF.ADD, BF.MADD and BF.INSERT: one adding of items, three syntaxes. */
#include "commands/adding.h"
#include "commands/args.h"
#include "commands/cmd_load.h"
#include "commands/commands.h"
#include "commands/items.h"
#include "commands/reply.h"
#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "keys/find.h"
#include "keys/make.h"
#include "settings/settings.h"

/* The answers for this many items fit on the stack. */
#define FEW 512

/* Finds the filter, or makes it as BF.INSERT says, otherwise by the settings. Unless
 * bf-missing-key is absent, a filter made by an add is loading, also when the master sends
 * the add: the filter may have been lost here. A filter made without items keeps the state
 * of its wish. False if an error was replied. */
static bool find_or_make(struct adding *a, const struct insert *insert) {
    if (!find_to_write(a->ctx, a->name, &a->f)) return false;
    if (a->f) return true;
    struct wish wish = insert ? insert->wish : args_default_wish(a->ctx);
    if (settings.missing_key != MISSING_ABSENT && a->n > 0) wish.state = STATE_LOADING;
    enum bloom_status status = insert && !insert->may_make
                                   ? BLOOM_NOT_FOUND
                                   : make_filter(a->ctx, a->name, &wish, &a->f);
    if (status < 0) reply_refusal(a->ctx, a->name, status);
    a->made = status >= 0;
    return a->made;
}

/* Replies the answers so far, and the refusal of the item that ended it. */
static void reply_answers(const struct adding *a, enum bloom_status status) {
    RedisModule_ReplyWithArray(a->ctx, (long)(a->done + (status < 0)));
    for (size_t i = 0; i < a->done; i++)
        reply_bool(a->ctx, a->added[i]);
    if (status < 0) reply_refusal(a->ctx, a->name, status);
}

/* The same for n items, of which only those that can be encoded were given to it. */
static void reply_answers_among(const struct adding *a, RedisModuleString **items, size_t n,
                                enum bloom_status status) {
    size_t at = 0, replied = 0;
    RedisModule_ReplyWithArray(a->ctx, REDISMODULE_POSTPONED_ARRAY_LEN);
    for (; replied < n; replied++) {
        bool fits = at < a->n && items[replied] == a->items[at];
        if (fits && at == a->done) break;
        if (fits)
            reply_bool(a->ctx, a->added[at++]);
        else
            adding_refuse(a, items[replied]);
    }
    if (status < 0) reply_refusal(a->ctx, a->name, status);
    RedisModule_ReplySetArrayLength(a->ctx, (long)(replied + (status < 0)));
}

/* Takes out the items that can't be encoded. Returns the others, or NULL if that is all
 * of them. */
static RedisModuleString **only_fitting(struct adding *a) {
    if (items_are_raw(a->f->live, a->f->next)) return NULL;
    RedisModuleString **fit = RedisModule_Alloc((a->n + 1) * sizeof *fit);
    size_t kept = 0;
    for (size_t i = 0; i < a->n; i++)
        if (adding_fits(a, a->items[i])) fit[kept++] = a->items[i];
    if (kept == a->n) {
        RedisModule_Free(fit);
        return NULL;
    }
    a->items = fit;
    a->n = kept;
    a->is_effect = false;
    return fit;
}

/* Adds the items and replies an array. */
static int add_many(RedisModuleCtx *ctx, RedisModuleString *name,
                    const struct insert *insert, RedisModuleString **items, int n) {
    struct adding a = {
        .ctx = ctx, .name = name, .items = items, .n = (size_t)n, .is_effect = !insert};
    if (!find_or_make(&a, insert)) return REDISMODULE_OK; /* It replied. */

    uint8_t few[FEW];
    RedisModuleString **fitting = only_fitting(&a);
    a.added = n > FEW ? RedisModule_Alloc((size_t)n) : few;
    enum bloom_status status = adding_run(&a);
    if (status == BLOOM_PARTIAL)
        reply_refusal(ctx, name, status);
    else if (fitting)
        reply_answers_among(&a, items, (size_t)n, status);
    else
        reply_answers(&a, status);
    adding_announce(&a);
    RedisModule_Free(fitting);
    if (a.added != few) RedisModule_Free(a.added);
    return REDISMODULE_OK;
}

/* BF.ADD key item
 * 1 if the item was certainly new, 0 if it was probably there already. */
int cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return reply_wrong_arity(ctx);

    uint8_t added = 0;
    struct adding a = {.ctx = ctx,
                       .name = argv[1],
                       .items = argv + 2,
                       .n = 1,
                       .added = &added,
                       .is_effect = true};
    if (!find_or_make(&a, NULL)) return REDISMODULE_OK; /* It replied. */
    if (!adding_fits(&a, argv[2])) return adding_refuse(&a, argv[2]);
    enum bloom_status status = adding_run(&a);
    adding_announce(&a);
    return status < 0 ? reply_refusal(ctx, argv[1], status) : reply_bool(ctx, added);
}

/* BF.MADD key item [item ...]
 * BF.ADD for each item: an array of its answers. */
int cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return reply_wrong_arity(ctx);
    return add_many(ctx, argv[1], NULL, argv + 2, argc - 2);
}

/* A single item after SEED may be a filter's data, which contains the seed. */
static void hide_data(RedisModuleCtx *ctx, RedisModuleString *item, int position) {
    size_t length;
    RedisModule_StringPtrLen(item, &length);
    if (length > VALKEYBLOOM_RECORD_HEADER) server_hide_argument(ctx, position);
}

/* BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING]
 *           ITEMS item [item ...]
 * Like BF.MADD, and says what the filter should be like if it has to be made. */
int cmd_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 4) return reply_wrong_arity(ctx);
    struct insert insert;
    if (!args_read_insert(ctx, argv, argc, &insert))
        return REDISMODULE_OK; /* It replied. */
    RedisModuleString **items = argv + insert.first_item, *only;
    int n = argc - insert.first_item;
    if (insert.wish.has_seed && n == 1) {
        items = &only, only = argv[insert.first_item];
        hide_data(ctx, only, insert.first_item);
        if (!find_taken(ctx, argv[1]) &&
            cmd_load_data(ctx, argv[1], only, &insert.wish, NULL) == BLOOM_OK)
            return reply_ok(ctx); /* a BF.LOAD in disguise: see cmd_load.c */
    }
    return add_many(ctx, argv[1], &insert, items, n);
}
