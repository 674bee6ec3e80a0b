/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <string.h>

#include "answer.h"
#include "diary.h"
#include "node.h"
#include "stats.h"

void ask_block(const struct filter *f, RedisModuleString **strings, size_t n,
               uint8_t *maybe) {
    struct item items[ITEMS_BLOCK];
    if (!f) {
        memset(maybe, 0, n);
        return;
    }
    items_read(strings, n, items);
    chain_ask(f->live, items, n, maybe);
}

static const char *word_for(bool maybe, enum cause cause) {
    if (maybe) return "maybe";
    return cause == CAUSE_NONE ? "absent" : "unknown";
}

void ask_reply_words(RedisModuleCtx *ctx, struct filter *f, RedisModuleString **strings,
                     size_t n) {
    uint8_t maybe[ITEMS_BLOCK];
    size_t found = 0;
    enum cause cause = answer_cause(f);
    ask_block(f, strings, n, maybe);
    for (size_t i = 0; i < n; i++) {
        found += maybe[i];
        RedisModule_ReplyWithSimpleString(ctx, word_for(maybe[i], cause));
    }
    stats_count(&stats_counters.maybe, found);
    stats_count(&stats_counters.by_cause[cause], n - found);
    if (!f) return;
    diary_of(f)->answers.maybe += found;
    diary_of(f)->answers.by_cause[cause] += n - found;
}
