/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/reply.h"

#include <stdio.h>

#include "links/upstream.h"
#include "text.h"

/* There is no default, so that the compiler reports a refusal without words. */
static const char *words_for(enum bloom_status status) {
    switch (status) {
    case BLOOM_OK:
        break;
    case BLOOM_NO_MEMORY:
    case BLOOM_OVER_LIMIT:
    case BLOOM_TOO_BIG:
        return "ERR Insufficient memory to create filter";
    case BLOOM_BAD_ERROR_RATE:
        return "ERR error rate must be in the range (0.000000, 1.000000)";
    case BLOOM_BAD_CAPACITY:
        return "ERR capacity must be in the range [1, 1099511627776]";
    case BLOOM_RATE_TOO_SMALL:
        return "ERR error rate is too small for this capacity";
    case BLOOM_RATE_TOO_LARGE:
        return "ERR error rate is too large for this kind";
    case BLOOM_CORRUPT:
        return "ERR received bad data";
    case BLOOM_FULL:
        return "ERR non scaling filter is full";
    case BLOOM_PARTIAL:
        return "ERR filter is partially loaded";
    case BLOOM_SERVER_FULL:
        return "OOM command not allowed when used memory > 'maxmemory'.";
    case BLOOM_EXISTS:
        return "ERR item exists";
    case BLOOM_NOT_FOUND:
        return "ERR not found";
    case BLOOM_CHANGED:
        return "ERR filter has changed, start again: it never gave that iterator";
    case BLOOM_EMPTY:
        return "ERR filter is empty";
    case BLOOM_REBUILDING:
        return "ERR rebuild under way";
    case BLOOM_NO_REBUILD:
        return "ERR no such rebuild";
    case BLOOM_INTERRUPTED:
        return "ERR rebuild interrupted, start again";
    }
    return "ERR internal error";
}

int reply_error_of(RedisModuleCtx *ctx, RedisModuleString *name, const char *words) {
    if (!upstream_sent(ctx)) return RedisModule_ReplyWithError(ctx, words);
    return upstream_log(ctx, name, words);
}

int reply_refusal(RedisModuleCtx *ctx, RedisModuleString *name, enum bloom_status status) {
    return reply_error_of(ctx, name, words_for(status));
}

int reply_error(RedisModuleCtx *ctx, const char *words) {
    return reply_error_of(ctx, NULL, words);
}

int reply_wrong_arity(RedisModuleCtx *ctx) {
    if (!upstream_sent(ctx)) return RedisModule_WrongArity(ctx);
    return reply_error(ctx, "ERR wrong number of arguments");
}

/* Echoes the client's argument short and printable: Redis 6.0 would put a line feed into
 * the protocol as it is. */
int reply_option_error(RedisModuleCtx *ctx, const char *format, RedisModuleString *option) {
    char shown[TEXT_SHOWN_MAX + 1] = "...", words[4 * TEXT_SHOWN_MAX];
    if (!upstream_sent(ctx)) text_printable(option, shown);
    snprintf(words, sizeof words, format, shown);
    return reply_error(ctx, words);
}

int reply_no_form(RedisModuleCtx *ctx, const struct kind *kind, const char *command) {
    char words[128];
    snprintf(words, sizeof words, "ERR a filter of kind %s has no other form: use %s",
             kind->name, command);
    return reply_error(ctx, words);
}

int reply_bad_data(RedisModuleCtx *ctx, RedisModuleString *name, const char *why) {
    char words[160];
    snprintf(words, sizeof words, "ERR received bad data: %s", why);
    return reply_error_of(ctx, name, words);
}

int reply_ok(RedisModuleCtx *ctx) {
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

int reply_bool(RedisModuleCtx *ctx, bool yes) {
    return RedisModule_ReplyWithBool ? RedisModule_ReplyWithBool(ctx, yes)
                                     : RedisModule_ReplyWithLongLong(ctx, yes);
}

void reply_map(RedisModuleCtx *ctx, long pairs) {
    if (RedisModule_ReplyWithMap)
        RedisModule_ReplyWithMap(ctx, pairs);
    else
        RedisModule_ReplyWithArray(ctx, 2 * pairs);
}

int reply_count(RedisModuleCtx *ctx, uint64_t n) {
    return RedisModule_ReplyWithLongLong(ctx, n > INT64_MAX ? INT64_MAX : (long long)n);
}
