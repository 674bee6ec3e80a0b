/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <string.h>

#include "node.h"
#include "stats.h"

void ask(const struct value *v, RedisModuleString **strings, size_t n, uint8_t *maybe) {
    struct item items[ITEMS_BLOCK];
    if (!v) {
        memset(maybe, 0, n);
        return;
    }
    read_items(strings, n, items);
    chain_ask(v->live, items, n, maybe);
}

static const char *word_for(bool maybe, enum cause cause) {
    if (maybe) return "maybe";
    return cause == CAUSE_NONE ? "absent" : "unknown";
}

void reply_words(RedisModuleCtx *ctx, struct value *v, RedisModuleString **strings,
                 size_t n) {
    uint8_t maybe[ITEMS_BLOCK];
    size_t found = 0;
    enum cause cause = why_unknown(v);
    ask(v, strings, n, maybe);
    for (size_t i = 0; i < n; i++) {
        found += maybe[i];
        RedisModule_ReplyWithSimpleString(ctx, word_for(maybe[i], cause));
    }
    count(&counters.maybe, found);
    count(&counters.by_cause[cause], n - found);
    if (!v) return;
    v->notes.answers.maybe += found;
    v->notes.answers.by_cause[cause] += n - found;
}
