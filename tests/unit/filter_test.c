/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <string.h>

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
    struct filter f = {.live = &c};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        f.standing.state = answers[i].state;
        c.missing = answers[i].missing;
        test_case("state %u, %llu missing", answers[i].state,
                  (unsigned long long)answers[i].missing);
        CHECK(denies(&f) == answers[i].may_deny);
    }
}

static struct chain *made_in(const struct bloom_memory *memory) {
    struct chain_spec spec = random_spec(0.01, 2);
    struct chain *c;
    struct layer plan;
    CHECK_INT(chain_new(&spec, memory, &c), BLOOM_OK);
    CHECK_INT(chain_plan(c, 100, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    return c;
}

static struct chain *made(void) {
    return made_in(counting_memory());
}

TEST(a_new_value_is_plain_and_vouched_for_by_nobody) {
    struct chain *c = made();
    struct filter *f = filter_new(c);
    CHECK(f != NULL && f->live == c);
    struct standing s = f->standing;
    bool may_deny = denies(f);
    filter_free(f);

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
    CHECK(filter_new(c) == NULL);
    CHECK_UINT(memory_blocks(), blocks);
    chain_free(c);
}

TEST(freeing_a_value_frees_all_of_it) {
    struct filter *f = filter_new(made());
    CHECK(f != NULL);
    CHECK_UINT(filter_memory(f), memory_bytes());
    filter_free(f);
    CHECK_UINT(memory_blocks(), 0);
    filter_free(NULL);
}

TEST(what_its_user_keeps_is_zero_at_birth_and_counts_as_memory) {
    static struct bloom_memory memory;
    static const unsigned char zeros[1000];
    memory = *counting_memory();
    memory.own = sizeof zeros;
    struct filter *f = filter_new(made_in(&memory));
    CHECK(f != NULL);

    CHECK(memcmp(filter_own(f), zeros, sizeof zeros) == 0);
    CHECK_UINT(filter_memory(f), memory_bytes());
    filter_free(f);
}

/* ---- two chains ---- */

static struct filter *made_with_two(void) {
    struct filter *f = filter_new(made());
    CHECK(f != NULL);
    f->next = made();
    return f;
}

TEST(both_chains_are_counted_and_freed) {
    struct filter *f = made_with_two();
    CHECK_UINT(filter_memory(f), memory_bytes());
    filter_free(f);
    CHECK_UINT(memory_blocks(), 0);
}

TEST(a_swap_makes_the_next_chain_the_live_one) {
    struct filter *f = made_with_two();
    struct chain *live = f->live, *next = f->next;

    CHECK(filter_swap(f) == live);
    CHECK(f->live == next && f->next == NULL);
    chain_free(live);
    filter_free(f);
}

TEST(what_is_released_is_the_live_chain_alone) {
    struct filter *f = made_with_two();
    struct chain *live = f->live;
    uint64_t bytes = chain_memory(live);
    CHECK(filter_release(f) == live);
    CHECK_UINT(memory_bytes(), bytes);
    chain_free(live);

    f = filter_new(made());
    live = f->live;
    CHECK(filter_release(f) == live);
    chain_free(live);
    CHECK_UINT(memory_blocks(), 0);
}

static void drop_arrays(struct chain *c) {
    for (uint32_t i = 0; i < c->nlayers; i++) {
        c->memory->give_array(c->layers[i].bits, c->layers[i].bytes);
        c->layers[i].bits = NULL;
    }
}

TEST(arrays_are_taken_for_both_chains) {
    struct filter *f = made_with_two();
    uint64_t bytes = memory_bytes();
    drop_arrays(f->live);
    drop_arrays(f->next);
    CHECK_INT(filter_take_arrays(f), BLOOM_OK);
    CHECK_UINT(memory_bytes(), bytes);
    CHECK(f->live->layers[0].bits && f->next->layers[0].bits);
    filter_free(f);
}

/* The caller frees the value then, with what the first chain has got. */
TEST(without_memory_for_the_second_chains_arrays_the_value_can_be_freed) {
    for (uint64_t allowed = 0; allowed < 2; allowed++) {
        struct filter *f = made_with_two();
        drop_arrays(f->live);
        drop_arrays(f->next);
        memory_fail_after(allowed);
        enum bloom_status status = filter_take_arrays(f);
        memory_never_fails();
        test_case("%llu arrays", (unsigned long long)allowed);
        CHECK_INT(status, BLOOM_NO_MEMORY);
        CHECK((f->live->layers[0].bits != NULL) == (allowed == 1));
        CHECK(f->next->layers[0].bits == NULL);
        filter_free(f);
        CHECK_UINT(memory_blocks(), 0);
    }
}

TEST(a_value_of_which_anything_was_said_is_not_plain) {
    struct filter *f = filter_new(made());
    CHECK(f != NULL);
    static const struct standing said[] = {
        {.state = STATE_LOADING},
        {.state = STATE_READY},
        {.state = 77},
        {.doubt = 1},
        {.lease = 1},
        {.vouched_at = -1},
        {.rebuild_token = 1},
        {.rebuild_start = -1},
        {.rebuild_received = 1},
    };
    bool plain = filter_is_plain(f), others = false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        f->standing = said[i];
        others = others || filter_is_plain(f);
    }
    f->standing = (struct standing){.state = STATE_PLAIN};
    f->next = made();
    others = others || filter_is_plain(f);
    filter_free(f);
    CHECK(plain);
    CHECK(!others);
}
