/* SPDX-License-Identifier: BSD-3-Clause */
/* kind_test.c - the table of kinds, and what every kind has to keep to. */
#include <string.h>

#include "chains.h"
#include "check.h"

TEST(each_kind_has_a_number_and_a_name_of_its_own) {
    for (size_t i = 0; i < KINDS; i++) {
        test_case("%s", kinds[i]->name);
        CHECK(kinds[i]->id > 0);
        CHECK(kind_by_id(kinds[i]->id) == kinds[i]);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(kinds[i]->name, kinds[j]->name) != 0);
    }
}

TEST(numbers_that_are_stored_mean_what_they_always_meant) {
    CHECK(kind_by_id(1) == &kind_lines);
    CHECK(kind_by_id(2) == &kind_redisbloom);
    CHECK(kind_by_id(3) == &kind_valkeybloom);
    CHECK(kind_by_id(4) == &kind_leveldb);
    CHECK(kind_by_id(5) == &kind_clickhouse);
    CHECK(kind_by_id(6) == &kind_guava);
    CHECK(kind_by_id(7) == &kind_crc32);
    CHECK(kind_by_id(0) == NULL && kind_by_id(8) == NULL && kind_by_id(256 + 1) == NULL);
}

/* What a command says of a filter, and random bytes for all that may be random. */
static struct chain_spec spec_for(const struct kind *kind, uint32_t expansion) {
    return (struct chain_spec){.kind = kind,
                               .secret = {random_u64(), random_u64()},
                               .secret2 = {random_u64(), random_u64()},
                               .identity = random_u64(),
                               .error = 0.01,
                               .expansion = expansion,
                               .asked_expansion = 2};
}

TEST(a_kind_makes_a_chain_of_whatever_is_asked_for) {
    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t expansion = 0; expansion <= 2; expansion += 2) {
            struct chain_spec spec = spec_for(kinds[i], expansion);
            struct chain *c;
            struct layer plan;
            test_case("%s, expansion %u", kinds[i]->name, expansion);
            kinds[i]->complete(&spec);
            CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
            CHECK_INT(chain_plan(c, 100, &plan), BLOOM_OK);
            CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
            CHECK(chain_flaw(c) == NULL);
            chain_free(c);
        }
}

TEST(a_chain_like_another_has_its_growth_and_its_parameter) {
    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t expansion = 0; expansion <= 2; expansion += 2) {
            struct chain_spec spec = spec_for(kinds[i], expansion);
            struct chain *c;
            test_case("%s, expansion %u", kinds[i]->name, expansion);
            kinds[i]->complete(&spec);
            CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
            struct chain_spec like = spec_for(kinds[i], c->expansion);
            like.asked_expansion = chain_asked_expansion(c);
            like.parameter = c->parameter;
            kinds[i]->complete(&like);
            CHECK(like.parameter == c->parameter);
            CHECK_UINT(like.variant, c->variant);
            chain_free(c);
        }
}

TEST(redisbloom_keeps_a_growth_that_it_never_uses) {
    struct chain_spec spec = spec_for(&kind_redisbloom, 0);
    kind_redisbloom.complete(&spec);
    struct chain c = {.kind = spec.kind, .parameter = spec.parameter};
    CHECK_UINT(chain_asked_expansion(&c), 2);
    CHECK_UINT(c.expansion, 0);
}

TEST(what_is_told_of_a_layer_fits_and_is_named) {
    for (size_t i = 0; i < KINDS; i++) {
        struct layer layer = {.bytes = 64, .capacity = 40, .error = .01, .probes = 1};
        struct chain c = {.kind = kinds[i], .nlayers = 1, .layers = &layer};
        struct fact facts[KIND_FACTS_MAX];
        size_t n = kinds[i]->layer_facts(&c, &layer, facts);
        CHECK(n > 0 && n <= KIND_FACTS_MAX);
        CHECK(strcmp(facts[0].name, "bytes") == 0 && facts[0].count == 64);
    }
}
