/* SPDX-License-Identifier: BSD-3-Clause */
/* config_arguments.c - what follows the module's name: loadmodule bulwark.so bf-... */
#include <stdio.h>
#include <string.h>

#include "settings/config.h"
#include "settings/settings_table.h"
#include "text.h"

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
    char shown[TEXT_SHOWN_MAX + 1], list[WORDS_MAX] = "";
    for (size_t i = 0; i < SETTINGS; i++)
        append(list, settings_name(settings_at(i)));
    RedisModule_Log(ctx, "warning", "Unknown module argument '%s'. Known ones: %s.",
                    text_printable(name, shown), list);
}

/* value may be NULL: the argument has no value. */
static void refuse_value(RedisModuleCtx *ctx, struct setting s, RedisModuleString *value) {
    char shown[TEXT_SHOWN_MAX + 1], words[WORDS_MAX];
    say_what_it_must_be(s, words);
    if (value)
        RedisModule_Log(ctx, "warning", "Bad module argument %s '%s': it %s.",
                        settings_name(s), text_printable(value, shown), words);
    else
        RedisModule_Log(ctx, "warning", "Module argument %s has no value: it %s.",
                        settings_name(s), words);
}

/* The value after argv[*at], which is a setting's name: one argument or, for a list, all up
 * to the next name. *at is then after it. The caller frees the value; NULL if there is
 * none. */
static RedisModuleString *take_value(RedisModuleCtx *ctx, RedisModuleString **argv,
                                     int argc, int *at, bool is_list) {
    struct setting next;
    if (++*at >= argc) return NULL;
    RedisModuleString *value = RedisModule_CreateStringFromString(ctx, argv[(*at)++]);
    for (; is_list && *at < argc && !settings_find(argv[*at], &next); ++*at) {
        size_t length;
        const char *word = RedisModule_StringPtrLen(argv[*at], &length);
        RedisModule_StringAppendBuffer(ctx, value, " ", 1);
        RedisModule_StringAppendBuffer(ctx, value, word, length);
    }
    return value;
}

int config_read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int at = 0; at < argc;) {
        struct setting s;
        if (!settings_find(argv[at], &s))
            return refuse_name(ctx, argv[at]), REDISMODULE_ERR;
        RedisModuleString *value =
            take_value(ctx, argv, argc, &at, s.text && s.text->is_list);
        bool good = value && settings_set(s, value);
        if (!good) refuse_value(ctx, s, value);
        if (value) RedisModule_FreeString(ctx, value);
        if (!good) return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
