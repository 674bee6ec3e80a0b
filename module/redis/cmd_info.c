/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_info.c - BF.CARD, BF.INFO and BF.DEBUG: what a filter is like. */
#include "cmd_info.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "core/kinds/redisbloom/redisbloom.h"
#include "find.h"
#include "reply.h"

/* BF.CARD key
 * Items the filter has accepted; 0 if there is no such key. */
int cmd_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    return reply_count(ctx, f ? chain_items(f->live) : 0);
}

static uint64_t layers_of(const struct chain *c) {
    return c->nlayers;
}

static uint64_t expansion_of(const struct chain *c) {
    return c->expansion;
}

static uint64_t size_of(const struct chain *c) {
    if (c->kind->size) return c->kind->size(c);
    return sizeof(struct filter) + chain_memory(c);
}

static const struct field {
    const char *selector;
    const char *name;
    uint64_t (*number)(const struct chain *c);
} fields[] = {
    {"CAPACITY", "Capacity", chain_capacity},
    {"SIZE", "Size", size_of},
    {"FILTERS", "Number of filters", layers_of},
    {"ITEMS", "Number of items inserted", chain_items},
    {"EXPANSION", "Expansion rate", expansion_of},
};

_Static_assert(sizeof fields / sizeof *fields == INFO_FIELDS, "cmd_info.h");

static void reply_number(RedisModuleCtx *ctx, const struct field *field,
                         const struct chain *c) {
    if (field->number == expansion_of && c->expansion == 0)
        RedisModule_ReplyWithNull(ctx);
    else
        reply_count(ctx, field->number(c));
}

static void reply_field(RedisModuleCtx *ctx, const struct field *field,
                        const struct chain *c) {
    RedisModule_ReplyWithSimpleString(ctx, field->name);
    reply_number(ctx, field, c);
}

static const struct field *field_by_selector(RedisModuleString *text) {
    for (size_t i = 0; i < INFO_FIELDS; i++)
        if (args_is_word(text, fields[i].selector)) return &fields[i];
    return NULL;
}

/* With one selector: a map of one pair in RESP3, an array of the value in RESP2. */
static void reply_one(RedisModuleCtx *ctx, const struct field *field,
                      const struct chain *c) {
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3 &&
        RedisModule_ReplyWithMap) {
        RedisModule_ReplyWithMap(ctx, 1);
        reply_field(ctx, field, c);
    } else {
        RedisModule_ReplyWithArray(ctx, 1);
        reply_number(ctx, field, c);
    }
}

void cmd_info_fields(RedisModuleCtx *ctx, const struct filter *f) {
    for (size_t i = 0; i < INFO_FIELDS; i++)
        reply_field(ctx, &fields[i], f->live);
}

/* BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION | FULL]
 * All five numbers, or one of them, or all that may be known. */
int cmd_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    if (argc == 3 && args_is_word(argv[2], "FULL")) {
        cmd_info_full(ctx, f);
        return REDISMODULE_OK;
    }
    if (argc == 3) {
        const struct field *field = field_by_selector(argv[2]);
        if (!field) return reply_error(ctx, "Invalid information value");
        reply_one(ctx, field, f->live);
        return REDISMODULE_OK;
    }
    reply_map(ctx, INFO_FIELDS);
    cmd_info_fields(ctx, f);
    return REDISMODULE_OK;
}

static void reply_line(RedisModuleCtx *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void reply_line(RedisModuleCtx *ctx, const char *format, ...) {
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    RedisModule_ReplyWithStringBuffer(ctx, line, strlen(line));
}

/* A layer as RedisBloom prints it: its users' tests look at that. */
static void reply_redisbloom_layer(RedisModuleCtx *ctx, const struct chain *c,
                                   const struct layer *layer) {
    reply_line(ctx,
               "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%u hashwidth:%d"
               " capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
               layer->bytes, redisbloom_bits(layer), layer->probes,
               c->variant & REDISBLOOM_HASH_64 ? 64 : 32, layer->capacity, layer->items,
               layer->error);
}

static int debug_redisbloom(RedisModuleCtx *ctx, const struct chain *c) {
    RedisModule_ReplyWithArray(ctx, 1 + (long)c->nlayers);
    reply_line(ctx, "size:%" PRIu64, chain_items(c));
    for (uint32_t i = 0; i < c->nlayers; i++)
        reply_redisbloom_layer(ctx, c, &c->layers[i]);
    return REDISMODULE_OK;
}

/* BF.DEBUG key
 * The chain in a line, then a line a layer, for people. */
int cmd_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    const struct chain *c = f->live;
    if (c->kind == &kind_redisbloom) return debug_redisbloom(ctx, c);
    RedisModule_ReplyWithArray(ctx, 1 + (long)c->nlayers);
    reply_line(ctx,
               "kind:%s size:%" PRIu64 " error:%g expansion:%" PRIu32 " missing:%" PRIu64,
               c->kind->name, chain_items(c), c->error, c->expansion, c->missing);
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct layer *layer = &c->layers[i];
        reply_line(ctx,
                   "bytes:%" PRIu64 " probes:%u sectors:%u capacity:%" PRIu64
                   " size:%" PRIu64 " ratio:%g model:%g",
                   layer->bytes, layer->probes, layer->variant, layer->capacity,
                   layer->items, layer->error, layer->parameter);
    }
    return REDISMODULE_OK;
}
