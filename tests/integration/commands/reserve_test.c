/* SPDX-License-Identifier: BSD-3-Clause */

/* reserve_test.c - BF.RESERVE key error capacity [EXPANSION n | NONSCALING] */

#include "harness.h"

static long long info_value(redisContext *c, const char *key, const char *field) {
    const redisReply *value = reply_field(call(c, "BF.INFO", key), field);
    return value->type == REDIS_REPLY_NIL ? 0 : value->integer;
}

TRANSCRIPT(reserve_makes_an_empty_filter) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000");

    expect(c, "bulwarkBF", "TYPE", "k");
    expect(c, "0", "BF.CARD", "k");
    expect(c, "#f", "BF.EXISTS", "k", "anna");
    CHECK_INT(info_value(c, "k", "Capacity"), 1000);
    CHECK_INT(info_value(c, "k", "Number of filters"), 1);
    CHECK_INT(info_value(c, "k", "Expansion rate"), 2);
}

TRANSCRIPT(reserve_takes_expansion) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "EXPANSION", "4");
    CHECK_INT(info_value(c, "k", "Expansion rate"), 4);
    expect(c, "OK", "BF.RESERVE", "most", "0.01", "1000", "EXPANSION", "32768");
    CHECK_INT(info_value(c, "most", "Expansion rate"), 32768);
    expect(c, "OK", "BF.RESERVE", "least", "0.01", "1000", "EXPANSION", "1");
    CHECK_INT(info_value(c, "least", "Expansion rate"), 1);
}

TRANSCRIPT(reserve_reads_options_in_any_case) {
    expect(c, "OK", "bf.reserve", "a", "0.01", "1000", "expansion", "4");
    CHECK_INT(info_value(c, "a", "Expansion rate"), 4);
    expect(c, "OK", "Bf.Reserve", "b", "0.01", "1000", "NonScaling");
    CHECK_INT(info_value(c, "b", "Expansion rate"), 0);
}

TRANSCRIPT(expansion_0_means_nonscaling) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "10", "NONSCALING");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "10", "EXPANSION", "0");
    expect(c, "OK", "BF.RESERVE", "c", "0.01", "10", "EXPANSION", "0", "NONSCALING");
    expect(c, "OK", "BF.RESERVE", "d", "0.01", "10", "NONSCALING", "EXPANSION", "0");

    const char *keys[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        CHECK_INT(reply_field(call(c, "BF.INFO", keys[i]), "Expansion rate")->type,
                  REDIS_REPLY_NIL);
}

TRANSCRIPT(a_bad_error_rate_is_refused) {
    static const char *const unreadable[] = {"abc",  "0.1x", "",    "nan",  "-nan",
                                             " 0.1", "0.1 ", "0,1", "0.1\n"};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        test_case("error rate '%s'", unreadable[i]);
        expect_refusal(c, "(error) ERR bad error rate", "BF.RESERVE", "k", unreadable[i],
                       "100");
    }
    test_case("an error rate with a NUL in it");
    expectf(c, "(error) ERR bad error rate", "BF.RESERVE k %b 100", "0.1\0", (size_t)4);
}

TRANSCRIPT(an_error_rate_outside_0_and_1_is_refused) {
    static const char *const outside[] = {"0",     "0.0", "-0",  "1",    "1.0",  "-1",
                                          "-0.01", "2",   "inf", "-inf", "1e300"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        test_case("error rate '%s'", outside[i]);
        expect_refusal(c, RATE_RANGE, "BF.RESERVE", "k", outside[i], "100");
    }
}

/* Servers differ in whether a number that underflows can be read at all. */
TRANSCRIPT(an_error_rate_that_no_double_holds_is_refused) {
    expect_refusal(c, "(error) ERR *error rate*", "BF.RESERVE", "k", "1e-400", "100");
    expect_refusal(c, "(error) ERR *error rate*", "BF.RESERVE", "k", "1e400", "100");
}

/* 64 bits of hash cannot tell more than 2^64 items apart: below 4 n / 2^64 they
 * would be most of the error. */
TRANSCRIPT(an_error_rate_that_the_hash_cannot_keep_is_refused) {
    const char *too_small = "(error) ERR error rate is too small for this capacity";
    expect_refusal(c, too_small, "BF.RESERVE", "k", "2.1e-17", "100");
    expect_refusal(c, too_small, "BF.RESERVE", "k", "1e-310", "1");
    expect_refusal(c, too_small, "BF.RESERVE", "k", "1e-7", "1099511627776");

    expect(c, "OK", "BF.RESERVE", "k", "2.2e-17", "100", "NONSCALING");
}

TRANSCRIPT(error_rates_above_a_quarter_are_honoured) {
    expect(c, "OK", "BF.RESERVE", "quarter", "0.25", "100000", "NONSCALING");
    expect(c, "OK", "BF.RESERVE", "half", "0.5", "100000", "NONSCALING");
    expect(c, "OK", "BF.RESERVE", "most", "0.99", "100000", "NONSCALING");

    CHECK(info_value(c, "half", "Size") < info_value(c, "quarter", "Size"));
    CHECK(info_value(c, "most", "Size") < info_value(c, "half", "Size"));
}

TRANSCRIPT(a_bad_capacity_is_refused) {
    static const char *const unreadable[] = {
        "abc",
        "",
        "1.5",
        "1e3",
        "100x",
        " 100",
        "9223372036854775808",
        "99999999999999999999",
        "-9223372036854775809",
    };
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        test_case("capacity '%s'", unreadable[i]);
        expect_refusal(c, "(error) ERR bad capacity", "BF.RESERVE", "k", "0.01",
                       unreadable[i]);
    }
}

TRANSCRIPT(a_capacity_outside_its_range_is_refused) {
    static const char *const outside[] = {"0", "-1", "1099511627777", "9223372036854775807",
                                          "-9223372036854775808"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        test_case("capacity '%s'", outside[i]);
        expect_refusal(c, CAPACITY_RANGE, "BF.RESERVE", "k", "0.01", outside[i]);
    }
}

TRANSCRIPT(capacity_1_makes_a_filter) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1");
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "#t", "BF.EXISTS", "k", "anna");
}

/* 2^40 items at one in a hundred are 1.3 TiB. */
TRANSCRIPT(a_filter_larger_than_the_machine_is_refused) {
    expect_refusal(c, NO_MEMORY, "BF.RESERVE", "k", "0.01", "1099511627776");
    expect_refusal(c, NO_MEMORY, "BF.RESERVE", "k", "0.01", "1099511627776", "NONSCALING");
}

TRANSCRIPT(a_bad_expansion_is_refused) {
    static const char *const unreadable[] = {"abc", "", "1.5", "2x", "9223372036854775808"};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        test_case("expansion '%s'", unreadable[i]);
        expect_refusal(c, "(error) ERR bad expansion", "BF.RESERVE", "k", "0.01", "100",
                       "EXPANSION", unreadable[i]);
    }
}

TRANSCRIPT(an_expansion_outside_its_range_is_refused) {
    static const char *const outside[] = {"-1", "32769", "9223372036854775807",
                                          "-9223372036854775808"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        test_case("expansion '%s'", outside[i]);
        expect_refusal(c, EXPANSION_RANGE, "BF.RESERVE", "k", "0.01", "100", "EXPANSION",
                       outside[i]);
    }
}

TRANSCRIPT(expansion_needs_a_value) {
    expect_refusal(c, "(error) ERR no expansion", "BF.RESERVE", "k", "0.01", "100",
                   "EXPANSION");
    expect_refusal(c, "(error) ERR no expansion", "BF.RESERVE", "k", "0.01", "100",
                   "NONSCALING", "EXPANSION");
}

TRANSCRIPT(nonscaling_does_not_go_with_an_expansion) {
    const char *wanted = "(error) Nonscaling filters cannot expand";
    expect_refusal(c, wanted, "BF.RESERVE", "k", "0.01", "100", "NONSCALING", "EXPANSION",
                   "2");
    expect_refusal(c, wanted, "BF.RESERVE", "k", "0.01", "100", "EXPANSION", "1",
                   "NONSCALING");
}

TRANSCRIPT(reserve_refuses_an_option_given_twice) {
    expect_refusal(c, "(error) ERR option 'EXPANSION' given twice", "BF.RESERVE", "k",
                   "0.01", "100", "EXPANSION", "2", "EXPANSION", "2");
    expect_refusal(c, "(error) ERR option 'NONSCALING' given twice", "BF.RESERVE", "k",
                   "0.01", "100", "NONSCALING", "NONSCALING");
}

TRANSCRIPT(reserve_refuses_options_it_does_not_know) {
    static const char *const unknown[] = {"FOO",      "E",    "EXPANSIO", "EXPANSIONS",
                                          "NON",      "100",  "CAPACITY", "ERROR",
                                          "NOCREATE", "ITEMS"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "(error) ERR unknown option '%s'", unknown[i]);
        expect_refusal(c, wanted, "BF.RESERVE", "k", "0.01", "100", unknown[i]);
        expect_refusal(c, wanted, "BF.RESERVE", "k", "0.01", "100", "EXPANSION", "2",
                       unknown[i]);
    }
    expect_refusal(c, "(error) ERR unknown option ''", "BF.RESERVE", "k", "0.01", "100",
                   "");
}

TRANSCRIPT(a_key_that_exists_is_not_reserved) {
    expect(c, "OK", "BF.RESERVE", "filter", "0.01", "100");
    expect(c, "#t", "BF.ADD", "filter", "anna");
    expect(c, "OK", "SET", "string", "x");
    expect(c, "1", "RPUSH", "list", "x");

    expect_refusal(c, "(error) ERR item exists", "BF.RESERVE", "filter", "0.01", "100");
    expect_refusal(c, "(error) ERR item exists", "BF.RESERVE", "string", "0.01", "100");
    expect_refusal(c, "(error) ERR item exists", "BF.RESERVE", "list", "0.01", "100");
    expect(c, "#t", "BF.EXISTS", "filter", "anna");
}

TRANSCRIPT(reserve_wants_three_arguments) {
    expect(c, WRONG_ARITY("bf.reserve"), "bf.reserve");
    expect(c, WRONG_ARITY("bf.reserve"), "bf.reserve", "k");
    expect(c, WRONG_ARITY("bf.reserve"), "bf.reserve", "k", "0.01");
    expect(c, "0", "EXISTS", "k");
}

TRANSCRIPT(the_error_rate_is_read_before_the_capacity) {
    expect_refusal(c, "(error) ERR bad error rate", "BF.RESERVE", "k", "x", "x",
                   "EXPANSION", "x");
    expect_refusal(c, "(error) ERR bad capacity", "BF.RESERVE", "k", "0.01", "x",
                   "EXPANSION", "x");
}

/* 10.1 bits an item, see the manual, operations.md; half a bit of slack on either side. */
TRANSCRIPT(a_million_items_at_one_in_a_hundred_take_little_over_a_megabyte) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000000", "NONSCALING");
    long long bits = 8 * info_value(c, "k", "Size");
    CHECK(bits > 9600000 && bits < 10600000);
}

/* ---- filters of other libraries ---- */

TRANSCRIPT(options_of_libraries_filters_are_for_these_alone) {
    static const struct {
        const char *kind, *option, *value, *wanted;
    } bad[] = {
        {"lines", "ENCODE", "raw", "(error) ERR kind 'lines' takes no ENCODE"},
        {"redisbloom", "ENCODE", "int64", "(error) ERR kind 'redisbloom' takes no ENCODE"},
        {"lines", "VARIANT", "unsigned", "(error) ERR kind 'lines' takes no VARIANT"},
        {"valkeybloom", "SEED", "1", "(error) ERR kind 'valkeybloom' takes no SEED"},
        {"leveldb", "SEED", "1", "(error) ERR kind 'leveldb' takes no SEED"},
        {"clickhouse", "VARIANT", "x", "(error) ERR kind 'clickhouse' takes no VARIANT"},
        {"crc32", "VARIANT", "x", "(error) ERR kind 'crc32' takes no VARIANT"},
        {"leveldb", "VARIANT", "mitz32",
         "(error) ERR unknown variant 'mitz32': unsigned, signed"},
        {"guava", "VARIANT", "", "(error) ERR unknown variant '': mitz64, mitz32"},
        {"guava", "ENCODE", "int16",
         "(error) ERR unknown encoding 'int16': raw, int32, int64, utf16"},
        {"clickhouse", "SEED", "x", "(error) ERR bad seed"},
        {"clickhouse", "SEED", "-1", "(error) ERR bad seed"},
        {"clickhouse", "SEED", "", "(error) ERR bad seed"},
        {"clickhouse", "SEED", "18446744073709551616", "(error) ERR bad seed"},
        {"clickhouse", "HASHES", "3", "(error) ERR unknown option 'HASHES'"},
        {"guava", "EXPANSION", "2", "(error) ERR filters of this kind never grow"},
        {"guava", "VARIANT", NULL, "(error) ERR option 'VARIANT' needs a value"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("%s %s %s", bad[i].kind, bad[i].option, bad[i].value ? bad[i].value : "");
        expect_refusal(c, bad[i].wanted, "BF.RESERVE", "k", "0.01", "100", "KIND",
                       bad[i].kind, bad[i].option, bad[i].value);
    }
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "seed", "18446744073709551615",
           "encode", "INT64", "kind", "ClickHouse", "EXPANSION", "0");
    expect(c, "OK", "BF.RESERVE", "other", "0.01", "100", "KIND", "guava", "NONSCALING");
    CHECK_INT(reply_field(call(c, "BF.INFO", "other"), "Expansion rate")->type,
              REDIS_REPLY_NIL);
}

TRANSCRIPT(a_rate_that_a_librarys_filter_cant_have_is_refused) {
    expect_refusal(c, "(error) ERR error rate is too large for this kind", "BF.RESERVE",
                   "k", "0.5", "1000", "KIND", "crc32");
    expect_refusal(c, "(error) ERR error rate is too large for this kind", "BF.RESERVE",
                   "k", "0.9", "1", "KIND", "guava");
    expect_refusal(c, "(error) ERR error rate is too small for this capacity", "BF.RESERVE",
                   "k", "1e-80", "1", "KIND", "guava");
    expect_refusal(c, NO_MEMORY, "BF.RESERVE", "k", "0.01", "1000000000", "KIND",
                   "leveldb");
}

/* As the library's own program prints it. */
TRANSCRIPT(debug_shows_the_line_of_a_library_that_prints_one) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "2", "KIND", "crc32");
    CHECK(strstr(call_text(c, "BF.DEBUG", "k"), "bitsSize: 19, hashFuncSize: 6") != NULL);
}
