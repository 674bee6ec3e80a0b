/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/losses.h"

#include <string.h>

#include "keys/diary.h"
#include "keys/memory.h"
#include "text.h"
#include "watch/arrivals.h"
#include "watch/stats.h"

static counter evicted, expired, deleted, flushed;

static bool counts;

/* A ready filter that was unlinked is counted, as what it was, when both have let go of
 * this: the filter, by being freed or unlinked once more, and `last`, when no event can
 * follow. */
struct fate {
    atomic_int holders;
    bool freed;         /* is written by the filter before it lets go */
    counter *how;       /* is written by `last` before it lets go */
    uint32_t emptyings; /* so many before */
    char *name;         /* as the log shows it */
};

/* The filter that was unlinked last, while its event may follow: that comes before any
 * timer. Later the name may be that of another key. */
static struct {
    struct fate *fate;
    uint64_t name; /* hashed */
} last;
static bool forgetting; /* a timer is set */

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

/* Frees on other threads read these. Flushes and loadings are emptyings: a filter that was
 * unlinked before one, and freed after it, may have lived on under another name. `last`
 * lets go before this number moves, so fate->how may be read as soon as it has. */
static _Atomic uint32_t flush = 1, emptyings;
static _Atomic bool is_replica;

/* The name of the first filter lost since the last log line, or NULL: one for unlinked
 * filters, one for flushed ones. The function that takes it out frees it. */
static _Atomic(char *) unlinked_name, flushed_name;

static struct losses told; /* to the log */

static uint64_t hash_of(const RedisModuleString *name) {
    static const struct secret none;
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(name, &length);
    return siphash13(&none, bytes, length);
}

/* Moves the name there, unless there is one already. */
static void keep_first(_Atomic(char *) *first, char **name) {
    char *none = NULL;
    if (*name && atomic_compare_exchange_strong(first, &none, *name)) *name = NULL;
}

/* Is called on any thread. */
static void let_go(struct fate **held) {
    struct fate *fate = *held;
    *held = NULL;
    if (!fate || atomic_fetch_sub(&fate->holders, 1) > 1) return;
    if (fate->freed) {
        keep_first(&unlinked_name, &fate->name);
        atomic_fetch_add(fate->how, 1);
    }
    RedisModule_Free(fate->name);
    RedisModule_Free(fate);
}

static int on_loss(RedisModuleCtx *ctx, int type, const char *event,
                   RedisModuleString *name) {
    (void)ctx;
    (void)event;
    if (!last.fate || hash_of(name) != last.name) return REDISMODULE_OK;
    last.fate->how = type == REDISMODULE_NOTIFY_EVICTED ? &evicted : &expired;
    let_go(&last.fate);
    return REDISMODULE_OK;
}

static void forget_last(RedisModuleCtx *ctx, void *data) {
    (void)ctx;
    (void)data;
    let_go(&last.fate);
    forgetting = false;
}

/* Listening has a cost for each event of any key, so it begins with the first ready filter
 * that is unlinked: its event comes after that. What expires in another database than the
 * client's, under COPY or MOVE, would move the client; nothing is evicted in a command. */
static void listen(void) {
    static bool listening;
    int events = REDISMODULE_NOTIFY_EVICTED;
    if (!server.moves_clients) events |= REDISMODULE_NOTIFY_EXPIRED;
    if (!listening) RedisModule_SubscribeToKeyspaceEvents(server.ctx, events, on_loss);
    listening = true;
}

void losses_named(const RedisModuleString *name, struct filter *f) {
    char shown[TEXT_SHOWN_MAX + 1];
    char **own = &diary_of(f)->name;
    if (!counts || !name || f->standing.state != STATE_READY) return;
    text_printable(name, shown);
    if (*own && strcmp(*own, shown) == 0) return;
    RedisModule_Free(*own);
    *own = RedisModule_Strdup(shown);
}

void losses_came(const RedisModuleString *name, struct filter *f) {
    diary_of(f)->came = atomic_load(&flush);
    losses_named(name, f);
}

static struct fate *fate_of(const RedisModuleString *name) {
    char shown[TEXT_SHOWN_MAX + 1];
    struct fate *fate = RedisModule_Calloc(1, sizeof *fate);
    fate->holders = 2;
    fate->how = &deleted;
    fate->emptyings = atomic_load(&emptyings);
    fate->name = RedisModule_Strdup(text_printable(name, shown));
    return fate;
}

void losses_unlinked(const RedisModuleString *name, struct filter *f) {
    struct diary *diary = diary_of(f);
    arrivals_gone(f);
    let_go(&last.fate);
    let_go(&diary->fate);
    if (loading || f->standing.state != STATE_READY) return;
    last.fate = diary->fate = fate_of(name);
    last.name = hash_of(name);
    listen();
    if (!forgetting) RedisModule_CreateTimer(server.ctx, 0, forget_last, NULL);
    forgetting = true;
}

static void count_free(struct diary *diary) {
    struct fate *fate = diary->fate;
    if (fate && (fate->emptyings == atomic_load(&emptyings) || fate->how != &deleted)) {
        fate->freed = true;
    } else if (diary->came != atomic_load(&flush) && !atomic_load(&is_replica)) {
        keep_first(&flushed_name, &diary->name);
        atomic_fetch_add(memory_on_main_thread() ? &unsettled_frees : &flushed, 1);
    }
}

/* What has expired in a file is read and freed, and nobody unlinks it. */
void losses_freed(struct filter *f) {
    struct diary *diary = diary_of(f);
    if (memory_on_main_thread()) arrivals_gone(f);
    if (counts && f->standing.state == STATE_READY) count_free(diary);
    let_go(&diary->fate);
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

static void begin_emptying(void) {
    let_go(&last.fate);
    atomic_fetch_add(&emptyings, 1);
}

static void on_flush(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what,
                     void *data) {
    (void)event;
    (void)data;
    if (what != REDISMODULE_SUBEVENT_FLUSHDB_START) return;
    arrivals_flushed();
    begin_emptying();
    if (loading) return;
    settle();
    atomic_fetch_add(&flush, 1);
    unsettled = true;
    RedisModule_CreateTimer(ctx, 0, on_timer, NULL);
}

void losses_loading(bool begins) {
    loading = begins;
    if (begins) begin_emptying();
    if (!begins || !unsettled || server.flushes_as_it_loads) return;
    atomic_store(&unsettled_frees, 0);
    RedisModule_Free(atomic_exchange(&flushed_name, NULL));
    atomic_fetch_sub(&flush, 1);
    unsettled = false;
}

struct losses losses_so_far(void) {
    return (struct losses){
        .evicted = atomic_load(&evicted),
        .expired = atomic_load(&expired),
        .deleted = atomic_load(&deleted),
        .flushed = atomic_load(&flushed) + atomic_load(&unsettled_frees),
    };
}

/* ---- the log ---- */

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

/* The name of the first filter is kept before it is counted. Another, whose name was not
 * kept, may be counted after that name was taken. */
static char *take_name(uint64_t lost, _Atomic(char *) *name) {
    return lost ? atomic_exchange(name, NULL) : NULL;
}

void losses_tell(RedisModuleCtx *ctx) {
    settle(); /* The timers may stand still. */
    let_go(&last.fate);
    struct losses now = losses_so_far();
    struct losses lost = {.evicted = now.evicted - told.evicted,
                          .expired = now.expired - told.expired,
                          .deleted = now.deleted - told.deleted,
                          .flushed = now.flushed - told.flushed};
    uint64_t unlinked = lost.evicted + lost.expired + lost.deleted;
    uint64_t n = unlinked + lost.flushed;
    char *by_unlink = take_name(unlinked, &unlinked_name);
    char *by_flush = take_name(lost.flushed, &flushed_name);
    const char *name = by_unlink ? by_unlink : by_flush ? by_flush : "of an unknown name";
    told = now;
    if (n == 1) tell_of_one(ctx, &lost, name);
    if (n > 1) tell_of_many(ctx, &lost, n, name);
    RedisModule_Free(by_unlink);
    RedisModule_Free(by_flush);
}

int losses_register(RedisModuleCtx *ctx) {
    counts = server.knows_unlink;
    return RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_FlushDB, on_flush);
}
