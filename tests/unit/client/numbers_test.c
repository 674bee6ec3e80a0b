/* SPDX-License-Identifier: BSD-3-Clause */

/* numbers_test.c - numbers as people write and read them. */

#include "check.h"
#include "client/print/numbers.h"

#include <stdlib.h>

TEST(a_count_is_what_was_meant_or_refused) {
    static const struct {
        const char *text;
        uint64_t count; /* UINT64_MAX: refused */
    } cases[] = {{"0", 0},
                 {"50M", 50000000},
                 {"1.5M", 1500000},
                 {"2k", 2000},
                 {"0.3k", 300},
                 {"9007199254740993", 9007199254740993},
                 {"18446744073709551614", UINT64_MAX - 1},
                 {"18446744073709551616", UINT64_MAX},
                 {"", UINT64_MAX},
                 {"-1", UINT64_MAX},
                 {"1.5", UINT64_MAX},
                 {"1.0005k", UINT64_MAX},
                 {"200.000", UINT64_MAX},
                 {"1e6", UINT64_MAX},
                 {"nan", UINT64_MAX},
                 {"5MM", UINT64_MAX},
                 {"5 M", UINT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t count = UINT64_MAX;
        test_case("%s", cases[i].text);
        bool good = numbers_count(cases[i].text, &count);
        CHECK(good == (cases[i].count != UINT64_MAX));
        CHECK(!good || count == cases[i].count);
    }
}

TEST(a_size_is_what_was_meant_or_refused) {
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } cases[] = {{"64", 64},
                 {"500M", 500000000},
                 {"500MiB", 524288000},
                 {"1.5KiB", 1536},
                 {"4GiB", UINT64_C(1) << 32},
                 {"2TiB", UINT64_C(1) << 41},
                 {"1000000TiB", 0},
                 {"1000000000000000000", 0},
                 {"0", 0},
                 {"0MiB", 0},
                 {"", 0},
                 {"1.5", 0},
                 {"MiB", 0},
                 {"500MB", 0},
                 {"500mib", 0},
                 {"-1MiB", 0},
                 {"5 MiB", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        test_case("%s", cases[i].text);
        bool good = numbers_bytes(cases[i].text, &bytes);
        CHECK(good == (cases[i].bytes != 0));
        CHECK(!good || bytes == cases[i].bytes);
    }
}

TEST(a_rate_lies_between_0_and_1) {
    static const char *const bad[] = {"0", "1", "-0.1", "nan", "inf", "", "0.1x", "1e-999"};
    double rate;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("%s", bad[i]);
        CHECK(!numbers_rate(bad[i], &rate));
    }
    CHECK(numbers_rate("1e-3", &rate) && rate == 0.001);
}

/* Three digits, whatever the number: 999.6 is 1.00 k, not 1000. */
TEST(a_number_for_people_has_at_most_three_digits) {
    for (uint64_t n = 0; n < UINT64_C(900000000000000); n = n + n / 700 + 1) {
        char count[NUMBERS_TEXT], bytes[NUMBERS_TEXT];
        size_t digits = 0;
        numbers_show_count(count, n);
        for (const char *at = count; *at; at++)
            digits += *at >= '0' && *at <= '9';
        CHECK(digits <= 3);
        CHECK(atof(numbers_show_bytes(bytes, n)) < 1024);
    }
}
