/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <stdatomic.h>
#include <stdio.h>

/* Of all filters in this server. Sums that wrap come right again. */
static _Atomic uint64_t filters, bytes, items, layers;

/* Filters by kind, at the kind's id. */
#define KIND_IDS 4
static _Atomic uint64_t of_kind[KIND_IDS];

static void add(_Atomic uint64_t *sum, uint64_t n) {
    atomic_fetch_add_explicit(sum, n, memory_order_relaxed);
}

static void count_value(const struct value *v, uint64_t sign) {
    add(&filters, sign);
    if (v->live->kind->id < KIND_IDS) add(&of_kind[v->live->kind->id], sign);
    add(&bytes, sign * value_memory(v));
    add(&items, sign * chain_items(v->live));
    add(&layers, sign * v->live->nlayers);
}

void stats_value_came(const struct value *v) {
    count_value(v, 1);
}

void stats_value_went(const struct value *v) {
    count_value(v, (uint64_t)-1);
}

void stats_layer_came(const struct filter *layer) {
    add(&layers, 1);
    add(&bytes, sizeof *layer + layer->bytes);
}

void stats_items_came(uint64_t n) {
    if (n > 0) add(&items, n);
}

static void show(RedisModuleInfoCtx *ctx, const char *field, _Atomic uint64_t *sum) {
    RedisModule_InfoAddFieldULongLong(ctx, field,
                                      atomic_load_explicit(sum, memory_order_relaxed));
}

static void info(RedisModuleInfoCtx *ctx, int for_crash_report) {
    (void)for_crash_report;
    if (RedisModule_InfoAddSection(ctx, "filters") != REDISMODULE_OK) return;
    show(ctx, "filters", &filters);
    for (unsigned id = 0; id < KIND_IDS; id++) {
        const struct kind *kind = kind_by_id(id);
        char field[64];
        if (!kind) continue;
        snprintf(field, sizeof field, "filters_%s", kind->name);
        show(ctx, field, &of_kind[id]);
    }
    show(ctx, "bytes", &bytes);
    show(ctx, "items", &items);
    show(ctx, "layers", &layers);
}

int stats_register(RedisModuleCtx *ctx) {
    return RedisModule_RegisterInfoFunc(ctx, info);
}
