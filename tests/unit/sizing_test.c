/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizing.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "textbook.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct geometry geometry_for(uint64_t items, double error) {
    struct geometry g;
    test_case("%llu items at %g", (unsigned long long)items, error);
    CHECK_INT(sizing_geometry(items, error, &g), BLOOM_OK);
    return g;
}

static double bits_per_item(uint64_t items, double error) {
    return 512.0 * (double)geometry_for(items, error).lines / (double)items;
}

/* A random number between low and high, evenly spread on the logarithmic scale. */
static double random_scale(double low, double high) {
    double at = (double)(random_u64() >> 11) * 0x1p-53;
    return low * pow(high / low, at);
}

/* ---- the model of one line ---- */

/* The definition, term by term in more precision than a double has. */
static double line_error_by_definition(unsigned sectors, double load) {
    long double sum = 0, lam = load;
    for (int j = 1; j < 4000; j++) {
        long double weight = expl(j * logl(lam) - lam - lgammal(j + 1.0L));
        sum += weight * powl(1 - powl(1 - sectors / 512.0L, j), sectors);
    }
    return (double)sum;
}

TEST(the_line_error_is_the_sum_that_defines_it) {
    static const unsigned sectors[] = {2, 4, 8};
    for (size_t s = 0; s < COUNT(sectors); s++)
        for (double load = 1e-3; load < 1024; load *= 2.9) {
            double wanted = line_error_by_definition(sectors[s], load);
            test_case("s = %u, load %g", sectors[s], load);
            CHECK_NEAR(sizing_line_error(sectors[s], load) / wanted, 1, 1e-11);
        }
}

TEST(the_line_error_matches_the_published_values) {
    CHECK_NEAR(sizing_line_error(8, 50), 9.349566380158e-03, 1e-8 * 9.3e-3);
    CHECK_NEAR(sizing_line_error(8, 25), 2.267434785491e-04, 1e-8 * 2.2e-4);
    CHECK_NEAR(sizing_line_error(4, 100), 8.865836285029e-02, 1e-8 * 8.8e-2);
}

TEST(a_line_that_nobody_touched_denies_everything) {
    CHECK(sizing_line_error(2, 0) == 0);
    CHECK(sizing_line_error(4, 0) == 0);
    CHECK(sizing_line_error(8, 0) == 0);
}

TEST(a_line_that_very_many_touched_denies_nothing) {
    for (double load = 1e4; load < 1e9; load *= 10) {
        test_case("load %g", load);
        CHECK_NEAR(sizing_line_error(2, load), 1, 1e-12);
        CHECK_NEAR(sizing_line_error(8, load), 1, 1e-12);
    }
}

TEST(the_line_error_rises_with_the_load) {
    for (unsigned sectors = 2; sectors <= 8; sectors *= 2) {
        double before = 0;
        for (double load = 1e-3; load < 3000; load *= 1.03) {
            double error = sizing_line_error(sectors, load);
            test_case("s = %u, load %g", sectors, load);
            CHECK(error > before || error > 1 - 1e-9); /* at 1 doubles are too coarse */
            CHECK(error <= 1 + 1e-12);
            before = error;
        }
    }
}

/* ---- loads and geometries ---- */

TEST(loads_match_the_published_values) {
    static const struct {
        double error;
        unsigned probes, sectors;
        double load;
    } vectors[] = {
        {1e-1, 1, 4, 104.805330731}, {1e-2, 1, 8, 50.696544122}, {1e-4, 2, 8, 50.696544122},
        {5e-3, 1, 8, 44.099728681},  {2e-3, 1, 8, 37.001609472}, {1e-3, 2, 4, 68.981728338},
        {1e-5, 2, 8, 40.352102622},  {1e-6, 2, 8, 32.560435801}, {1e-9, 3, 8, 32.560435801},
        {1e-7, 3, 8, 43.461413475},  {1e-8, 3, 8, 37.521167631},
    };
    for (size_t i = 0; i < COUNT(vectors); i++) {
        double load = sizing_load(vectors[i].probes, vectors[i].sectors, vectors[i].error);
        test_case("(%u,%u) at %g", vectors[i].probes, vectors[i].sectors, vectors[i].error);
        CHECK_NEAR(load / vectors[i].load, 1, 1e-8);
    }
}

TEST(numbers_of_lines_match_the_published_values) {
    CHECK_UINT(geometry_for(1000000, 1e-2).lines, 19726);
    CHECK_UINT(geometry_for(1000000, 1e-3).lines, 28994);
    CHECK_UINT(geometry_for(1000000, 1e-4).lines, 39451);
    CHECK_UINT(geometry_for(100, 1e-2).lines, 2);
}

TEST(each_error_rate_has_its_probes_and_sectors) {
    static const struct {
        double error;
        unsigned probes, sectors;
    } table[] = {
        {0.9, 1, 2},    {0.38, 1, 2},   {0.1, 1, 4},     {2e-2, 1, 4},   {1.9e-2, 1, 8},
        {2e-3, 1, 8},   {1.9e-3, 2, 4}, {4e-4, 2, 4},    {3.9e-4, 2, 8}, {7e-7, 2, 8},
        {6.9e-7, 3, 8}, {7e-10, 3, 8},  {6.9e-10, 4, 8}, {1e-12, 4, 8},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct geometry g = geometry_for(100000, table[i].error);
        CHECK_UINT(g.probes, table[i].probes);
        CHECK_UINT(g.sectors, table[i].sectors);
    }
}

/* More bits an item are the better ones where they cost nothing. */
TEST(two_bits_an_item_are_taken_only_to_save_a_line) {
    CHECK_UINT(geometry_for(1, 0.3).lines, 1);
    CHECK_UINT(geometry_for(1, 0.3).sectors, 4);
    CHECK_UINT(geometry_for(100000, 0.3).sectors, 2);
}

/* Memory per item as promised, beside the bound for filters of this sort. */
TEST(bits_per_item_are_as_published_and_near_the_textbook_bound) {
    static const struct {
        double error, bits, textbook;
    } table[] = {
        {1e-1, 4.89, 4.79},   {1e-2, 10.10, 9.59},  {1e-3, 14.84, 14.38},
        {1e-4, 20.20, 19.17}, {1e-6, 31.45, 28.76}, {1e-9, 47.2, 43.1},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        CHECK_NEAR(bits_per_item(1000000, table[i].error), table[i].bits, 0.03);
        CHECK_NEAR(textbook_bits_per_item(table[i].error), table[i].textbook, 0.035);
    }
    /* The worst points are the borders between two numbers of probes. */
    for (double error = 0.38; error > 1e-12; error /= 1.07)
        CHECK(bits_per_item(1000000, error) < 1.11 * textbook_bits_per_item(error));
}

/* 500 MB for two billion URLs: 2.1 bits an item, and the best that can be had for it. */
TEST(two_billion_items_at_0_38_fit_in_500_MiB) {
    struct geometry g = geometry_for(2000000000, 0.38);
    CHECK_UINT(g.sectors, 2);
    CHECK(g.lines * LINE_BYTES <= UINT64_C(500) << 20);
    CHECK(sizing_error(&g, 2000000000) <= 0.38);
}

/* Halving intervals of B would begin with all items in one line, where the Poisson
 * weights underflow and the error looks like 0. */
TEST(many_items_are_not_squeezed_into_a_few_lines) {
    CHECK(geometry_for(1000000000, 1e-2).lines > 19000000);
    CHECK(geometry_for(UINT64_C(1) << 40, 1e-2).lines > UINT64_C(21000000000));
    CHECK(geometry_for(UINT64_C(1) << 40, 1e-6).lines > UINT64_C(60000000000));
}

/* Any question that may be asked; past an error of 0.96 the load is capped instead. */
static bool random_question(uint64_t *items, double *error) {
    *items = (uint64_t)random_scale(1, 0x1p40);
    *error = random_scale(1e-12, 0.96);
    return *error >= 4 * 0x1p-64 * (double)*items;
}

TEST(the_expected_error_is_never_above_what_was_asked_for) {
    for (int i = 0; i < 3000; i++) {
        uint64_t items;
        double error;
        if (!random_question(&items, &error)) continue;
        struct geometry g = geometry_for(items, error);
        CHECK(sizing_error(&g, items) <= error);
    }
}

/* A line fewer raises the error by one part in 2^32 at least, with as many lines as are
 * looked at. The load is known to one part in 10^13, the error therefore to some 10^12. */
TEST(one_line_fewer_would_miss_the_error) {
    for (int i = 0; i < 3000; i++) {
        uint64_t items;
        double error;
        if (!random_question(&items, &error)) continue;
        struct geometry g = geometry_for(items, error);
        if (g.lines == 1 || g.lines > UINT64_C(1) << 32) continue;
        g.lines--;
        CHECK(sizing_error(&g, items) > error * (1 - 2e-11));
    }
}

TEST(more_items_never_need_less) {
    for (double error = 0.9; error > 1e-9; error /= 7) {
        uint64_t before = 0;
        for (double items = 1; items < 0x1p31; items = items * 1.05 + 1) {
            uint64_t lines = geometry_for((uint64_t)items, error).lines;
            CHECK(lines >= before);
            before = lines;
        }
    }
}

/* Between the borders of the families. At a border to one more probe memory jumps down
 * by 4 to 5 %, which is why the border is there. */
TEST(a_smaller_error_never_needs_less_but_where_a_probe_is_added) {
    struct geometry before = geometry_for(10000000, 0.95);
    for (double error = 0.95; error > 1e-11; error /= 1.01) {
        struct geometry g = geometry_for(10000000, error);
        bool border = g.probes > before.probes;
        CHECK((double)g.lines >= (border ? 0.95 : 1) * (double)before.lines);
        before = g;
    }
}

TEST(the_share_of_the_hash_is_part_of_the_error) {
    struct geometry g = {4, 8, UINT64_C(1) << 50};
    CHECK(sizing_error(&g, 1) >= 0x1p-64);
    CHECK_NEAR(sizing_error(&g, UINT64_C(1) << 40) / 0x1p-24, 1, 1e-6);

    /* At 4 n / 2^64 a quarter of the error is the hash's: the lines get the rest. */
    double error = 4 * 0x1p-24;
    g = geometry_for(UINT64_C(1) << 40, error);
    CHECK(sizing_error(&g, UINT64_C(1) << 40) <= error);
    double load = sizing_load(g.probes, g.sectors, 0.75 * error);
    CHECK_NEAR((double)g.lines / (g.probes * 0x1p40 / load), 1, 1e-9);
}

/* ---- the edges ---- */

TEST(questions_without_an_answer_are_refused) {
    static const struct {
        uint64_t items;
        double error;
        enum bloom_status status;
    } table[] = {
        {100, 0, BLOOM_BAD_ERROR_RATE},
        {100, -0.0, BLOOM_BAD_ERROR_RATE},
        {100, 1, BLOOM_BAD_ERROR_RATE},
        {100, 1.5, BLOOM_BAD_ERROR_RATE},
        {100, -0.01, BLOOM_BAD_ERROR_RATE},
        {100, (double)NAN, BLOOM_BAD_ERROR_RATE},
        {100, (double)INFINITY, BLOOM_BAD_ERROR_RATE},
        {100, -(double)INFINITY, BLOOM_BAD_ERROR_RATE},
        {0, (double)NAN, BLOOM_BAD_ERROR_RATE},
        {0, 0.01, BLOOM_BAD_CAPACITY},
        {1, DBL_TRUE_MIN, BLOOM_RATE_TOO_SMALL},
        {1, DBL_MIN, BLOOM_RATE_TOO_SMALL},
        {1, 0x1.fffffffffffffp-63, BLOOM_RATE_TOO_SMALL},
        {UINT64_C(1) << 40, 0x1.fffffffffffffp-23, BLOOM_RATE_TOO_SMALL},
        {UINT64_C(1) << 62, 0.999, BLOOM_RATE_TOO_SMALL},
        {UINT64_MAX, 0.01, BLOOM_RATE_TOO_SMALL},
        {UINT64_MAX, 1 - DBL_EPSILON, BLOOM_RATE_TOO_SMALL},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct geometry before = {11, 12, 13}, g = before;
        test_case("%llu items at %g", (unsigned long long)table[i].items, table[i].error);
        CHECK_INT(sizing_geometry(table[i].items, table[i].error, &g), table[i].status);
        CHECK_MEM(&g, sizeof g, &before, sizeof before); /* refused: unchanged */
    }
}

TEST(questions_at_the_edge_have_an_answer) {
    static const struct {
        uint64_t items;
        double error;
    } table[] = {
        {1, 0x1p-62},
        {1, 1 - DBL_EPSILON / 2},
        {1, 0.5},
        {UINT64_C(1) << 40, 0x1p-22},
        {UINT64_C(1) << 40, 1 - DBL_EPSILON / 2},
        {UINT64_C(1) << 59, 0.5},
        {(UINT64_C(1) << 62) - 1024, 1 - DBL_EPSILON / 2},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct geometry g = geometry_for(table[i].items, table[i].error);
        CHECK(g.lines >= 1 && g.lines < SIZING_LINES_MAX);
        CHECK(g.probes >= 1 && g.probes <= 4);
        CHECK(sizing_error(&g, table[i].items) <= table[i].error);
    }
}

TEST(the_most_items_that_a_rate_allows_have_lines_that_can_be_counted) {
    for (int power = 1; power < 62; power++) {
        struct geometry g = geometry_for(UINT64_C(1) << (62 - power), ldexp(1, -power));
        CHECK(g.lines >= 1 && g.lines < SIZING_LINES_MAX);
    }
}

/* As an INFO of a forged or very overfull filter would ask: a number, and soon. */
TEST(the_error_of_a_filter_with_far_too_many_items_is_1) {
    static const uint64_t items[] = {1 << 20, UINT64_C(1) << 40, UINT64_C(1) << 50,
                                     UINT64_MAX};
    struct geometry g = {4, 8, 1};
    for (size_t i = 0; i < COUNT(items); i++) {
        test_case("%llu items in a line", (unsigned long long)items[i]);
        double error = sizing_error(&g, items[i]);
        CHECK(error > 0.999999 && error <= 2); /* up to 1 more is the hash's share */
    }
}

/* ---- determinism ---- */

/* The doubles of one machine, bit for bit: see real_test.c. */
static const struct {
    unsigned probes, sectors;
    double load, line_error; /* the error at that load */
    double error, best_load; /* the load for that error */
} golden_lines[] = {
    {1, 2, 0x1.91p+7, 0x1.2ea5ae006fe5ep-2, 0.38, 0x1.ea085e81c2c4ap+7},
    {1, 4, 0x1.a333333333333p+6, 0x1.998c0fde47fbp-4, 0.1, 0x1.a338a89e84528p+6},
    {1, 8, 0x1.9p+5, 0x1.325dd8ead2e0bp-7, 0.01, 0x1.959285b97204cp+5},
    {2, 4, 0x1.11p+6, 0x1.f613a0c0f28e8p-6, 0.001, 0x1.13ed4a318a498p+6},
    {2, 8, 0x1.41p+5, 0x1.926e9d69620e2p-9, 1e-05, 0x1.42d11b2de9776p+5},
    {3, 8, 0x1.2cp+5, 0x1.1989e70340144p-9, 1e-08, 0x1.2c2b59ef6579ap+5},
    {4, 8, 0x1.41p+4, 0x1.0a983b14592abp-14, 1e-12, 0x1.047bc5c3dadd2p+5},
    {4, 8, 0x1.c25999999999ap+9, 0x1.ffff3097f5b9cp-1, 0.5, 0x1.eb4e396bf133cp+7},
    {1, 8, 0x1.0624dd2f1a9fcp-10, 0x1.259e1193867cap-58, 1e-15, 0x1.43ded41d24e3p-5},
};

TEST(the_same_question_has_the_same_answer_on_every_machine) {
    for (size_t i = 0; i < COUNT(golden_lines); i++) {
        unsigned probes = golden_lines[i].probes, sectors = golden_lines[i].sectors;
        test_case("row %zu of the lines", i);
        CHECK(sizing_line_error(sectors, golden_lines[i].load) ==
              golden_lines[i].line_error);
        CHECK(sizing_load(probes, sectors, golden_lines[i].error) ==
              golden_lines[i].best_load);
    }
}
