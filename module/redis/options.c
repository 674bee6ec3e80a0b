/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <ctype.h>

#include "args.h"
#include "reply.h"

static const struct {
    const char *word;
    bool has_value;
} options[] = {
    [OPTION_CAPACITY] = {"CAPACITY", true},
    [OPTION_ERROR] = {"ERROR", true},
    [OPTION_EXPANSION] = {"EXPANSION", true},
    [OPTION_KIND] = {"KIND", true},
    [OPTION_TIGHTENING] = {"TIGHTENING", true},
    [OPTION_SEED] = {"SEED", true},
    [OPTION_EX] = {"EX", true},
    [OPTION_PXAT] = {"PXAT", true},
    [OPTION_SINCE] = {"SINCE", true},
    [OPTION_OF] = {"OF", true},
    [OPTION_XX] = {"XX", false},
    [OPTION_LOADING] = {"LOADING", false},
    [OPTION_READY] = {"READY", false},
    [OPTION_EMPTY] = {"EMPTY", false},
    [OPTION_REPLACE] = {"REPLACE", true},
    [OPTION_NOCREATE] = {"NOCREATE", false},
    [OPTION_NONSCALING] = {"NONSCALING", false},
    [OPTION_ITEMS] = {"ITEMS", false},
};

_Static_assert(sizeof options / sizeof *options == OPTION_UNKNOWN, "enum option");

const struct dialect options_reserve_dialect = {
    .bad_error_rate = "ERR bad error rate",
    .bad_capacity = "ERR bad capacity",
    .bad_expansion = "ERR bad expansion",
    .no_value = "ERR option '%s' needs a value",
    .no_expansion = "ERR no expansion",
    .unknown = "ERR unknown option '%s'",
};

const struct dialect options_insert_dialect = {
    .bad_error_rate = "Bad error rate",
    .bad_capacity = "Bad capacity",
    .bad_expansion = "Bad expansion",
    .unknown = "Unknown argument received",
};

const struct dialect options_own_dialect = {
    .bad_error_rate = "ERR bad error rate",
    .bad_capacity = "ERR bad capacity",
    .bad_expansion = "ERR bad expansion",
    .no_value = "ERR option '%s' needs a value",
    .unknown = "ERR unknown option '%s'",
};

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

static enum option option_at(const struct options *in) {
    RedisModuleString *text = in->argv[in->at];
    for (enum option o = 0; o < OPTION_UNKNOWN; o++)
        if (in->known & OPTION_BIT(o) && args_is_word(text, options[o].word)) return o;
    bool letters = in->loose && in->known & OPTION_BIT(OPTION_ITEMS); /* BF.INSERT */
    enum option loose =
        letters ? by_first_letters(RedisModule_StringPtrLen(text, NULL)) : OPTION_UNKNOWN;
    return loose < OPTION_UNKNOWN && in->known & OPTION_BIT(loose) ? loose : OPTION_UNKNOWN;
}

/* The value after the option at in->at, or NULL: then the error has been replied. */
static RedisModuleString *value_of_option(struct options *in, enum option o) {
    if (in->at + 1 < in->argc) return in->argv[++in->at];
    if (o == OPTION_EXPANSION && in->dialect->no_expansion)
        reply_error(in->ctx, in->dialect->no_expansion);
    else if (in->dialect->no_value)
        reply_option_error(in->ctx, in->dialect->no_value, in->argv[in->at]);
    else
        reply_wrong_arity(in->ctx);
    return NULL;
}

static bool refuse_unknown(struct options *in) {
    if (in->loose) return true;
    reply_option_error(in->ctx, in->dialect->unknown, in->argv[in->at]);
    return false;
}

bool options_next(struct options *in, enum option *o, RedisModuleString **value) {
    *value = NULL;
    *o = option_at(in);
    if (*o == OPTION_UNKNOWN) {
        if (!refuse_unknown(in)) return false;
        in->at++;
        return true;
    }
    if (in->seen[*o] && !in->loose)
        return reply_option_error(in->ctx, "ERR option '%s' given twice", in->argv[in->at]),
               false;
    in->seen[*o] = true;

    if (options[*o].has_value && !(*value = value_of_option(in, *o))) return false;
    in->at++;
    return true;
}
