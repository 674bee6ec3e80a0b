/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/losses.h"

#include <string.h>

#include "keys/diary.h"
#include "keys/memory.h"
#include "text.h"
#include "watch/arrivals.h"
#include "watch/stats.h"

/* taken_away includes evicted and expired. */
static counter flushed, taken_away, evicted, expired;

/* The hash of the name of the ready filter that was unlinked last, while its event may
 * follow: that comes before any timer. Later the name may be that of another key. */
static uint64_t last;
static bool forgetting; /* a timer is set */

static bool counts;

/* Flushes are numbered from 1 on, and `flush` is the number of the last one. A filter that
 * came after the last flush, and is freed, was not flushed.
 *
 * DEBUG RELOAD flushes what it has saved and then loads it, which is no loss. Valkey 9
 * flushes while it loads: such a flush gets no number. Other servers flush before they
 * load. There a flush is settled only when its command has ended. If a loading begins
 * earlier, the filters that this thread has freed are not counted, and the number is taken
 * back. */
static counter unsettled_frees;
static bool unsettled, loading;

/* Frees on other threads read both. */
static _Atomic uint32_t flush = 1;
static _Atomic bool is_replica;

/* The name of the first filter lost since the last log line, or NULL: one for unlinked
 * filters, one for flushed ones. The function that takes it out frees it. */
static _Atomic(char *) unlinked_name, flushed_name;

static struct losses told; /* to the log */

static uint64_t hash_of(RedisModuleString *name) {
    static const struct secret none;
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(name, &length);
    return siphash13(&none, bytes, length) | 1;
}

/* Moves the name there, unless there is one already. */
static void keep_first(_Atomic(char *) *first, char **name) {
    char *none = NULL;
    if (*name && atomic_compare_exchange_strong(first, &none, *name)) *name = NULL;
}

/* The filter may have been freed, with its name kept, or be freed later. */
static int on_loss(RedisModuleCtx *ctx, int type, const char *event,
                   RedisModuleString *name) {
    char shown[TEXT_SHOWN_MAX + 1];
    (void)ctx;
    (void)event;
    if (last == 0 || hash_of(name) != last) return REDISMODULE_OK;
    char *copy = RedisModule_Strdup(text_printable(name, shown));
    keep_first(&unlinked_name, &copy);
    RedisModule_Free(copy);
    stats_count(type == REDISMODULE_NOTIFY_EVICTED ? &evicted : &expired, 1);
    last = 0;
    return REDISMODULE_OK;
}

static void forget_last(RedisModuleCtx *ctx, void *data) {
    (void)ctx;
    (void)data;
    last = 0;
    forgetting = false;
}

/* Listening has a cost for each event of any key, so it begins with the first ready filter
 * that is unlinked: its event comes after that. */
static void listen(void) {
    static bool listening;
    if (!listening)
        RedisModule_SubscribeToKeyspaceEvents(
            server.ctx, REDISMODULE_NOTIFY_EVICTED | REDISMODULE_NOTIFY_EXPIRED, on_loss);
    listening = true;
}

void losses_named(const RedisModuleString *name, struct filter *f) {
    char shown[TEXT_SHOWN_MAX + 1];
    char **own = &diary_of(f)->name;
    if (!counts || !name || f->standing.state != STATE_READY) return;
    text_printable((RedisModuleString *)name, shown);
    if (*own && strcmp(*own, shown) == 0) return;
    RedisModule_Free(*own);
    *own = RedisModule_Strdup(shown);
}

void losses_came(const RedisModuleString *name, struct filter *f) {
    diary_of(f)->came = atomic_load(&flush);
    losses_named(name, f);
}

void losses_unlinked(RedisModuleString *name, struct filter *f) {
    diary_of(f)->unlinked = atomic_load(&flush);
    losses_named(name, f);
    arrivals_gone(f);
    last = f->standing.state == STATE_READY ? hash_of(name) : 0;
    if (!last) return;
    listen();
    if (!forgetting) RedisModule_CreateTimer(server.ctx, 0, forget_last, NULL);
    forgetting = true;
}

static void forget(_Atomic(char *) *first) {
    RedisModule_Free(atomic_exchange(first, NULL));
}

static void count_free(struct diary *diary) {
    uint32_t now = atomic_load(&flush);
    if (diary->unlinked == now) {
        keep_first(&unlinked_name, &diary->name);
        atomic_fetch_add(&taken_away, 1);
    } else if (diary->came != now && !atomic_load(&is_replica)) {
        keep_first(&flushed_name, &diary->name);
        atomic_fetch_add(memory_on_main_thread() ? &unsettled_frees : &flushed, 1);
    }
}

/* What has expired in a file is read and freed, and nobody unlinks it. */
void losses_freed(struct filter *f) {
    struct diary *diary = diary_of(f);
    if (memory_on_main_thread()) arrivals_gone(f);
    if (counts && f->standing.state == STATE_READY) count_free(diary);
    RedisModule_Free(diary->name);
    diary->name = NULL;
}

void losses_set_replica(bool replica) {
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
    if (what == REDISMODULE_SUBEVENT_FLUSHDB_START) arrivals_flushed();
    if (what != REDISMODULE_SUBEVENT_FLUSHDB_START || loading) return;
    settle();
    atomic_fetch_add(&flush, 1);
    unsettled = true;
    RedisModule_CreateTimer(ctx, 0, on_timer, NULL);
}

/* Losses while an AOF is loaded are old news. */
void losses_loading(bool begins) {
    loading = begins;
    if (!begins) {
        told = losses_so_far();
        forget(&unlinked_name);
    }
    if (!begins || !unsettled || server.flushes_as_it_loads) return;
    atomic_store(&unsettled_frees, 0);
    forget(&flushed_name);
    atomic_fetch_sub(&flush, 1);
    unsettled = false;
}

/* What was taken away, but for what has an event. A filter may be freed after its event was
 * counted, and until then the difference lacks one that was deleted: what has been told of
 * before stays, what hasn't comes later. */
static uint64_t count_deleted(uint64_t with_event) {
    static counter most;
    uint64_t all = atomic_load(&taken_away);
    if (all > with_event + atomic_load(&most)) atomic_store(&most, all - with_event);
    return atomic_load(&most);
}

struct losses losses_so_far(void) {
    struct losses lost = {
        .evicted = atomic_load(&evicted),
        .expired = atomic_load(&expired),
        .flushed = atomic_load(&flushed) + atomic_load(&unsettled_frees),
    };
    lost.deleted = count_deleted(lost.evicted + lost.expired);
    return lost;
}

/* ---- the log ---- */

static uint64_t more(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static void tell_of_one(RedisModuleCtx *ctx, const struct losses *lost, const char *name) {
    const char *how = lost->evicted   ? "was evicted"
                      : lost->expired ? "has expired"
                      : lost->deleted ? "was deleted"
                                      : "was flushed";
    RedisModule_Log(
        ctx, "warning",
        "The ready filter %s %s: lookups go to the database until a ready filter "
        "exists again.",
        name, how);
}

static void tell_of_many(RedisModuleCtx *ctx, const struct losses *lost, uint64_t n,
                         const char *name) {
    RedisModule_Log(
        ctx, "warning",
        "%llu ready filters are lost (%llu evicted, %llu expired, %llu deleted, "
        "%llu flushed), %s among them: lookups go to the database until ready "
        "filters exist again.",
        (unsigned long long)n, (unsigned long long)lost->evicted,
        (unsigned long long)lost->expired, (unsigned long long)lost->deleted,
        (unsigned long long)lost->flushed, name);
}

void losses_tell(RedisModuleCtx *ctx) {
    settle(); /* The timer may stand still. */
    /* With nothing to tell, the names are of what was told of before it was freed. */
    char *unlinked = atomic_exchange(&unlinked_name, NULL);
    char *by_flush = atomic_exchange(&flushed_name, NULL);
    struct losses now = losses_so_far();
    struct losses lost = {.evicted = more(now.evicted, told.evicted),
                          .expired = more(now.expired, told.expired),
                          .deleted = more(now.deleted, told.deleted),
                          .flushed = more(now.flushed, told.flushed)};
    uint64_t n = lost.evicted + lost.expired + lost.deleted + lost.flushed;
    const char *name = unlinked ? unlinked : by_flush ? by_flush : "of an unknown name";
    told = now;
    if (n == 1) tell_of_one(ctx, &lost, name);
    if (n > 1) tell_of_many(ctx, &lost, n, name);
    RedisModule_Free(unlinked);
    RedisModule_Free(by_flush);
}

int losses_register(RedisModuleCtx *ctx) {
    counts = server.knows_unlink;
    return RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_FlushDB, on_flush);
}
