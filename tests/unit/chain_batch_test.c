/* SPDX-License-Identifier: BSD-3-Clause */
/* chain_batch_test.c - batches, copies, pieces, and what is wrong with a chain. */
#include "chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "check.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct bloom_memory *memory;

static struct chain *made(double error, uint32_t expansion, uint64_t capacity) {
    struct chain_spec spec = random_spec(error, expansion);
    memory = counting_memory();
    return chain_made(memory, &spec, capacity);
}

/* ---- batches ---- */

/* Sizes around the block that the core works in (64), and random items out of a range
 * small enough for repeats. */
static size_t random_batch(struct batch *b, uint64_t range) {
    static const size_t sizes[] = {1, 2, 63, 64, 65, 128, 129, 300};
    size_t n = sizes[random_below(COUNT(sizes))];
    for (size_t i = 0; i < n; i++)
        b->items[i] = item_number(random_below(range), b->room[i]);
    return n;
}

TEST(a_batch_is_worth_its_items_one_by_one) {
    struct chain *c = made(0.05, 2, 100);
    struct chain_spec spec = spec_of(c);
    struct chain *single = chain_made(memory, &spec, 100);
    struct batch b;
    uint8_t added[BATCH_MAX], maybe[BATCH_MAX], one;

    for (int round = 0; round < 60; round++) {
        size_t n = random_batch(&b, 4000);
        size_t done = chain_add(c, b.items, n, added, CHAIN_STOP);
        for (size_t i = 0; i < done; i++) {
            CHECK_UINT(chain_add(single, &b.items[i], 1, &one, CHAIN_STOP), 1);
            CHECK_INT(added[i], one);
        }
        if (done < n) {
            CHECK_UINT(chain_add(single, &b.items[done], 1, &one, CHAIN_STOP), 0);
            chain_must_grow(c);
            chain_must_grow(single);
        }
        n = random_batch(&b, 8000);
        chain_ask(c, b.items, n, maybe);
        for (size_t i = 0; i < n; i++) {
            chain_ask(single, &b.items[i], 1, &one);
            CHECK_INT(maybe[i], one);
        }
    }
    must_be_equal(c, single);
}

TEST(a_batch_of_nothing_does_nothing) {
    struct chain *c = made(0.01, 2, 100);
    struct snapshot before = snapshot_of(c);
    CHECK_UINT(chain_add(c, NULL, 0, NULL, CHAIN_STOP), 0);
    chain_ask(c, NULL, 0, NULL);
    must_be_unchanged(c, before);
}

TEST(an_item_twice_in_a_batch_is_added_once) {
    struct chain *c = made(0.001, 2, 1000);
    struct batch b;
    uint8_t added[BATCH_MAX];
    for (size_t i = 0; i < 200; i++)
        b.items[i] = item_number(i / 2, b.room[i]); /* 0 0 1 1 2 2 ... */

    CHECK_UINT(chain_add(c, b.items, 200, added, CHAIN_STOP), 200);
    size_t sum = 0;
    for (size_t i = 0; i < 200; i += 2) {
        CHECK_INT(added[i + 1], 0);
        sum += added[i];
    }
    CHECK_UINT(chain_items(c), sum);
    CHECK(sum >= 98); /* the others are false positives: 100 at up to 0.001 each */
}

TEST(an_item_may_have_no_bytes_or_very_many) {
    struct chain *c = made(0.01, 2, 100);
    unsigned char *large = calloc(1, 1 << 20);
    CHECK(large != NULL);
    struct item items[] = {{NULL, 0}, {"", 0}, {large, 1 << 20}, {large, (1 << 20) - 1}};
    uint8_t added[4], maybe[4];
    CHECK_UINT(chain_add(c, items, 4, added, CHAIN_STOP), 4);
    chain_ask(c, items, 4, maybe);
    free(large);
    CHECK(added[0] && !added[1] && added[2]);
    CHECK(maybe[0] && maybe[1] && maybe[2] && maybe[3]);
}

TEST(chains_on_misaligned_arrays_answer_the_same) {
    struct chain *c = made(0.01, 2, 100);
    struct chain_spec spec = spec_of(c);
    memory_misalign();
    struct chain *odd = chain_made(memory, &spec, 100);
    CHECK(((uintptr_t)odd->layers[0].bits & 1) == 1);
    chain_fill(c, 0, 3000);
    chain_fill(odd, 0, 3000);
    must_be_equal(c, odd);
    chain_must_hold(odd, 0, 3000);
}

/* ---- copies and pieces ---- */

static void free_chain(void *c) {
    chain_free(c);
}

TEST(a_copy_is_equal_and_shares_nothing) {
    struct chain *c = made(0.01, 2, 100);
    chain_fill(c, 0, 1000);
    struct chain *copy = chain_copy(c);
    CHECK(copy != NULL);
    test_defer(free_chain, copy);
    must_be_equal(c, copy);

    struct snapshot before = snapshot_of(c);
    chain_fill(copy, 5000, 1000);
    must_be_unchanged(c, before);
    chain_must_hold(copy, 0, 1000);
}

TEST(a_copy_of_a_partial_chain_is_partial) {
    struct chain *c = made(0.01, 2, 100);
    c->missing = 17;
    struct chain *copy = chain_copy(c);
    CHECK(copy != NULL);
    test_defer(free_chain, copy);
    must_be_equal(c, copy);
}

TEST(a_copy_without_memory_leaves_nothing_behind) {
    struct chain *c = made(0.01, 2, 100);
    chain_fill(c, 0, 1000);
    uint64_t blocks = memory_blocks(), needed = 2 + c->nlayers;
    for (uint64_t granted = 0; granted < needed; granted++) {
        struct snapshot before = snapshot_of(c);
        test_case("%llu blocks granted", (unsigned long long)granted);
        memory_fail_after(granted);
        CHECK(chain_copy(c) == NULL);
        CHECK_UINT(memory_blocks(), blocks);
        must_be_unchanged(c, before);
    }
}

TEST(arrays_are_taken_all_or_none) {
    struct chain *c = made(0.01, 2, 100);
    chain_fill(c, 0, 1000);
    struct layer bare[8];
    struct chain without = *c;
    CHECK(c->nlayers > 2 && c->nlayers <= COUNT(bare));
    memcpy(bare, c->layers, c->nlayers * sizeof *bare);
    without.layers = bare;

    for (uint64_t granted = 0; granted < c->nlayers; granted++) {
        for (uint32_t i = 0; i < c->nlayers; i++)
            bare[i].bits = NULL;
        uint64_t blocks = memory_blocks();
        memory_fail_after(granted);
        CHECK_INT(chain_take_arrays(&without), BLOOM_NO_MEMORY);
        CHECK_UINT(memory_blocks(), blocks);
        for (uint32_t i = 0; i < c->nlayers; i++)
            CHECK(bare[i].bits == NULL);
    }
}

TEST(pieces_join_to_the_whole) {
    struct chain *c = made(0.01, 2, 10);
    chain_fill(c, 0, 200);
    CHECK(c->nlayers >= 4);
    uint64_t offset = 0, length;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct layer *layer = &c->layers[i];
        CHECK(chain_piece(c, offset, &length) == layer->bits);
        CHECK_UINT(length, layer->bytes);
        CHECK(chain_piece(c, offset + layer->bytes - 1, &length) ==
              layer->bits + layer->bytes - 1);
        CHECK_UINT(length, 1);
        offset += layer->bytes;
    }
    CHECK_UINT(offset, chain_bytes(c));
    CHECK(chain_piece(c, offset, &length) == NULL);
    CHECK_UINT(length, 0);
    CHECK(chain_piece(c, UINT64_MAX, &length) == NULL);
}

TEST(memory_is_what_was_taken) {
    struct chain *c = made(0.01, 2, 100);
    CHECK_UINT(chain_memory(c), memory_bytes());
    chain_fill(c, 0, 5000);
    CHECK_UINT(chain_memory(c), memory_bytes());
}

/* ---- the validator ---- */

static void no_flaw(struct chain *c) {
    (void)c;
}
static void error_0(struct chain *c) {
    c->error = 0;
}
static void error_1(struct chain *c) {
    c->error = 1;
}
static void error_nan(struct chain *c) {
    c->error = (double)NAN;
}
static void expansion_too_large(struct chain *c) {
    c->expansion = CHAIN_EXPANSION_MAX + 1;
}
static void no_layers(struct chain *c) {
    c->nlayers = 0;
}
static void grown_but_not_scaling(struct chain *c) {
    c->expansion = 0;
}
static void layer_error_0(struct chain *c) {
    c->layers[1].error = 0;
}
static void layer_error_1(struct chain *c) {
    c->layers[1].error = 1;
}
static void layer_error_nan(struct chain *c) {
    c->layers[1].error = (double)NAN;
}
static void model_1(struct chain *c) {
    c->layers[1].parameter = 1;
}
static void model_negative(struct chain *c) {
    c->layers[1].parameter = -1e-300;
}
static void model_nan(struct chain *c) {
    c->layers[1].parameter = (double)NAN;
}
static void model_0(struct chain *c) {
    c->layers[1].parameter = 0;
}
static void no_capacity(struct chain *c) {
    c->layers[1].capacity = 0;
}
static void no_bytes(struct chain *c) {
    c->layers[1].bytes = 0;
}
static void secret2(struct chain *c) {
    c->secret2.k1 = 1;
}
static void parameter(struct chain *c) {
    c->parameter = (double)NAN;
}
static void variant(struct chain *c) {
    c->variant = 1;
}
static void kinds_own_rule(struct chain *c) {
    c->layers[1].probes = 5;
}
static void capacities_overflow(struct chain *c) {
    c->layers[0].capacity = c->layers[1].capacity = CHAIN_TOTAL_MAX / 2 + 1;
}
static void capacities_at_the_limit(struct chain *c) {
    c->layers[0].capacity = c->layers[1].capacity = CHAIN_TOTAL_MAX / 2;
}
static void bytes_overflow(struct chain *c) {
    c->layers[0].bytes = CHAIN_TOTAL_MAX;
}
static void too_much_missing(struct chain *c) {
    c->missing = chain_bytes(c) + 1;
}
static void all_missing(struct chain *c) {
    c->missing = chain_bytes(c);
}
static void largest_counts(struct chain *c) {
    c->layers[0].items = c->layers[1].items = CHAIN_ITEMS_MAX;
}
static void too_large_a_count(struct chain *c) {
    c->layers[1].items = CHAIN_ITEMS_MAX + 1;
}
static void too_many_layers(struct chain *c) {
    c->nlayers = c->kind->layers_max + 1; /* said before the first is looked at */
}

static const struct {
    const char *name;
    void (*spoil)(struct chain *c);
    const char *flaw;
} flaws[] = {
    {"as made", no_flaw, NULL},
    {"error 0", error_0, "the error rate is not between 0 and 1"},
    {"error 1", error_1, "the error rate is not between 0 and 1"},
    {"error NaN", error_nan, "the error rate is not between 0 and 1"},
    {"expansion", expansion_too_large, "the expansion is too large"},
    {"no layers", no_layers, "there is no layer"},
    {"grown", grown_but_not_scaling, "a non-scaling filter has grown"},
    {"layer 0", layer_error_0, "the error rate of a layer is not between 0 and 1"},
    {"layer 1", layer_error_1, "the error rate of a layer is not between 0 and 1"},
    {"layer NaN", layer_error_nan, "the error rate of a layer is not between 0 and 1"},
    {"model 1", model_1, "the model error of a layer is not a rate"},
    {"model < 0", model_negative, "the model error of a layer is not a rate"},
    {"model NaN", model_nan, "the model error of a layer is not a rate"},
    {"model 0", model_0, NULL},
    {"no capacity", no_capacity, "a layer has no capacity"},
    {"no bytes", no_bytes, "a layer has no bits"},
    {"second secret", secret2, "it has a field set that its kind doesn't know"},
    {"parameter", parameter, "it has a field set that its kind doesn't know"},
    {"variant", variant, "it has a field set that its kind doesn't know"},
    {"probes", kinds_own_rule, "a layer has a bad number of probes"},
    {"capacities", capacities_overflow, "the sizes of the layers add up to too much"},
    {"capacities at 2^62", capacities_at_the_limit, NULL},
    {"bytes", bytes_overflow, "the sizes of the layers add up to too much"},
    {"missing", too_much_missing, "more is missing than there should be"},
    {"all missing", all_missing, NULL},
    {"largest counts", largest_counts, NULL},
    {"too large a count", too_large_a_count, "a layer has more items than can be counted"},
    {"too many layers", too_many_layers, "there are too many layers"},
};

TEST(every_flaw_of_a_chain_has_a_name) {
    struct chain *c = made(0.01, 2, 10);
    chain_must_grow(c);
    for (size_t i = 0; i < COUNT(flaws); i++) {
        struct layer layers[2] = {c->layers[0], c->layers[1]};
        struct chain spoilt = *c;
        spoilt.layers = layers;
        flaws[i].spoil(&spoilt);
        test_case("%s", flaws[i].name);
        CHECK_STR(chain_flaw(&spoilt), flaws[i].flaw);
    }
}
