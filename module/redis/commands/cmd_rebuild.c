/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_rebuild.c - BF.REBUILD: a new generation of a filter, under full traffic.
 *
 *     START    a second chain, which gets every add from here on beside the live one
 *     LOAD     what was in the database before goes into it; AT: after so many items
 *     CHECK    is a sample in it?
 *     COMMIT   it takes the live one's place, and is ready
 *     ABORT    it goes
 *
 * Who has the token may go on; after a restart or a promotion nobody may (shield.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commands/adding.h"
#include "commands/args.h"
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "commands/vouch.h"
#include "core/codec.h"
#include "keys/change.h"
#include "keys/diary.h"
#include "keys/find.h"
#include "keys/make.h"
#include "keys/memory.h"
#include "links/announce.h"
#include "links/answer.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"

#define TOKEN_DIGITS 16

/* One call of BF.REBUILD. */
struct rebuild {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc;
    RedisModuleString *name;
    struct filter *f;          /* NULL: no such key */
    RedisModuleString *header; /* of a START from a master, else NULL */
    const char *syntax;        /* of the step */
    bool from_upstream;
};

static int refuse_arity(const struct rebuild *r) {
    char words[160];
    snprintf(words, sizeof words, "ERR wrong number of arguments: BF.REBUILD key %s",
             r->syntax);
    return reply_error(r->ctx, words);
}

/* 0 for what is no token. */
static uint64_t token_of(RedisModuleString *text) {
    size_t length;
    const char *digits = RedisModule_StringPtrLen(text, &length);
    if (length != TOKEN_DIGITS || strspn(digits, "0123456789abcdef") != length) return 0;
    return strtoull(digits, NULL, 16);
}

static void write_token(uint64_t token, char text[TOKEN_DIGITS + 1]) {
    snprintf(text, TOKEN_DIGITS + 1, "%016" PRIx64, token);
}

static bool is_partial(const struct filter *f) {
    return chain_is_partial(f->live) || (f->next && chain_is_partial(f->next));
}

/* May the one with the token in argv[3] go on? What the master did goes on. */
static enum bloom_status resume(const struct rebuild *r) {
    if (!r->f) return BLOOM_NOT_FOUND;
    enum bloom_status status = answer_resume(r->f, token_of(r->argv[3]));
    if (r->from_upstream) return status == BLOOM_INTERRUPTED ? BLOOM_OK : status;
    return status >= 0 && is_partial(r->f) ? BLOOM_PARTIAL : status;
}

/* ---- START ---- */

/* A rebuild that was interrupted makes room for another. */
static enum bloom_status may_start(const struct rebuild *r) {
    if (!r->f) return BLOOM_OK;
    if (chain_is_partial(r->f->live)) return BLOOM_PARTIAL;
    if (!r->f->next) return BLOOM_OK;
    const struct standing *s = &r->f->standing;
    bool interrupted = answer_resume(r->f, s->rebuild_token) == BLOOM_INTERRUPTED;
    return interrupted || chain_is_partial(r->f->next) ? BLOOM_OK : BLOOM_REBUILDING;
}

/* Like the old generation, and large enough for what is in it. */
static struct wish wish_like(const struct chain *c) {
    uint64_t reserved = chain_capacity(c), present = chain_items(c);
    uint64_t capacity = reserved > present ? reserved : present;
    if (capacity > CHAIN_CAPACITY_MAX) capacity = CHAIN_CAPACITY_MAX;
    return (struct wish){
        .kind = c->kind,
        .error = c->error,
        .capacity = (long long)capacity,
        .expansion = c->expansion,
        .growth = chain_growth(c),
        .parameter = c->parameter,
    };
}

static void set_next(struct filter *f, struct chain *next) {
    chain_free(f->next);
    f->next = next;
    diary_next_came(f);
}

static uint64_t new_token(void) {
    uint64_t token = 0;
    while (token == 0)
        RedisModule_GetRandomBytes((unsigned char *)&token, sizeof token);
    return token;
}

/* Nothing has come for so many seconds: whoever fed it is gone. */
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

/* The second generation, and the filter if there is none. */
static enum bloom_status make_next(struct rebuild *r, struct wish *wish,
                                   struct chain **next) {
    wish->state = STATE_LOADING;
    if (wish->expansion > wish->kind->expansion_max)
        wish->expansion = wish->kind->expansion_max;
    enum bloom_status status = make_chain(r->ctx, wish, next);
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
    status = make_next(r, &s.wish, &next);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    char text[TOKEN_DIGITS + 1];
    uint64_t token = new_token();
    write_token(token, text);
    change_begin(r->f);
    set_next(r->f, next);
    diary_of(r->f)->may_be_empty = s.may_be_empty;
    shield_start(&r->f->standing, token, RedisModule_Milliseconds(), node.era);
    replicate_start(r->ctx, r->name, text, r->f);
    change_end(r->ctx, r->name, r->f);
    if (creates) announce(r->ctx, r->name, "bf.reserve");
    announce(r->ctx, r->name, "bf.rebuild");
    return RedisModule_ReplyWithStringBuffer(r->ctx, text, TOKEN_DIGITS);
}

/* The last argument of a master's START holds the secret. So may a client's: clients can
 * replay an AOF. */
static void hide_header(struct rebuild *r) {
    size_t length;
    if (r->argc < 6 || !args_is_word(r->argv[2], "START")) return;
    r->header = r->argv[5];
    const char *bytes = RedisModule_StringPtrLen(r->header, &length);
    if (r->from_upstream || codec_record_type(bytes, length) != CODEC_NONE)
        server_hide_argument(r->ctx, 5);
}

/* What a master has started: START token ms <header of the new generation>. */
static enum bloom_status read_started(struct rebuild *r, struct chain **next,
                                      long long *since, const char **why) {
    uint64_t follows[2];
    struct filter *f;
    size_t length;
    *next = NULL;
    *why = "there is no such filter";
    if (!r->f) return BLOOM_NOT_FOUND;
    *why = "its token or its time is none";
    if (token_of(r->argv[3]) == 0 ||
        RedisModule_StringToLongLong(r->argv[4], since) != REDISMODULE_OK)
        return BLOOM_CORRUPT;
    const char *header = RedisModule_StringPtrLen(r->header, &length);
    enum bloom_status status =
        codec_read_header(header, length, &memory_allocator, &f, follows, why);
    if (status < 0) return status;
    status = filter_take_arrays(f);
    if (status >= 0 && chain_is_partial(f->live)) {
        *why = "the new generation is not born";
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
    if (r->argc != 6) return refuse_arity(r);
    enum bloom_status status = read_started(r, &next, &since, &why);
    if (status == BLOOM_NOT_FOUND) return reply_refusal(r->ctx, r->name, status);
    upstream_must_have(r->ctx, status);
    if (status < 0) upstream_end("BF.REBUILD START", why);

    change_begin(r->f);
    set_next(r->f, next);
    shield_start(&r->f->standing, token_of(r->argv[3]), since, node.era);
    replicate_as_it_came(r->ctx);
    change_end(r->ctx, r->name, r->f);
    announce(r->ctx, r->name, "bf.rebuild");
    return reply_ok(r->ctx);
}

static int start_or_follow(struct rebuild *r) {
    return r->from_upstream ? follow_start(r) : start(r);
}

/* ---- LOAD, CHECK ---- */

static int refuse_count(const struct rebuild *r, uint64_t count) {
    char words[128];
    snprintf(words, sizeof words, "ERR rebuild received %" PRIu64 " of %" PRIu64 " items",
             r->f->standing.rebuild_received, count);
    return reply_error_of(r->ctx, r->name, words);
}

/* Of any sort. Not asked of the server: each has its own mind about 0x10, and a replica
 * may be another one. */
static bool is_number(RedisModuleString *text) {
    size_t length;
    char *end;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    strtod(bytes, &end);
    return end == bytes + length && strpbrk(bytes, "0123456789");
}

/* Takes AT and its number off the items. AT before anything but a number is an item. A
 * number that can't be a count, or has no items after it, is refused: taken as items they
 * would be counted. False if it replied an error. */
static bool read_at(const struct rebuild *r, struct adding *a) {
    if (a->n < 2 || !args_is_word(a->items[0], "AT") || !is_number(a->items[1]))
        return true;
    if (a->n == 2) return refuse_arity(r), false;
    a->items += 2;
    a->n -= 2;
    a->has_at = true;
    if (RedisModule_StringToLongLong(a->items[-1], &a->at) == REDISMODULE_OK &&
        a->at >= 0 && a->at <= INT64_MAX - (long long)a->n)
        return true;
    return reply_error(r->ctx, "ERR bad count of items"), false;
}

/* What was sent by now: with AT a repeat counts only what is new. */
static uint64_t received_after(const struct adding *a, uint64_t before) {
    if (!a->has_at) return a->n < UINT64_MAX - before ? before + a->n : UINT64_MAX;
    uint64_t end = (uint64_t)a->at + a->n;
    return before > end ? before : end;
}

static int feed(struct rebuild *r) {
    if (r->argc < 5) return refuse_arity(r);
    struct adding a = {.ctx = r->ctx,
                       .name = r->name,
                       .f = r->f,
                       .items = r->argv + 4,
                       .n = (size_t)(r->argc - 4),
                       .token = r->argv[3]};
    if (!read_at(r, &a)) return REDISMODULE_OK; /* It replied. */
    enum bloom_status status = resume(r);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    uint64_t *received = &r->f->standing.rebuild_received;
    if (a.has_at && (uint64_t)a.at > *received) return refuse_count(r, (uint64_t)a.at);

    a.added = RedisModule_Alloc(a.n);
    adding_run(&a);
    RedisModule_Free(a.added);
    *received = received_after(&a, *received);
    diary_of(r->f)->fed_at = RedisModule_Milliseconds();
    diary_of(r->f)->rebuild_heard = clock_steady_ms();
    reply_count(r->ctx, *received);
    adding_announce(&a);
    return REDISMODULE_OK;
}

static int check(struct rebuild *r) {
    if (r->argc < 5) return refuse_arity(r);
    enum bloom_status status = resume(r);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);

    RedisModule_ReplyWithArray(r->ctx, r->argc - 4);
    ask_each(r->ctx, r->f->next, r->argv + 4, (size_t)(r->argc - 4), NULL);
    return REDISMODULE_OK;
}

/* ---- COMMIT, ABORT ---- */

static void take_over(struct rebuild *r, const struct vow *vow) {
    change_begin(r->f);
    chain_free(filter_swap(r->f));
    diary_swapped(r->f);
    shield_commit(&r->f->standing);
    vouch_for(r->ctx, r->name, r->f, vow);
    replicate_commit(r->ctx, r->name, r->argv[3], r->f);
    change_end(r->ctx, r->name, r->f);
}

/* The master sends how many items it received, and the generation's name, which counts
 * adds that came during the rebuild. If either differs, the rebuild here is another one or
 * an older state. */
static bool is_complete(const struct rebuild *r, long long count, const struct vow *vow) {
    long long received = replicated_count(&r->f->standing);
    return r->from_upstream ? received == count && vouch_is_meant(r->f->next, vow)
                            : received >= count;
}

/* What the master has committed is not there: what is there lacks it. */
static int follow_commit_of_another(const struct rebuild *r, enum bloom_status status,
                                    long long count) {
    if (status < 0)
        reply_refusal(r->ctx, r->name, status);
    else if (replicated_count(&r->f->standing) != count)
        refuse_count(r, (uint64_t)count);
    else
        upstream_log(r->ctx, r->name, "rebuild lacks adds that the master has");
    upstream_alarm(r->ctx, r->name, r->f, "it lacks the rebuild");
    return REDISMODULE_OK;
}

/* A retry. */
static int commit_again(const struct rebuild *r) {
    if (replicate_sends_all(r->ctx, r->f))
        replicate_commit(r->ctx, r->name, r->argv[3], r->f);
    return reply_ok(r->ctx);
}

/* An empty table is more often a loader that failed. Who knows better has said so at START,
 * to this process: a restart or a promotion comes between, and then START has to say it
 * again. */
static bool lacks_items(const struct filter *f) {
    return f->standing.rebuild_received == 0 && !diary_of(f)->may_be_empty;
}

static int commit(struct rebuild *r) {
    if (r->argc < 5) return refuse_arity(r);
    long long count;
    struct vow vow;
    if (RedisModule_StringToLongLong(r->argv[4], &count) != REDISMODULE_OK || count < 0)
        return reply_error(r->ctx, "ERR bad count of items");
    if (!args_read_vow(r->ctx, r->argv, r->argc, 5, false, &vow)) return REDISMODULE_OK;

    enum bloom_status status = resume(r);
    if (status == BLOOM_NO_REBUILD &&
        shield_was_committed(&r->f->standing, r->f->next, token_of(r->argv[3])))
        return commit_again(r);
    if (status >= 0 && !r->from_upstream && lacks_items(r->f)) status = BLOOM_EMPTY;
    bool complete = status >= 0 && is_complete(r, count, &vow);
    if (!complete && r->from_upstream) return follow_commit_of_another(r, status, count);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    if (!complete) return refuse_count(r, (uint64_t)count);

    take_over(r, &vow);
    announce(r->ctx, r->name, "bf.rebuild");
    announce(r->ctx, r->name, "bf.ready");
    return reply_ok(r->ctx);
}

static int give_up(struct rebuild *r) {
    if (r->argc > 4) return refuse_arity(r);
    if (!r->f) return reply_refusal(r->ctx, r->name, BLOOM_NOT_FOUND);
    uint64_t token = r->f->standing.rebuild_token;
    if (!r->f->next || (r->argc == 4 && token_of(r->argv[3]) != token))
        return reply_refusal(r->ctx, r->name, BLOOM_NO_REBUILD);

    change_begin(r->f);
    set_next(r->f, NULL);
    shield_abort(&r->f->standing);
    replicate_as_it_came(r->ctx);
    change_end(r->ctx, r->name, r->f);
    announce(r->ctx, r->name, "bf.rebuild");
    return reply_ok(r->ctx);
}

static const struct {
    const char *word;
    int (*act)(struct rebuild *r);
    const char *syntax;
} steps[] = {
    {"START", start_or_follow,
     "START [ERROR e] [CAPACITY n] [EXPANSION n | NONSCALING] [KIND kind] [EMPTY] "
     "[REPLACE seconds]"},
    {"LOAD", feed, "LOAD token [AT n] item [item ...]"},
    {"CHECK", check, "CHECK token item [item ...]"},
    {"COMMIT", commit, "COMMIT token count [EX seconds | PXAT ms]"},
    {"ABORT", give_up, "ABORT [token]"},
};

/* BF.REBUILD key START [ERROR e] [CAPACITY n] [EXPANSION n | NONSCALING] [KIND kind]
 *                      [EMPTY] [REPLACE seconds]
 * BF.REBUILD key LOAD token [AT n] item [item ...]
 * BF.REBUILD key CHECK token item [item ...]
 * BF.REBUILD key COMMIT token count [EX seconds | PXAT ms]
 * BF.REBUILD key ABORT [token] */
int cmd_rebuild(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return reply_wrong_arity(ctx);

    struct rebuild r = {.ctx = ctx,
                        .argv = argv,
                        .argc = argc,
                        .name = argv[1],
                        .from_upstream = upstream_sent(ctx)};
    hide_header(&r);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!args_is_word(argv[2], steps[i].word)) continue;
        if (!find_to_write(ctx, argv[1], &r.f)) return REDISMODULE_OK; /* It replied. */
        r.syntax = steps[i].syntax;
        return steps[i].act(&r);
    }
    return reply_option_error(
        ctx, "ERR unknown step '%s': START, LOAD, CHECK, COMMIT or ABORT", argv[2]);
}
