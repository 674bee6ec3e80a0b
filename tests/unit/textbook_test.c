/* SPDX-License-Identifier: BSD-3-Clause */
/* textbook_test.c - the formulas and tables that introductions to Bloom filters print come
 * out of the core's own functions, the kinds' sizes, and what `bulwark plan` shows. */
#include <math.h>

#include "check.h"
#include "client/plan/cost.h"
#include "sizing.h"
#include "textbook.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define ITEMS        10000000 /* so many that a table's bits an item are exact */

static double rate_of(unsigned bits_per_item, unsigned hashes) {
    return sizing_flat_error((uint64_t)bits_per_item * ITEMS, hashes, ITEMS);
}

static struct cost sized(const struct kind *kind, double error) {
    struct cost cost = cost_full(&(struct cost_wish){kind, ITEMS, error, 0});
    test_case("%s, %g", kind->name, error);
    CHECK(cost.status >= 0);
    return cost;
}

/* ---- (1 - (1 - 1/m)^(kn))^k ---- */

/* Fan, Cao, Almeida, Broder: Summary Cache (2000), the appendix' table: bits an item down,
 * hashes across. The first 49 are in every introduction; ClickHouse has most of it. */
static const double published[][15] = {
    [2] = {.393, .400},
    [3] = {.283, .237, .253},
    [4] = {.221, .155, .147, .160},
    [5] = {.181, .109, .092, .092, .101},
    [6] = {.154, .0804, .0609, .0561, .0578, .0638},
    [7] = {.133, .0618, .0423, .0359, .0347, .0364},
    [8] = {.118, .0489, .0306, .024, .0217, .0216, .0229},
    [9] = {.105, .0397, .0228, .0166, .0141, .0133, .0135, .0145},
    [10] = {.0952, .0329, .0174, .0118, .00943, .00844, .00819, .00846},
    [11] = {.0869, .0276, .0136, .00864, .0065, .00552, .00513, .00509},
    [12] = {.08, .0236, .0108, .00646, .00459, .00371, .00329, .00314},
    [13] = {.074, .0203, .00875, .00492, .00332, .00255, .00217, .00199, .00194},
    [14] = {.0689, .0177, .00718, .00381, .00244, .00179, .00146, .00129, .00121, .0012},
    [15] = {.0645, .0156, .00596, .003, .00183, .00128, .001, .000852, .000775, .000744},
    [16] = {.0606, .0138, .005, .00239, .00139, .000935, .000702, .000574, .000505, .00047,
            .000459},
    [17] = {.0571, .0123, .00423, .00193, .00107, .000692, .000499, .000394, .000335,
            .000302, .000287, .000284},
    [18] = {.054, .0111, .00362, .00158, .000839, .000519, .00036, .000275, .000226,
            .000198, .000183, .000176},
    [19] = {.0513, .00998, .00312, .0013, .000663, .000394, .000264, .000194, .000155,
            .000132, .000118, .000111, .000109},
    [20] = {.0488, .00906, .0027, .00108, .00053, .000303, .000196, .00014, .000108,
            .0000889, .0000777, .0000712, .0000679, .0000671},
};

/* Half a unit of the third digit, and a little for how it was rounded. */
TEST(the_error_of_a_flat_array_is_the_published_table) {
    for (unsigned bits = 2; bits < COUNT(published); bits++)
        for (unsigned k = 0; k < 15 && published[bits][k] > 0; k++) {
            double wanted = published[bits][k];
            double unit = pow(10, floor(log10(wanted * 1.000001)) - 2);
            test_case("%u bits, %u hashes", bits, k + 1);
            if (wanted == .092) unit = 1e-3; /* printed with two digits */
            CHECK_NEAR(rate_of(bits, k + 1), wanted, 0.51 * unit);
        }
}

TEST(the_error_of_a_flat_array_is_the_formulas) {
    static const struct {
        uint64_t bits, items;
        unsigned hashes;
    } table[] = {
        {2, 1, 1},
        {64, 9, 5},
        {1000, 100, 7},
        {100, 1000, 3},
        {UINT64_C(1) << 40, UINT64_C(1) << 36, 11},
        {UINT64_C(1) << 50, 1, 1}, /* 1 - 2^-50 would keep three bits of it */
        {UINT64_C(1) << 45, 1000, 65535},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        double k = table[i].hashes, n = (double)table[i].items;
        double clear = k * n * log1p(-1 / (double)table[i].bits);
        double wanted = pow(-expm1(clear), k);
        test_case("row %zu", i);
        CHECK_NEAR(sizing_flat_error(table[i].bits, table[i].hashes, table[i].items),
                   wanted, 1e-10 * wanted);
    }
}

TEST(a_flat_array_that_is_empty_or_full_or_not_asked_errs_never_or_always) {
    CHECK(sizing_flat_error(64, 3, 0) == 0);
    CHECK(sizing_flat_error(64, 0, 5) == 1);
    CHECK(sizing_flat_error(1, 3, 5) == 1);
    CHECK(sizing_flat_error(64, 3, UINT64_MAX) == 1);
}

/* ---- k = m/n ln 2, m = -n ln p / (ln 2)^2 ---- */

static const struct {
    double error, bits_per_item;
    unsigned hashes;
} best[] = {{.1, 4.79, 3},     {.05, 6.24, 4},    {.01, 9.59, 7},    {.001, 14.38, 10},
            {1e-4, 19.17, 13}, {1e-5, 23.96, 17}, {1e-6, 28.76, 20}, {1e-9, 43.13, 30}};

/* Guava's constructor is both formulas, rounded; the CRC32 filter's cuts off. */
TEST(bits_and_hashes_follow_from_items_and_error) {
    for (size_t i = 0; i < COUNT(best); i++) {
        struct cost guava = sized(&kind_guava, best[i].error);
        struct cost crc32 = sized(&kind_crc32, best[i].error);
        double bits = cost_textbook_bits(best[i].error);
        CHECK_NEAR(bits, textbook_bits_per_item(best[i].error), 1e-9);
        CHECK_NEAR(bits, best[i].bits_per_item, .005);
        CHECK_NEAR((double)guava.bits, ITEMS * bits, 64);
        CHECK_NEAR((double)crc32.bits, ITEMS * bits, 1);
        CHECK_UINT(guava.lookups, best[i].hashes);
        CHECK_UINT(crc32.lookups, (unsigned)(bits * log(2)));
    }
}

TEST(the_best_number_of_hashes_is_a_whole_one_beside_the_formulas) {
    for (unsigned bits = 1; bits < 60; bits++) {
        unsigned k = cost_textbook_hashes((uint64_t)bits * ITEMS, ITEMS);
        test_case("%u bits an item", bits);
        CHECK_NEAR((double)k, bits * log(2), 1);
        CHECK(k == 1 || rate_of(bits, k - 1) >= rate_of(bits, k));
        CHECK(rate_of(bits, k + 1) >= rate_of(bits, k));
    }
    CHECK_UINT(cost_textbook_hashes(1, ITEMS), 1);
}

/* The formula's k is 1.45, and would err .365. */
TEST(two_thousand_million_items_in_500_mebibytes_err_378_times_in_1000) {
    uint64_t bits = UINT64_C(500) << 23, items = 2000000000;
    unsigned hashes = cost_textbook_hashes(bits, items);
    struct cost cost = cost_textbook(bits, hashes, items);
    CHECK_UINT(hashes, 2);
    CHECK_NEAR(cost_bits_per_item(&cost), 2.1, .05);
    CHECK_NEAR(cost.error, .378, .0005);
    CHECK_NEAR(cost_textbook(bits, 1, items).error, .379, .0005);
}

/* ---- LevelDB ---- */

TEST(leveldbs_bits_follow_from_the_error) {
    static const struct {
        double error;
        unsigned bits;
    } table[] = {{.5, 2},    {.1, 5},    {.05, 7},   {.03, 8},  {.01, 10},
                 {.001, 15}, {1e-4, 20}, {1e-6, 29}, {1e-9, 44}};
    for (size_t i = 0; i < COUNT(table); i++) {
        struct cost cost =
            cost_full(&(struct cost_wish){&kind_leveldb, 1000, table[i].error, 0});
        test_case("%g", table[i].error);
        CHECK_UINT(cost.bits, 1000 * table[i].bits);
    }
}

/* As LevelDB 1.23 gives them. */
TEST(leveldbs_hashes_follow_from_the_bits) {
    static const unsigned char hashes[] = {
        1,  1,  2,  2,  3,  4,  4,  5,  6,  6,  7,  8,  8,  9,  10, 11, 11, 12, 13, 13,
        14, 15, 15, 16, 17, 17, 18, 19, 20, 20, 21, 22, 22, 23, 24, 24, 25, 26, 26, 27,
        28, 28, 29, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    };
    for (unsigned bits = 1; bits <= COUNT(hashes); bits++) {
        double error = exp(-(double)bits * log(2) * log(2)) * (1 + 1e-6);
        struct cost cost = cost_full(&(struct cost_wish){&kind_leveldb, 1000, error, 0});
        test_case("%u bits an item", bits);
        CHECK_UINT(cost.bits, 1000 * bits);
        CHECK_UINT(cost.lookups, hashes[bits - 1]);
    }
}

/* ---- ClickHouse ---- */

/* As its own function gives them. */
TEST(clickhouses_bits_and_hashes_follow_from_the_error) {
    static const struct {
        double error;
        unsigned bits, hashes;
    } table[] = {
        {.9, 2, 2},     {.5, 2, 2},     {.4, 2, 2},        {.393, 2, 2},   {.3, 2, 2},
        {.283, 2, 2},   {.25, 3, 2},    {.2, 4, 2},        {.15, 4, 3},    {.1, 5, 3},
        {.05, 7, 3},    {.03, 8, 4},    {.025, 8, 4},      {.02, 9, 4},    {.01, 10, 5},
        {.005, 12, 5},  {.002, 13, 8},  {.001, 15, 7},     {5e-4, 16, 10}, {2e-4, 18, 10},
        {1e-4, 19, 13}, {1e-5, 19, 13}, {.000109, 19, 13},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct cost cost = sized(&kind_clickhouse, table[i].error);
        CHECK_UINT(cost.bits, (uint64_t)table[i].bits * ITEMS);
        CHECK_UINT(cost.lookups, table[i].hashes);
    }
}

/* Each rate of the table in turn; from .221 on a few are special. Rates are rounded to half
 * a unit of the third digit: to .5 % at most. */
TEST(clickhouse_takes_the_fewest_bits_and_hashes_that_the_table_allows) {
    for (unsigned row = 3; row < 20; row++)
        for (unsigned i = 0; i < 15 && published[row][i] > 0; i++) {
            double wanted = published[row][i];
            if (wanted >= .221) continue;
            struct cost cost = sized(&kind_clickhouse, wanted);
            unsigned bits = (unsigned)(cost.bits / ITEMS), k = (unsigned)cost.lookups;
            CHECK(rate_of(bits, k) < 1.005 * wanted);
            CHECK(rate_of(bits, k - 1) > .995 * wanted);
            for (unsigned fewer = 1; fewer < 15; fewer++)
                CHECK(rate_of(bits - 1, fewer) > .995 * wanted);
        }
}
