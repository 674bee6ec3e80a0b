/* SPDX-License-Identifier: BSD-3-Clause */
#include "losses.h"

#include "diary.h"
#include "memory.h"
#include "stats.h"

/* Taken away includes what was evicted or expired. */
static counter flushed, taken_away, evicted, expired;

/* The name of the ready filter that was unlinked last, as a hash: what is told next is
 * told of it, or is about a key of another type. Good enough for counting. */
static uint64_t last;

static bool counts;

/* Flushes that count, from 1 on: a filter that is freed in the era in which it came was not
 * flushed. DEBUG RELOAD flushes what it has saved: on Valkey 9 while it loads, where none
 * counts. Else it flushes before that, so a flush is settled when its command has ended, and
 * until then what this thread frees, and the era, can be taken back. */
static counter unsettled_frees;
static bool unsettled, loading;

/* Frees on other threads look at both. */
static _Atomic uint32_t flush = 1;
static _Atomic bool is_replica;

static uint64_t hash_of(RedisModuleString *name) {
    static const struct secret none;
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(name, &length);
    return siphash13(&none, bytes, length) | 1;
}

static int on_loss(RedisModuleCtx *ctx, int type, const char *event,
                   RedisModuleString *name) {
    (void)ctx;
    (void)event;
    if (last == 0 || hash_of(name) != last) return REDISMODULE_OK;
    stats_count(type == REDISMODULE_NOTIFY_EVICTED ? &evicted : &expired, 1);
    last = 0;
    return REDISMODULE_OK;
}

/* Listening costs something for each event of any key, so it begins with the first ready
 * filter that is unlinked: the event comes after that. */
static void listen(void) {
    static bool listening;
    if (!listening)
        RedisModule_SubscribeToKeyspaceEvents(
            server.ctx, REDISMODULE_NOTIFY_EVICTED | REDISMODULE_NOTIFY_EXPIRED, on_loss);
    listening = true;
}

void losses_came(struct filter *f) {
    diary_of(f)->came = atomic_load(&flush);
}

void losses_unlinked(RedisModuleString *name, struct filter *f) {
    diary_of(f)->unlinked = atomic_load(&flush);
    last = f->standing.state == STATE_READY ? hash_of(name) : 0;
    if (last) listen();
}

void losses_freed(const struct filter *f) {
    if (!counts || f->standing.state != STATE_READY) return;
    uint32_t now = atomic_load(&flush);
    if (diary_of(f)->unlinked == now)
        atomic_fetch_add(&taken_away, 1);
    else if (diary_of(f)->came != now && !atomic_load(&is_replica))
        atomic_fetch_add(memory_on_main_thread() ? &unsettled_frees : &flushed, 1);
}

void losses_follow(bool replica) {
    atomic_store(&is_replica, replica);
}

static void settle(void) {
    atomic_fetch_add(&flushed, atomic_exchange(&unsettled_frees, 0));
    unsettled = false;
}

static void on_timer(RedisModuleCtx *ctx, void *data) {
    (void)ctx;
    (void)data;
    settle();
}

static void on_flush(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what,
                     void *data) {
    (void)event;
    (void)data;
    if (what != REDISMODULE_SUBEVENT_FLUSHDB_START || loading) return;
    settle();
    atomic_fetch_add(&flush, 1);
    unsettled = true;
    RedisModule_CreateTimer(ctx, 0, on_timer, NULL);
}

void losses_loading(bool begins) {
    loading = begins;
    if (!begins || !unsettled) return;
    atomic_store(&unsettled_frees, 0);
    atomic_fetch_sub(&flush, 1);
    unsettled = false;
}

/* A filter may be freed later than it was told of. */
struct losses losses_so_far(void) {
    struct losses lost = {
        .evicted = atomic_load(&evicted),
        .expired = atomic_load(&expired),
        .flushed = atomic_load(&flushed) + atomic_load(&unsettled_frees),
    };
    uint64_t all = atomic_load(&taken_away), known = lost.evicted + lost.expired;
    lost.deleted = all > known ? all - known : 0;
    return lost;
}

int losses_register(RedisModuleCtx *ctx) {
    counts = server.knows_unlink;
    return RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_FlushDB, on_flush);
}
