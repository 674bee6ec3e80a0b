/* SPDX-License-Identifier: BSD-3-Clause */
#include "replicate.h"

#include "core/codec.h"
#include "type.h"

#define RECORD ((long long)CODEC_RECORD_ITERATOR)

void replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name,
                        const struct value *v) {
    size_t length;
    unsigned char *header = encoded_header(v, CODEC_BORN, &length);
    RedisModule_Replicate(ctx, "BF.LOADCHUNK", "slb", name, RECORD, header, length);
    RedisModule_Free(header);
}

void replicate_growth(RedisModuleCtx *ctx, RedisModuleString *name, const struct chain *c) {
    unsigned char growth[CODEC_GROWTH_LENGTH];
    codec_write_growth(c, growth);
    RedisModule_Replicate(ctx, "BF.LOADCHUNK", "slb", name, RECORD, growth, sizeof growth);
}

size_t replicate_items(RedisModuleCtx *ctx, RedisModuleString *name,
                       RedisModuleString **items, const uint8_t *added, size_t n,
                       bool as_it_is) {
    size_t changed = 0;
    for (size_t i = 0; i < n; i++)
        changed += added[i];

    if (changed == n && as_it_is) {
        if (n > 0) RedisModule_ReplicateVerbatim(ctx);
    } else if (changed == 1) {
        size_t i = 0;
        while (!added[i])
            i++;
        RedisModule_Replicate(ctx, "BF.ADD", "ss", name, items[i]);
    } else if (changed == n) {
        if (n > 0) RedisModule_Replicate(ctx, "BF.MADD", "sv", name, items, n);
    } else if (changed > 0) {
        RedisModuleString **some = RedisModule_Alloc(changed * sizeof(RedisModuleString *));
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (added[i]) some[kept++] = items[i];
        RedisModule_Replicate(ctx, "BF.MADD", "sv", name, some, kept);
        RedisModule_Free(some);
    }
    return changed;
}

void announce(RedisModuleCtx *ctx, RedisModuleString *name, const char *event) {
    RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_NotifyKeyspaceEvent(ctx, server.notification_class, event, name);
}
