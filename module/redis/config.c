/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "args.h"
#include "core/chain.h"
#include "core/shield.h"

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

/* As the server reads sizes in its own settings: k is 1000, kb is 1024. */
static bool read_bytes(RedisModuleString *text, long long *value) {
    static const struct {
        const char *unit;
        long long bytes;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1000},       {"kb", 1 << 10},
                 {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    const char *digits = RedisModule_StringPtrLen(text, NULL);
    char *unit;
    if (!isdigit((unsigned char)*digits)) return false;
    errno = 0;
    *value = strtoll(digits, &unit, 10);
    if (errno) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].unit) == 0)
            return !__builtin_mul_overflow(*value, units[i].bytes, value);
    return false;
}

static bool read_number(const struct number *n, RedisModuleString *text) {
    long long value;
    bool is_number = n->flags & REDISMODULE_CONFIG_MEMORY
                         ? read_bytes(text, &value)
                         : RedisModule_StringToLongLong(text, &value) == REDISMODULE_OK;
    if (!is_number || value < n->min || value > n->max) return false;
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
    bool is_list;                          /* of words, which may be several arguments */
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
    settings.trust = trust;
    return true;
}

static struct text texts[] = {
    {"bf-error-rate", "ERROR_RATE", "0.01", take_rate, "must be a number between 0 and 1",
     false, NULL},
    {"bf-trust", NULL, "", take_trust,
     "must be of the words restart, failover, replica and restore", true, NULL},
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
    return settings.bypass;
}

static void set_bypass(int place) {
    if (settings.bypass != (place == 1))
        RedisModule_Log(server.ctx, "warning", "bf-bypass is %s: %s.", bypass_words[place],
                        place ? "nothing is denied here" : "filters deny what they may");
    settings.bypass = place;
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

/* ---- all of them: one is set ---- */

struct setting {
    const struct number *number;
    struct text *text;
    const struct choice *choice;
};

#define SETTINGS (NUMBERS + TEXTS + CHOICES)

static struct setting setting_at(size_t i) {
    if (i < NUMBERS) return (struct setting){.number = &numbers[i]};
    if (i < NUMBERS + TEXTS) return (struct setting){.text = &texts[i - NUMBERS]};
    return (struct setting){.choice = &choices[i - NUMBERS - TEXTS]};
}

static const char *name_of(struct setting s) {
    if (s.number) return s.number->name;
    return s.text ? s.text->name : s.choice->name;
}

static const char *old_name_of(struct setting s) {
    if (s.number) return s.number->old_name;
    return s.text ? s.text->old_name : NULL;
}

static bool is_called(struct setting s, RedisModuleString *text) {
    const char *old_name = old_name_of(s);
    return args_is_word(text, name_of(s)) || (old_name && args_is_word(text, old_name));
}

static bool find_setting(RedisModuleString *name, struct setting *s) {
    for (size_t i = 0; i < SETTINGS; i++) {
        *s = setting_at(i);
        if (is_called(*s, name)) return true;
    }
    return false;
}

static bool read_setting(struct setting s, RedisModuleString *value) {
    if (s.number) return read_number(s.number, value);
    return s.text ? read_text(s.text, value) : read_choice(s.choice, value);
}

/* ---- module arguments ---- */

#define WORDS_MAX 256

static void append(char words[WORDS_MAX], const char *more) {
    size_t length = strlen(words);
    snprintf(words + length, WORDS_MAX - length, "%s%s", length ? ", " : "", more);
}

static void say_what_it_must_be(struct setting s, char words[WORDS_MAX]) {
    char list[WORDS_MAX] = "";
    for (int i = 0; s.choice && i < s.choice->n; i++)
        append(list, s.choice->words[i]);
    if (s.choice)
        snprintf(words, WORDS_MAX, "must be one of %.200s", list);
    else if (s.text)
        snprintf(words, WORDS_MAX, "%s", s.text->must_be);
    else if (s.number->flags & REDISMODULE_CONFIG_MEMORY)
        snprintf(words, WORDS_MAX, "must be a number of bytes, as in 1073741824 or 1gb");
    else
        snprintf(words, WORDS_MAX, "must be a whole number from %lld to %lld",
                 s.number->min, s.number->max);
}

static void refuse_name(RedisModuleCtx *ctx, RedisModuleString *name) {
    char shown[SHOWN_MAX + 1], list[WORDS_MAX] = "";
    for (size_t i = 0; i < SETTINGS; i++)
        append(list, name_of(setting_at(i)));
    RedisModule_Log(ctx, "warning", "Unknown module argument '%s'. There are: %s.",
                    server_printable(name, shown), list);
}

/* value may be NULL: it is not there. */
static void refuse_value(RedisModuleCtx *ctx, struct setting s, RedisModuleString *value) {
    char shown[SHOWN_MAX + 1], words[WORDS_MAX];
    say_what_it_must_be(s, words);
    if (value)
        RedisModule_Log(ctx, "warning", "Bad module argument %s '%s': it %s.", name_of(s),
                        server_printable(value, shown), words);
    else
        RedisModule_Log(ctx, "warning", "Module argument %s has no value: it %s.",
                        name_of(s), words);
}

/* The value after argv[*at], which is a setting's name: one argument, or, for a list, all
 * up to the next name. *at is then after it. To be freed; NULL if there is none. */
static RedisModuleString *take_value(RedisModuleCtx *ctx, RedisModuleString **argv,
                                     int argc, int *at, bool is_list) {
    struct setting next;
    if (++*at >= argc) return NULL;
    RedisModuleString *value = RedisModule_CreateStringFromString(ctx, argv[(*at)++]);
    for (; is_list && *at < argc && !find_setting(argv[*at], &next); ++*at) {
        size_t length;
        const char *word = RedisModule_StringPtrLen(argv[*at], &length);
        RedisModule_StringAppendBuffer(ctx, value, " ", 1);
        RedisModule_StringAppendBuffer(ctx, value, word, length);
    }
    return value;
}

static int read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int at = 0; at < argc;) {
        struct setting s;
        if (!find_setting(argv[at], &s)) return refuse_name(ctx, argv[at]), REDISMODULE_ERR;
        RedisModuleString *value =
            take_value(ctx, argv, argc, &at, s.text && s.text->is_list);
        bool good = value && read_setting(s, value);
        if (!good) refuse_value(ctx, s, value);
        if (value) RedisModule_FreeString(ctx, value);
        if (!good) return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

/* ---- CONFIG ---- */

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
