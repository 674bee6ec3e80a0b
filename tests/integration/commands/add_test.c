/* SPDX-License-Identifier: BSD-3-Clause */

/* add_test.c - BF.ADD key item, BF.MADD key item [item ...] */

#include "harness.h"

static const size_t MEGABYTE = 1 << 20;

TRANSCRIPT(add_tells_whether_the_item_was_new) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "#f", "BF.ADD", "k", "anna");
    expect(c, "#t", "BF.ADD", "k", "bob");
    expect(c, "2", "BF.CARD", "k");
}

TRANSCRIPT(add_makes_a_missing_filter_with_the_defaults) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.RESERVE", "reserved", "0.01", "100", "EXPANSION", "2");
    expect(c, "#t", "BF.ADD", "reserved", "anna");

    CHECK_STR(call_text(c, "BF.INFO", "k"), call_text(c, "BF.INFO", "reserved"));
}

TRANSCRIPT(madd_makes_a_missing_filter_with_the_defaults) {
    expect(c, "[#t]", "BF.MADD", "k", "anna");
    expect(c, "#t", "BF.ADD", "added", "anna");

    CHECK_STR(call_text(c, "BF.INFO", "k"), call_text(c, "BF.INFO", "added"));
}

TRANSCRIPT(madd_answers_for_each_item_in_order) {
    expect(c, "[#t, #t, #t]", "BF.MADD", "k", "anna", "bob", "carol");
    expect(c, "[#f, #t, #f]", "BF.MADD", "k", "bob", "dora", "anna");
    expect(c, "4", "BF.CARD", "k");
}

TRANSCRIPT(madd_sees_duplicates_within_one_call) {
    expect(c, "[#t, #f, #t, #f, #f]", "BF.MADD", "k", "anna", "anna", "bob", "anna", "bob");
    expect(c, "2", "BF.CARD", "k");
}

TRANSCRIPT(an_item_may_be_empty) {
    expect(c, "#f", "BF.EXISTS", "k", "");
    expect(c, "#t", "BF.ADD", "k", "");
    expect(c, "#f", "BF.ADD", "k", "");
    expect(c, "#t", "BF.EXISTS", "k", "");
    expect(c, "[#f, #t]", "BF.MADD", "k", "", "x");
}

TRANSCRIPT(items_that_differ_after_a_nul_are_different) {
    expectf(c, "#t", "BF.ADD k %b", "a\0b", (size_t)3);
    expectf(c, "#f", "BF.ADD k %b", "a\0b", (size_t)3);
    expectf(c, "#t", "BF.ADD k %b", "a\0c", (size_t)3);
    expectf(c, "#t", "BF.ADD k %b", "a\0", (size_t)2);
    expect(c, "#t", "BF.ADD", "k", "a");
    expectf(c, "#t", "BF.EXISTS k %b", "a\0b", (size_t)3);
    expect(c, "4", "BF.CARD", "k");
}

TRANSCRIPT(keys_are_bytes_too) {
    expectf(c, "#t", "BF.ADD %b anna", "k\0\xff", (size_t)3);
    expectf(c, "#t", "BF.EXISTS %b anna", "k\0\xff", (size_t)3);
    expectf(c, "#f", "BF.EXISTS %b anna", "k\0\xfe", (size_t)3);
    expect(c, "#f", "BF.EXISTS", "k", "anna");
}

TRANSCRIPT(items_of_a_megabyte_differ_by_their_last_byte) {
    char *item = calloc(1, MEGABYTE);
    test_defer(free, item);

    expectf(c, "#t", "BF.ADD k %b", item, MEGABYTE);
    expectf(c, "#f", "BF.ADD k %b", item, MEGABYTE);
    item[MEGABYTE - 1] = 1;
    expectf(c, "#t", "BF.ADD k %b", item, MEGABYTE);
    expectf(c, "[#t, #f]", "BF.MEXISTS k %b %b", item, MEGABYTE, item, MEGABYTE - 1);
}

TRANSCRIPT(items_are_bytes_and_not_numbers) {
    expect(c, "[#t, #t, #t, #f]", "BF.MADD", "k", "1", "01", "1.0", "1");
}

TRANSCRIPT(madd_grows_a_filter_on_its_way) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "10");

    long long added = add_numbers(c, "k", 0, 100);

    CHECK_INT(count_missing(c, "k", 0, 100), 0);
    CHECK_INT(call_int(c, "BF.CARD", "k"), added);
    const redisReply *info = call(c, "BF.INFO", "k");
    CHECK_INT(reply_field(info, "Number of filters")->integer, 4);
    CHECK_INT(reply_field(info, "Capacity")->integer, 10 + 20 + 40 + 80);
}

TRANSCRIPT(add_grows_a_filter_that_is_full) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "2", "EXPANSION", "3");
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer, 1);

    expect(c, "#f", "BF.ADD", "k", "anna");
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer, 1);

    expect(c, "#t", "BF.ADD", "k", "carol");
    const redisReply *info = call(c, "BF.INFO", "k");
    CHECK_INT(reply_field(info, "Number of filters")->integer, 2);
    CHECK_INT(reply_field(info, "Capacity")->integer, 2 + 6);
    expect(c, "[#t, #t, #t]", "BF.MEXISTS", "k", "anna", "bob", "carol");
}

TRANSCRIPT(expansion_1_grows_by_equal_steps) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "10", "EXPANSION", "1");
    add_numbers(c, "k", 0, 40);

    const redisReply *info = call(c, "BF.INFO", "k");
    long long filters = reply_field(info, "Number of filters")->integer;
    CHECK(filters == 3 || filters == 4); /* 4, unless a false positive saved a place. */
    CHECK_INT(reply_field(info, "Capacity")->integer, 10 * filters);
}

/* One in a million, so that no false positive upsets the transcript. */
static void fill_nonscaling(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "3", "NONSCALING");
    expect(c, "[#t, #t, #t]", "BF.MADD", "k", "anna", "bob", "carol");
}

TRANSCRIPT(a_full_nonscaling_filter_refuses_new_items) {
    fill_nonscaling(c);
    expect_refusal(c, FULL, "BF.ADD", "k", "dora");
    expect_refusal(c, "[" FULL "]", "BF.MADD", "k", "dora", "emil");
    expect(c, "3", "BF.CARD", "k");
}

TRANSCRIPT(a_full_nonscaling_filter_knows_its_items) {
    fill_nonscaling(c);
    expect(c, "#f", "BF.ADD", "k", "anna");
    expect(c, "[#f, #f]", "BF.MADD", "k", "bob", "carol");
    expect(c, "[#t, #t, #t, #f]", "BF.MEXISTS", "k", "anna", "bob", "carol", "dora");
}

TRANSCRIPT(madd_into_a_filter_that_fills_up_ends_with_the_error) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2", "NONSCALING");
    expect(c, "[#t, #f, #t, #f, " FULL "]", "BF.MADD", "k", "anna", "anna", "bob", "bob",
           "carol", "anna", "dora");
    expect(c, "[#t, #t, #f, #f]", "BF.MEXISTS", "k", "anna", "bob", "carol", "dora");
    expect(c, "2", "BF.CARD", "k");
}

TRANSCRIPT(the_connection_survives_an_array_that_ends_early) {
    fill_nonscaling(c);
    expect(c, "[#f, " FULL "]", "BF.MADD", "k", "anna", "dora", "emil", "anna");
    expect(c, "PONG", "PING");
}

TRANSCRIPT(add_wants_a_filter) {
    expect(c, "OK", "SET", "string", "x");
    expect(c, "1", "SADD", "set", "x");
    expect_refusal(c, WRONGTYPE, "BF.ADD", "string", "anna");
    expect_refusal(c, WRONGTYPE, "BF.ADD", "set", "anna");
    expect_refusal(c, WRONGTYPE, "BF.MADD", "string", "anna", "bob");
}

TRANSCRIPT(other_commands_refuse_a_filter) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect_refusal(c, WRONGTYPE, "GET", "k");
    expect_refusal(c, WRONGTYPE, "APPEND", "k", "x");
    expect_refusal(c, WRONGTYPE, "SETBIT", "k", "0", "1");
}

TRANSCRIPT(add_wants_one_item_and_madd_some) {
    expect(c, WRONG_ARITY("bf.add"), "bf.add");
    expect(c, WRONG_ARITY("bf.add"), "bf.add", "k");
    expect(c, WRONG_ARITY("bf.add"), "bf.add", "k", "anna", "bob");
    expect(c, WRONG_ARITY("bf.madd"), "bf.madd");
    expect(c, WRONG_ARITY("bf.madd"), "bf.madd", "k");
    expect(c, "0", "EXISTS", "k");
}

TRANSCRIPT(an_add_that_changes_nothing_is_no_change) {
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    long long before = changes(c);
    const char *state = key_state(c, "k");

    expect(c, "#f", "BF.ADD", "k", "anna");
    expect(c, "[#f, #f]", "BF.MADD", "k", "bob", "anna");

    CHECK_INT(changes(c), before);
    CHECK_STR(key_state(c, "k"), state);
}

TRANSCRIPT(a_key_that_was_deleted_starts_empty) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "1", "DEL", "k");
    expect(c, "#f", "BF.EXISTS", "k", "anna");
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "1", "UNLINK", "k");
    expect(c, "0", "BF.CARD", "k");
}

/* Every add of an item that was there before must be answered 0, whatever came in
 * between; every first add 1, but for the false positives promised. */
TEST(random_adds_agree_with_a_model) {
    enum { UNIVERSE = 3000, CALLS = 6000 };
    static bool added[UNIVERSE];
    redisContext *c = client(server_shared());
    int claims = 0, distinct = 0;
    memset(added, 0, sizeof added);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "50");

    for (int i = 0; i < CALLS; i++) {
        int item = (int)random_below(UNIVERSE);
        redisReply *reply = redisCommand(c, "BF.ADD k item:%d", item);
        CHECK(reply != NULL);
        long long is_new = reply->integer;
        freeReplyObject(reply);
        if (added[item]) CHECK_INT(is_new, 0);
        claims += (int)is_new;
        distinct += !added[item];
        added[item] = true;
    }

    /* At most 1 % of some 2600 first adds, that is 26, in expectation; 60 is more
     * than six standard deviations above that. */
    CHECK(claims <= distinct && claims >= distinct - 60);
    CHECK_INT(call_int(c, "BF.CARD", "k"), claims);
}
