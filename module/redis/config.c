/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "args.h"
#include "core/chain.h"
#include "node.h"

struct settings settings = {
    .error_rate = 0.01,
    .initial_size = 100,
    .expansion_factor = 2,
    .kind = &kind_lines,
    .max_filter_bytes = 0,
    .missing_key = MISSING_ABSENT,
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
    for (size_t i = 0; i < KINDS; i++)
        if (is_word(name, kinds[i]->name)) return kinds[i];
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

/* ---- what a missing filter means: words, in the order of enum missing_key ---- */

#define MISSING_NAME "bf-missing-key"

static const char *const missing_words[] = {"absent", "maybe", "error"};

#define MISSING_WORDS (sizeof missing_words / sizeof *missing_words)

static int get_missing(const char *name, void *data) {
    (void)name;
    (void)data;
    return (int)settings.missing_key;
}

static int set_missing(const char *name, int id, void *data, RedisModuleString **error) {
    (void)name;
    (void)data;
    (void)error; /* the server knows which there are */
    settings.missing_key = (enum missing_key)id;
    return REDISMODULE_OK;
}

static int register_missing(RedisModuleCtx *ctx, unsigned unprefixed) {
    const char *names[MISSING_WORDS];
    int ids[MISSING_WORDS];
    for (size_t i = 0; i < MISSING_WORDS; i++) {
        names[i] = missing_words[i];
        ids[i] = (int)i;
    }
    return RedisModule_RegisterEnumConfig(ctx, MISSING_NAME, (int)settings.missing_key,
                                          unprefixed, names, ids, MISSING_WORDS,
                                          get_missing, set_missing, NULL, NULL);
}

/* ---- what is trusted: words with spaces or commas between them ---- */

#define TRUST_NAME "bf-trust"

static const struct {
    const char *word;
    uint16_t bit;
} trusts[] = {
    {"restart", DOUBT_RESTART},
    {"failover", DOUBT_FAILOVER},
    {"replica", TRUST_REPLICA},
    {"restore", DOUBT_RESTORE},
};

#define TRUSTS (sizeof trusts / sizeof *trusts)

/* As it was written. */
static RedisModuleString *trust_text;

static uint16_t trust_called(const char *word, size_t length) {
    for (size_t i = 0; i < TRUSTS; i++)
        if (length == strlen(trusts[i].word) && !strncasecmp(word, trusts[i].word, length))
            return trusts[i].bit;
    return 0;
}

static bool set_trust_text(RedisModuleString *text) {
    static const char between[] = " ,";
    const char *at = RedisModule_StringPtrLen(text, NULL);
    uint16_t trust = 0;
    for (at += strspn(at, between); *at; at += strspn(at, between)) {
        size_t length = strcspn(at, between);
        uint16_t bit = trust_called(at, length);
        if (bit == 0) return false;
        trust |= bit;
        at += length;
    }
    node.trust = trust;
    if (trust_text) RedisModule_FreeString(NULL, trust_text);
    trust_text = RedisModule_CreateStringFromString(NULL, text);
    return true;
}

static RedisModuleString *get_trust(const char *name, void *data) {
    (void)name;
    (void)data;
    return trust_text;
}

static int set_trust(const char *name, RedisModuleString *value, void *data,
                     RedisModuleString **error) {
    (void)name;
    (void)data;
    if (set_trust_text(value)) return REDISMODULE_OK;
    *error = RedisModule_CreateStringPrintf(
        NULL, "must be of the words restart, failover, replica and restore");
    return REDISMODULE_ERR;
}

/* ---- the bypass ---- */

#define BYPASS_NAME "bf-bypass"

static int get_bypass(const char *name, void *data) {
    (void)name;
    (void)data;
    return node.bypass;
}

static int set_bypass(const char *name, int on, void *data, RedisModuleString **error) {
    (void)name;
    (void)data;
    (void)error;
    node.bypass = on;
    return REDISMODULE_OK;
}

/* ---- module arguments ---- */

static bool set_missing_argument(RedisModuleString *value) {
    for (size_t i = 0; i < MISSING_WORDS; i++)
        if (is_word(value, missing_words[i]))
            return settings.missing_key = (enum missing_key)i, true;
    return false;
}

static bool set_bypass_argument(RedisModuleString *value) {
    node.bypass = is_word(value, "yes");
    return node.bypass || is_word(value, "no");
}

static bool set_argument(const char *name, RedisModuleString *value) {
    if (!strcasecmp(name, RATE_NAME) || !strcasecmp(name, RATE_OLD_NAME))
        return set_rate_text(value);
    if (!strcasecmp(name, KIND_NAME)) {
        const struct kind *kind = kind_called(value);
        if (kind) settings.kind = kind;
        return kind != NULL;
    }
    if (!strcasecmp(name, MISSING_NAME)) return set_missing_argument(value);
    if (!strcasecmp(name, TRUST_NAME)) return set_trust_text(value);
    if (!strcasecmp(name, BYPASS_NAME)) return set_bypass_argument(value);
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
    if (status == REDISMODULE_OK) status = register_missing(ctx, unprefixed);
    if (status == REDISMODULE_OK)
        status = RedisModule_RegisterStringConfig(
            ctx, TRUST_NAME, RedisModule_StringPtrLen(trust_text, NULL), unprefixed,
            get_trust, set_trust, NULL, NULL);
    if (status == REDISMODULE_OK)
        status = RedisModule_RegisterBoolConfig(ctx, BYPASS_NAME, node.bypass, unprefixed,
                                                get_bypass, set_bypass, NULL, NULL);
    return status == REDISMODULE_OK ? RedisModule_LoadConfigs(ctx) : status;
}

int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    char rate[32];
    snprintf(rate, sizeof rate, "%g", settings.error_rate);
    rate_text = RedisModule_CreateString(NULL, rate, strlen(rate));
    trust_text = RedisModule_CreateString(NULL, "", 0);
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_RegisterStringConfig ? register_settings(ctx) : REDISMODULE_OK;
}
