/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/replicate.h"

#include "commands/vouch.h"
#include "core/codec.h"
#include "keys/type.h"
#include "links/node.h"
#include "links/upstream.h"
#include "settings/settings.h"
#include "text.h"

#define RECORD ((long long)CODEC_RECORD_ITERATOR)

/* This node was promoted and hasn't sent BF.PROMOTED yet. */
static bool promotion_untold;

static void tell_promotion(RedisModuleCtx *ctx) {
    if (!promotion_untold) return;
    promotion_untold = false;
    if (!node.replica) RedisModule_Replicate(ctx, "BF.PROMOTED", "");
}

/* Everything goes through one of these two, so that a promotion goes first. */
#define SEND(ctx, ...) (tell_promotion(ctx), RedisModule_Replicate(ctx, __VA_ARGS__))

void replicate_as_it_came(RedisModuleCtx *ctx) {
    tell_promotion(ctx);
    RedisModule_ReplicateVerbatim(ctx);
}

/* ---- from timers and the cron ---- */

static struct replicate_due *waiting;

void replicate_what_waits(RedisModuleCtx *ctx) {
    while (waiting && !server_is_paused()) {
        struct replicate_due *what = waiting;
        waiting = what->next;
        what->waits = false;
        what->send(ctx);
    }
}

static void on_timer(RedisModuleCtx *ctx, void *data) {
    (void)data;
    replicate_what_waits(ctx);
}

void replicate_later(RedisModuleCtx *ctx, struct replicate_due *what) {
    if (what->waits) return;
    what->waits = true;
    what->next = waiting;
    waiting = what;
    RedisModule_CreateTimer(ctx, 0, on_timer, NULL);
}

void replicate_promotion(RedisModuleCtx *ctx) {
    static struct replicate_due later = {.send = tell_promotion};
    promotion_untold = true;
    replicate_later(ctx, &later);
}

/* A context that belongs to no command. In a command's own context, 6.0 wraps what is sent
 * in a MULTI, which goes into the AOF whatever the rest does. */
static RedisModuleCtx *quiet(RedisModuleCtx *ctx) {
    return server.ctx ? server.ctx : ctx;
}

void replicate_beat(RedisModuleCtx *ctx, long long ms, RedisModuleString **ends, size_t n) {
    if (n > 0)
        SEND(quiet(ctx), "BF.BEAT", "Alv", ms, ends, n);
    else
        SEND(quiet(ctx), "BF.BEAT", "Alc", ms, "-");
}

void replicate_adrift(RedisModuleCtx *ctx, const char *what) {
    SEND(quiet(ctx), "BF.ADRIFT", "Rc", what);
}

/* ---- effects ---- */

void replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name,
                        const struct filter *f) {
    size_t length;
    unsigned char *header = type_header(f, CODEC_BORN, &length);
    SEND(ctx, "BF.LOADCHUNK", "slb", name, RECORD, header, length);
    RedisModule_Free(header);
}

/* Sends the bits from `offset` up to `end`, or some more. */
static void send_bits(RedisModuleCtx *ctx, RedisModuleString *name, const struct chain *c,
                      uint64_t offset, uint64_t end) {
    size_t room = CODEC_CHUNK_HEADER + REPLICATE_PIECE, length;
    unsigned char *chunk = RedisModule_Alloc(room);
    while (offset < end &&
           (length = codec_write_chunk(c, offset, chunk, room, &offset)) > 0)
        SEND(ctx, "BF.LOADCHUNK", "slb", name, (long long)offset + 1, chunk, length);
    RedisModule_Free(chunk);
}

void replicate_filled(RedisModuleCtx *ctx, RedisModuleString *name,
                      const struct filter *f) {
    size_t length;
    unsigned char *header = type_header(f, CODEC_STORED, &length);
    SEND(ctx, "BF.LOADCHUNK", "slb", name, RECORD, header, length);
    RedisModule_Free(header);
    send_bits(ctx, name, f->live, 0, chain_bytes(f->live));
}

void replicate_merge(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                     const uint8_t *changed) {
    const struct chain *c = f->live;
    uint64_t bytes = chain_bytes(c);
    for (uint64_t at = 0; at < bytes; at += REPLICATE_PIECE)
        if (changed[at / REPLICATE_PIECE])
            send_bits(ctx, name, c, at,
                      bytes - at < REPLICATE_PIECE ? bytes : at + REPLICATE_PIECE);
    size_t length = codec_counts_length(c);
    unsigned char *counts = RedisModule_Alloc(length);
    codec_write_counts(c, counts);
    SEND(ctx, "BF.LOADCHUNK", "slb", name, RECORD, counts, length);
    RedisModule_Free(counts);
}

void replicate_growth(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                      const struct chain *c) {
    unsigned char growth[CODEC_GROWTH_LENGTH];
    codec_write_growth(c, c == f->next ? CODEC_NEXT : CODEC_LIVE, growth);
    SEND(ctx, "BF.LOADCHUNK", "slb", name, RECORD, growth, sizeof growth);
}

static void replicate_some(RedisModuleCtx *ctx, RedisModuleString *name,
                           RedisModuleString **items, const uint8_t *changed, size_t n,
                           size_t nchanged) {
    RedisModuleString **some = RedisModule_Alloc(nchanged * sizeof *some);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (changed[i]) some[kept++] = items[i];
    SEND(ctx, kept == 1 ? "BF.ADD" : "BF.MADD", "sv", name, some, kept);
    RedisModule_Free(some);
}

size_t replicate_items(RedisModuleCtx *ctx, RedisModuleString *name,
                       RedisModuleString **items, const uint8_t *changed, size_t n,
                       bool all, bool as_it_is) {
    size_t nchanged = 0;
    for (size_t i = 0; i < n; i++)
        nchanged += changed[i];

    if (nchanged == 0 && !all) return 0;
    if (nchanged < n && !all)
        replicate_some(ctx, name, items, changed, n, nchanged);
    else if (as_it_is)
        replicate_as_it_came(ctx);
    else
        SEND(ctx, n == 1 ? "BF.ADD" : "BF.MADD", "sv", name, items, n);
    return nchanged;
}

/* Without AT, an item "AT" is sent on its own: followed by other items it would be read as
 * the option. */
void replicate_feed(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleString *token,
                    long long at, RedisModuleString **items, size_t n, bool as_it_is) {
    if (as_it_is) {
        replicate_as_it_came(ctx);
    } else if (at != REPLICATE_NO_AT) {
        SEND(ctx, "BF.REBUILD", "scsclv", name, "LOAD", token, "AT", at, items, n);
    } else {
        for (; n > 1 && text_is_word(*items, "AT"); items++, n--)
            SEND(ctx, "BF.REBUILD", "scss", name, "LOAD", token, *items);
        SEND(ctx, "BF.REBUILD", "scsv", name, "LOAD", token, items, n);
    }
}

void replicate_ready(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f) {
    long long since = f->standing.vouched_at, lease = f->standing.lease;
    char of[VOUCH_FINGERPRINT_MAX];
    vouch_fingerprint(f, of);
    if (lease)
        SEND(ctx, "BF.READY", "sclclcc", name, "PXAT", lease, "SINCE", since, "OF", of);
    else
        SEND(ctx, "BF.READY", "sclcc", name, "SINCE", since, "OF", of);
}

void replicate_commit(RedisModuleCtx *ctx, RedisModuleString *name,
                      RedisModuleString *token, const struct filter *f) {
    const struct standing *s = &f->standing;
    char of[VOUCH_FINGERPRINT_MAX];
    vouch_fingerprint(f, of);
    long long since = s->vouched_at, lease = s->lease;
    long long count = replicated_count(s);
    if (lease)
        SEND(ctx, "BF.REBUILD", "scslclclcc", name, "COMMIT", token, count, "PXAT", lease,
             "SINCE", since, "OF", of);
    else
        SEND(ctx, "BF.REBUILD", "scslclcc", name, "COMMIT", token, count, "SINCE", since,
             "OF", of);
}

void replicate_alarm(RedisModuleCtx *ctx, RedisModuleString *name) {
    SEND(ctx, "BF.LOADING", "s", name);
}

void replicate_valkeybloom(RedisModuleCtx *ctx, RedisModuleString *name,
                           RedisModuleString *data) {
    SEND(ctx, "BF.LOAD", "ss", name, data);
}

bool replicate_sends_all(RedisModuleCtx *ctx, const struct filter *f) {
    return f->standing.state != STATE_PLAIN &&
           settings.trust & (DOUBT_RESTART | DOUBT_FAILOVER | TRUST_REPLICA) &&
           !upstream_sent(ctx);
}

void replicate_start(RedisModuleCtx *ctx, RedisModuleString *name, const char *token,
                     const struct filter *f) {
    struct filter next = {.live = f->next};
    size_t length;
    unsigned char *header = type_header(&next, CODEC_BORN, &length);
    SEND(ctx, "BF.REBUILD", "scclb", name, "START", token,
         (long long)f->standing.rebuild_start, header, length);
    RedisModule_Free(header);
}
