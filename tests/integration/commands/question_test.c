/* SPDX-License-Identifier: BSD-3-Clause */

/* question_test.c - what only asks: BF.EXISTS, MEXISTS, CARD, INFO, DEBUG */

#include "harness.h"

#include <ctype.h>

TRANSCRIPT(exists_is_true_for_what_was_added) {
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    expect(c, "#t", "BF.EXISTS", "k", "anna");
    expect(c, "#t", "BF.EXISTS", "k", "bob");
    expect(c, "#f", "BF.EXISTS", "k", "carol");
    expect(c, "[#t, #f, #t, #t]", "BF.MEXISTS", "k", "bob", "carol", "anna", "bob");
}

TRANSCRIPT(a_missing_filter_holds_nothing) {
    expect(c, "#f", "BF.EXISTS", "none", "anna");
    expect(c, "[#f, #f]", "BF.MEXISTS", "none", "anna", "bob");
    expect(c, "0", "BF.CARD", "none");
    expect(c, "0", "EXISTS", "none");
}

TRANSCRIPT(info_debug_and_scandump_want_a_filter_that_exists) {
    expect(c, "(error) ERR not found", "BF.INFO", "none");
    expect(c, "(error) ERR not found", "BF.INFO", "none", "SIZE");
    expect(c, "(error) ERR not found", "BF.DEBUG", "none");
    expect(c, "(error) ERR not found", "BF.SCANDUMP", "none", "0");
}

/* For a shield, "0" for a mistyped name would mean "nothing exists". */
TRANSCRIPT(questions_about_another_type_are_errors) {
    expect(c, "OK", "SET", "string", "x");
    expect_refusal(c, WRONGTYPE, "BF.EXISTS", "string", "anna");
    expect_refusal(c, WRONGTYPE, "BF.MEXISTS", "string", "anna", "bob");
    expect_refusal(c, WRONGTYPE, "BF.CARD", "string");
    expect_refusal(c, WRONGTYPE, "BF.INFO", "string");
    expect_refusal(c, WRONGTYPE, "BF.INFO", "string", "SIZE");
    expect_refusal(c, WRONGTYPE, "BF.DEBUG", "string");
    expect_refusal(c, WRONGTYPE, "BF.SCANDUMP", "string", "0");
}

TRANSCRIPT(questions_want_their_arguments) {
    expect(c, WRONG_ARITY("bf.exists"), "bf.exists", "k");
    expect(c, WRONG_ARITY("bf.exists"), "bf.exists", "k", "anna", "bob");
    expect(c, WRONG_ARITY("bf.mexists"), "bf.mexists", "k");
    expect(c, WRONG_ARITY("bf.card"), "bf.card");
    expect(c, WRONG_ARITY("bf.card"), "bf.card", "k", "x");
    expect(c, WRONG_ARITY("bf.info"), "bf.info");
    expect(c, WRONG_ARITY("bf.info"), "bf.info", "k", "SIZE", "SIZE");
    expect(c, WRONG_ARITY("bf.debug"), "bf.debug");
    expect(c, WRONG_ARITY("bf.debug"), "bf.debug", "k", "x");
    expect(c, WRONG_ARITY("bf.scandump"), "bf.scandump", "k");
    expect(c, WRONG_ARITY("bf.scandump"), "bf.scandump", "k", "0", "x");
}

TRANSCRIPT(card_counts_items_that_were_new) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "10");
    expect(c, "0", "BF.CARD", "k");
    expect(c, "[#t, #t, #f]", "BF.MADD", "k", "anna", "bob", "anna");
    expect(c, "2", "BF.CARD", "k");
}

/* -------------------------------------------------------------------------
 * INFO
 * ---------------------------------------------------------------------- */

/* Where the server can say so to modules. */
static bool gets_maps(const redisContext *c) {
    return speaks_resp3(c) && server_speaks(700);
}

/* The five fields with their values; '*' for the size, which has its own tests. */
static void expect_info(redisContext *c, const char *key, const char *capacity,
                        const char *filters, const char *items, const char *expansion) {
    char wanted[256];
    snprintf(wanted, sizeof wanted,
             gets_maps(c) ? "{Capacity: %s, Size: *, Number of filters: %s, "
                            "Number of items inserted: %s, Expansion rate: %s}"
                          : "[Capacity, %s, Size, *, Number of filters, %s, "
                            "Number of items inserted, %s, Expansion rate, %s]",
             capacity, filters, items, expansion);
    expect_like(c, wanted, "BF.INFO", key);
}

TRANSCRIPT(info_tells_five_things_in_this_order) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "EXPANSION", "3");
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    expect_info(c, "k", "1000", "1", "2", "3");
}

TRANSCRIPT(a_nonscaling_filter_has_no_expansion_rate) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "NONSCALING");
    expect_info(c, "k", "1000", "1", "0", "nil");
}

TRANSCRIPT(capacity_is_the_sum_over_the_layers) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "10");
    CHECK_INT(add_numbers(c, "k", 0, 50), 50);
    expect_info(c, "k", "70", "3", "50", "2");
}

/* One field: [value] in RESP2, {name: value} in RESP3. */
static void expect_field(redisContext *c, const char *selector, const char *name,
                         const char *value) {
    char wanted[128];
    if (gets_maps(c))
        snprintf(wanted, sizeof wanted, "{%s: %s}", name, value);
    else
        snprintf(wanted, sizeof wanted, "[%s]", value);
    expect_like(c, wanted, "BF.INFO", "k", selector);
}

TRANSCRIPT(info_tells_one_thing_if_asked_for_it) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "EXPANSION", "3");
    expect(c, "#t", "BF.ADD", "k", "anna");

    expect_field(c, "CAPACITY", "Capacity", "1000");
    expect_field(c, "SIZE", "Size", "*");
    expect_field(c, "FILTERS", "Number of filters", "1");
    expect_field(c, "ITEMS", "Number of items inserted", "1");
    expect_field(c, "EXPANSION", "Expansion rate", "3");
}

TRANSCRIPT(info_reads_its_selector_in_any_case) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "NONSCALING");
    expect_field(c, "capacity", "Capacity", "1000");
    expect_field(c, "Items", "Number of items inserted", "0");
    expect_field(c, "eXPANSION", "Expansion rate", "nil");
}

TRANSCRIPT(info_refuses_a_selector_it_does_not_know) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000");
    static const char *const unknown[] = {"FOO",       "",      "C",   "CAP",
                                          "CAPACITYS", "SIZES", "KIND"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        test_case("selector '%s'", unknown[i]);
        expect_refusal(c, "(error) Invalid information value", "BF.INFO", "k", unknown[i]);
    }
    expectf(c, "(error) Invalid information value", "BF.INFO k %b", "FULL\0x", (size_t)6);
    expectf(c, "(error) Invalid information value", "BF.INFO k %b", "SIZE\0x", (size_t)6);
}

static long long size_of(redisContext *c, const char *key) {
    return reply_field(call(c, "BF.INFO", key), "Size")->integer;
}

TRANSCRIPT(size_depends_on_the_numbers_asked_for_only) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "1000");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "1000");
    add_numbers(c, "b", 0, 500);
    CHECK_INT(size_of(c, "b"), size_of(c, "a"));

    expect(c, "OK", "BF.RESERVE", "larger", "0.01", "2000");
    expect(c, "OK", "BF.RESERVE", "finer", "0.001", "1000");
    CHECK(size_of(c, "larger") > size_of(c, "a"));
    CHECK(size_of(c, "finer") > size_of(c, "a"));
}

TRANSCRIPT(memory_usage_covers_the_bits) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100000");
    CHECK(call_int(c, "MEMORY", "USAGE", "k") >= 100000 * 10 / 8);
    CHECK(call_int(c, "MEMORY", "USAGE", "k") <= 2 * size_of(c, "k"));
}

/* -------------------------------------------------------------------------
 * DEBUG, and the rest
 * ---------------------------------------------------------------------- */

TRANSCRIPT(debug_has_at_least_a_line_for_each_layer) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "10");
    add_numbers(c, "k", 0, 50);

    const redisReply *lines = call(c, "BF.DEBUG", "k");
    CHECK(lines->type == REDIS_REPLY_ARRAY && lines->elements >= 3);
    for (size_t i = 0; i < lines->elements; i++) {
        const redisReply *line = lines->element[i];
        CHECK(line->type == REDIS_REPLY_STRING || line->type == REDIS_REPLY_STATUS);
        for (size_t j = 0; j < line->len; j++)
            CHECK(isprint((unsigned char)line->str[j]));
    }
}

TRANSCRIPT(questions_change_nothing) {
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    long long before = changes(c);
    const char *state = key_state(c, "k");

    call(c, "BF.EXISTS", "k", "anna");
    call(c, "BF.MEXISTS", "k", "carol", "dora");
    call(c, "BF.CARD", "k");
    call(c, "BF.INFO", "k");
    call(c, "BF.DEBUG", "k");
    call(c, "BF.SCANDUMP", "k", "0");

    CHECK_STR(key_state(c, "k"), state);
    CHECK_INT(changes(c), before);
}

TRANSCRIPT(questions_need_no_memory) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");

    const char *answer = call_text(c, "BF.MEXISTS", "k", "anna", "bob");
    const char *card = call_text(c, "BF.CARD", "k");

    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    CHECK_STR(card, "1");
    CHECK_STR(answer, speaks_resp3(c) && server_speaks(700) ? "[true, false]" : "[1, 0]");
}

/* Judged on one filter and 20,000 questions: 0.01 is expected, 0.0007 is the
 * standard deviation of the sample, some per cent of 0.01 that of the filter. */
static void check_error_rate(redisContext *c, const char *key, long items) {
    CHECK_INT(count_missing(c, key, 0, items), 0);
    long long false_positives = 20000 - count_missing(c, key, 1000000, 1020000);
    CHECK(false_positives <= 20000 * 0.014);
}

TEST(a_reserved_filter_keeps_its_error_rate) {
    redisContext *c = client(server_shared());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "20000");
    add_numbers(c, "k", 0, 20000);
    check_error_rate(c, "k", 20000);
}

TEST(a_filter_that_grew_keeps_its_error_rate) {
    redisContext *c = client(server_shared());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "50");
    add_numbers(c, "k", 0, 20000);
    check_error_rate(c, "k", 20000);
}
