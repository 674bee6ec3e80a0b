/* SPDX-License-Identifier: BSD-3-Clause */
/* textbook_test.c - the yardstick of other tests and of the bench is the textbook's. */
#include "textbook.h"

#include <float.h>

#include "check.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

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
            CHECK_NEAR(textbook_error(bits, k + 1), wanted, 0.51 * unit);
        }
}

TEST(the_textbook_bits_are_those_of_the_best_number_of_probes) {
    for (double error = 0.3; error > 1e-12; error /= 3) {
        double bits = textbook_bits_per_item(error), best = 1;
        for (unsigned k = 1; k < 60; k++)
            best = fmin(best, textbook_error(bits, k));
        test_case("error %g", error);
        CHECK_NEAR(bits, -log(error) / (log(2) * log(2)), 1e-12 * bits);
        CHECK(best >= error * (1 - 1e-12) && best < 1.06 * error); /* k is whole */
    }
}

TEST(the_textbook_ends_where_there_are_no_bits_or_no_end_of_them) {
    CHECK(textbook_bits_per_item(1) == 0);
    CHECK(textbook_error((double)INFINITY, 3) == 0);
    CHECK(textbook_error(0, 3) == 1);
    CHECK(textbook_error(DBL_TRUE_MIN, 3) == 1);
}
