/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings/settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/chain.h"
#include "core/shield.h"
#include "settings/settings_table.h"
#include "text.h"

/* settings_start() sets the text settings from their table. */
struct settings settings = {
    .initial_size = 100,
    .expansion_factor = 2,
    .kind = &kind_lines,
    .max_filter_bytes = 0,
    .missing_key = MISSING_ABSENT,
};

/* ---- whole numbers ---- */

const struct number settings_numbers[SETTINGS_NUMBERS] = {
    {"bf-initial-size", "INITIAL_SIZE", &settings.initial_size, 1, CHAIN_CAPACITY_MAX,
     REDISMODULE_CONFIG_DEFAULT},
    {"bf-expansion-factor", NULL, &settings.expansion_factor, 0, CHAIN_EXPANSION_MAX,
     REDISMODULE_CONFIG_DEFAULT},
    {"bf-max-filter-bytes", NULL, &settings.max_filter_bytes, 0, LLONG_MAX,
     REDISMODULE_CONFIG_MEMORY},
    {"bf-max-lag", NULL, &settings.max_lag, 0, INT32_MAX, REDISMODULE_CONFIG_DEFAULT},
};

/* Reads a size as the server does in its own settings: k is 1000, kb is 1024. */
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
    *n->value = value;
    return true;
}

/* ---- texts ---- */

/* The server has no settings that are fractions, so this is a text. */
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

struct text settings_texts[SETTINGS_TEXTS] = {
    {"bf-error-rate", "ERROR_RATE", "0.01", take_rate, "must be a number between 0 and 1",
     false, NULL},
    {"bf-trust", NULL, "", take_trust,
     "must be a list of the words restart, failover, replica and restore", true, NULL},
};

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

/* ---- choices ---- */

static const char *kind_words[KINDS]; /* their names, in their order: settings_start */

const struct kind *settings_kind(RedisModuleString *name) {
    for (size_t i = 0; i < KINDS; i++)
        if (text_is_word(name, kinds[i]->name)) return kinds[i];
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
        RedisModule_Log(server.ctx, "warning", "bf-bypass is %s.",
                        place ? "on: nothing is denied here"
                              : "off: filters may answer \"absent\" again");
    settings.bypass = place;
}

const struct choice settings_choices[SETTINGS_CHOICES] = {
    {"bf-kind", kind_words, KINDS, get_kind, set_kind},
    {"bf-missing-key", missing_words, 3, get_missing, set_missing},
    {"bf-bypass", bypass_words, 2, get_bypass, set_bypass},
};

static bool read_choice(const struct choice *c, RedisModuleString *word) {
    for (int place = 0; place < c->n; place++)
        if (text_is_word(word, c->words[place])) return c->set(place), true;
    return false;
}

/* ---- all of them ---- */

struct setting settings_at(size_t i) {
    if (i < SETTINGS_NUMBERS) return (struct setting){.number = &settings_numbers[i]};
    if (i < SETTINGS_NUMBERS + SETTINGS_TEXTS)
        return (struct setting){.text = &settings_texts[i - SETTINGS_NUMBERS]};
    return (struct setting){.choice =
                                &settings_choices[i - SETTINGS_NUMBERS - SETTINGS_TEXTS]};
}

const char *settings_name(struct setting s) {
    if (s.number) return s.number->name;
    return s.text ? s.text->name : s.choice->name;
}

static const char *old_name_of(struct setting s) {
    if (s.number) return s.number->old_name;
    return s.text ? s.text->old_name : NULL;
}

static bool is_called(struct setting s, RedisModuleString *text) {
    const char *old_name = old_name_of(s);
    return text_is_word(text, settings_name(s)) ||
           (old_name && text_is_word(text, old_name));
}

bool settings_find(RedisModuleString *name, struct setting *s) {
    for (size_t i = 0; i < SETTINGS; i++) {
        *s = settings_at(i);
        if (is_called(*s, name)) return true;
    }
    return false;
}

/* What follows a zero byte would be shown, or not, but never read. */
static bool has_zero(RedisModuleString *text) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    return memchr(bytes, 0, length);
}

bool settings_set(struct setting s, RedisModuleString *value) {
    if (has_zero(value)) return false;
    if (s.number) return read_number(s.number, value);
    return s.text ? read_text(s.text, value) : read_choice(s.choice, value);
}

void settings_start(void) {
    for (size_t i = 0; i < KINDS; i++)
        kind_words[i] = kinds[i]->name;
    for (size_t i = 0; i < SETTINGS_TEXTS; i++)
        start_text(&settings_texts[i]);
}
