/* SPDX-License-Identifier: BSD-3-Clause */
#include "vouch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "change.h"
#include "clock.h"
#include "eviction.h"
#include "node.h"
#include "replicate.h"
#include "upstream.h"

void vouch_for(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
               const struct vow *vow) {
    shield_vouch(&f->standing, vow->now, vow->lease, clock_now(), node.era);
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING)
        node_saw_vouching(&f->standing);
    else if (!upstream_sent(ctx))
        eviction_warn(ctx, name);
}

void vouch_name(const struct filter *f, char name[VOUCH_NAME_MAX]) {
    snprintf(name, VOUCH_NAME_MAX, "%016" PRIx64 ":%" PRIu64, f->live->identity,
             chain_items(f->live));
}

bool vouch_is_meant(const struct filter *f, const struct vow *vow) {
    char name[VOUCH_NAME_MAX];
    vouch_name(f, name);
    return !vow->of || strcmp(RedisModule_StringPtrLen(vow->of, NULL), name) == 0;
}

bool vouch_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f) {
    change_begin(f);
    bool changed = shield_alarm(&f->standing, f->next);
    if (changed || replicate_sends_all(ctx, f)) replicate_alarm(ctx, name);
    change_end(ctx, name, f);
    return changed;
}
