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

/* Asks for one block at most: maybe[i] = 1 if item i may be there. */
static void ask_block(const struct chain *c, RedisModuleString **strings, size_t n,
                      uint8_t *maybe) {
    struct item items[ITEMS_BLOCK];
    if (!c) {
        memset(maybe, 0, n);
        return;
    }
    items_read(strings, n, items);
    chain_ask(c, items, n, maybe);
}

bool ask_one(const struct filter *f, RedisModuleString *string) {
    uint8_t maybe;
    ask_block(live_of(f), &string, 1, &maybe);
    return maybe;
}

size_t ask_each(RedisModuleCtx *ctx, const struct chain *c, RedisModuleString **strings,
                size_t n, const char *no) {
    size_t found = 0;
    for (size_t done = 0, block; done < n; done += block) {
        uint8_t maybe[ITEMS_BLOCK];
        block = items_block(n - done);
        ask_block(c, strings + done, block, maybe);
        for (size_t i = 0; i < block; i++) {
            found += maybe[i];
            if (no)
                RedisModule_ReplyWithSimpleString(ctx, maybe[i] ? "maybe" : no);
            else
                reply_bool(ctx, maybe[i]);
        }
    }
    return found;
}

static bool may_deny(struct filter *f) {
    enum cause cause = answer_cause(f);
    return shield_denies(cause) ||
           (cause == CAUSE_MISSING && settings.missing_key == MISSING_ABSENT);
}

static void count_bools(struct filter *f, size_t n, size_t found) {
    stats_count(&stats_counters.exists_maybe, found);
    stats_count(&stats_counters.exists_no, n - found);
    if (!f) return;
    diary_of(f)->answers.exists_maybe += found;
    diary_of(f)->answers.exists_no += n - found;
}

void ask_reply_bool(RedisModuleCtx *ctx, struct filter *f, RedisModuleString *string) {
    bool maybe = !may_deny(f) || ask_one(f, string);
    count_bools(f, 1, maybe);
    reply_bool(ctx, maybe);
}

void ask_reply_bools(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n) {
    size_t found = n;
    if (may_deny(f))
        found = ask_each(ctx, live_of(f), strings, n, NULL);
    else
        for (size_t i = 0; i < n; i++)
            reply_bool(ctx, true);
    count_bools(f, n, found);
}

void ask_reply_words(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n) {
    enum cause cause = answer_cause(f);
    const char *no = cause == CAUSE_NONE ? "absent" : "unknown";
    size_t found = ask_each(ctx, live_of(f), strings, n, no);

    stats_count(&stats_counters.maybe, found);
    stats_count(&stats_counters.by_cause[cause], n - found);
    if (!f) return;
    diary_of(f)->answers.maybe += found;
    diary_of(f)->answers.by_cause[cause] += n - found;
}
