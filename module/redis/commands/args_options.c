/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stddef.h>

#include "commands/args_line.h"
#include "commands/reply.h"
#include "text.h"

static const struct {
    const char *word;
    bool (*read)(struct line *l, RedisModuleString *value); /* NULL: it has no value */
} options[] = {
    [OPTION_CAPACITY] = {"CAPACITY", args_capacity},
    [OPTION_ERROR] = {"ERROR", args_error_rate},
    [OPTION_EXPANSION] = {"EXPANSION", args_expansion},
    [OPTION_KIND] = {"KIND", args_kind},
    [OPTION_TIGHTENING] = {"TIGHTENING", args_tightening},
    [OPTION_SEED] = {"SEED", args_seed},
    [OPTION_SEED_NUMBER] = {"SEED", args_seed_number},
    [OPTION_HASHES] = {"HASHES", args_hashes},
    [OPTION_BITS] = {"BITS", args_bits},
    [OPTION_VARIANT] = {"VARIANT", args_variant},
    [OPTION_ENCODE] = {"ENCODE", args_encode},
    [OPTION_LIKE] = {"LIKE", args_like},
    [OPTION_EX] = {"EX", args_seconds},
    [OPTION_PXAT] = {"PXAT", args_until},
    [OPTION_SINCE] = {"SINCE", args_since},
    [OPTION_OF] = {"OF", args_of},
    [OPTION_XX] = {"XX", NULL},
    [OPTION_LOADING] = {"LOADING", NULL},
    [OPTION_READY] = {"READY", NULL},
    [OPTION_EMPTY] = {"EMPTY", NULL},
    [OPTION_REPLACE] = {"REPLACE", args_idle},
    [OPTION_NOCREATE] = {"NOCREATE", NULL},
    [OPTION_NONSCALING] = {"NONSCALING", NULL},
    [OPTION_COUNT] = {"ITEMS", args_count},
    [OPTION_PROVE] = {"PROVE", NULL},
    [OPTION_ITEMS] = {"ITEMS", NULL},
};

_Static_assert(sizeof options / sizeof *options == OPTION_UNKNOWN, "enum option");

/* Tells the options of BF.INSERT apart as RedisBloom does. */
static enum option by_first_letters(const char *text) {
    switch (tolower((unsigned char)text[0])) {
    case 'i':
        return OPTION_ITEMS;
    case 'c':
        return OPTION_CAPACITY;
    case 'e':
        return tolower((unsigned char)text[1]) == 'r' ? OPTION_ERROR : OPTION_EXPANSION;
    case 'n':
        return text[1] && tolower((unsigned char)text[2]) == 'c' ? OPTION_NOCREATE
                                                                 : OPTION_NONSCALING;
    default:
        return OPTION_UNKNOWN;
    }
}

static enum option option_of(const struct line *l, RedisModuleString *text) {
    for (enum option o = 0; o < OPTION_UNKNOWN; o++)
        if (l->known & 1u << o && text_is_word(text, options[o].word)) return o;
    if (!l->loose || !(l->known & BIT(ITEMS))) return OPTION_UNKNOWN;
    return by_first_letters(RedisModule_StringPtrLen(text, NULL));
}

static bool refuse_without_value(const struct line *l, enum option o,
                                 RedisModuleString *text) {
    if (o == OPTION_EXPANSION && l->dialect->no_expansion)
        reply_error(l->ctx, l->dialect->no_expansion);
    else if (l->dialect->no_value)
        reply_option_error(l->ctx, l->dialect->no_value, text);
    else
        reply_wrong_arity(l->ctx);
    return false;
}

/* Reads the option at l->at, and its value. */
static bool read_option(struct line *l) {
    RedisModuleString *text = l->argv[l->at++];
    enum option o = option_of(l, text);
    if (o == OPTION_UNKNOWN) {
        if (!l->loose) reply_option_error(l->ctx, l->dialect->unknown, text);
        return l->loose;
    }
    if (l->seen & 1u << o && !l->loose)
        return reply_option_error(l->ctx, "ERR option '%s' given twice", text), false;
    l->seen |= 1u << o;
    if (!options[o].read) return true;
    if (l->at == l->argc) return refuse_without_value(l, o, text);
    l->at++;
    return options[o].read(l, l->argv[l->at - 1]);
}

bool args_options(struct line *l) {
    while (l->at < l->argc && !(l->seen & LAST_OPTIONS))
        if (!read_option(l)) return false;
    return true;
}
