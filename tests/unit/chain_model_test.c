/* SPDX-License-Identifier: BSD-3-Clause */
/* chain_model_test.c - random calls, judged by the model (model.h): answers, counts and
 * bits are exactly the predicted ones, and nothing that was accepted is ever denied. */
#include "chain.h"

#include "chains.h"
#include "check.h"
#include "model.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* What one random test works on. */
struct play {
    struct chain *c;
    struct model *m;
    uint64_t range; /* items are numbers below it: about half are repeats */
    struct batch b;
    uint64_t numbers[BATCH_MAX];
    uint8_t answers[BATCH_MAX];
};

/* Mostly short batches, sometimes more than a block of the core. */
static size_t random_items(struct play *p) {
    size_t n = random_below(8) == 0 ? 1 + random_below(BATCH_MAX) : 1 + random_below(20);
    for (size_t i = 0; i < n; i++) {
        p->numbers[i] = random_below(p->range);
        p->b.items[i] = item_number(p->numbers[i], p->b.room[i]);
    }
    return n;
}

static void may_grow(struct play *p) {
    struct layer plan;
    if (chain_plan(p->c, 0, &plan) < 0 || plan.bytes > 1 << 20) return;
    enum bloom_status status = chain_grow(p->c, &plan);
    if (status == BLOOM_NO_MEMORY) return; /* the model sees to it that nothing changed */
    CHECK_INT(status, BLOOM_OK);
    model_follow_growth(p->m, p->c);
}

/* Returns whether the chain was full. */
static bool add_random_items(struct play *p, enum chain_full when_full) {
    size_t n = random_items(p);
    size_t done = chain_add(p->c, p->b.items, n, p->answers, when_full);

    for (size_t i = 0; i < n; i++) {
        enum model_answer wanted = model_add(p->m, p->numbers[i], when_full);
        if (wanted == MODEL_FULL) {
            CHECK_UINT(done, i);
            return true;
        }
        CHECK(i < done);
        CHECK_INT(p->answers[i], wanted);
    }
    CHECK_UINT(done, n);
    return false;
}

static void play_add(struct play *p) {
    enum chain_full when_full = random_below(4) == 0 ? CHAIN_EXCEED : CHAIN_STOP;
    if (add_random_items(p, when_full)) may_grow(p);
}

static void play_fill(struct play *p) {
    while (!add_random_items(p, CHAIN_STOP)) {
    }
}

static void play_ask(struct play *p) {
    size_t n = random_items(p);
    chain_ask(p->c, p->b.items, n, p->answers);
    for (size_t i = 0; i < n; i++)
        CHECK_INT(p->answers[i], model_ask(p->m, p->numbers[i]));
}

/* The copy lives on, the original goes. The struct itself stays where its deferred
 * freeing will look for it. */
static void play_copy(struct play *p) {
    struct chain *copy = chain_copy(p->c);
    if (!copy) return;
    struct chain taken_over = *copy;
    *copy = *p->c;
    *p->c = taken_over;
    chain_free(copy);
}

static void play_step(struct play *p) {
    uint64_t die = random_below(100);
    if (die < 50)
        play_add(p);
    else if (die < 97)
        play_ask(p);
    else if (die < 98)
        may_grow(p); /* one may grow before being full */
    else
        play_copy(p);
    CHECK_STR(chain_flaw(p->c), NULL);
}

static void accepted_must_be_held(const struct play *p) {
    for (uint64_t i = 0; i < p->range; i++)
        if (p->m->accepted[i]) CHECK(ask_number(p->c, i));
}

static struct play start(double error, uint32_t expansion, uint64_t capacity) {
    struct chain_spec spec = random_spec(error, expansion);
    struct chain *c = chain_made(counting_memory(), &spec, capacity);
    test_case("error %g, expansion %u, capacity %llu", error, expansion,
              (unsigned long long)capacity);
    return (struct play){.c = c, .m = model_of(c), .range = 4000};
}

static const uint32_t expansions[] = {0, 1, 2, 4, 10};
static const double errors[] = {0.4, 0.1, 0.01, 0.001, 1e-5, 1e-8, 1e-11};

TEST(any_sequence_of_calls_does_what_the_model_does) {
    for (size_t e = 0; e < COUNT(expansions); e++)
        for (size_t r = 0; r < COUNT(errors); r++) {
            struct play p = start(errors[r], expansions[e], 1 + random_below(300));
            for (int i = 0; i < 200; i++)
                play_step(&p);
            model_must_agree(p.m, p.c);
            accepted_must_be_held(&p);
        }
}

TEST(misaligned_arrays_do_what_the_model_does) {
    for (size_t e = 0; e < COUNT(expansions); e++) {
        counting_memory();
        memory_misalign();
        struct play p = start(0.001, expansions[e], 1 + random_below(300));
        for (int i = 0; i < 200; i++)
            play_step(&p);
        model_must_agree(p.m, p.c);
    }
}

/* A third of all requests for memory fail. Whatever was refused changed nothing: else the
 * chain and the model would part. */
TEST(with_memory_short_the_chain_still_does_what_the_model_does) {
    for (size_t e = 0; e < COUNT(expansions); e++) {
        struct play p = start(0.01, expansions[e], 1 + random_below(20));
        memory_fail_one_in(3);
        for (int i = 0; i < 600; i++) {
            play_step(&p);
            if (i % 50 == 0) model_must_agree(p.m, p.c);
        }
        CHECK(memory_refused() > 0);
        memory_never_fails();
        model_must_agree(p.m, p.c);
        accepted_must_be_held(&p);
    }
}

/* Fails at the first, the second ... request of the call. A copy needs two structs and an
 * array for each layer, growth a struct and an array. */
static void copy_must_fail(const struct play *p) {
    memory_fail_after(random_below(2 + p->c->nlayers));
    CHECK(chain_copy(p->c) == NULL);
}

static void growth_must_fail(const struct play *p) {
    struct layer plan;
    memory_fail_after(random_below(2));
    CHECK_INT(chain_plan(p->c, 0, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(p->c, &plan), BLOOM_NO_MEMORY);
}

TEST(a_call_that_ran_out_of_memory_changed_nothing_and_kept_nothing) {
    struct play p = start(0.01, 1, 20);
    while (p.c->nlayers < 30) {
        struct snapshot before = snapshot_of(p.c);
        uint64_t blocks = memory_blocks();
        copy_must_fail(&p);
        growth_must_fail(&p);
        memory_never_fails();
        CHECK_UINT(memory_blocks(), blocks);
        must_be_unchanged(p.c, before);
        CHECK_STR(chain_flaw(p.c), NULL);

        may_grow(&p);
        play_add(&p);
    }
    model_must_agree(p.m, p.c);
}

/* Past CHAIN_LONG layers, where each one doubles the total. Nothing is put in over
 * capacity: that would fill the old layers up, and no item would need room any more. */
TEST(a_long_chain_of_small_layers_does_what_the_model_does) {
    struct play p = start(0.05, 1, 5);
    p.range = MODEL_ITEMS;
    while (p.c->nlayers < CHAIN_LONG + 4) {
        play_fill(&p);
        may_grow(&p);
    }
    for (int i = 0; i < 50; i++)
        play_ask(&p);
    model_must_agree(p.m, p.c);
}
