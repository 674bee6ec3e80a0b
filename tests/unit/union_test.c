/* SPDX-License-Identifier: BSD-3-Clause */
/* union_test.c - whether a chain holds all of another, and both in one, for random chains
 * of all kinds, judged byte by byte. */
#include "union.h"

#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "check.h"
#include "encode.h"
#include "estimate.h"

enum { ROUNDS = 24, LAYERS = 4, ITEMS_A_LAYER = 300 };

/* ---- random chains ---- */

static uint8_t random_variant(const struct kind *kind) {
    uint8_t n = 0;
    if (!kind->form || !kind->form->variants) return 0;
    while (kind->form->variants[n])
        n++;
    return (uint8_t)random_below(n);
}

static struct chain *random_chain(const struct kind *kind) {
    struct chain_spec spec = random_spec(0, kind->exceeds ? 0 : 2);
    spec.kind = kind;
    spec.error = 0.2 / (double)(1 + random_below(100));
    spec.asked_expansion = spec.expansion;
    spec.secret2 = (struct secret){random_u64(), random_u64()};
    spec.variant = random_variant(kind);
    kind->complete(&spec);
    if (kind->form) spec.encoding = (uint8_t)random_below(ENCODINGS);
    if (kind->form && kind->form->needs & FORM_SEED) spec.secret.k0 = random_u64();
    return chain_made(counting_memory(), &spec, 1 + random_below(200));
}

static void free_copy(void *c) {
    chain_free(c);
}

static struct chain *copy_of(const struct chain *c) {
    struct chain *copy = chain_copy(c);
    CHECK(copy != NULL);
    test_defer(free_copy, copy);
    return copy;
}

/* Two chains of the same sizes, each with items of its own, which may be some of the
 * other's. What they hold is in numbers of items. */
struct pair {
    struct chain *a, *b;
    uint64_t held[2][LAYERS * ITEMS_A_LAYER];
    size_t n[2];
};

static void add_some(struct pair *p, unsigned which, uint64_t range) {
    struct chain *c = which ? p->b : p->a;
    for (uint64_t n = random_below(ITEMS_A_LAYER); n > 0; n--) {
        uint64_t item = random_below(range);
        add_number(c, item);
        p->held[which][p->n[which]++] = item;
    }
}

/* The layers come alike, whatever each has accepted. */
static void random_pair(struct pair *p, const struct kind *kind) {
    struct layer plan;
    uint64_t range = 1 + random_below(1000);
    p->a = random_chain(kind);
    p->b = copy_of(p->a);
    p->n[0] = p->n[1] = 0;
    uint64_t layers = kind->exceeds ? 1 : 1 + random_below(LAYERS);
    for (uint64_t i = 0; i < layers; i++) {
        if (i > 0) {
            CHECK_INT(chain_plan(p->a, 0, &plan), BLOOM_OK);
            CHECK_INT(chain_grow(p->a, &plan), BLOOM_OK);
            CHECK_INT(chain_grow(p->b, &plan), BLOOM_OK);
        }
        add_some(p, 0, range);
        add_some(p, 1, random_below(2) ? range : 1 + range / 8);
    }
    CHECK_STR(union_difference(p->a, p->b), NULL);
}

static void must_hold(const struct chain *c, const struct pair *p, unsigned which) {
    for (size_t i = 0; i < p->n[which]; i++)
        if (!ask_number(c, p->held[which][i]))
            FAIL("a false no for item %llu", (unsigned long long)p->held[which][i]);
}

/* ---- the model: bytes ---- */

static struct chain *union_by_bytes(const struct chain *a, const struct chain *b) {
    struct chain *both = copy_of(a);
    for (uint32_t i = 0; i < a->nlayers; i++)
        for (uint64_t at = 0; at < a->layers[i].bytes; at++)
            both->layers[i].bits[at] |= b->layers[i].bits[at];
    return both;
}

static bool same_bytes(const struct layer *a, const struct layer *b) {
    return memcmp(a->bits, b->bits, (size_t)a->bytes) == 0;
}

static bool all_same_bytes(const struct chain *a, const struct chain *b) {
    for (uint32_t i = 0; i < a->nlayers; i++)
        if (!same_bytes(&a->layers[i], &b->layers[i])) return false;
    return true;
}

/* A layer that has got nothing has kept its count. */
static void must_be_counted(const struct layer *both, const struct layer *a,
                            const struct layer *b) {
    uint64_t more = a->items > b->items ? a->items : b->items;
    if (same_bytes(both, a)) {
        CHECK_UINT(both->items, a->items);
    } else {
        CHECK(both->items >= more);
        CHECK(both->items <= a->items + b->items);
    }
}

/* ---- tests ---- */

TEST(a_union_has_the_bits_of_both_and_no_other) {
    static struct pair p;
    for (unsigned round = 0; round < ROUNDS * KINDS; round++) {
        test_case("%s", kinds[round % KINDS]->name);
        random_pair(&p, kinds[round % KINDS]);
        struct chain *a = copy_of(p.a), *model = union_by_bytes(p.a, p.b);
        struct snapshot b = snapshot_of(p.b);

        bool is_more = !all_same_bytes(model, a);
        CHECK_INT(union_add(p.a, p.b, NULL, 0), is_more);

        CHECK(all_same_bytes(p.a, model));
        for (uint32_t i = 0; i < a->nlayers; i++)
            must_be_counted(&p.a->layers[i], &a->layers[i], &p.b->layers[i]);
        must_be_unchanged(p.b, b);
        CHECK_STR(chain_flaw(p.a), NULL);
        must_hold(p.a, &p, 0);
        must_hold(p.a, &p, 1);
    }
}

/* Which pieces of the joined arrays differ, one after another. */
static void differing_pieces(const struct chain *a, const struct chain *b, uint64_t piece,
                             uint8_t *differs) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < a->nlayers; i++)
        for (uint64_t n = 0; n < a->layers[i].bytes; n++, at++)
            if (a->layers[i].bits[n] != b->layers[i].bits[n]) differs[at / piece] = 1;
}

/* Arrays may end anywhere, and the next one begins there. */
TEST(a_union_tells_which_pieces_it_changed) {
    static struct pair p;
    static uint8_t found[1 << 16], wanted[1 << 16];
    for (unsigned round = 0; round < ROUNDS * KINDS; round++) {
        uint64_t piece = 8 + random_below(200);
        random_pair(&p, kinds[round % KINDS]);
        test_case("%s, pieces of %d", kinds[round % KINDS]->name, (int)piece);
        struct chain *before = copy_of(p.a), *whole = copy_of(p.a);
        CHECK(chain_bytes(p.a) / piece < sizeof found);
        memset(found, 0, sizeof found);
        memset(wanted, 0, sizeof wanted);
        bool is_more = union_add(whole, p.b, NULL, 0);
        CHECK_INT(union_add(p.a, p.b, found, piece), is_more);
        must_be_equal(p.a, whole);
        differing_pieces(p.a, before, piece, wanted);
        CHECK_MEM(found, sizeof found, wanted, sizeof wanted);
    }
}

TEST(a_union_that_brings_nothing_changes_nothing) {
    static struct pair p;
    for (size_t k = 0; k < KINDS; k++) {
        test_case("%s", kinds[k]->name);
        random_pair(&p, kinds[k]);
        union_add(p.a, p.b, NULL, 0);
        struct snapshot before = snapshot_of(p.a);
        CHECK(!union_add(p.a, p.b, NULL, 0));
        CHECK(!union_add(p.a, p.a, NULL, 0));
        must_be_unchanged(p.a, before);
    }
}

TEST(a_chain_covers_another_if_no_byte_lacks_a_bit) {
    static struct pair p;
    unsigned covered = 0;
    for (unsigned round = 0; round < ROUNDS * KINDS; round++) {
        test_case("%s", kinds[round % KINDS]->name);
        random_pair(&p, kinds[round % KINDS]);
        struct chain *both = union_by_bytes(p.a, p.b);
        CHECK_INT(union_covers(p.a, p.b), all_same_bytes(both, p.a));
        CHECK_INT(union_covers(p.b, p.a), all_same_bytes(both, p.b));
        CHECK(union_covers(both, p.a) && union_covers(both, p.b));
        covered += union_covers(p.a, p.b);
    }
    CHECK(covered > 0);
}

TEST(a_single_bit_too_many_anywhere_is_not_covered) {
    static struct pair p;
    for (unsigned round = 0; round < ROUNDS * KINDS; round++) {
        random_pair(&p, kinds[round % KINDS]);
        struct chain *more = copy_of(p.a);
        uint32_t which = (uint32_t)random_below(p.a->nlayers);
        uint64_t bytes = p.a->layers[which].bytes;
        uint64_t at = round % 3 ? random_below(bytes) : bytes - 1;
        unsigned char bit = (unsigned char)(1u << random_below(8));
        test_case("%s, byte %llu of %llu", kinds[round % KINDS]->name,
                  (unsigned long long)at, (unsigned long long)bytes);
        p.a->layers[which].bits[at] &= (unsigned char)~bit;
        more->layers[which].bits[at] |= bit;
        CHECK(!union_covers(p.a, more));
        CHECK(union_covers(more, p.a));
        CHECK(union_add(p.a, more, NULL, 0));
        CHECK(all_same_bytes(p.a, more));
    }
}

/* The count scatters by less than a hundredth. */
TEST(the_items_of_a_union_are_counted_once) {
    for (size_t k = 0; k < KINDS; k++) {
        struct chain_spec spec = random_spec(.01, 0);
        spec.kind = kinds[k];
        kinds[k]->complete(&spec);
        struct chain *a = chain_made(counting_memory(), &spec, 20000), *b = copy_of(a);
        for (uint64_t n = 0; n < 8000; n++) {
            add_number(a, n);
            add_number(b, n + 4000);
        }
        test_case("%s", kinds[k]->name);
        CHECK(union_add(a, b, NULL, 0));
        CHECK_NEAR((double)chain_items(a), 12000, 600);
    }
}

/* Counts that came from outside may be anything. */
TEST(the_count_of_a_union_stays_within_its_bounds) {
    static const uint64_t counts[][2] = {
        {0, 0}, {1, 0}, {0, 1}, {1u << 20, 1u << 20}, {CHAIN_ITEMS_MAX, CHAIN_ITEMS_MAX}};
    for (size_t i = 0; i < KINDS * sizeof counts / sizeof *counts; i++) {
        struct chain *a = random_chain(kinds[i % KINDS]), *b = copy_of(a);
        struct layer *layer = a->layers;
        for (uint64_t n = 0; n < 20; n++)
            add_number(b, n);
        layer->items = counts[i / KINDS][0];
        b->layers[0].items = counts[i / KINDS][1];
        struct layer before = *layer;
        before.bits = copy_of(a)->layers[0].bits;
        test_case("%s", kinds[i % KINDS]->name);
        CHECK(union_add(a, b, NULL, 0));
        must_be_counted(layer, &before, &b->layers[0]);
        CHECK_STR(chain_flaw(a), NULL);
    }
}

TEST(a_union_takes_no_memory) {
    static struct pair p;
    for (size_t k = 0; k < KINDS; k++) {
        random_pair(&p, kinds[k]);
        uint64_t granted = memory_granted();
        union_difference(p.a, p.b);
        union_add(p.a, p.b, NULL, 0);
        union_covers(p.a, p.b);
        CHECK_UINT(memory_granted(), granted);
        CHECK_UINT(memory_refused(), 0);
    }
}

/* ---- an empty one alike ---- */

static bool is_empty(const struct chain *c) {
    for (uint32_t i = 0; i < c->nlayers; i++)
        for (uint64_t at = 0; at < c->layers[i].bytes; at++)
            if (c->layers[i].bits[at]) return false;
    return chain_items(c) == 0;
}

TEST(an_empty_chain_alike_becomes_a_copy_by_a_union) {
    static struct pair p;
    for (unsigned round = 0; round < ROUNDS * KINDS; round++) {
        struct chain *alike;
        test_case("%s", kinds[round % KINDS]->name);
        random_pair(&p, kinds[round % KINDS]);
        CHECK_INT(union_alike(p.a, 77, &alike), BLOOM_OK);
        test_defer(free_copy, alike);
        CHECK_STR(chain_flaw(alike), NULL);
        CHECK_STR(union_difference(p.a, alike), NULL);
        CHECK(is_empty(alike));
        CHECK_UINT(alike->identity, p.a->kind->foreign ? p.a->identity : 77);
        union_add(alike, p.a, NULL, 0);
        CHECK(all_same_bytes(alike, p.a));
    }
}

TEST(without_memory_there_is_none_alike_and_nothing_is_kept) {
    static struct pair p;
    for (size_t k = 0; k < KINDS; k++) {
        struct chain *alike;
        enum bloom_status status = BLOOM_NO_MEMORY;
        test_case("%s", kinds[k]->name);
        random_pair(&p, kinds[k]);
        uint64_t blocks = memory_blocks();
        for (uint64_t n = 0; status == BLOOM_NO_MEMORY; n++) {
            memory_fail_after(n);
            status = union_alike(p.a, 77, &alike);
            if (status == BLOOM_NO_MEMORY) CHECK(!alike && memory_blocks() == blocks);
        }
        memory_never_fails();
        CHECK_INT(status, BLOOM_OK);
        CHECK(memory_refused() >= 3); /* the chain, its layers, their arrays */
        chain_free(alike);
    }
}

/* ---- what is comparable ---- */

/* Each way in which a chain can differ so that an item has other places in it. */
static void differ_kind(struct chain *c) {
    c->kind = c->kind == kinds[0] ? kinds[1] : kinds[0];
}
static void differ_encoding(struct chain *c) {
    c->encoding ^= 1;
}
static void differ_variant(struct chain *c) {
    c->variant ^= 1;
}
static void differ_secret_low(struct chain *c) {
    c->secret.k0 ^= 1;
}
static void differ_secret_high(struct chain *c) {
    c->secret.k1 ^= UINT64_C(1) << 63;
}
static void differ_second_low(struct chain *c) {
    c->secret2.k0 ^= 1;
}
static void differ_second_high(struct chain *c) {
    c->secret2.k1 ^= UINT64_C(1) << 63;
}
static void differ_layers(struct chain *c) {
    c->nlayers--;
}

static struct layer *last_layer(struct chain *c) {
    return &c->layers[c->nlayers - 1];
}
static void differ_bytes(struct chain *c) {
    last_layer(c)->bytes++;
}
static void differ_probes(struct chain *c) {
    last_layer(c)->probes++;
}
static void differ_layer_variant(struct chain *c) {
    last_layer(c)->variant ^= 1;
}

static const struct {
    void (*differ)(struct chain *c);
    const char *what, *what_of_a_form;
} ways[] = {
    {differ_kind, "kinds", "kinds"},
    {differ_encoding, "encodings", "encodings"},
    {differ_variant, "variants", "variants"},
    {differ_secret_low, "secrets", "seeds"},
    {differ_secret_high, "secrets", "seeds"},
    {differ_second_low, "secrets", "seeds"},
    {differ_second_high, "secrets", "seeds"},
    {differ_layers, "numbers of layers", "numbers of layers"},
    {differ_bytes, "sizes", "sizes"},
    {differ_probes, "sizes", "sizes"},
    {differ_layer_variant, "sizes", "sizes"},
};

TEST(what_would_set_other_bits_is_not_comparable) {
    static struct pair p;
    for (size_t i = 0; i < KINDS * sizeof ways / sizeof *ways; i++) {
        random_pair(&p, kinds[i % KINDS]);
        struct layer layers[LAYERS];
        struct chain other = *p.b;
        memcpy(layers, other.layers, other.nlayers * sizeof *layers);
        other.layers = layers;
        ways[i / KINDS].differ(&other);
        const char *what =
            p.a->kind->form ? ways[i / KINDS].what_of_a_form : ways[i / KINDS].what;
        test_case("%s, other %s", p.a->kind->name, what);
        CHECK_STR(union_difference(p.a, &other), what);
        CHECK_STR(union_difference(&other, p.a), what);
    }
}

/* Of the same length, with another number of bits. */
TEST(arrays_with_bits_to_spare_are_compared_by_the_bit) {
    for (uint64_t bits = 57; bits < 64; bits++) {
        struct layer layer = {.bytes = 8, .capacity = 6, .error = .01, .probes = 6};
        struct layer other = layer;
        struct chain a = {.kind = &kind_crc32, .nlayers = 1, .layers = &layer}, b = a;
        b.layers = &other;
        layer.parameter = 64;
        other.parameter = (double)bits;
        CHECK_STR(union_difference(&a, &b), "sizes");
        layer.parameter = (double)bits;
        CHECK_STR(union_difference(&a, &b), NULL);
    }
}

TEST(what_sets_no_bits_may_differ) {
    for (size_t k = 0; k < KINDS; k++) {
        struct chain *a = random_chain(kinds[k]), *b = copy_of(a);
        b->identity++;
        b->error /= 2;
        b->expansion ^= 1;
        b->layers[0].capacity++;
        b->layers[0].items++;
        b->layers[0].error /= 2;
        test_case("%s", kinds[k]->name);
        CHECK_STR(union_difference(a, b), NULL);
    }
}
