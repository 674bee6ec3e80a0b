/* SPDX-License-Identifier: BSD-3-Clause */

/* info_full_test.c - BF.INFO FULL: numbers that people can read, and advice; and what the
 * log advises. */

#include "harness.h"

#include <stdio.h>
#include "kind.h"
#include "states.h"

static const redisReply *full(redisContext *c, const char *key, const char *field) {
    const redisReply *r = reply_field(call(c, "BF.INFO", key, "FULL"), field);
    if (!r) FAIL("BF.INFO FULL has no %s", field);
    return r;
}

/* The digits from the first that is no zero on, without an exponent. */
static size_t significant_digits(const char *number) {
    size_t n = 0;
    for (; *number && *number != 'e'; number++)
        n += n > 0 ? *number >= '0' && *number <= '9' : *number >= '1' && *number <= '9';
    return n;
}

TEST(fractions_have_four_digits_in_resp2) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.003", "1000");
    CHECK_INT(add_numbers(c, "k", 0, 777) > 700, 1);
    static const char *const fields[] = {"Estimated error rate", "Fill", "Bits per item"};
    CHECK_STR(full(c, "k", "Error rate")->str, "0.003");
    for (int i = 0; i < 3; i++) {
        test_case("%s", fields[i]);
        const char *text = full(c, "k", fields[i])->str;
        CHECK(significant_digits(text) >= 1 && significant_digits(text) <= 4);
    }
    const redisReply *layer = full(c, "k", "Layers")->element[0];
    CHECK(significant_digits(reply_field(layer, "Error share")->str) <= 4);
}

TEST(large_numbers_are_written_without_an_exponent) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000000");
    expect(c, "1", "BF.ADD", "k", "anna");
    const char *text = full(c, "k", "Bits per item")->str;
    CHECK(strspn(text, "0123456789") == strlen(text) && strlen(text) >= 7);
}

TEST(fractions_are_doubles_in_resp3) {
    needs(700, "maps of modules");
    redisContext *c = client_resp3(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.003", "1000");
    CHECK_INT(full(c, "k", "Error rate")->type, REDIS_REPLY_DOUBLE);
    CHECK_INT(full(c, "k", "Fill")->type, REDIS_REPLY_DOUBLE);
}

TEST(names_of_times_have_their_unit) {
    redisContext *c = client(server_start());
    make_ready(c, "k");
    expect(c, "OK", "BF.READY", "k", "PXAT", "4102444800000");
    start_rebuild(c, "k");
    CHECK_INT(full(c, "k", "Lease until ms")->integer, 4102444800000);
    CHECK(full(c, "k", "Vouched for at ms")->integer > 1600000000000);
    const redisReply *rebuild = full(c, "k", "Rebuild");
    CHECK(reply_field(rebuild, "Seconds since START")->integer < 100);
    CHECK_INT(reply_field(rebuild, "Seconds since LOAD")->type, REDIS_REPLY_NIL);
}

/* Reserved with what the advice says, the filter has one layer, room for the items and a
 * little air, is smaller, and gets no advice. */
static void expect_good_advice(redisContext *c, const char *kind) {
    long long capacity, look_ups;
    char unit[4], number[24];
    double size;
    test_case("%s", kind);
    expect(c, "OK", "BF.RESERVE", "grown", "0.01", "100", "KIND", kind);
    add_numbers(c, "grown", 0, 13000);
    const char *advice = full(c, "grown", "Advice")->str;
    CHECK(sscanf(advice, "reserve %lld: saves %lf %3s and %lld look-ups", &capacity, &size,
                 unit, &look_ups) == 4);
    long long items = call_int(c, "BF.CARD", "grown");
    CHECK(capacity > items && capacity < items * 6 / 5);
    CHECK(look_ups >= 7);
    CHECK_STR(unit, "KiB");

    snprintf(number, sizeof number, "%lld", capacity);
    expect(c, "OK", "BF.RESERVE", "reserved", "0.01", number, "KIND", kind);
    double saved = (double)(call(c, "BF.INFO", "grown", "SIZE")->element[0]->integer -
                            call(c, "BF.INFO", "reserved", "SIZE")->element[0]->integer);
    CHECK(saved > 920 * size && saved < 1230 * size);
    add_numbers(c, "reserved", 0, 13000);
    CHECK_INT(full(c, "reserved", "Advice")->type, REDIS_REPLY_NIL);
    expect(c, "2", "DEL", "grown", "reserved");
}

TEST(a_filter_that_has_grown_is_told_what_to_reserve) {
    redisContext *c = client(server_start());
    for (size_t i = 0; i < KINDS; i++)
        if (!kinds[i]->exceeds) expect_good_advice(c, kinds[i]->name);
}

/* A layer so full takes new items for old ones. */
TEST(a_count_that_is_too_low_is_no_advice) {
    redisContext *c = client(server_shared());
    expect(c, "OK", "BF.RESERVE", "full", "0.01", "100", "NONSCALING", "LOADING");
    for (int i = 0; i < 1000; i++) {
        char item[16];
        snprintf(item, sizeof item, "%d", i);
        call(c, "BF.ADD", "full", item);
    }
    CHECK(text_matches(full(c, "full", "Advice")->str,
                       "reserve more than *: the count is too low"));
}

TEST(a_filter_that_has_not_grown_gets_no_advice) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000");
    CHECK_INT(full(c, "k", "Advice")->type, REDIS_REPLY_NIL);
    expect(c, "1", "BF.ADD", "k", "anna");
    CHECK_INT(full(c, "k", "Advice")->type, REDIS_REPLY_NIL);
}

TEST(a_filter_over_capacity_is_told_what_to_reserve) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "NONSCALING", "LOADING");
    add_numbers(c, "k", 0, 120);
    CHECK(strncmp(full(c, "k", "Advice")->str, "reserve 1", 9) == 0);
}

/* 64 bits of hash keep such a rate for 100 items, and hardly more. */
TEST(where_a_larger_filter_cannot_keep_the_rate_there_is_no_advice) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "2.2e-17", "100", "NONSCALING", "LOADING");
    add_numbers(c, "k", 0, 120);
    CHECK_INT(full(c, "k", "Overfull")->integer, 20);
    CHECK_INT(full(c, "k", "Advice")->type, REDIS_REPLY_NIL);
}

static int lines_with(const char *log, const char *words) {
    int n = 0;
    for (; (log = strstr(log, words)) != NULL; log++)
        n++;
    return n;
}

TEST(the_log_tells_of_each_layer_from_the_third_on) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "users", "0.000001", "100");
    CHECK_INT(add_numbers(c, "users", 0, 300), 300);
    CHECK_INT(lines_with(server_log(s), "has grown"), 0);
    CHECK_INT(add_numbers(c, "users", 300, 301), 1);
    CHECK_INT(lines_with(server_log(s), "The filter users has grown to 3 layers, with 300 "
                                        "items: "),
              1);
    CHECK_INT(lines_with(server_log(s), "Reserve 700 or more next time."), 1);
    add_numbers(c, "users", 301, 1000);
    CHECK_INT(lines_with(server_log(s), "has grown"), 2);
    CHECK_INT(lines_with(server_log(s), "Reserve 1500 or more next time."), 1);
}

/* A filter that grows with each add. */
TEST(no_filter_fills_the_log_by_growing) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1", "EXPANSION", "1", "KIND", "redisbloom");
    add_numbers(c, "k", 0, 500);
    CHECK(call(c, "BF.INFO", "k", "FILTERS")->element[0]->integer > 100);
    CHECK(lines_with(server_log(s), "has grown") <= 20);
}
