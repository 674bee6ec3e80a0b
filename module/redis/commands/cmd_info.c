/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_info.c - BF.CARD, BF.INFO and BF.DEBUG: what a filter is like. */
#include "commands/cmd_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/reply.h"
#include "keys/diary.h"
#include "keys/find.h"
#include "text.h"

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
    return sizeof(struct filter) + sizeof(struct diary) + chain_memory(c);
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
        if (text_is_word(text, fields[i].selector)) return &fields[i];
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
 * All five numbers, or one of them, or everything that is known. */
int cmd_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    if (argc == 3 && text_is_word(argv[2], "FULL")) {
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

/* "name:number", with a space between them. */
static void append_facts(char *line, size_t room, const struct fact *facts, size_t n) {
    size_t at = 0;
    for (size_t i = 0; i < n && at < room; i++) {
        const char *before = i > 0 ? " " : "";
        int length = facts[i].is == FACT_RATE
                         ? snprintf(line + at, room - at, "%s%s:%g", before, facts[i].name,
                                    facts[i].rate)
                         : snprintf(line + at, room - at, "%s%s:%" PRIu64, before,
                                    facts[i].name, facts[i].count);
        at += (size_t)length;
    }
}

/* A line of facts, after the kind's name if there is one. */
static void reply_facts(RedisModuleCtx *ctx, const char *kind, const struct fact *facts,
                        size_t n) {
    char line[512];
    int at = kind ? snprintf(line, sizeof line, "kind:%s ", kind) : 0;
    append_facts(line + at, sizeof line - (size_t)at, facts, n);
    RedisModule_ReplyWithStringBuffer(ctx, line, strlen(line));
}

static void reply_chain_facts(RedisModuleCtx *ctx, const struct chain *c) {
    struct fact own[KIND_FACTS_MAX];
    const struct fact every_kinds[] = {
        {"size", FACT_COUNT, .count = chain_items(c)},
        {"error", FACT_RATE, .rate = c->error},
        {"expansion", FACT_COUNT, .count = c->expansion},
        {"missing", FACT_COUNT, .count = c->missing},
    };
    if (c->kind->chain_facts)
        reply_facts(ctx, NULL, own, c->kind->chain_facts(c, own));
    else
        reply_facts(ctx, c->kind->name, every_kinds,
                    sizeof every_kinds / sizeof *every_kinds);
}

/* BF.DEBUG key
 * The chain in a line, then a line a layer, for people, and what its library prints. */
int cmd_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return RedisModule_WrongArity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    const struct chain *c = f->live;
    RedisModule_ReplyWithArray(ctx, 1 + (long)c->nlayers + (c->kind->describe != NULL));
    reply_chain_facts(ctx, c);
    for (uint32_t i = 0; i < c->nlayers; i++) {
        struct fact facts[KIND_FACTS_MAX];
        reply_facts(ctx, NULL, facts, c->kind->layer_facts(c, &c->layers[i], facts));
    }
    if (c->kind->describe) {
        char line[128];
        c->kind->describe(c, line, sizeof line);
        RedisModule_ReplyWithStringBuffer(ctx, line, strlen(line));
    }
    return REDISMODULE_OK;
}
