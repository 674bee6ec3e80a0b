/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "args.h"
#include "core/chain.h"
#include "node.h"

/* The texts among the settings come from their table, in config_load. */
struct settings settings = {
    .initial_size = 100,
    .expansion_factor = 2,
    .kind = &kind_lines,
    .max_filter_bytes = 0,
    .missing_key = MISSING_ABSENT,
};

/* Not in the 7.0 header; means this only where server.plain_settings. */
#define CONFIG_UNPREFIXED (1u << 9)

/* Of each of the three sorts: its table; read_*, which takes a module argument and says
 * false, with nothing changed, if it is wrong; then what CONFIG calls, and registration.
 * What LoadConfigs does not find in the server's file it sets to the default that was
 * registered: an argument has to be that default. */

/* ---- whole numbers ---- */

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
    {"bf-max-lag", NULL, &settings.max_lag, 0, INT32_MAX, REDISMODULE_CONFIG_DEFAULT},
};

#define NUMBERS (sizeof numbers / sizeof *numbers)

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

static bool read_number(const struct number *n, RedisModuleString *text) {
    long long value;
    if (RedisModule_StringToLongLong(text, &value) != REDISMODULE_OK) return false;
    if (value < n->min || value > n->max) return false;
    return set_number(n->name, value, (void *)n, NULL) == REDISMODULE_OK;
}

static int register_number(RedisModuleCtx *ctx, const struct number *n, unsigned flags) {
    return RedisModule_RegisterNumericConfig(ctx, n->name, *n->value, n->flags | flags,
                                             n->min, n->max, get_number, set_number, NULL,
                                             (void *)n);
}

/* ---- texts, kept as they were written: CONFIG GET gives the user's own digits ---- */

struct text {
    const char *name;
    const char *old_name; /* RedisBloom's argument, or NULL */
    const char *at_first;
    bool (*take)(RedisModuleString *text); /* acts on it; false: it means nothing */
    const char *must_be;                   /* what CONFIG SET says then */
    RedisModuleString *written;
};

/* The server has no settings that are fractions. */
static bool take_rate(RedisModuleString *text) {
    double rate;
    if (RedisModule_StringToDouble(text, &rate) != REDISMODULE_OK ||
        !(rate > 0 && rate < 1))
        return false;
    settings.error_rate = rate;
    return true;
}

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

static uint16_t trust_called(const char *word, size_t length) {
    for (size_t i = 0; i < TRUSTS; i++)
        if (length == strlen(trusts[i].word) && !strncasecmp(word, trusts[i].word, length))
            return trusts[i].bit;
    return 0;
}

/* Words with spaces or commas between them. */
static bool take_trust(RedisModuleString *text) {
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
    return true;
}

static struct text texts[] = {
    {"bf-error-rate", "ERROR_RATE", "0.01", take_rate, "must be a number between 0 and 1",
     NULL},
    {"bf-trust", NULL, "", take_trust,
     "must be of the words restart, failover, replica and restore", NULL},
};

#define TEXTS (sizeof texts / sizeof *texts)

static bool read_text(struct text *t, RedisModuleString *text) {
    if (!t->take(text)) return false;
    if (t->written) RedisModule_FreeString(NULL, t->written);
    t->written = RedisModule_CreateStringFromString(NULL, text);
    return true;
}

static void start_text(struct text *t) {
    RedisModuleString *text =
        RedisModule_CreateString(NULL, t->at_first, strlen(t->at_first));
    read_text(t, text);
    RedisModule_FreeString(NULL, text);
}

static RedisModuleString *get_text(const char *name, void *data) {
    (void)name;
    return ((const struct text *)data)->written;
}

static int set_text(const char *name, RedisModuleString *value, void *data,
                    RedisModuleString **error) {
    (void)name;
    struct text *t = data;
    if (read_text(t, value)) return REDISMODULE_OK;
    *error = RedisModule_CreateStringPrintf(NULL, "%s", t->must_be);
    return REDISMODULE_ERR;
}

static int register_text(RedisModuleCtx *ctx, struct text *t, unsigned flags) {
    return RedisModule_RegisterStringConfig(ctx, t->name,
                                            RedisModule_StringPtrLen(t->written, NULL),
                                            flags, get_text, set_text, NULL, t);
}

/* ---- choices: one of a few words ---- */

/* Places count from 0 in words; the server calls them the words' values. */
struct choice {
    const char *name;
    const char **words;
    int n;
    int (*get)(void); /* the place of the word that holds */
    void (*set)(int place);
};

#define PLACES_MAX 16
static int places[PLACES_MAX]; /* 0, 1, 2 ...: config_load */

static const char *kind_words[KINDS]; /* their names, in their order: config_load */

const struct kind *config_kind(RedisModuleString *name) {
    for (size_t i = 0; i < KINDS; i++)
        if (args_is_word(name, kinds[i]->name)) return kinds[i];
    return NULL;
}

static int get_kind(void) {
    int place = 0;
    while (kinds[place] != settings.kind)
        place++;
    return place;
}

static void set_kind(int place) {
    settings.kind = kinds[place];
}

/* In the order of enum missing_key. */
static const char *missing_words[] = {"absent", "maybe", "error"};

static int get_missing(void) {
    return (int)settings.missing_key;
}

static void set_missing(int place) {
    settings.missing_key = (enum missing_key)place;
}

static const char *bypass_words[] = {"no", "yes"};

static int get_bypass(void) {
    return node.bypass;
}

static void set_bypass(int place) {
    if (node.bypass != (place == 1))
        RedisModule_Log(server.ctx, "warning", "bf-bypass is %s: %s.", bypass_words[place],
                        place ? "nothing is denied here" : "filters deny what they may");
    node.bypass = place;
}

static const struct choice choices[] = {
    {"bf-kind", kind_words, KINDS, get_kind, set_kind},
    {"bf-missing-key", missing_words, 3, get_missing, set_missing},
    {"bf-bypass", bypass_words, 2, get_bypass, set_bypass},
};

#define CHOICES (sizeof choices / sizeof *choices)

_Static_assert(KINDS <= PLACES_MAX, "places[]");

static bool read_choice(const struct choice *c, RedisModuleString *word) {
    for (int place = 0; place < c->n; place++)
        if (args_is_word(word, c->words[place])) return c->set(place), true;
    return false;
}

static int get_choice(const char *name, void *data) {
    (void)name;
    return ((const struct choice *)data)->get();
}

static int set_choice(const char *name, int place, void *data, RedisModuleString **error) {
    (void)name;
    (void)error; /* the server knows which there are */
    ((const struct choice *)data)->set(place);
    return REDISMODULE_OK;
}

static int register_choice(RedisModuleCtx *ctx, const struct choice *c, unsigned flags) {
    return RedisModule_RegisterEnumConfig(ctx, c->name, c->get(), flags, c->words, places,
                                          c->n, get_choice, set_choice, NULL, (void *)c);
}

/* ---- all of them ---- */

static bool is_called(RedisModuleString *text, const char *name, const char *old_name) {
    return args_is_word(text, name) || (old_name && args_is_word(text, old_name));
}

static bool read_argument(RedisModuleString *name, RedisModuleString *value) {
    for (size_t i = 0; i < NUMBERS; i++)
        if (is_called(name, numbers[i].name, numbers[i].old_name))
            return read_number(&numbers[i], value);
    for (size_t i = 0; i < TEXTS; i++)
        if (is_called(name, texts[i].name, texts[i].old_name))
            return read_text(&texts[i], value);
    for (size_t i = 0; i < CHOICES; i++)
        if (is_called(name, choices[i].name, NULL)) return read_choice(&choices[i], value);
    return false;
}

static int read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        if (i + 1 < argc && read_argument(argv[i], argv[i + 1])) continue;
        RedisModule_Log(ctx, "warning", "bad module argument: %s %s",
                        RedisModule_StringPtrLen(argv[i], NULL),
                        i + 1 < argc ? RedisModule_StringPtrLen(argv[i + 1], NULL)
                                     : "(without a value)");
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

static int register_all(RedisModuleCtx *ctx, unsigned flags) {
    int status = REDISMODULE_OK;
    for (size_t i = 0; i < NUMBERS && status == REDISMODULE_OK; i++)
        status = register_number(ctx, &numbers[i], flags);
    for (size_t i = 0; i < TEXTS && status == REDISMODULE_OK; i++)
        status = register_text(ctx, &texts[i], flags);
    for (size_t i = 0; i < CHOICES && status == REDISMODULE_OK; i++)
        status = register_choice(ctx, &choices[i], flags);
    return status;
}

/* An unreleased server's version is above all others, whatever it knows. One that doesn't
 * know the flag says so in its log, and refuses the first setting: nothing is left of it. */
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
    for (size_t i = 0; i < KINDS; i++)
        kind_words[i] = kinds[i]->name;
    for (size_t i = 0; i < TEXTS; i++)
        start_text(&texts[i]);
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_RegisterStringConfig ? register_settings(ctx) : REDISMODULE_OK;
}
