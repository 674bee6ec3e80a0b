/* SPDX-License-Identifier: BSD-3-Clause */
#include "value.h"

#include "chains.h"
#include "check.h"
#include "dumps.h"

static const struct {
    uint8_t state;
    uint64_t missing;
    bool may_deny;
} answers[] = {
    {STATE_PLAIN, 0, true},
    {STATE_PLAIN, 1, false},
    {STATE_PLAIN, 64, false},
    {STATE_LOADING, 0, false},
    {STATE_READY, 0, true},
    {STATE_READY, 1, false},
    {3, 0, false},
    {127, 0, false},
    {128, 0, false},
    {255, 0, false},
    {255, 1, false},
};

/* Only a complete filter in a state that this version knows denies anything. */
TEST(a_partial_filter_and_one_in_an_unknown_state_deny_nothing) {
    struct chain c = {.missing = 0};
    struct value v = {.live = &c};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        v.standing.state = answers[i].state;
        c.missing = answers[i].missing;
        test_case("state %u, %llu missing", answers[i].state,
                  (unsigned long long)answers[i].missing);
        CHECK(denies(&v) == answers[i].may_deny);
    }
}

static struct chain *made(void) {
    struct chain_spec spec = random_spec(0.01, 2);
    struct chain *c;
    struct filter plan;
    CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
    CHECK_INT(chain_plan(c, 100, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    return c;
}

TEST(a_new_value_is_plain_and_vouched_for_by_nobody) {
    struct chain *c = made();
    struct value *v = value_new(c);
    CHECK(v != NULL && v->live == c);
    struct standing s = v->standing;
    bool may_deny = denies(v);
    value_free(v);

    CHECK(may_deny);
    CHECK_INT(s.state, STATE_PLAIN);
    CHECK_INT(s.doubt, 0);
    CHECK_INT(s.lease, 0);
    CHECK_INT(s.vouched_at, 0);
    CHECK_UINT(s.rebuild_token, 0);
    CHECK_INT(s.rebuild_start, 0);
    CHECK_UINT(s.rebuild_received, 0);
}

TEST(without_memory_for_a_value_the_chain_stays_its_owners) {
    struct chain *c = made();
    uint64_t blocks = memory_blocks();
    memory_fail_after(0);
    CHECK(value_new(c) == NULL);
    CHECK_UINT(memory_blocks(), blocks);
    chain_free(c);
}

TEST(freeing_a_value_frees_all_of_it) {
    struct value *v = value_new(made());
    CHECK(v != NULL);
    CHECK_UINT(value_memory(v), memory_bytes());
    value_free(v);
    CHECK_UINT(memory_blocks(), 0);
    value_free(NULL);
}
