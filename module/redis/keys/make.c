/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/make.h"

#include <string.h>

#include "clock.h"
#include "commands/advice.h"
#include "core/kind.h"
#include "core/union.h"
#include "keys/change.h"
#include "keys/memory.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"
#include "text.h"
#include "watch/stats.h"

/* Adds the next layer, if it can be sized and there is room for it. */
static enum bloom_status add_layer(RedisModuleCtx *ctx, struct chain *c,
                                   uint64_t capacity) {
    struct layer plan;
    enum bloom_status status = chain_plan(c, capacity, &plan);
    if (status < 0) return status;
    if (!upstream_sent(ctx))
        status = memory_room(ctx, chain_bytes(c) + plan.bytes, plan.bytes);
    if (status >= 0) {
        status = chain_grow(c, &plan);
        upstream_must_have(ctx, status);
        if (status == BLOOM_NO_MEMORY) memory_tell_shortage(plan.bytes);
    }
    return status;
}

/* All random fields are filled in; the kind clears those that it doesn't have. A library's
 * seed is not random: it is 0 unless it was given. */
static struct chain_spec spec_of(const struct wish *wish) {
    struct {
        struct secret seed[2];
        uint64_t identity;
    } random;
    RedisModule_GetRandomBytes((unsigned char *)&random, sizeof random);
    if (wish->kind->form) memset(random.seed, 0, sizeof random.seed);
    const struct secret *seed = wish->has_seed ? wish->seed : random.seed;
    struct chain_spec spec = {
        .kind = wish->kind,
        .error = wish->error,
        .expansion = (uint32_t)wish->expansion,
        .asked_expansion = (uint32_t)wish->asked_expansion,
        .secret = seed[0],
        .secret2 = seed[1],
        .identity = random.identity,
        .parameter = wish->parameter,
        .variant = wish->variant,
        .encoding = wish->encoding,
    };
    wish->kind->complete(&spec);
    return spec;
}

enum bloom_status make_chain(RedisModuleCtx *ctx, const struct wish *wish,
                             struct chain **c) {
    struct chain_spec spec = spec_of(wish);
    enum bloom_status status = chain_new(&spec, &memory_allocator, c);
    upstream_must_have(ctx, status);
    if (status < 0) return status;
    status = add_layer(ctx, *c, (uint64_t)wish->capacity);
    if (status >= 0) return status;
    chain_free(*c);
    *c = NULL;
    return status;
}

enum bloom_status make_alike(RedisModuleCtx *ctx, const struct chain *like,
                             struct chain **c) {
    uint64_t identity, bytes = chain_bytes(like);
    enum bloom_status status = memory_room(ctx, bytes, bytes);
    *c = NULL;
    if (status < 0) return status;
    RedisModule_GetRandomBytes((unsigned char *)&identity, sizeof identity);
    status = union_alike(like, identity, c);
    if (status == BLOOM_NO_MEMORY) memory_tell_shortage(bytes);
    return status;
}

enum bloom_status make_filter_of(RedisModuleCtx *ctx, RedisModuleString *name,
                                 struct chain *c, enum state state, bool filled,
                                 struct filter **f) {
    *f = filter_new(c);
    if (!*f) {
        chain_free(c);
        upstream_must_have(ctx, BLOOM_NO_MEMORY);
        return BLOOM_NO_MEMORY;
    }
    struct moment now = clock_now();
    (*f)->standing.state = (uint8_t)state;
    if (state == STATE_READY) shield_vouch(&(*f)->standing, now.wall, 0, now, node.era);
    change_put(ctx, name, *f);
    (filled ? replicate_filled : replicate_creation)(ctx, name, *f);
    return BLOOM_OK;
}

enum bloom_status make_filter(RedisModuleCtx *ctx, RedisModuleString *name,
                              const struct wish *wish, struct filter **f) {
    struct chain *c;
    *f = NULL;
    enum bloom_status status = make_chain(ctx, wish, &c);
    return status < 0 ? status : make_filter_of(ctx, name, c, wish->state, false, f);
}

/* Growth is logged from MANY_LAYERS layers on: for each layer up to ALL_TOLD_TO, then for
 * each power of two, since a filter with EXPANSION 1 makes one layer after another. */
#define MANY_LAYERS   3
#define ALL_TOLD_TO   16
#define TOLD_A_SECOND 10

static void tell_of_growth(RedisModuleCtx *ctx, RedisModuleString *name,
                           const struct filter *f, const struct chain *c) {
    static struct pace pace;
    char shown[TEXT_SHOWN_MAX + 1];
    uint32_t n = c->nlayers;
    if (n < MANY_LAYERS || (n > ALL_TOLD_TO && (n & (n - 1)) != 0)) return;
    if (upstream_sent(ctx) || !clock_allows(&pace, TOLD_A_SECOND, 1000)) return;
    RedisModule_Log(ctx, "notice",
                    "The %sfilter %s has grown to %u layers, with %llu items: a question "
                    "looks at each layer, and they take more memory than a single one. "
                    "Reserve %llu or more next time.",
                    c == f->next ? "new generation of the " : "",
                    text_printable(name, shown), n, (unsigned long long)chain_items(c),
                    (unsigned long long)advice_round(chain_capacity(c)));
}

enum bloom_status make_layer(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
                             struct chain *c) {
    change_begin(f);
    enum bloom_status status = add_layer(ctx, c, 0);
    if (status >= 0) {
        stats_count(&stats_counters.growths, 1);
        replicate_growth(ctx, name, f, c);
        tell_of_growth(ctx, name, f, c);
    }
    change_end(ctx, name, f);
    return status;
}
