/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/ask.h"

#include <string.h>

#include "commands/items.h"
#include "commands/reply.h"
#include "keys/diary.h"
#include "links/answer.h"
#include "settings/settings.h"
#include "watch/stats.h"

static const struct chain *live_of(const struct filter *f) {
    return f ? f->live : NULL;
}

/* The answers of an encoded filter: an item that can't be encoded has one of its own. */
static void mark_unfit(const uint8_t *unfit, size_t n, uint8_t *maybe) {
    for (size_t i = 0; i < n; i++)
        if (unfit[i]) maybe[i] = ITEMS_UNFIT;
}

/* Asks for one block at most: maybe[i] = 1 if item i may be there. */
static void ask_block(const struct chain *c, RedisModuleString **strings, size_t n,
                      uint8_t *maybe) {
    struct items block;
    uint8_t unfit[ITEMS_BLOCK];
    if (!c) {
        memset(maybe, 0, n);
        return;
    }
    items_read(c, strings, n, &block, unfit);
    chain_ask(c, block.item, n, maybe);
    items_done(&block);
    if (c->encoding != ENCODING_RAW) mark_unfit(unfit, n, maybe);
}

bool ask_one(const struct filter *f, RedisModuleString *string) {
    uint8_t maybe;
    ask_block(live_of(f), &string, 1, &maybe);
    return maybe;
}

bool ask_can(RedisModuleCtx *ctx, const struct filter *f, RedisModuleString *string) {
    const struct chain *c = live_of(f);
    if (items_fit(c, NULL, string) && items_have_room(c, NULL, string)) return true;
    items_refuse(ctx, c, NULL, string);
    return false;
}

/* Counts and replies an answer. */
static void reply_answer(RedisModuleCtx *ctx, const struct chain *c,
                         RedisModuleString *string, uint8_t maybe, const char *no,
                         struct asked *asked) {
    if (maybe == ITEMS_UNFIT) {
        items_refuse(ctx, c, NULL, string);
        return;
    }
    asked->n++;
    asked->found += maybe;
    if (no)
        RedisModule_ReplyWithSimpleString(ctx, maybe ? "maybe" : no);
    else
        reply_bool(ctx, maybe);
}

struct asked ask_each(RedisModuleCtx *ctx, const struct chain *c,
                      RedisModuleString **strings, size_t n, const char *no) {
    struct asked asked = {0, 0};
    for (size_t done = 0, block; done < n; done += block) {
        uint8_t maybe[ITEMS_BLOCK];
        block = items_block(c, NULL, strings + done, n - done);
        ask_block(c, strings + done, block, maybe);
        for (size_t i = 0; i < block; i++)
            reply_answer(ctx, c, strings[done + i], maybe[i], no, &asked);
    }
    return asked;
}

/* Replies 1 for each that can be encoded, without asking. */
static struct asked deny_none(RedisModuleCtx *ctx, const struct chain *c,
                              RedisModuleString **strings, size_t n) {
    struct asked asked = {0, 0};
    for (size_t i = 0; i < n; i++) {
        uint8_t maybe = items_fit(c, NULL, strings[i]) ? 1 : ITEMS_UNFIT;
        reply_answer(ctx, c, strings[i], maybe, NULL, &asked);
    }
    return asked;
}

static bool may_deny(struct filter *f) {
    enum cause cause = answer_cause(f);
    return shield_denies(cause) ||
           (cause == CAUSE_MISSING && settings.missing_key == MISSING_ABSENT);
}

static void count_bools(struct filter *f, struct asked asked) {
    stats_count(&stats_counters.exists_maybe, asked.found);
    stats_count(&stats_counters.exists_no, asked.n - asked.found);
    if (!f) return;
    diary_of(f)->answers.exists_maybe += asked.found;
    diary_of(f)->answers.exists_no += asked.n - asked.found;
}

void ask_reply_bool(RedisModuleCtx *ctx, struct filter *f, RedisModuleString *string) {
    if (!ask_can(ctx, f, string)) return; /* It replied. */
    bool maybe = !may_deny(f) || ask_one(f, string);
    count_bools(f, (struct asked){1, maybe});
    reply_bool(ctx, maybe);
}

void ask_reply_bools(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n) {
    const struct chain *c = live_of(f);
    count_bools(f, may_deny(f) ? ask_each(ctx, c, strings, n, NULL)
                               : deny_none(ctx, c, strings, n));
}

void ask_reply_words(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n) {
    enum cause cause = answer_cause(f);
    const char *no = cause == CAUSE_NONE ? "absent" : "unknown";
    struct asked asked = ask_each(ctx, live_of(f), strings, n, no);

    stats_count(&stats_counters.maybe, asked.found);
    stats_count(&stats_counters.by_cause[cause], asked.n - asked.found);
    if (!f) return;
    diary_of(f)->answers.maybe += asked.found;
    diary_of(f)->answers.by_cause[cause] += asked.n - asked.found;
}
