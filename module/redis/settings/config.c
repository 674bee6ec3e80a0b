/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings/config.h"

#include "settings/settings_table.h"

/* Missing from the 7.0 header. Set it only if server.plain_settings. */
#define CONFIG_UNPREFIXED (1u << 9)

/* LoadConfigs sets every setting that it doesn't find in the server's file to the
 * registered default. So an argument has to be that default. */

static long long get_number(const char *name, void *data) {
    (void)name;
    return *((const struct number *)data)->value;
}

static int set_number(const char *name, long long value, void *data,
                      RedisModuleString **error) {
    (void)name;
    (void)error; /* the range has been checked */
    *((const struct number *)data)->value = value;
    return REDISMODULE_OK;
}

static int register_number(RedisModuleCtx *ctx, const struct number *n, unsigned flags) {
    return RedisModule_RegisterNumericConfig(ctx, n->name, *n->value, n->flags | flags,
                                             n->min, n->max, get_number, set_number, NULL,
                                             (void *)n);
}

static RedisModuleString *get_text(const char *name, void *data) {
    (void)name;
    return ((const struct text *)data)->written;
}

static int set_text(const char *name, RedisModuleString *value, void *data,
                    RedisModuleString **error) {
    (void)name;
    struct text *t = data;
    if (settings_set((struct setting){.text = t}, value)) return REDISMODULE_OK;
    *error = RedisModule_CreateStringPrintf(NULL, "%s", t->must_be);
    return REDISMODULE_ERR;
}

static int register_text(RedisModuleCtx *ctx, struct text *t, unsigned flags) {
    return RedisModule_RegisterStringConfig(ctx, t->name,
                                            RedisModule_StringPtrLen(t->written, NULL),
                                            flags, get_text, set_text, NULL, t);
}

/* 0, 1, 2 ...: the words' places. */
#define PLACES_MAX 16
static int places[PLACES_MAX];

_Static_assert(KINDS <= PLACES_MAX, "places[]");

static int get_choice(const char *name, void *data) {
    (void)name;
    return ((const struct choice *)data)->get();
}

static int set_choice(const char *name, int place, void *data, RedisModuleString **error) {
    (void)name;
    (void)error; /* the server has checked the word */
    ((const struct choice *)data)->set(place);
    return REDISMODULE_OK;
}

static int register_choice(RedisModuleCtx *ctx, const struct choice *c, unsigned flags) {
    return RedisModule_RegisterEnumConfig(ctx, c->name, c->get(), flags, c->words, places,
                                          c->n, get_choice, set_choice, NULL, (void *)c);
}

static int register_all(RedisModuleCtx *ctx, unsigned flags) {
    int status = REDISMODULE_OK;
    for (size_t i = 0; i < SETTINGS_NUMBERS && status == REDISMODULE_OK; i++)
        status = register_number(ctx, &settings_numbers[i], flags);
    for (size_t i = 0; i < SETTINGS_TEXTS && status == REDISMODULE_OK; i++)
        status = register_text(ctx, &settings_texts[i], flags);
    for (size_t i = 0; i < SETTINGS_CHOICES && status == REDISMODULE_OK; i++)
        status = register_choice(ctx, &settings_choices[i], flags);
    return status;
}

/* The version of an unreleased server is above all others, whatever it supports. A server
 * that doesn't know the flag says so in its log and refuses the first setting; nothing is
 * left of it. */
static int register_settings(RedisModuleCtx *ctx) {
    int status = REDISMODULE_ERR;
    if (server.plain_settings) status = register_all(ctx, CONFIG_UNPREFIXED);
    if (status != REDISMODULE_OK) {
        server.plain_settings = false;
        status = register_all(ctx, 0);
    }
    return status == REDISMODULE_OK ? RedisModule_LoadConfigs(ctx) : status;
}

int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < PLACES_MAX; i++)
        places[i] = i;
    settings_start();
    if (config_read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_RegisterStringConfig ? register_settings(ctx) : REDISMODULE_OK;
}
