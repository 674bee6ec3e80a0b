/* SPDX-License-Identifier: BSD-3-Clause */

/* insert_test.c - BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE]
 * [NONSCALING] ITEMS item [item ...] */

#include "harness.h"

/* A filter reserved with these numbers looks the same. */
static void check_made_like(redisContext *c, const char *key, const char *error,
                            const char *capacity, const char *expansion) {
    expect(c, "1", "EXISTS", key);
    call(c, "DEL", "like");
    expect(c, "OK", "BF.RESERVE", "like", error, capacity, "EXPANSION", expansion);
    CHECK_STR(call_text(c, "BF.INFO", key, "CAPACITY"),
              call_text(c, "BF.INFO", "like", "CAPACITY"));
    CHECK_STR(call_text(c, "BF.INFO", key, "SIZE"),
              call_text(c, "BF.INFO", "like", "SIZE"));
    CHECK_STR(call_text(c, "BF.INFO", key, "EXPANSION"),
              call_text(c, "BF.INFO", "like", "EXPANSION"));
}

TRANSCRIPT(insert_adds_its_items_in_order) {
    expect(c, "[#t, #t, #f]", "BF.INSERT", "k", "ITEMS", "anna", "bob", "anna");
    expect(c, "[#f, #t]", "BF.INSERT", "k", "ITEMS", "bob", "carol");
    expect(c, "3", "BF.CARD", "k");
}

TRANSCRIPT(insert_makes_a_missing_filter_with_the_defaults) {
    expect(c, "[#t]", "BF.INSERT", "k", "ITEMS", "anna");
    check_made_like(c, "k", "0.01", "100", "2");
}

TRANSCRIPT(insert_takes_its_options_in_any_order) {
    expect(c, "[#t]", "BF.INSERT", "a", "CAPACITY", "5000", "ERROR", "0.001", "EXPANSION",
           "4", "ITEMS", "x");
    check_made_like(c, "a", "0.001", "5000", "4");

    expect(c, "[#t]", "BF.INSERT", "b", "EXPANSION", "4", "ERROR", "0.001", "CAPACITY",
           "5000", "ITEMS", "x");
    check_made_like(c, "b", "0.001", "5000", "4");

    expect(c, "[#t]", "BF.INSERT", "c", "ERROR", "0.001", "ITEMS", "x");
    check_made_like(c, "c", "0.001", "100", "2");
}

TRANSCRIPT(insert_reads_options_in_any_case) {
    expect(c, "[#t]", "bf.insert", "k", "capacity", "5000", "Error", "0.001", "eXPANSION",
           "4", "items", "x");
    check_made_like(c, "k", "0.001", "5000", "4");
    expect(c, "[#f]", "BF.INSERT", "k", "nocreate", "ITEMS", "x");
    expect(c, "[#t]", "BF.INSERT", "n", "nonscaling", "Items", "x");
    CHECK_INT(reply_field(call(c, "BF.INFO", "n"), "Expansion rate")->type,
              REDIS_REPLY_NIL);
}

TRANSCRIPT(what_follows_items_is_an_item) {
    expect(c, "[#t, #t, #t, #t, #t, #f]", "BF.INSERT", "k", "ITEMS", "CAPACITY", "ITEMS",
           "NOCREATE", "ERROR", "x", "ITEMS");
    check_made_like(c, "k", "0.01", "100", "2");
    expect(c, "5", "BF.CARD", "k");
}

TRANSCRIPT(insert_makes_nonscaling_filters) {
    expect(c, "[#t, #t, " FULL "]", "BF.INSERT", "a", "CAPACITY", "2", "ERROR", "0.000001",
           "NONSCALING", "ITEMS", "anna", "bob", "carol", "dora");
    expect(c, "[#t, " FULL "]", "BF.INSERT", "b", "EXPANSION", "0", "CAPACITY", "1",
           "ERROR", "0.000001", "ITEMS", "anna", "bob");
    expect(c, "[#t]", "BF.INSERT", "c", "NONSCALING", "EXPANSION", "0", "ITEMS", "anna");
    CHECK_INT(reply_field(call(c, "BF.INFO", "c"), "Expansion rate")->type,
              REDIS_REPLY_NIL);
}

TRANSCRIPT(nocreate_adds_to_a_filter_that_exists) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    expect(c, "[#t, #t]", "BF.INSERT", "k", "NOCREATE", "ITEMS", "anna", "bob");
    expect(c, "[#f, #t]", "BF.INSERT", "k", "NOCREATE", "CAPACITY", "7", "ERROR", "0.5",
           "ITEMS", "anna", "carol");
}

TRANSCRIPT(nocreate_does_not_create) {
    const char *not_found = "(error) ERR not found";
    expect_refusal(c, not_found, "BF.INSERT", "k", "NOCREATE", "ITEMS", "anna");
    expect_refusal(c, not_found, "BF.INSERT", "k", "NOCREATE", "CAPACITY", "7", "ITEMS",
                   "anna");
    expect_refusal(c, not_found, "BF.INSERT", "k", "ERROR", "0.5", "NOCREATE", "ITEMS",
                   "anna");
    expect_refusal(c, not_found, "BF.INSERT", "k", "NONSCALING", "NOCREATE", "EXPANSION",
                   "0", "ITEMS", "anna");
    expect(c, "0", "EXISTS", "k");
}

TRANSCRIPT(size_options_do_not_change_a_filter_that_exists) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "EXPANSION", "3");
    expect(c, "[#t]", "BF.INSERT", "k", "CAPACITY", "7", "ERROR", "0.5", "EXPANSION", "4",
           "ITEMS", "anna");
    expect(c, "[#t]", "BF.INSERT", "k", "NONSCALING", "ITEMS", "bob");
    check_made_like(c, "k", "0.01", "100", "3");
}

/* The mistakes below are the same whether the filter exists or not. */
static void expect_refusals(redisContext *c, const char *wanted, const char *option,
                            const char *value) {
    test_case("%s '%s'", option, value);
    expect_refusal(c, wanted, "BF.INSERT", "none", option, value, "ITEMS", "anna");
    expect_refusal(c, wanted, "BF.INSERT", "k", option, value, "ITEMS", "anna");
}

TRANSCRIPT(insert_refuses_a_bad_error_rate) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    static const char *const unreadable[] = {"abc", "0.1x", "", "nan", " 0.1"};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++)
        expect_refusals(c, "(error) Bad error rate", "ERROR", unreadable[i]);

    static const char *const outside[] = {"0", "1", "-1", "1.5", "inf", "-inf"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        expect_refusals(c, RATE_RANGE, "ERROR", outside[i]);
}

TRANSCRIPT(insert_refuses_a_bad_capacity) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    static const char *const unreadable[] = {"abc", "", "1.5", "1e3",
                                             "9223372036854775808"};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++)
        expect_refusals(c, "(error) Bad capacity", "CAPACITY", unreadable[i]);

    static const char *const outside[] = {"0", "-1", "1099511627777",
                                          "9223372036854775807"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        expect_refusals(c, CAPACITY_RANGE, "CAPACITY", outside[i]);
}

TRANSCRIPT(insert_refuses_a_bad_expansion) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    static const char *const unreadable[] = {"abc", "", "1.5", "9223372036854775808"};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++)
        expect_refusals(c, "(error) Bad expansion", "EXPANSION", unreadable[i]);

    expect_refusals(c, EXPANSION_RANGE, "EXPANSION", "-1");
    expect_refusals(c, EXPANSION_RANGE, "EXPANSION", "32769");
}

TRANSCRIPT(insert_refuses_nonscaling_with_an_expansion) {
    const char *wanted = "(error) Nonscaling filters cannot expand";
    expect_refusal(c, wanted, "BF.INSERT", "k", "NONSCALING", "EXPANSION", "2", "ITEMS",
                   "anna");
    expect_refusal(c, wanted, "BF.INSERT", "k", "EXPANSION", "1", "NONSCALING", "ITEMS",
                   "anna");
}

TRANSCRIPT(insert_refuses_options_it_does_not_know) {
    static const char *const unknown[] = {"FOO", "C", "CAP", "CAPACITYS", "E",   "ERR",
                                          "NO",  "I", "",    "ITEM",      "anna"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        test_case("option '%s'", unknown[i]);
        expect_refusal(c, "(error) Unknown argument received", "BF.INSERT", "k", unknown[i],
                       "ITEMS", "anna");
        expect_refusal(c, "(error) Unknown argument received", "BF.INSERT", "k", "CAPACITY",
                       "10", unknown[i], "ITEMS", "anna");
    }
}

TRANSCRIPT(insert_refuses_an_option_given_twice) {
    static const char *const valued[][2] = {
        {"CAPACITY", "10"}, {"ERROR", "0.1"}, {"EXPANSION", "2"}};
    char wanted[64];
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        const char *option = valued[i][0], *value = valued[i][1];
        snprintf(wanted, sizeof wanted, "(error) ERR option '%s' given twice", option);
        expect_refusal(c, wanted, "BF.INSERT", "k", option, value, option, value, "ITEMS",
                       "x");
    }
    expect_refusal(c, "(error) ERR option 'NOCREATE' given twice", "BF.INSERT", "k",
                   "NOCREATE", "NOCREATE", "ITEMS", "x");
    expect_refusal(c, "(error) ERR option 'NONSCALING' given twice", "BF.INSERT", "k",
                   "NONSCALING", "NONSCALING", "ITEMS", "x");
}

TRANSCRIPT(insert_wants_items) {
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "ITEMS");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "NOCREATE", "ITEMS");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "CAPACITY", "10");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "CAPACITY", "10", "NONSCALING");
    expect(c, "0", "EXISTS", "k");
}

/* RedisBloom answers with the server's words for a wrong number of arguments. */
TRANSCRIPT(an_option_of_insert_needs_its_value) {
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "NOCREATE", "CAPACITY");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "NOCREATE", "ERROR");
    expect(c, WRONG_ARITY("bf.insert"), "bf.insert", "k", "NOCREATE", "EXPANSION");
    expect_refusal(c, "(error) Bad capacity", "BF.INSERT", "k", "CAPACITY", "ITEMS",
                   "anna");
    expect_refusal(c, "(error) Bad error rate", "BF.INSERT", "k", "ERROR", "ITEMS", "anna");
    expect_refusal(c, "(error) Bad expansion", "BF.INSERT", "k", "EXPANSION", "ITEMS",
                   "anna");
}

TRANSCRIPT(insert_wants_a_filter) {
    expect(c, "OK", "SET", "string", "x");
    expect_refusal(c, WRONGTYPE, "BF.INSERT", "string", "ITEMS", "anna");
    expect_refusal(c, WRONGTYPE, "BF.INSERT", "string", "NOCREATE", "ITEMS", "anna");
}

TRANSCRIPT(insert_refuses_what_the_hash_or_the_machine_cannot_hold) {
    expect_refusal(c, "(error) ERR error rate is too small for this capacity", "BF.INSERT",
                   "k", "ERROR", "1e-18", "ITEMS", "anna");
    expect_refusal(c, "(error) ERR Insufficient memory to create filter", "BF.INSERT", "k",
                   "CAPACITY", "1099511627776", "ITEMS", "anna");
}

TRANSCRIPT(an_insert_that_changes_nothing_is_no_change) {
    expect(c, "[#t, #t]", "BF.INSERT", "k", "ITEMS", "anna", "bob");
    long long before = changes(c);
    const char *state = key_state(c, "k");

    expect(c, "[#f, #f]", "BF.INSERT", "k", "CAPACITY", "9", "ITEMS", "bob", "anna");

    CHECK_INT(changes(c), before);
    CHECK_STR(key_state(c, "k"), state);
}
