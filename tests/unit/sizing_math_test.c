/* SPDX-License-Identifier: BSD-3-Clause */
/* sizing_math_test.c - logarithm, exponential, the textbook's formulas, and that all of
 * sizing gives the same doubles on every machine. */
#include "sizing.h"

#include <float.h>
#include <math.h>

#include "check.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* |found / wanted - 1|, and 0 for two zeros. */
static double difference(double found, double wanted) {
    return found == wanted ? 0 : fabs(found / wanted - 1);
}

static void log_must_be_libms(double x) {
    test_case("log(%.17g)", x);
    CHECK_NEAR(difference(sizing_log(x), log(x)), 0, 1e-14);
}

TEST(the_logarithm_is_libms_at_every_size) {
    for (double x = DBL_TRUE_MIN; x < DBL_MAX / 1.4; x *= x < DBL_MIN ? 2 : 1.37)
        log_must_be_libms(x);
    log_must_be_libms(DBL_MAX);
    log_must_be_libms(DBL_MIN);
}

/* Where it passes through 0, and every digit but the first few could be lost. */
TEST(the_logarithm_is_libms_close_to_1) {
    for (double d = DBL_EPSILON; d < 0.5; d *= 1.3) {
        log_must_be_libms(1 + d);
        log_must_be_libms(1 - d);
    }
    CHECK(sizing_log(1) == 0);
}

static void exp_must_be_libms(double x) {
    test_case("exp(%.17g)", x);
    CHECK_NEAR(difference(sizing_exp(x), exp(x)), 0, 1e-14);
}

TEST(the_exponential_is_libms_where_sizing_needs_it) {
    for (double x = -40; x < 40; x += 0.0137)
        exp_must_be_libms(x);
    CHECK(sizing_exp(0) == 1);
}

/* Down to where doubles lose digits, and up to where they end. */
TEST(the_exponential_is_libms_at_every_size) {
    for (double x = -708; x < 709; x += 0.137)
        exp_must_be_libms(x);
    for (double x = DBL_MIN; x < 1; x *= 1e3) {
        exp_must_be_libms(x);
        exp_must_be_libms(-x);
    }
}

TEST(the_exponential_ends_at_zero_and_stays_finite) {
    CHECK(sizing_exp(-800) == 0);
    CHECK(sizing_exp(-1e300) == 0);
    CHECK(sizing_exp(-(double)INFINITY) == 0);
    CHECK(isfinite(sizing_exp(800)) && sizing_exp(800) > 1e307);
    CHECK(isfinite(sizing_exp((double)INFINITY)));
}

TEST(numbers_without_a_finite_logarithm_have_0) {
    CHECK(sizing_log(0) == 0);
    CHECK(sizing_log(-0.0) == 0);
    CHECK(sizing_log(-1) == 0);
    CHECK(sizing_log((double)INFINITY) == 0);
    CHECK(sizing_log((double)NAN) == 0);
}

TEST(the_exponential_of_no_number_is_none) {
    CHECK(isnan(sizing_exp((double)NAN)));
}

/* ---- the textbook ---- */

/* Fan, Cao, Almeida, Broder: Summary Cache (2000), the appendix' table: bits an item
 * down, probes across. */
static const double published[][8] = {
    [2] = {.393, .400},
    [3] = {.283, .237, .253},
    [4] = {.221, .155, .147, .160},
    [5] = {.181, .109, .092, .092, .101},
    [6] = {.154, .0804, .0609, .0561, .0578, .0638},
    [7] = {.133, .0618, .0423, .0359, .0347, .0364},
    [8] = {.118, .0489, .0306, .024, .0217, .0216, .0229},
    [9] = {.105, .0397, .0228, .0166, .0141, .0133, .0135, .0145},
    [10] = {.0952, .0329, .0174, .0118, .00943, .00844, .00819, .00846},
};

/* Three digits: half a unit of the third one, and a little for how it was rounded. */
TEST(the_textbook_error_is_the_published_table) {
    for (unsigned bits = 2; bits < COUNT(published); bits++)
        for (unsigned k = 0; k < 8 && published[bits][k] > 0; k++) {
            double wanted = published[bits][k];
            double unit = wanted >= .1 ? 1e-3 : wanted >= .01 ? 1e-4 : 1e-5;
            test_case("%u bits, %u probes", bits, k + 1);
            if (wanted == .092 || wanted == .024) unit = 1e-3; /* printed with two digits */
            CHECK_NEAR(sizing_textbook_error(bits, k + 1), wanted, 0.51 * unit);
        }
}

TEST(the_textbook_bits_are_those_of_the_best_number_of_probes) {
    for (double error = 0.3; error > 1e-12; error /= 3) {
        double bits = sizing_textbook_bits_per_item(error), best = 1;
        for (unsigned k = 1; k < 60; k++)
            best = fmin(best, sizing_textbook_error(bits, k));
        test_case("error %g", error);
        CHECK_NEAR(bits, -log(error) / (log(2) * log(2)), 1e-12 * bits);
        CHECK(best >= error * (1 - 1e-12) && best < 1.06 * error); /* k is whole */
    }
}

/* Not asked in earnest: an answer has to come, and no undefined behaviour. */
TEST(the_textbook_bears_nonsense) {
    static const double nonsense[] = {
        0,           -0.0,         -1,     (double)INFINITY, -(double)INFINITY,
        (double)NAN, DBL_TRUE_MIN, DBL_MAX};
    for (size_t i = 0; i < COUNT(nonsense); i++) {
        sizing_textbook_bits_per_item(nonsense[i]);
        sizing_textbook_error(nonsense[i], 3);
    }
    CHECK(sizing_textbook_bits_per_item(1) == 0);
    CHECK(sizing_textbook_error((double)INFINITY, 3) == 0);
    CHECK(sizing_textbook_error(0, 3) == 1);
    CHECK(sizing_textbook_error(DBL_TRUE_MIN, 3) == 1);
}

/* ---- determinism ---- */

/* The doubles of one machine, bit for bit. Whoever meets a difference on another one has
 * found contraction, extended precision or another libm in the sizing. */
static const struct {
    double x, log, exp;
} golden_functions[] = {
    {0x1.47ae147ae147bp-7, -0x1.26bb1bbb55515p+2, 0x1.0292a5d2f2226p+0}, /* 0.01 */
    {0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1, 0x1.1aec7b35a00d4p+0}, /* 0.1 */
    {0x1p-1, -0x1.62e42fefa39efp-1, 0x1.a61298e1e069cp+0},               /* 0.5 */
    {0x1.6147ae147ae14p-1, -0x1.7bf81e213a5afp-2, 0x1.fe642424ce65bp+0}, /* 0.69 */
    {0x1.8p+0, 0x1.9f323ecbf984cp-2, 0x1.1ed3fe64fc541p+2},              /* 1.5 */
    {0x1.5bf0a8b145769p+1, 0x1p+0, 0x1.e4efb75e4527ap+3},                /* 2.71828 */
    {0x1.cp+1, 0x1.40b512eb53d6p+0, 0x1.08ec721396bdbp+5},               /* 3.5 */
    {0x1.4p+3, 0x1.26bb1bbb55516p+1, 0x1.5829dcf95056p+14},              /* 10 */
    {0x1.14p+4, 0x1.6c851bbab187ep+1, 0x1.d94295464477bp+24},            /* 17.25 */
    {0x1.9p+6, 0x1.26bb1bbb55516p+2, 0x1.3494a9b171bf5p+144},            /* 100 */
};

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
    for (size_t i = 0; i < COUNT(golden_functions); i++) {
        test_case("row %zu of the functions", i);
        CHECK(sizing_log(golden_functions[i].x) == golden_functions[i].log);
        CHECK(sizing_exp(golden_functions[i].x) == golden_functions[i].exp);
    }
    for (size_t i = 0; i < COUNT(golden_lines); i++) {
        unsigned probes = golden_lines[i].probes, sectors = golden_lines[i].sectors;
        test_case("row %zu of the lines", i);
        CHECK(sizing_line_error(sectors, golden_lines[i].load) ==
              golden_lines[i].line_error);
        CHECK(sizing_load(probes, sectors, golden_lines[i].error) ==
              golden_lines[i].best_load);
    }
}
