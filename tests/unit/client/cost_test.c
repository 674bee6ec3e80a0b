/* SPDX-License-Identifier: BSD-3-Clause */
/* cost_test.c - what a filter is said to take and to err is what one takes and errs. */

#include <math.h>

#include "check.h"
#include "client/plan/cost.h"
#include "unit/chains.h"

#define ITEMS 20000
#define ASKED 200000

TEST(a_filter_of_any_kind_costs_and_errs_as_planned) {
    for (size_t i = 0; i < KINDS; i++) {
        struct cost_wish wish = {kinds[i], ITEMS, .02, COST_EXPANSION};
        struct cost cost = cost_full(&wish);
        struct chain_spec spec = random_spec(wish.error, wish.expansion);
        spec.kind = kinds[i];
        spec.kind->complete(&spec);
        struct chain *c = chain_made(counting_memory(), &spec, ITEMS);
        test_case("%s", kinds[i]->name);
        CHECK_UINT(cost.bytes, chain_bytes(c));
        CHECK_UINT(cost.lookups, c->layers[0].probes);

        for (uint64_t n = 0; n < ITEMS; n++)
            add_number(c, n);
        double passed = 0;
        for (uint64_t n = 0; n < ASKED; n++)
            passed += ask_number(c, ITEMS + n);
        /* Five sigmas, and the few per cent by which one filter differs from another. */
        CHECK_NEAR(passed / ASKED, cost.error,
                   5 * sqrt(cost.error / ASKED) + .05 * cost.error);
    }
}

TEST(a_cost_counts_the_twins_of_a_small_hash) {
    struct cost small = cost_full(&(struct cost_wish){&kind_leveldb, 1000, 1e-4, 0});
    struct cost large = cost_full(&(struct cost_wish){&kind_leveldb, 10000000, 1e-4, 0});
    CHECK(small.error < 2e-4);
    CHECK_NEAR(large.error, .00237, .0001); /* as measured with random items */
}

TEST(a_refusal_says_whose_it_is) {
    static const struct {
        const struct kind *kind;
        uint64_t capacity;
        double error;
        const char *why;
    } table[] = {
        {&kind_lines, 1000, 1e-18, "too small a rate for a hash of 64 bits"},
        {&kind_guava, 1000, 1e-80, "too small a rate for this kind"},
        {&kind_guava, 1, .9, "too large a rate for this kind"},
        {&kind_crc32, 1000, .5, "too large a rate for this kind"},
        {&kind_leveldb, 1000000000, .01, "larger than such a filter can be"},
        {&kind_clickhouse, 1000000000, .01, "larger than such a filter can be"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct cost cost = cost_full(
            &(struct cost_wish){table[i].kind, table[i].capacity, table[i].error, 0});
        test_case("%s, %g", table[i].kind->name, table[i].error);
        CHECK(cost.status < 0);
        CHECK_STR(cost_refusal(&cost), table[i].why);
    }
}
