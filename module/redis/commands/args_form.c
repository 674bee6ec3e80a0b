/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "commands/args_line.h"
#include "commands/reply.h"
#include "core/encode.h"
#include "text.h"

/* ---- values ---- */

/* The server reads no numbers over 2^63 - 1, and seeds may be any 64 bits. */
static bool read_u64(RedisModuleString *text, uint64_t *out) {
    size_t length;
    const char *digits = RedisModule_StringPtrLen(text, &length);
    if (length == 0) return false;
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)digits[i] - '0';
        if (digit > 9 || *out > (UINT64_MAX - digit) / 10) return false;
        *out = *out * 10 + digit;
    }
    return true;
}

bool args_seed_number(struct line *l, RedisModuleString *text) {
    if (read_u64(text, &l->seed)) return true;
    return reply_error(l->ctx, "ERR bad seed"), false;
}

bool args_hashes(struct line *l, RedisModuleString *text) {
    if (read_u64(text, &l->hashes)) return true;
    return reply_error(l->ctx, "ERR bad number of hashes"), false;
}

bool args_bits(struct line *l, RedisModuleString *text) {
    if (read_u64(text, &l->bits)) return true;
    return reply_error(l->ctx, "ERR bad number of bits"), false;
}

bool args_count(struct line *l, RedisModuleString *text) {
    long long *items = &l->import->items;
    if (RedisModule_StringToLongLong(text, items) == REDISMODULE_OK && *items >= 0 &&
        *items <= (long long)CHAIN_ITEMS_MAX)
        return true;
    return reply_error(l->ctx, "ERR bad count of items"), false;
}

bool args_variant(struct line *l, RedisModuleString *text) {
    l->variant = text;
    return true;
}

bool args_like(struct line *l, RedisModuleString *text) {
    l->like = text;
    return true;
}

/* The place of the word among the words; n if it is none of them. */
static size_t place_of(RedisModuleString *text, const char *const *words, size_t n) {
    for (size_t i = 0; i < n && words[i]; i++)
        if (text_is_word(text, words[i])) return i;
    return n;
}

bool args_encode(struct line *l, RedisModuleString *text) {
    size_t place = place_of(text, encoding_names, ENCODINGS);
    if (place == ENCODINGS)
        return args_refuse_word(l, "encoding", text, encoding_names, ENCODINGS);
    l->encoding = (uint8_t)place;
    return true;
}

/* ---- what the kind can use ---- */

static const struct {
    unsigned flag, seen;
    const char *word;
} sayings[] = {
    {FORM_HASHES, BIT(HASHES), "HASHES"},
    {FORM_BITS, BIT(BITS), "BITS"},
    {FORM_SEED, BIT(SEED_NUMBER), "SEED"},
    {FORM_VARIANT, BIT(VARIANT), "VARIANT"},
};

static bool refuse_saying(const struct line *l, const char *verb, const char *word) {
    char words[128];
    snprintf(words, sizeof words, "ERR kind '%s' %s %s", l->wish->kind->name, verb, word);
    return reply_error(l->ctx, words), false;
}

static bool check_sayings(const struct line *l, unsigned needs, unsigned takes) {
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        bool seen = l->seen & sayings[i].seen;
        if (seen && !((needs | takes) & sayings[i].flag))
            return refuse_saying(l, "takes no", sayings[i].word);
        if (!seen && needs & sayings[i].flag)
            return refuse_saying(l, "needs", sayings[i].word);
    }
    if (l->seen & BIT(ENCODE) && !l->wish->kind->form)
        return refuse_saying(l, "takes no", "ENCODE");
    return true;
}

#define VARIANTS_MAX UINT8_MAX

static bool settle(struct line *l) {
    struct wish *wish = l->wish;
    const struct kind_form *form = wish->kind->form;
    if (!form) return true; /* then nothing was said */
    if (l->seen & BIT(ENCODE)) wish->encoding = l->encoding;
    if (l->seen & BIT(SEED_NUMBER)) {
        wish->has_seed = true;
        wish->seed[0] = (struct secret){.k0 = l->seed};
    }
    if (!(l->seen & BIT(VARIANT))) return true;
    size_t place = place_of(l->variant, form->variants, VARIANTS_MAX);
    if (place == VARIANTS_MAX)
        return args_refuse_word(l, "variant", l->variant, form->variants, VARIANTS_MAX);
    wish->variant = (uint8_t)place;
    return true;
}

bool args_settle_form(struct line *l) {
    const struct kind_form *form = l->wish->kind->form;
    unsigned takes = form ? (form->needs | form->takes) & FORM_SEED : 0;
    if (form && form->variants) takes |= FORM_VARIANT;
    return check_sayings(l, 0, takes) && settle(l);
}

bool args_settle_import(struct line *l) {
    const struct kind_form *form = l->wish->kind->form;
    if (!form) return reply_no_form(l->ctx, l->wish->kind, "BF.LOADCHUNK"), false;
    return check_sayings(l, form->needs, form->takes) && settle(l);
}

bool args_settle_part(struct line *l, unsigned *said) {
    const struct kind_form *form = l->wish->kind->form;
    if (!check_sayings(l, 0, form->needs | form->takes)) return false;
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (l->seen & sayings[i].seen) *said |= sayings[i].flag;
    return settle(l);
}
