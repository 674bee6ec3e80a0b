/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/vouch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "keys/change.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"
#include "watch/arrivals.h"
#include "watch/eviction.h"
#include "watch/losses.h"

void vouch_for(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
               const struct vow *vow) {
    shield_vouch(&f->standing, vow->now, vow->lease, clock_now(), node.era);
    losses_named(name, f);
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING)
        arrivals_saw(name, f);
    else if (!upstream_sent(ctx))
        eviction_warn(ctx, name);
}

static void write_fingerprint(const struct chain *c, char text[VOUCH_FINGERPRINT_MAX]) {
    snprintf(text, VOUCH_FINGERPRINT_MAX, "%016" PRIx64 ":%" PRIu64, c->identity,
             chain_items(c));
}

void vouch_fingerprint(const struct filter *f, char text[VOUCH_FINGERPRINT_MAX]) {
    write_fingerprint(f->live, text);
}

bool vouch_is_meant(const struct chain *c, const struct vow *vow) {
    char text[VOUCH_FINGERPRINT_MAX];
    write_fingerprint(c, text);
    return !vow->of || strcmp(RedisModule_StringPtrLen(vow->of, NULL), text) == 0;
}

bool vouch_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f) {
    change_begin(f);
    bool changed = shield_alarm(&f->standing, f->next);
    if (changed || replicate_sends_all(ctx, f)) replicate_alarm(ctx, name);
    change_end(ctx, name, f);
    return changed;
}
