/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_info_full.c - BF.INFO key FULL: everything that is known about a filter, except the
 * secret and the token of a rebuild. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "commands/advice.h"
#include "commands/cmd_info.h"
#include "commands/reply.h"
#include "core/encode.h"
#include "core/estimate.h"
#include "keys/diary.h"
#include "links/answer.h"
#include "links/node.h"
#include "watch/stats.h"

static void reply_name(RedisModuleCtx *ctx, const char *name) {
    RedisModule_ReplyWithSimpleString(ctx, name);
}

static void field_word(RedisModuleCtx *ctx, const char *name, const char *word) {
    reply_name(ctx, name);
    reply_name(ctx, word);
}

static void field_number(RedisModuleCtx *ctx, const char *name, uint64_t n) {
    reply_name(ctx, name);
    reply_count(ctx, n);
}

/* In RESP2 the rate is text for people, with 4 digits. Large numbers are whole, not
 * 1.235e+05. */
static void field_rate(RedisModuleCtx *ctx, const char *name, double rate) {
    char text[32];
    reply_name(ctx, name);
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3) {
        RedisModule_ReplyWithDouble(ctx, rate);
        return;
    }
    snprintf(text, sizeof text, rate >= 1000 ? "%.0f" : "%.4g", rate);
    RedisModule_ReplyWithStringBuffer(ctx, text, strlen(text));
}

static void field_nil(RedisModuleCtx *ctx, const char *name) {
    reply_name(ctx, name);
    RedisModule_ReplyWithNull(ctx);
}

/* Replies nil for 0, which stands for never. */
static void field_time(RedisModuleCtx *ctx, const char *name, int64_t ms) {
    if (ms == 0) {
        field_nil(ctx, name);
        return;
    }
    reply_name(ctx, name);
    RedisModule_ReplyWithLongLong(ctx, ms);
}

static void field_hex(RedisModuleCtx *ctx, const char *name, uint64_t n) {
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, n);
    field_word(ctx, name, digits);
}

/* ---- the standing ---- */

static const char *state_name(uint8_t state) {
    static const char *const names[] = {"plain", "loading", "ready"};
    return state < sizeof names / sizeof *names ? names[state] : "of a later version";
}

static void field_doubt(RedisModuleCtx *ctx, const struct filter *f) {
    static const struct {
        unsigned doubt;
        const char *word;
    } words[] = {
        {DOUBT_RESTART, "restart"},
        {DOUBT_FAILOVER, "failover"},
        {DOUBT_RESTORE, "restore"},
        {DOUBT_LEASE, "lease"},
        {DOUBT_ALL & ~(DOUBT_RESTART | DOUBT_FAILOVER | DOUBT_RESTORE | DOUBT_LEASE),
         "later_version"},
    };
    unsigned doubt = shield_doubt(&f->standing, f->next, node.era) & DOUBT_ALL;
    const char *found[sizeof words / sizeof *words];
    long n = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (doubt & words[i].doubt) found[n++] = words[i].word;
    reply_name(ctx, "Doubt");
    RedisModule_ReplyWithArray(ctx, n);
    for (long i = 0; i < n; i++)
        reply_name(ctx, found[i]);
}

#define STANDING_FIELDS 5

static void reply_standing(RedisModuleCtx *ctx, struct filter *f) {
    enum cause cause = answer_cause(f);
    field_word(ctx, "State", state_name(f->standing.state));
    if (cause == CAUSE_NONE)
        field_nil(ctx, "Unknown by");
    else
        field_word(ctx, "Unknown by", stats_cause_name(cause));
    field_doubt(ctx, f);
    field_time(ctx, "Lease until ms", f->standing.lease);
    field_time(ctx, "Vouched for at ms", f->standing.vouched_at);
}

/* ---- the bits ---- */

static void reply_layer(RedisModuleCtx *ctx, const struct chain *c,
                        const struct layer *layer) {
    reply_map(ctx, 6);
    field_number(ctx, "Capacity", layer->capacity);
    field_number(ctx, "Items", layer->items);
    field_number(ctx, "Bytes", layer->bytes);
    if (c->kind->line_bytes)
        field_number(ctx, "Lines", layer->bytes / c->kind->line_bytes);
    else
        field_nil(ctx, "Lines");
    field_rate(ctx, "Error share", layer->error);
    field_number(ctx, "Overfull", layer_excess(layer));
}

static void field_advice(RedisModuleCtx *ctx, const struct chain *c) {
    char line[ADVICE_MAX];
    if (advice_write(c, line))
        field_word(ctx, "Advice", line);
    else
        field_nil(ctx, "Advice");
}

#define CHAIN_FIELDS 11

/* The error of a partial filter has no meaning: the filter answers "maybe" to
 * everything. */
static void reply_chain(RedisModuleCtx *ctx, const struct chain *c) {
    struct estimate now = estimate_chain(c);
    uint64_t items = chain_items(c);
    const struct kind_form *form = c->kind->form;
    field_word(ctx, "Kind", c->kind->name);
    if (form && form->variants)
        field_word(ctx, "Variant", form->variants[c->variant]);
    else
        field_nil(ctx, "Variant");
    field_word(ctx, "Encoding", encoding_names[c->encoding]);
    field_rate(ctx, "Error rate", c->error);
    if (chain_is_partial(c))
        field_nil(ctx, "Estimated error rate");
    else
        field_rate(ctx, "Estimated error rate", now.error);
    field_rate(ctx, "Fill", now.fill);
    if (items == 0)
        field_nil(ctx, "Bits per item");
    else
        field_rate(ctx, "Bits per item", 8.0 * (double)chain_bytes(c) / (double)items);
    field_number(ctx, "Overfull", chain_excess(c));
    field_advice(ctx, c);
    field_hex(ctx, "Generation", c->identity);
    reply_name(ctx, "Layers");
    RedisModule_ReplyWithArray(ctx, (long)c->nlayers);
    for (uint32_t i = 0; i < c->nlayers; i++)
        reply_layer(ctx, c, &c->layers[i]);
}

/* ---- the rebuild, and the answers ---- */

static void field_seconds_since(RedisModuleCtx *ctx, const char *name, int64_t ms) {
    if (ms == 0)
        field_nil(ctx, name);
    else
        reply_name(ctx, name), RedisModule_ReplyWithLongLong(ctx, clock_seconds_since(ms));
}

static void reply_rebuild(RedisModuleCtx *ctx, const struct filter *f) {
    const struct standing *s = &f->standing;
    if (!f->next) {
        field_nil(ctx, "Rebuild");
        return;
    }
    reply_name(ctx, "Rebuild");
    reply_map(ctx, 6);
    field_seconds_since(ctx, "Seconds since START", s->rebuild_start);
    field_number(ctx, "Received", s->rebuild_received);
    field_seconds_since(ctx, "Seconds since LOAD", diary_of(f)->fed_at);
    field_number(ctx, "Interrupted",
                 answer_resume(f, s->rebuild_token) == BLOOM_INTERRUPTED);
    field_number(ctx, "Capacity", chain_capacity(f->next));
    field_number(ctx, "Items", chain_items(f->next));
}

static void reply_answers(RedisModuleCtx *ctx, const struct tally *a) {
    reply_name(ctx, "Answers");
    reply_map(ctx, 5);
    field_number(ctx, "exists_no", a->exists_no);
    field_number(ctx, "exists_maybe", a->exists_maybe);
    field_number(ctx, "absent", a->by_cause[CAUSE_NONE]);
    field_number(ctx, "maybe", a->maybe);
    reply_name(ctx, "unknown");
    reply_map(ctx, CAUSES - 1);
    for (enum cause c = CAUSE_NONE + 1; c < CAUSES; c++)
        field_number(ctx, stats_cause_name(c), a->by_cause[c]);
}

void cmd_info_full(RedisModuleCtx *ctx, struct filter *f) {
    reply_map(ctx, INFO_FIELDS + STANDING_FIELDS + CHAIN_FIELDS + 2);
    cmd_info_fields(ctx, f);
    reply_standing(ctx, f);
    reply_chain(ctx, f->live);
    reply_rebuild(ctx, f);
    reply_answers(ctx, &diary_of(f)->answers);
}
