/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/chain.h"

struct settings settings = {
    .error_rate = 0.01,
    .initial_size = 100,
    .expansion_factor = 2,
    .kind = &kind_lines,
    .max_filter_bytes = 0,
};

/* Not in the 7.0 header; means this only where server.plain_settings. */
#define CONFIG_UNPREFIXED (1u << 9)

/* ---- the settings that are whole numbers ---- */

struct number {
    const char *name;
    const char *old_name; /* RedisBloom's argument, or NULL */
    long long *value;
    long long min, max;
    unsigned flags;
};

static const struct number numbers[] = {
    {"bf-initial-size", "INITIAL_SIZE", &settings.initial_size, 1, CHAIN_CAPACITY_MAX,
     REDISMODULE_CONFIG_DEFAULT},
    {"bf-expansion-factor", NULL, &settings.expansion_factor, 0, CHAIN_EXPANSION_MAX,
     REDISMODULE_CONFIG_DEFAULT},
    {"bf-max-filter-bytes", NULL, &settings.max_filter_bytes, 0, LLONG_MAX,
     REDISMODULE_CONFIG_MEMORY},
};

#define NUMBERS (sizeof numbers / sizeof *numbers)

static long long get_number(const char *name, void *data) {
    (void)name;
    return *((const struct number *)data)->value;
}

static int set_number(const char *name, long long value, void *data,
                      RedisModuleString **error) {
    (void)name;
    (void)error; /* the server has checked the range */
    *((const struct number *)data)->value = value;
    return REDISMODULE_OK;
}

/* ---- the error rate: the server has no settings that are fractions ---- */

#define RATE_NAME     "bf-error-rate"
#define RATE_OLD_NAME "ERROR_RATE"

/* As it was written: CONFIG GET and CONFIG REWRITE give the user's own digits. */
static RedisModuleString *rate_text;

static bool set_rate_text(RedisModuleString *text) {
    double rate;
    if (RedisModule_StringToDouble(text, &rate) != REDISMODULE_OK ||
        !(rate > 0 && rate < 1))
        return false;
    settings.error_rate = rate;
    if (rate_text) RedisModule_FreeString(NULL, rate_text);
    rate_text = RedisModule_CreateStringFromString(NULL, text);
    return true;
}

static RedisModuleString *get_rate(const char *name, void *data) {
    (void)name;
    (void)data;
    return rate_text;
}

static int set_rate(const char *name, RedisModuleString *value, void *data,
                    RedisModuleString **error) {
    (void)name;
    (void)data;
    if (set_rate_text(value)) return REDISMODULE_OK;
    *error = RedisModule_CreateStringPrintf(NULL, "must be a number between 0 and 1");
    return REDISMODULE_ERR;
}

/* ---- the kind: one of a few words, numbered by their ids ---- */

#define KIND_NAME "bf-kind"

static const struct kind *const kinds[] = {&kind_lines, &kind_redisbloom,
                                           &kind_valkeybloom};

#define KINDS (sizeof kinds / sizeof *kinds)

const struct kind *kind_called(RedisModuleString *name) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(name, &length);
    for (size_t i = 0; i < KINDS; i++)
        if (length == strlen(kinds[i]->name) && !strcasecmp(text, kinds[i]->name))
            return kinds[i];
    return NULL;
}

static int get_kind(const char *name, void *data) {
    (void)name;
    (void)data;
    return settings.kind->id;
}

static int set_kind(const char *name, int id, void *data, RedisModuleString **error) {
    (void)name;
    (void)data;
    (void)error; /* the server knows which there are */
    settings.kind = kind_by_id((unsigned)id);
    return REDISMODULE_OK;
}

static int register_kind(RedisModuleCtx *ctx, unsigned unprefixed) {
    const char *names[KINDS];
    int ids[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i]->name;
        ids[i] = kinds[i]->id;
    }
    return RedisModule_RegisterEnumConfig(ctx, KIND_NAME, settings.kind->id, unprefixed,
                                          names, ids, KINDS, get_kind, set_kind, NULL,
                                          NULL);
}

/* ---- module arguments ---- */

static bool set_argument(const char *name, RedisModuleString *value) {
    if (!strcasecmp(name, RATE_NAME) || !strcasecmp(name, RATE_OLD_NAME))
        return set_rate_text(value);
    if (!strcasecmp(name, KIND_NAME)) {
        const struct kind *kind = kind_called(value);
        if (kind) settings.kind = kind;
        return kind != NULL;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        const struct number *n = &numbers[i];
        if (strcasecmp(name, n->name) && (!n->old_name || strcasecmp(name, n->old_name)))
            continue;
        long long v;
        if (RedisModule_StringToLongLong(value, &v) != REDISMODULE_OK) return false;
        if (v < n->min || v > n->max) return false;
        *n->value = v;
        return true;
    }
    return false;
}

static int read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        if (i + 1 < argc && set_argument(name, argv[i + 1])) continue;
        RedisModule_Log(ctx, "warning", "bad module argument: %s %s", name,
                        i + 1 < argc ? RedisModule_StringPtrLen(argv[i + 1], NULL)
                                     : "(without a value)");
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

/* What LoadConfigs does not find in the server's file it sets to the default that
 * was registered: an argument has to be that default. */
static int register_settings(RedisModuleCtx *ctx) {
    unsigned unprefixed = server.plain_settings ? CONFIG_UNPREFIXED : 0;
    const char *rate = RedisModule_StringPtrLen(rate_text, NULL);
    int status = RedisModule_RegisterStringConfig(ctx, RATE_NAME, rate, unprefixed,
                                                  get_rate, set_rate, NULL, NULL);
    for (size_t i = 0; i < NUMBERS && status == REDISMODULE_OK; i++) {
        const struct number *n = &numbers[i];
        status = RedisModule_RegisterNumericConfig(ctx, n->name, *n->value,
                                                   n->flags | unprefixed, n->min, n->max,
                                                   get_number, set_number, NULL, (void *)n);
    }
    if (status == REDISMODULE_OK) status = register_kind(ctx, unprefixed);
    return status == REDISMODULE_OK ? RedisModule_LoadConfigs(ctx) : status;
}

int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    char rate[32];
    snprintf(rate, sizeof rate, "%g", settings.error_rate);
    rate_text = RedisModule_CreateString(NULL, rate, strlen(rate));
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_RegisterStringConfig ? register_settings(ctx) : REDISMODULE_OK;
}
