/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "commands/args_line.h"
#include "commands/reply.h"
#include "core/chain.h"
#include "core/kinds/valkeybloom/valkeybloom.h"
#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "settings/settings.h"
#include "text.h"

bool args_error_rate(struct line *l, RedisModuleString *text) {
    if (RedisModule_StringToDouble(text, &l->wish->error) != REDISMODULE_OK)
        return reply_error(l->ctx, l->dialect->bad_error_rate), false;
    if (!(l->wish->error > 0 && l->wish->error < 1))
        return reply_refusal(l->ctx, l->argv[1], BLOOM_BAD_ERROR_RATE), false;
    return true;
}

bool args_capacity(struct line *l, RedisModuleString *text) {
    long long *capacity = &l->wish->capacity;
    if (RedisModule_StringToLongLong(text, capacity) != REDISMODULE_OK)
        return reply_error(l->ctx, l->dialect->bad_capacity), false;
    if (*capacity < 1 || *capacity > (long long)CHAIN_CAPACITY_MAX)
        return reply_refusal(l->ctx, l->argv[1], BLOOM_BAD_CAPACITY), false;
    return true;
}

bool args_expansion(struct line *l, RedisModuleString *text) {
    long long *expansion = &l->wish->expansion;
    if (RedisModule_StringToLongLong(text, expansion) != REDISMODULE_OK)
        return reply_error(l->ctx, l->dialect->bad_expansion), false;
    /* Other masters may have had other limits. */
    if (*expansion < 0 || *expansion > (l->loose ? UINT32_MAX : CHAIN_EXPANSION_MAX))
        return reply_error(l->ctx, "ERR expansion must be in the range [0, 32768]"), false;
    l->wish->asked_expansion = *expansion;
    return true;
}

bool args_refuse_word(const struct line *l, const char *what, RedisModuleString *text,
                      const char *const *words, size_t n) {
    char reply[256];
    int length = snprintf(reply, sizeof reply, "ERR unknown %s '%%s': ", what);
    for (size_t i = 0; i < n && words[i]; i++)
        length += snprintf(reply + length, sizeof reply - (size_t)length, "%s%s",
                           i > 0 ? ", " : "", words[i]);
    return reply_option_error(l->ctx, reply, text), false;
}

static bool refuse_kind(const struct line *l, RedisModuleString *text) {
    const char *names[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i]->name;
    return args_refuse_word(l, "kind", text, names, KINDS);
}

bool args_kind_of(struct line *l, RedisModuleString *text) {
    l->wish->kind = settings_kind(text);
    if (!l->wish->kind) return refuse_kind(l, text);
    return true;
}

/* What the wish has of another kind doesn't fit this one. A filter that could not grow,
 * whatever was asked for, tells nothing about the growth of the next. */
static void forget_kind(const struct line *l) {
    struct wish *wish = l->wish;
    if (wish->kind->exceeds && !(l->seen & BIT(EXPANSION)))
        wish->expansion = wish->asked_expansion = settings.expansion_factor;
    wish->parameter = 0;
    wish->variant = 0;
    wish->encoding = 0;
    wish->has_seed = false;
}

bool args_kind(struct line *l, RedisModuleString *text) {
    const struct kind *kind = settings_kind(text);
    if (!kind) return refuse_kind(l, text);
    if (kind != l->wish->kind) forget_kind(l);
    l->wish->kind = kind;
    return true;
}

/* Only valkey-bloom has these two options, so the filter is of its kind. Without a seed the
 * filter would differ on every replica. */
static void wish_for_valkeybloom(struct line *l) {
    l->wish->kind = &kind_valkeybloom;
    if (l->wish->has_seed) return;
    memcpy(l->wish->seed, valkeybloom_fixed_seed, sizeof l->wish->seed);
    l->wish->has_seed = true;
}

bool args_tightening(struct line *l, RedisModuleString *text) {
    double *ratio = &l->wish->parameter;
    if (RedisModule_StringToDouble(text, ratio) != REDISMODULE_OK ||
        !(*ratio > 0 && *ratio < 1))
        return reply_error(l->ctx, "ERR bad tightening ratio"), false;
    wish_for_valkeybloom(l);
    return true;
}

bool args_seed(struct line *l, RedisModuleString *text) {
    size_t length;
    const char *seed = RedisModule_StringPtrLen(text, &length);
    if (length != VALKEYBLOOM_SEED_LENGTH)
        return reply_error(l->ctx, "ERR invalid seed"), false;
    wish_for_valkeybloom(l);
    valkeybloom_read_seed((const unsigned char *)seed, &l->wish->seed[0],
                          &l->wish->seed[1]);
    server_hide_argument(l->ctx, l->at - 1); /* both have been passed */
    return true;
}

static bool read_time(struct line *l, RedisModuleString *text, int64_t *ms) {
    long long time;
    if (RedisModule_StringToLongLong(text, &time) != REDISMODULE_OK)
        return reply_error(l->ctx, "ERR value is not an integer or out of range"), false;
    if (time <= 0) return reply_error(l->ctx, "ERR invalid lease time"), false;
    *ms = time;
    return true;
}

bool args_seconds(struct line *l, RedisModuleString *text) {
    int64_t seconds;
    if (!read_time(l, text, &seconds)) return false;
    if (seconds > (INT64_MAX - l->vow->now) / 1000)
        return reply_error(l->ctx, "ERR invalid lease time"), false;
    l->vow->lease = l->vow->now + 1000 * seconds;
    return true;
}

bool args_of(struct line *l, RedisModuleString *text) {
    l->vow->of = text;
    return true;
}

bool args_until(struct line *l, RedisModuleString *text) {
    return read_time(l, text, &l->vow->lease);
}

bool args_since(struct line *l, RedisModuleString *text) {
    return read_time(l, text, &l->vow->now);
}

bool args_idle(struct line *l, RedisModuleString *text) {
    long long *seconds = &l->start->replace;
    if (RedisModule_StringToLongLong(text, seconds) != REDISMODULE_OK)
        return reply_error(l->ctx, "ERR value is not an integer or out of range"), false;
    if (*seconds < 1 || *seconds > INT32_MAX)
        return reply_error(l->ctx, "ERR REPLACE takes seconds, from 1 on"), false;
    return true;
}
