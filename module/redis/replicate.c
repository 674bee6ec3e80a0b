/* SPDX-License-Identifier: BSD-3-Clause */
#include "replicate.h"

#include "args.h"
#include "core/codec.h"
#include "node.h"
#include "type.h"
#include "vouch.h"

#define RECORD ((long long)CODEC_RECORD_ITERATOR)

void replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name,
                        const struct filter *f) {
    node_tell_promotion(ctx);
    size_t length;
    unsigned char *header = type_header(f, CODEC_BORN, &length);
    RedisModule_Replicate(ctx, "BF.LOADCHUNK", "slb", name, RECORD, header, length);
    RedisModule_Free(header);
}

void replicate_growth(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                      const struct chain *c) {
    node_tell_promotion(ctx);
    unsigned char growth[CODEC_GROWTH_LENGTH];
    codec_write_growth(c, c == f->next ? CODEC_NEXT : CODEC_LIVE, growth);
    RedisModule_Replicate(ctx, "BF.LOADCHUNK", "slb", name, RECORD, growth, sizeof growth);
}

static void replicate_some(RedisModuleCtx *ctx, RedisModuleString *name,
                           RedisModuleString **items, const uint8_t *changed, size_t n,
                           size_t nchanged) {
    RedisModuleString **some = RedisModule_Alloc(nchanged * sizeof *some);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (changed[i]) some[kept++] = items[i];
    RedisModule_Replicate(ctx, kept == 1 ? "BF.ADD" : "BF.MADD", "sv", name, some, kept);
    RedisModule_Free(some);
}

size_t replicate_items(RedisModuleCtx *ctx, RedisModuleString *name,
                       RedisModuleString **items, const uint8_t *changed, size_t n,
                       bool all, bool as_it_is) {
    size_t nchanged = 0;
    for (size_t i = 0; i < n; i++)
        nchanged += changed[i];

    if (n == 0 || (nchanged == 0 && !all)) return nchanged;
    if (nchanged < n && !all)
        replicate_some(ctx, name, items, changed, n, nchanged);
    else if (as_it_is)
        RedisModule_ReplicateVerbatim(ctx);
    else
        RedisModule_Replicate(ctx, n == 1 ? "BF.ADD" : "BF.MADD", "sv", name, items, n);
    return nchanged;
}

/* Of a part that has no AT, an item "AT" goes alone: with what follows it would be one. */
void replicate_load(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleString *token,
                    long long at, RedisModuleString **items, size_t n, bool as_it_is) {
    if (as_it_is) {
        RedisModule_ReplicateVerbatim(ctx);
    } else if (at != REPLICATE_NO_AT) {
        RedisModule_Replicate(ctx, "BF.REBUILD", "scsclv", name, "LOAD", token, "AT", at,
                              items, n);
    } else {
        for (; n > 1 && args_is_word(*items, "AT"); items++, n--)
            RedisModule_Replicate(ctx, "BF.REBUILD", "scss", name, "LOAD", token, *items);
        RedisModule_Replicate(ctx, "BF.REBUILD", "scsv", name, "LOAD", token, items, n);
    }
}

void replicate_ready(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f) {
    long long since = f->standing.vouched_at, lease = f->standing.lease;
    char of[VOUCH_NAME_MAX];
    vouch_name(f, of);
    node_tell_promotion(ctx);
    if (lease)
        RedisModule_Replicate(ctx, "BF.READY", "sclclcc", name, "PXAT", lease, "SINCE",
                              since, "OF", of);
    else
        RedisModule_Replicate(ctx, "BF.READY", "sclcc", name, "SINCE", since, "OF", of);
}

void replicate_commit(RedisModuleCtx *ctx, RedisModuleString *name,
                      RedisModuleString *token, const struct filter *f) {
    const struct standing *s = &f->standing;
    char of[VOUCH_NAME_MAX];
    vouch_name(f, of);
    node_tell_promotion(ctx);
    long long since = s->vouched_at, lease = s->lease;
    long long count = replicated_count(s);
    if (lease)
        RedisModule_Replicate(ctx, "BF.REBUILD", "scslclclcc", name, "COMMIT", token, count,
                              "PXAT", lease, "SINCE", since, "OF", of);
    else
        RedisModule_Replicate(ctx, "BF.REBUILD", "scslclcc", name, "COMMIT", token, count,
                              "SINCE", since, "OF", of);
}

void replicate_start(RedisModuleCtx *ctx, RedisModuleString *name, const char *token,
                     const struct filter *f) {
    node_tell_promotion(ctx);
    struct filter next = {.live = f->next};
    size_t length;
    unsigned char *header = type_header(&next, CODEC_BORN, &length);
    RedisModule_Replicate(ctx, "BF.REBUILD", "scclb", name, "START", token,
                          (long long)f->standing.rebuild_start, header, length);
    RedisModule_Free(header);
}
