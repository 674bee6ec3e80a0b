/* SPDX-License-Identifier: BSD-3-Clause */
#include "chains.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "written.h"

struct item item_number(uint64_t n, unsigned char room[ITEM_ROOM]) {
    size_t length = 8 + n % (ITEM_ROOM - 7);
    memset(room, 'x', ITEM_ROOM);
    store_u64(room, n);
    return (struct item){room, length};
}

void batch_of(struct batch *b, uint64_t first, size_t n) {
    CHECK(n <= BATCH_MAX);
    for (size_t i = 0; i < n; i++)
        b->items[i] = item_number(first + i, b->room[i]);
}

struct chain_spec random_spec(double error, uint32_t expansion) {
    return (struct chain_spec){
        .kind = &kind_lines,
        .secret = {random_u64(), random_u64()},
        .identity = random_u64(),
        .error = error,
        .expansion = expansion,
    };
}

struct chain_spec spec_of(const struct chain *c) {
    return (struct chain_spec){
        .kind = c->kind,
        .secret = c->secret,
        .identity = c->identity,
        .error = c->error,
        .expansion = c->expansion,
        .secret2 = c->secret2,
        .parameter = c->parameter,
        .variant = c->variant,
    };
}

static void free_chain(void *c) {
    chain_free(c);
}

struct chain *chain_made(const struct bloom_memory *memory, const struct chain_spec *spec,
                         uint64_t capacity) {
    struct chain *c;
    struct layer plan;
    CHECK_INT(chain_new(spec, memory, &c), BLOOM_OK);
    test_defer(free_chain, c);
    CHECK_INT(chain_plan(c, capacity, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    return c;
}

void chain_must_grow(struct chain *c) {
    struct layer plan;
    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
}

void chain_fill(struct chain *c, uint64_t first, uint64_t n) {
    struct batch b;
    uint8_t added[BATCH_MAX];
    while (n > 0) {
        size_t some = n < BATCH_MAX ? (size_t)n : BATCH_MAX;
        batch_of(&b, first, some);
        size_t done = chain_add(c, b.items, some, added, CHAIN_STOP);
        if (done < some) chain_must_grow(c);
        first += done;
        n -= done;
    }
}

bool add_number(struct chain *c, uint64_t n) {
    unsigned char room[ITEM_ROOM];
    struct item item = item_number(n, room);
    uint8_t added;
    CHECK_UINT(chain_add(c, &item, 1, &added, CHAIN_EXCEED), 1);
    return added;
}

bool ask_number(const struct chain *c, uint64_t n) {
    unsigned char room[ITEM_ROOM];
    struct item item = item_number(n, room);
    uint8_t maybe;
    chain_ask(c, &item, 1, &maybe);
    return maybe;
}

void chain_must_hold(const struct chain *c, uint64_t first, uint64_t n) {
    struct batch b;
    uint8_t maybe[BATCH_MAX];
    for (; n > 0;) {
        size_t some = n < BATCH_MAX ? (size_t)n : BATCH_MAX;
        batch_of(&b, first, some);
        chain_ask(c, b.items, some, maybe);
        for (size_t i = 0; i < some; i++)
            if (!maybe[i])
                FAIL("a false no for item %llu", (unsigned long long)(first + i));
        first += some;
        n -= some;
    }
}

static void free_snapshot(void *bytes) {
    free(bytes);
}

struct snapshot snapshot_of(const struct chain *c) {
    size_t layers = c->nlayers * sizeof *c->layers;
    struct snapshot s = {NULL, sizeof *c + layers + (size_t)chain_bytes(c)};
    unsigned char *at = s.bytes = malloc(s.length);
    if (!at) abort();
    test_defer(free_snapshot, s.bytes);

    memcpy(at, c, sizeof *c);
    at += sizeof *c;
    if (layers > 0) memcpy(at, c->layers, layers);
    at += layers;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        memcpy(at, c->layers[i].bits, (size_t)c->layers[i].bytes);
        at += c->layers[i].bytes;
    }
    IS_WRITTEN(s.bytes, s.length);
    return s;
}

void must_be_unchanged(const struct chain *c, struct snapshot before) {
    struct snapshot after = snapshot_of(c);
    CHECK_MEM(after.bytes, after.length, before.bytes, before.length);
}

static void layers_must_be_equal(const struct layer *layer, const struct layer *g) {
    CHECK_MEM(layer->bits, (size_t)layer->bytes, g->bits, (size_t)g->bytes);
    CHECK_UINT(layer->capacity, g->capacity);
    CHECK_UINT(layer->items, g->items);
    CHECK(layer->error == g->error && layer->parameter == g->parameter);
    CHECK_INT(layer->probes, g->probes);
    CHECK_INT(layer->variant, g->variant);
}

static void specs_must_be_equal(struct chain_spec a, struct chain_spec b) {
    CHECK(a.kind == b.kind);
    CHECK(a.secret.k0 == b.secret.k0 && a.secret.k1 == b.secret.k1);
    CHECK(a.secret2.k0 == b.secret2.k0 && a.secret2.k1 == b.secret2.k1);
    CHECK_UINT(a.identity, b.identity);
    CHECK(a.error == b.error);
    CHECK(a.parameter == b.parameter);
    CHECK_UINT(a.expansion, b.expansion);
    CHECK_UINT(a.variant, b.variant);
}

void must_be_equal(const struct chain *a, const struct chain *b) {
    specs_must_be_equal(spec_of(a), spec_of(b));
    CHECK_UINT(a->missing, b->missing);
    CHECK_UINT(a->nlayers, b->nlayers);
    for (uint32_t i = 0; i < a->nlayers; i++)
        layers_must_be_equal(&a->layers[i], &b->layers[i]);
}
