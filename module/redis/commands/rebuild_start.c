/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild_start.c - BF.REBUILD START, from a client or a master. */
#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "commands/args.h"
#include "commands/rebuild.h"
#include "commands/reply.h"
#include "core/codec.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/diary.h"
#include "keys/make.h"
#include "keys/memory.h"
#include "links/answer.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"

static void write_token(uint64_t token, char text[REBUILD_TOKEN_DIGITS + 1]) {
    snprintf(text, REBUILD_TOKEN_DIGITS + 1, "%016" PRIx64, token);
}

/* An interrupted rebuild makes room for another. */
static enum bloom_status may_start(const struct rebuild *r) {
    if (!r->f) return BLOOM_OK;
    if (chain_is_partial(r->f->live)) return BLOOM_PARTIAL;
    if (!r->f->next) return BLOOM_OK;
    const struct standing *s = &r->f->standing;
    bool interrupted = answer_resume(r->f, s->rebuild_token) == BLOOM_INTERRUPTED;
    return interrupted || chain_is_partial(r->f->next) ? BLOOM_OK : BLOOM_REBUILDING;
}

/* A wish for a generation like the old one, and large enough for what that holds. */
static struct wish wish_like(const struct chain *c) {
    uint64_t reserved = chain_capacity(c), present = chain_items(c);
    uint64_t capacity = reserved > present ? reserved : present;
    if (capacity > CHAIN_CAPACITY_MAX) capacity = CHAIN_CAPACITY_MAX;
    bool form = c->kind->form;
    return (struct wish){
        .kind = c->kind,
        .error = c->error,
        .capacity = (long long)capacity,
        .expansion = c->expansion,
        .asked_expansion = chain_asked_expansion(c),
        .parameter = c->parameter,
        .has_seed = form,
        .seed = {{.k0 = form ? c->secret.k0 : 0}},
        .variant = form ? c->variant : 0,
        .encoding = c->encoding,
    };
}

static uint64_t new_token(void) {
    uint64_t token = 0;
    while (token == 0)
        RedisModule_GetRandomBytes((unsigned char *)&token, sizeof token);
    return token;
}

/* Nothing has come for that number of seconds: the loader is gone. */
static bool is_idle(const struct filter *f, long long seconds) {
    return seconds > 0 && clock_steady_ms() - diary_of(f)->rebuild_heard >= 1000 * seconds;
}

static int refuse_second(const struct rebuild *r) {
    char words[160], load[64] = "no LOAD yet";
    int64_t since = r->f->standing.rebuild_start, last = diary_of(r->f)->fed_at;
    if (last)
        snprintf(load, sizeof load, "last LOAD %" PRId64 " seconds ago",
                 clock_seconds_since(last));
    snprintf(words, sizeof words,
             "ERR rebuild under way, begun %" PRId64 " seconds ago, %s: ABORT first",
             clock_seconds_since(since), load);
    return reply_error_of(r->ctx, r->name, words);
}

/* Another library builds for the sizes that it built for before: what it builds can then be
 * imported. These sizes need not follow from any numbers. */
static bool keeps_sizes(const struct rebuild *r, const struct start *s) {
    const struct chain *live = r->f ? r->f->live : NULL;
    return live && live->kind->form && !s->says_size && s->wish.kind == live->kind &&
           s->wish.variant == live->variant && s->wish.encoding == live->encoding &&
           s->wish.seed[0].k0 == live->secret.k0;
}

/* Makes the second generation, and the filter if there is none. */
static enum bloom_status make_next(struct rebuild *r, struct start *s,
                                   struct chain **next) {
    struct wish *wish = &s->wish;
    wish->state = STATE_LOADING;
    if (wish->expansion > wish->kind->expansion_max)
        wish->expansion = wish->kind->expansion_max;
    enum bloom_status status = keeps_sizes(r, s) ? make_alike(r->ctx, r->f->live, next)
                                                 : make_chain(r->ctx, wish, next);
    if (status < 0 || r->f) return status;
    status = make_filter(r->ctx, r->name, wish, &r->f);
    if (status < 0) chain_free(*next);
    return status;
}

static int start(struct rebuild *r) {
    struct start s = {.wish = r->f ? wish_like(r->f->live) : args_default_wish(r->ctx)};
    if (!args_read_start(r->ctx, r->argv, r->argc, 3, &s)) return REDISMODULE_OK;
    enum bloom_status status = may_start(r);
    if (status == BLOOM_REBUILDING && !is_idle(r->f, s.replace)) return refuse_second(r);
    if (status < 0 && status != BLOOM_REBUILDING)
        return reply_refusal(r->ctx, r->name, status);

    struct chain *next;
    bool creates = !r->f;
    status = make_next(r, &s, &next);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    char text[REBUILD_TOKEN_DIGITS + 1];
    uint64_t token = new_token();
    write_token(token, text);
    change_begin(r->f);
    rebuild_set_next(r->f, next);
    diary_of(r->f)->may_be_empty = s.may_be_empty;
    shield_start(&r->f->standing, token, RedisModule_Milliseconds(), node.era);
    replicate_start(r->ctx, r->name, text, r->f);
    change_end(r->ctx, r->name, r->f);
    if (creates) announce(r->ctx, r->name, "bf.reserve");
    announce(r->ctx, r->name, "bf.rebuild");
    return RedisModule_ReplyWithStringBuffer(r->ctx, text, REBUILD_TOKEN_DIGITS);
}

/* Follows a master's START: START token ms <header of the new generation>. */
static enum bloom_status read_started(struct rebuild *r, struct chain **next,
                                      long long *since, const char **why) {
    uint64_t follows[2];
    struct filter *f;
    size_t length;
    *next = NULL;
    *why = "there is no such filter";
    if (!r->f) return BLOOM_NOT_FOUND;
    *why = "its token or its time is invalid";
    if (rebuild_token(r->argv[3]) == 0 ||
        RedisModule_StringToLongLong(r->argv[4], since) != REDISMODULE_OK)
        return BLOOM_CORRUPT;
    const char *header = RedisModule_StringPtrLen(r->header, &length);
    enum bloom_status status =
        codec_read_header(header, length, &memory_allocator, &f, follows, why);
    if (status < 0) return status;
    status = filter_take_arrays(f);
    if (status >= 0 && chain_is_partial(f->live)) {
        *why = "the new generation is not flagged born";
        status = BLOOM_CORRUPT;
    }
    if (status < 0)
        filter_free(f);
    else
        *next = filter_release(f);
    return status;
}

static int follow_start(struct rebuild *r) {
    const char *why;
    struct chain *next;
    long long since;
    if (r->argc != 6) return rebuild_refuse_arity(r);
    enum bloom_status status = read_started(r, &next, &since, &why);
    if (status == BLOOM_NOT_FOUND) return reply_refusal(r->ctx, r->name, status);
    upstream_must_have(r->ctx, status);
    if (status < 0) upstream_end("BF.REBUILD START", why);

    change_begin(r->f);
    rebuild_set_next(r->f, next);
    shield_start(&r->f->standing, rebuild_token(r->argv[3]), since, node.era);
    replicate_as_it_came(r->ctx);
    change_end(r->ctx, r->name, r->f);
    announce(r->ctx, r->name, "bf.rebuild");
    return reply_ok(r->ctx);
}

int rebuild_start(struct rebuild *r) {
    return r->from_upstream ? follow_start(r) : start(r);
}
