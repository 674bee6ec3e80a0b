/* SPDX-License-Identifier: BSD-3-Clause */
/* flaw_test.c - chain_flaw() finds what no filter of a kind may be, whoever stored it: each
 * field of a kind, with a value that its library never gives it. */
#include <string.h>

#include "chains.h"
#include "check.h"
#include "kinds/redisbloom/redisbloom.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* One that the kind makes itself. */
static struct chain *whole(const struct kind *kind) {
    struct chain_spec spec = random_spec(0.01, 0);
    spec.kind = kind;
    spec.asked_expansion = 2;
    kind->complete(&spec);
    struct chain *c = chain_made(counting_memory(), &spec, 100);
    CHECK_STR(chain_flaw(c), NULL);
    return c;
}

/* What is said of the chain with another value in a field. It is put right again. */
static void check_with(struct chain *c, void *field, const void *value, size_t size,
                       const char *why) {
    unsigned char before[8];
    memcpy(before, field, size);
    memcpy(field, value, size);
    CHECK_STR(chain_flaw(c), why);
    memcpy(field, before, size);
}

#define CHECK_WITH(c, field, value, why)                                                   \
    check_with(c, &(field), &(__typeof__(field)){value}, sizeof(field), why)

TEST(a_kind_knows_which_of_its_fields_are_never_set) {
    static const struct kind *const table[] = {&kind_redisbloom, &kind_leveldb,
                                               &kind_clickhouse, &kind_guava, &kind_crc32};
    for (size_t i = 0; i < COUNT(table); i++) {
        struct chain *c = whole(table[i]);
        const char *why = "it has a field set that its kind doesn't know";
        test_case("%s", table[i]->name);
        CHECK_WITH(c, c->secret.k1, 1, why);
        CHECK_WITH(c, c->secret2.k0, 1, why);
        CHECK_WITH(c, c->secret2.k1, 1, why);
        if (table[i] != &kind_redisbloom) CHECK_WITH(c, c->parameter, 2, why);
        if (table[i] != &kind_redisbloom && table[i] != &kind_crc32)
            CHECK_WITH(c, c->layers[0].parameter, 1, why);
    }
}

TEST(a_layer_is_of_its_filters_variant) {
    struct chain *c = whole(&kind_guava);
    CHECK_WITH(c, c->variant, c->variant + 1, "its layer is of another variant");
    CHECK_WITH(c, c->layers[0].variant, 9, "its layer is of another variant");
    CHECK_WITH(c, c->nlayers, 0, "there is no layer");
}

/* Of both, so that they are the same. */
static void must_be_no_variant(const struct kind *kind, uint16_t variant) {
    struct chain *c = whole(kind);
    test_case("%s, variant %u", kind->name, variant);
    c->variant = variant;
    CHECK_WITH(c, c->layers[0].variant, variant, "its variant is unknown");
}

TEST(a_variant_that_a_library_has_not_is_a_flaw) {
    must_be_no_variant(&kind_clickhouse, 1);
    must_be_no_variant(&kind_crc32, 1);
    must_be_no_variant(&kind_guava, 2);
    must_be_no_variant(&kind_leveldb, 2);
}

TEST(a_size_that_a_library_has_not_is_a_flaw) {
    struct chain *c = whole(&kind_clickhouse);
    CHECK_WITH(c, c->layers[0].bytes, (UINT64_C(1) << 30) + 1, "it has too many bytes");
    c = whole(&kind_guava);
    CHECK_WITH(c, c->layers[0].bytes, 12, "it is not whole words");
    CHECK_WITH(c, c->layers[0].bytes, UINT64_C(8) << 31, "it has a bad number of words");
    c = whole(&kind_leveldb);
    CHECK_WITH(c, c->layers[0].bytes, UINT64_C(1) << 29, "it has too many bits");
    c = whole(&kind_crc32);
    const char *why = "it has a bad number of bits";
    CHECK_WITH(c, c->layers[0].parameter, 0.5, why);
    CHECK_WITH(c, c->layers[0].parameter, 100.5, why);
    CHECK_WITH(c, c->layers[0].parameter, 1e19, why);
    CHECK_WITH(c, c->layers[0].parameter, -1, why);
    CHECK_WITH(c, c->layers[0].bytes, c->layers[0].bytes + 8,
               "its bytes don't match its bits");
}

TEST(a_number_of_hashes_that_a_library_has_not_is_a_flaw) {
    const char *why = "it has a bad number of hashes";
    struct chain *c = whole(&kind_guava);
    CHECK_WITH(c, c->layers[0].probes, 0, why);
    CHECK_WITH(c, c->layers[0].probes, 256, why);
    c = whole(&kind_leveldb);
    CHECK_WITH(c, c->layers[0].probes, 256, why);
    c = whole(&kind_clickhouse);
    CHECK_WITH(c, c->layers[0].probes, 0, why);
    c = whole(&kind_crc32);
    CHECK_WITH(c, c->layers[0].probes, 0, why);
}

TEST(a_filter_of_redisbloom_has_the_bits_of_its_power_of_two) {
    struct chain *c = whole(&kind_redisbloom);
    CHECK(redisbloom_n2(&c->layers[0]) == 0);
    CHECK_WITH(c, c->layers[0].variant, 63, "a layer has a power of two that is too large");
    CHECK_WITH(c, c->layers[0].variant, 20, "a layer has fewer bits than its power of two");
    CHECK_WITH(c, c->identity, 1, "it has a field set that its kind doesn't know");
    CHECK_WITH(c, c->secret.k0, 1, "it has a field set that its kind doesn't know");
    CHECK_WITH(c, c->variant, 0x80, "an option is unknown");
}

TEST(a_growth_that_redisbloom_keeps_is_any_whole_number) {
    struct chain *c = whole(&kind_redisbloom);
    const char *why = "the growth is not a whole number";
    CHECK_WITH(c, c->parameter, UINT32_MAX, NULL);
    CHECK_WITH(c, c->parameter, 0, NULL);
    CHECK_WITH(c, c->parameter, 4294967296.0, why);
    CHECK_WITH(c, c->parameter, -1, why);
    CHECK_WITH(c, c->parameter, 1.5, why);
}

TEST(a_filter_of_valkeybloom_has_the_identity_of_its_seed) {
    struct chain *c = whole(&kind_valkeybloom);
    const char *why = "it has a field set that its kind doesn't know";
    CHECK_WITH(c, c->identity, c->identity + 1, "its identity is not that of its seed");
    CHECK_WITH(c, c->variant, 2, "a field that is yes or no is neither");
    CHECK_WITH(c, c->layers[0].variant, 1, why);
    CHECK_WITH(c, c->layers[0].parameter, 0.02, why);
    CHECK_WITH(c, c->layers[0].bytes, CHAIN_TOTAL_MAX / 8 + 1, "a layer has too many bits");
}
