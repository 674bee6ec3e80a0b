/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/stats.h"

#include <stdio.h>

#include "clock.h"
#include "keys/diary.h"
#include "links/node.h"
#include "links/trust.h"
#include "settings/settings.h"
#include "version.h"
#include "watch/losses.h"

struct counters stats_counters;

/* Sums over all filters in this server. A sum that wraps comes right again. */
static counter filters, bytes, items, layers, rebuilds;

/* Filters by kind, at the kind's id, and by state; states of later versions count as the
 * last. */
#define STATES 4
static counter of_kind[UINT8_MAX + 1], of_state[STATES];

/* Ready filters that nothing has put in doubt, counted by periods, which are numbered: a
 * period ends when every filter vouched for so far comes into doubt. A filter that is freed
 * on another thread just as its period ends may be subtracted late: it is then subtracted
 * from the other count. */
static counter current[2];
static _Atomic uint32_t period = 1;

static void add(counter *sum, uint64_t n) {
    atomic_fetch_add_explicit(sum, n, memory_order_relaxed);
}

static uint64_t value_of(counter *c) {
    return atomic_load_explicit(c, memory_order_relaxed);
}

/* ---- the largest filter: by size classes, four to an octave ---- */

#define CLASSES 256
static counter class_filters[CLASSES], class_bytes[CLASSES];

static unsigned class_of(uint64_t size) {
    unsigned octave = 63u - (unsigned)__builtin_clzll(size | 4);
    return 4 * octave + (unsigned)(size >> (octave - 2) & 3);
}

static void count_size(uint64_t size, uint64_t sign) {
    unsigned own = class_of(size);
    add(&class_filters[own], sign);
    add(&class_bytes[own], sign * size);
}

/* Exact if the largest filter is alone in its class, otherwise the mean of those in the
 * class. */
static uint64_t largest(void) {
    for (unsigned i = CLASSES; i-- > 0;) {
        uint64_t n = value_of(&class_filters[i]);
        if (n > 0) return value_of(&class_bytes[i]) / n;
    }
    return 0;
}

/* ---- rebuilds: when they began, for the age of the oldest ---- */

#define SLOTS 64
static _Atomic int64_t started[SLOTS];

/* If no slot is left, the rebuild is counted, but its age isn't seen. */
static void note_rebuild(struct filter *f) {
    add(&rebuilds, 1);
    for (uint8_t i = 0; i < SLOTS; i++) {
        int64_t none = 0, start = f->standing.rebuild_start | 1;
        if (!atomic_compare_exchange_strong(&started[i], &none, start)) continue;
        diary_of(f)->rebuild_slot = (uint8_t)(i + 1);
        return;
    }
}

static void forget_rebuild(struct filter *f) {
    add(&rebuilds, (uint64_t)-1);
    if (diary_of(f)->rebuild_slot) atomic_store(&started[diary_of(f)->rebuild_slot - 1], 0);
    diary_of(f)->rebuild_slot = 0;
}

static int64_t oldest_rebuild(void) {
    int64_t oldest = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        int64_t start = atomic_load(&started[i]);
        if (start && (!oldest || start < oldest)) oldest = start;
    }
    return oldest ? clock_seconds_since(oldest) : 0;
}

/* ---- filters that come and go ---- */

static void count_chain(const struct chain *c, uint64_t sign) {
    add(&items, sign * chain_items(c));
    add(&layers, sign * c->nlayers);
}

static void count_filter(const struct filter *f, uint64_t sign) {
    uint8_t state = f->standing.state;
    uint64_t size = filter_memory(f);
    add(&filters, sign);
    add(&of_kind[f->live->kind->id], sign);
    add(&of_state[state < STATES ? state : STATES - 1], sign);
    add(&bytes, sign * size);
    count_size(size, sign);
    count_chain(f->live, sign);
    if (f->next) count_chain(f->next, sign);
}

void stats_filter_came(struct filter *f) {
    count_filter(f, 1);
    if (f->next) note_rebuild(f);
    diary_of(f)->counted_in = 0;
    if (!shield_is_current(&f->standing, node.era)) return;
    diary_of(f)->counted_in = atomic_load(&period);
    add(&current[diary_of(f)->counted_in & 1], 1);
}

void stats_filter_went(struct filter *f) {
    count_filter(f, (uint64_t)-1);
    if (f->next) forget_rebuild(f);
    if (diary_of(f)->counted_in == atomic_load(&period))
        add(&current[diary_of(f)->counted_in & 1], (uint64_t)-1);
}

void stats_items_came(uint64_t n) {
    if (n > 0) add(&items, n);
}

void stats_era_ended(void) {
    uint32_t next = atomic_load(&period) + 1;
    atomic_store(&current[next & 1], 0);
    atomic_store(&period, next);
}

uint64_t stats_ready_filters(void) {
    return value_of(&of_state[STATE_READY]);
}

uint64_t stats_declared_filters(void) {
    return value_of(&filters) - value_of(&of_state[STATE_PLAIN]);
}

/* ---- INFO ---- */

static const char *const cause_names[CAUSES] = {
    [CAUSE_BYPASS] = "bypass",       [CAUSE_MISSING] = "missing",
    [CAUSE_PARTIAL] = "partial",     [CAUSE_PLAIN] = "plain",
    [CAUSE_LOADING] = "loading",     [CAUSE_LATER] = "later_version",
    [CAUSE_LINK_DOWN] = "link_down", [CAUSE_REPLICA] = "replica",
    [CAUSE_LEASE] = "lease",         [CAUSE_RESTART] = "restart",
    [CAUSE_FAILOVER] = "failover",   [CAUSE_RESTORE] = "restore",
};

const char *stats_cause_name(enum cause cause) {
    return cause_names[cause];
}

static void show(RedisModuleInfoCtx *ctx, const char *field, uint64_t n) {
    RedisModule_InfoAddFieldULongLong(ctx, field, n);
}

/* A field whose name ends in a word of ours. */
static void show_of(RedisModuleInfoCtx *ctx, const char *what, const char *which,
                    counter *c) {
    char field[64];
    snprintf(field, sizeof field, "%s_%s", what, which);
    show(ctx, field, value_of(c));
}

static void show_filters(RedisModuleInfoCtx *ctx) {
    static const char *const states[STATES] = {"plain", "loading", "ready",
                                               "later_version"};
    show(ctx, "filters", value_of(&filters));
    for (size_t i = 0; i < KINDS; i++)
        show_of(ctx, "filters", kinds[i]->name, &of_kind[kinds[i]->id]);
    for (unsigned i = 0; i < STATES; i++)
        show_of(ctx, "filters", states[i], &of_state[i]);
    show(ctx, "filters_ready_undoubted", value_of(&current[atomic_load(&period) & 1]));
    show(ctx, "bytes", value_of(&bytes));
    show(ctx, "items", value_of(&items));
    show(ctx, "layers", value_of(&layers));
    show(ctx, "largest_filter_bytes", largest());
}

static void show_shield(RedisModuleInfoCtx *ctx) {
    uint64_t no = value_of(&stats_counters.exists_no),
             yes = value_of(&stats_counters.exists_maybe);
    uint64_t questions = no + yes + value_of(&stats_counters.maybe);
    for (enum cause c = CAUSE_NONE; c < CAUSES; c++)
        questions += value_of(&stats_counters.by_cause[c]);

    char words[TRUST_WARNINGS_MAX];
    trust_warnings(words);
    show(ctx, "bypass", settings.bypass);
    RedisModule_InfoAddFieldCString(ctx, "trust_warnings", words);
    show(ctx, "questions", questions);
    show(ctx, "exists_no", no);
    show(ctx, "exists_maybe", yes);
    show(ctx, "absent_answers", value_of(&stats_counters.by_cause[CAUSE_NONE]));
    show(ctx, "maybe_answers", value_of(&stats_counters.maybe));
    for (enum cause c = CAUSE_NONE + 1; c < CAUSES; c++)
        show_of(ctx, "unknown", cause_names[c], &stats_counters.by_cause[c]);
    show(ctx, "hits", value_of(&stats_counters.hits));
    show(ctx, "contradictions", value_of(&stats_counters.contradictions));
    show(ctx, "growths", value_of(&stats_counters.growths));
    show(ctx, "overfull_adds", value_of(&stats_counters.overfull));
    show(ctx, "rebuilds", value_of(&rebuilds));
    show(ctx, "oldest_rebuild_seconds", (uint64_t)oldest_rebuild());

    struct losses lost = losses_so_far();
    show(ctx, "ready_evicted", lost.evicted);
    show(ctx, "ready_expired", lost.expired);
    show(ctx, "ready_deleted", lost.deleted);
    show(ctx, "ready_flushed", lost.flushed);
}

static void info(RedisModuleInfoCtx *ctx, int for_crash_report) {
    (void)for_crash_report;
    if (RedisModule_InfoAddSection(ctx, "module") == REDISMODULE_OK)
        RedisModule_InfoAddFieldCString(ctx, "version", BULWARK_VERSION);
    if (RedisModule_InfoAddSection(ctx, "filters") == REDISMODULE_OK) show_filters(ctx);
    if (RedisModule_InfoAddSection(ctx, "shield") == REDISMODULE_OK) show_shield(ctx);
}

int stats_register(RedisModuleCtx *ctx) {
    return RedisModule_RegisterInfoFunc(ctx, info);
}
