/* SPDX-License-Identifier: BSD-3-Clause */
/* real_test.c - the logarithm, and that it gives the same doubles on every machine. */
#include "real.h"

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
    CHECK_NEAR(difference(real_log(x), log(x)), 0, 1e-14);
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
    CHECK(real_log(1) == 0);
}

TEST(numbers_without_a_finite_logarithm_have_0) {
    CHECK(real_log(0) == 0);
    CHECK(real_log(-0.0) == 0);
    CHECK(real_log(-1) == 0);
    CHECK(real_log((double)INFINITY) == 0);
    CHECK(real_log((double)NAN) == 0);
}

/* ---- determinism ---- */

/* The doubles of one machine, bit for bit. Anyone who meets a difference on another one has
 * found contraction, extended precision or another libm in the sizing. */
static const struct {
    double x, log;
} golden[] = {
    {0x1.47ae147ae147bp-7, -0x1.26bb1bbb55515p+2}, /* 0.01 */
    {0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1}, /* 0.1 */
    {0x1p-1, -0x1.62e42fefa39efp-1},               /* 0.5 */
    {0x1.6147ae147ae14p-1, -0x1.7bf81e213a5afp-2}, /* 0.69 */
    {0x1.8p+0, 0x1.9f323ecbf984cp-2},              /* 1.5 */
    {0x1.5bf0a8b145769p+1, 0x1p+0},                /* 2.71828 */
    {0x1.cp+1, 0x1.40b512eb53d6p+0},               /* 3.5 */
    {0x1.4p+3, 0x1.26bb1bbb55516p+1},              /* 10 */
    {0x1.14p+4, 0x1.6c851bbab187ep+1},             /* 17.25 */
    {0x1.9p+6, 0x1.26bb1bbb55516p+2},              /* 100 */
};

TEST(the_same_number_has_the_same_logarithm_on_every_machine) {
    for (size_t i = 0; i < COUNT(golden); i++) {
        test_case("row %zu", i);
        CHECK(real_log(golden[i].x) == golden[i].log);
    }
}
