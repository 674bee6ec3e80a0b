/* SPDX-License-Identifier: BSD-3-Clause */
/* chain_test.c - what each call of a chain promises. The random tests are in
 * chain_model_test.c, the ledger in chain_ledger_test.c, the error rate in rate_test.c. */
#include "chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "check.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct chain *made(double error, uint32_t expansion, uint64_t capacity) {
    struct chain_spec spec = random_spec(error, expansion);
    return chain_made(counting_memory(), &spec, capacity);
}

static enum bloom_status grow(struct chain *c) {
    struct layer plan;
    enum bloom_status status = chain_plan(c, 0, &plan);
    return status < 0 ? status : chain_grow(c, &plan);
}

/* ---- birth ---- */

TEST(a_rate_that_is_none_makes_no_chain) {
    static const double rates[] = {
        0, -0.0, 1, 1.5, -0.1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    const struct bloom_memory *memory = counting_memory();
    for (size_t i = 0; i < COUNT(rates); i++) {
        struct chain_spec spec = random_spec(rates[i], 2);
        struct chain *c = (struct chain *)&spec;
        test_case("rate %g", rates[i]);
        CHECK_INT(chain_new(&spec, memory, &c), BLOOM_BAD_ERROR_RATE);
        CHECK(c == NULL);
    }
    CHECK_UINT(memory_granted(), 0);
}

TEST(without_memory_there_is_no_chain) {
    const struct bloom_memory *memory = counting_memory();
    struct chain_spec spec = random_spec(0.01, 2);
    struct chain *c = (struct chain *)&spec;
    memory_fail_after(0);
    CHECK_INT(chain_new(&spec, memory, &c), BLOOM_NO_MEMORY);
    CHECK(c == NULL);
}

TEST(a_new_chain_has_no_layer_and_that_is_a_flaw) {
    struct chain_spec spec = random_spec(0.01, 2);
    struct chain *c;
    CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
    CHECK_UINT(c->nlayers, 0);
    CHECK_UINT(chain_items(c), 0);
    CHECK_UINT(chain_capacity(c), 0);
    CHECK_UINT(chain_bytes(c), 0);
    CHECK_UINT(chain_memory(c), sizeof *c);
    CHECK_STR(chain_flaw(c), "there is no layer");
    chain_free(c);
}

TEST(nothing_can_be_freed) {
    chain_free(NULL);
}

/* What a user is told for a bad reservation depends on which it is. */
TEST(a_plan_refuses_what_cannot_be_a_first_layer) {
    static const struct {
        double error;
        uint64_t capacity;
        enum bloom_status status;
    } table[] = {
        {0.01, 0, BLOOM_BAD_CAPACITY},
        {0.01, 1, BLOOM_OK},
        {0.01, CHAIN_CAPACITY_MAX, BLOOM_OK},
        {0.01, CHAIN_CAPACITY_MAX + 1, BLOOM_BAD_CAPACITY},
        {0.01, UINT64_MAX, BLOOM_BAD_CAPACITY},
        {1e-18, 1, BLOOM_OK},
        {1e-19, 1, BLOOM_RATE_TOO_SMALL},
        {1e-18, 1000, BLOOM_RATE_TOO_SMALL},
        {5e-324, 1, BLOOM_RATE_TOO_SMALL},
        {1e-9, CHAIN_CAPACITY_MAX, BLOOM_RATE_TOO_SMALL},
    };
    const struct bloom_memory *memory = counting_memory();
    for (size_t i = 0; i < COUNT(table); i++) {
        struct chain_spec spec = random_spec(table[i].error, 0);
        struct layer plan;
        struct chain *c;
        test_case("%g, %llu", table[i].error, (unsigned long long)table[i].capacity);
        CHECK_INT(chain_new(&spec, memory, &c), BLOOM_OK);
        enum bloom_status status = chain_plan(c, table[i].capacity, &plan);
        chain_free(c);
        CHECK_INT(status, table[i].status);
    }
}

TEST(a_plan_takes_no_memory_and_changes_nothing) {
    struct chain *c = made(0.01, 2, 100);
    struct snapshot before = snapshot_of(c);
    uint64_t granted = memory_granted();
    struct layer plan;

    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_OK);
    CHECK(plan.bits == NULL);
    CHECK_UINT(plan.items, 0);
    CHECK_UINT(plan.capacity, 200);
    CHECK_UINT(memory_granted(), granted);
    must_be_unchanged(c, before);
}

/* ---- growing ---- */

TEST(a_chain_grows_by_its_expansion_and_only_when_told) {
    struct chain *c = made(0.01, 3, 10);
    for (uint64_t i = 0; i < 1000; i++)
        add_number(c, i); /* far over capacity */
    CHECK_UINT(c->nlayers, 1);

    uint64_t capacity = 10;
    for (uint32_t layer = 1; layer < 6; layer++) {
        CHECK_INT(grow(c), BLOOM_OK);
        CHECK_UINT(c->nlayers, layer + 1);
        CHECK_UINT(c->layers[layer].capacity, capacity *= 3);
        CHECK_STR(chain_flaw(c), NULL);
    }
    chain_must_hold(c, 0, 1000);
}

TEST(a_layer_is_added_empty) {
    struct chain *c = made(0.01, 2, 10);
    struct layer plan;
    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_OK);
    plan.items = 7;                         /* a plan from outside may say anything */
    plan.bits = (unsigned char *)c->layers; /* and none of these is its array */
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    CHECK_UINT(c->layers[1].items, 0);
    CHECK(c->layers[1].bits != plan.bits);
    for (uint64_t i = 0; i < c->layers[1].bytes; i++)
        CHECK_INT(c->layers[1].bits[i], 0);
}

TEST(a_non_scaling_chain_does_not_grow) {
    struct chain *c = made(0.01, 0, 10);
    struct layer plan = c->layers[0];
    struct snapshot before = snapshot_of(c);
    CHECK_INT(grow(c), BLOOM_FULL);
    CHECK_INT(chain_grow(c, &plan), BLOOM_CORRUPT);
    must_be_unchanged(c, before);
}

TEST(growing_without_memory_changes_nothing) {
    struct chain *c = made(0.01, 2, 100);
    chain_fill(c, 0, 100);
    for (uint64_t granted = 0; granted < 2; granted++) {
        struct snapshot before = snapshot_of(c);
        uint64_t blocks = memory_blocks();
        memory_fail_after(granted);
        CHECK_INT(grow(c), BLOOM_NO_MEMORY);
        memory_never_fails();
        CHECK_UINT(memory_blocks(), blocks);
        must_be_unchanged(c, before);
    }
    CHECK_INT(grow(c), BLOOM_OK);
}

/* Growth records come over the wire. */
TEST(a_plan_from_outside_that_makes_no_sense_is_refused) {
    static const struct {
        const char *name;
        struct layer plan;
    } table[] = {
        {"all zero", {.bytes = 0}},
        {"no bytes", {NULL, 0, 20, 0, .01, .01, 1, 8}},
        {"half a line", {NULL, 32, 20, 0, .01, .01, 1, 8}},
        {"no capacity", {NULL, 64, 0, 0, .01, .01, 1, 8}},
        {"no error", {NULL, 64, 20, 0, 0, 0, 1, 8}},
        {"error 1", {NULL, 64, 20, 0, 1, .01, 1, 8}},
        {"error NaN", {NULL, 64, 20, 0, (double)NAN, .01, 1, 8}},
        {"model 1", {NULL, 64, 20, 0, .01, 1, 1, 8}},
        {"model below 0", {NULL, 64, 20, 0, .01, -.01, 1, 8}},
        {"model NaN", {NULL, 64, 20, 0, .01, (double)NAN, 1, 8}},
        {"no probes", {NULL, 64, 20, 0, .01, .01, 0, 8}},
        {"too many items", {NULL, 64, 20, CHAIN_ITEMS_MAX + 1, .01, .01, 1, 8}},
        {"7 sectors", {NULL, 64, 20, 0, .01, .01, 1, 7}},
        {"bytes overflow", {NULL, CHAIN_TOTAL_MAX, 20, 0, .01, .01, 1, 8}},
        {"bytes wrap", {NULL, UINT64_MAX - 63, 20, 0, .01, .01, 1, 8}},
        {"capacity overflows", {NULL, 64, CHAIN_TOTAL_MAX, 0, .01, .01, 1, 8}},
        {"capacity wraps", {NULL, 64, UINT64_MAX, 0, .01, .01, 1, 8}},
    };
    struct chain *c = made(0.01, 2, 10);
    uint64_t granted = memory_granted();
    for (size_t i = 0; i < COUNT(table); i++) {
        struct snapshot before = snapshot_of(c);
        test_case("%s", table[i].name);
        CHECK_INT(chain_grow(c, &table[i].plan), BLOOM_CORRUPT);
        must_be_unchanged(c, before);
    }
    CHECK_UINT(memory_granted(), granted);
}

/* Totals stay within 62 bits: no sum of them can wrap. */
TEST(totals_do_not_overflow) {
    struct chain *c = made(0.5, 2, 10);
    struct layer plan = c->layers[0], whole = plan;
    uint64_t bytes = plan.bytes;

    c->layers[0].capacity = CHAIN_TOTAL_MAX / 3 + 1; /* 1/3 + 2/3 of it is too much */
    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_TOO_BIG);
    c->layers[0].capacity = CHAIN_TOTAL_MAX;
    CHECK_STR(chain_flaw(c), NULL);
    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_TOO_BIG);
    c->layers[0].capacity = CHAIN_TOTAL_MAX + 1;
    CHECK_STR(chain_flaw(c), "the sizes of the layers add up to too much");

    c->layers[0].capacity = 10;
    c->layers[0].bytes = CHAIN_TOTAL_MAX;
    CHECK_STR(chain_flaw(c), NULL);
    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_TOO_BIG);
    CHECK_INT(chain_grow(c, &whole), BLOOM_CORRUPT);
    c->layers[0].bytes = bytes;
}

TEST(a_chain_at_the_end_of_its_numbers_stops_growing) {
    static const uint32_t expansions[] = {1, 2, 3, 10, CHAIN_EXPANSION_MAX};
    for (size_t i = 0; i < COUNT(expansions); i++) {
        struct chain *c = made(0.5, expansions[i], 10);
        struct layer plan;
        test_case("expansion %u", expansions[i]);
        c->layers[0].capacity = CHAIN_TOTAL_MAX - 1;
        CHECK_INT(chain_plan(c, 0, &plan), BLOOM_TOO_BIG);
    }
}

/* What is missing is at the end of the joined arrays. A layer put behind it would make
 * the gap look filled, and then every item of the old layer would be denied. */
TEST(what_is_there_and_what_is_missing_are_all_the_bytes) {
    struct chain_spec spec = random_spec(0.01, 2);
    struct chain *c = chain_made(counting_memory(), &spec, 1000);
    CHECK(!chain_is_partial(c));
    CHECK_UINT(chain_present(c), chain_bytes(c));

    c->missing = 64;

    CHECK(chain_is_partial(c));
    CHECK_UINT(chain_present(c) + 64, chain_bytes(c));
    c->missing = 0;
}

TEST(a_partial_chain_does_not_grow) {
    struct chain *c = made(0.01, 2, 10);
    struct layer plan;
    CHECK_INT(chain_plan(c, 0, &plan), BLOOM_OK);
    for (uint64_t missing = 1; missing <= chain_bytes(c); missing *= 4) {
        c->missing = missing;
        struct snapshot before = snapshot_of(c);
        CHECK_INT(chain_grow(c, &plan), BLOOM_CORRUPT);
        must_be_unchanged(c, before);
    }
}

/* ---- full ---- */

/* Adds numbers from `first` on until one stops, and returns which. */
static uint64_t add_until_full(struct chain *c, uint64_t first) {
    for (;; first++) {
        unsigned char room[ITEM_ROOM];
        struct item item = item_number(first, room);
        uint8_t added;
        if (chain_add(c, &item, 1, &added, CHAIN_STOP) == 0) return first;
    }
}

TEST(a_full_chain_stops_before_an_item_that_it_does_not_have) {
    struct chain *c = made(0.01, 2, 50);
    uint64_t stopped = add_until_full(c, 0);
    CHECK(stopped >= 50);
    CHECK_UINT(chain_items(c), 50);

    struct snapshot before = snapshot_of(c);
    CHECK_UINT(add_until_full(c, stopped), stopped); /* again: nothing happens */
    must_be_unchanged(c, before);
    CHECK(!ask_number(c, stopped));
}

TEST(a_full_chain_still_knows_what_it_has) {
    struct chain *c = made(0.01, 0, 50);
    uint64_t stopped = add_until_full(c, 0);
    struct batch b;
    uint8_t added[BATCH_MAX];
    batch_of(&b, 0, stopped);
    memset(added, 9, sizeof added);

    CHECK_UINT(chain_add(c, b.items, stopped, added, CHAIN_STOP), stopped);
    for (uint64_t i = 0; i < stopped; i++)
        CHECK_INT(added[i], 0);
}

TEST(an_exceeded_chain_takes_everything_into_its_last_layer) {
    struct chain *c = made(0.01, 2, 50);
    CHECK_INT(grow(c), BLOOM_OK);
    uint64_t stopped = add_until_full(c, 0);
    CHECK_UINT(c->layers[1].items, 100);

    CHECK(add_number(c, stopped));
    CHECK(ask_number(c, stopped));
    CHECK_UINT(c->layers[0].items, 0);
    CHECK_UINT(c->layers[1].items, 101);
    CHECK_STR(chain_flaw(c), NULL); /* overfull is legal */
    chain_must_hold(c, 0, stopped + 1);
}

TEST(a_batch_stops_where_single_adds_would) {
    struct chain *c = made(0.01, 0, 70);
    struct batch b;
    uint8_t added[200];
    batch_of(&b, 0, 200);
    memset(added, 9, sizeof added);

    size_t done = chain_add(c, b.items, 200, added, CHAIN_STOP);
    CHECK(done >= 70 && done < 200);
    size_t new = 0;
    for (size_t i = 0; i < done; i++)
        new += added[i];
    CHECK_UINT(new, 70);
    CHECK_UINT(chain_items(c), 70);
    for (size_t i = done + 1; i < 200; i++)
        CHECK_INT(added[i], 9); /* not dealt with */
}

/* A count that wraps would make an overfull filter look empty. Only forged counts get
 * there, but those do come. */
TEST(a_count_of_items_stops_at_its_limit) {
    struct chain *c = made(0.01, 0, 50);
    c->layers[0].items = CHAIN_ITEMS_MAX - 1;
    CHECK(add_number(c, 1));
    CHECK_UINT(chain_items(c), CHAIN_ITEMS_MAX);
    CHECK(add_number(c, 2));
    CHECK(ask_number(c, 1) && ask_number(c, 2));
    CHECK_UINT(chain_items(c), CHAIN_ITEMS_MAX);

    struct batch b;
    uint8_t added[2];
    batch_of(&b, 3, 2);
    c->layers[0].capacity = 2 * CHAIN_ITEMS_MAX;
    CHECK_UINT(chain_add(c, b.items, 2, added, CHAIN_STOP), 2);
    CHECK_UINT(chain_items(c), CHAIN_ITEMS_MAX);
    CHECK_STR(chain_flaw(c), NULL);
}
