/* SPDX-License-Identifier: BSD-3-Clause */

/* rebuild_size_test.c - how large the next generation is, what it takes, and what is
 * refused because there is no room. */

#include "harness.h"
#include "states.h"

static long long info_of(redisContext *c, const char *field) {
    return reply_field(call(c, "BF.INFO", "k"), field)->integer;
}

static void commit_one(redisContext *c, const char *token) {
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
}

TRANSCRIPT(the_next_generation_is_like_the_old_one) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "5000", "EXPANSION", "3");
    long long size = info_of(c, "Size");
    commit_one(c, start_rebuild(c, "k"));
    CHECK_INT(info_of(c, "Capacity"), 5000);
    CHECK_INT(info_of(c, "Expansion rate"), 3);
    CHECK_INT(info_of(c, "Size"), size);
}

TRANSCRIPT(the_next_generation_has_room_for_what_is_there) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "10");
    add_numbers(c, "k", 0, 1000);
    long long capacity = info_of(c, "Capacity");
    commit_one(c, start_rebuild(c, "k"));
    CHECK_INT(info_of(c, "Capacity"), capacity);
    CHECK_INT(info_of(c, "Number of filters"), 1);
}

TRANSCRIPT(the_next_generation_is_as_start_says) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    commit_one(c, call(c, "BF.REBUILD", "k", "START", "capacity", "70000", "ERROR",
                       "0.0001", "EXPANSION", "4")
                      ->str);
    expect(c, "OK", "BF.RESERVE", "same", "0.0001", "70000", "EXPANSION", "4");
    expect(c, "#t", "BF.ADD", "same", "anna");
    CHECK_STR(call_text(c, "BF.INFO", "k"), call_text(c, "BF.INFO", "same"));

    commit_one(c, call(c, "BF.REBUILD", "k", "START", "NONSCALING")->str);
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Expansion rate")->type,
              REDIS_REPLY_NIL);
}

TRANSCRIPT(a_rebuild_of_nothing_is_as_the_settings_say) {
    commit_one(c, start_rebuild(c, "k"));
    expect(c, "#t", "BF.ADD", "same", "anna");
    CHECK_STR(call_text(c, "BF.INFO", "k"), call_text(c, "BF.INFO", "same"));
}

TRANSCRIPT(a_rebuild_gives_a_new_secret) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    expect(c, "#t", "BF.ADD", "k", "anna");
    const struct dump *before = dump_filter(c, "k");
    commit_one(c, start_rebuild(c, "k"));
    CHECK(!dumps_equal(dump_filter(c, "k"), before));
}

TRANSCRIPT(the_next_generation_grows_while_it_is_loaded) {
    make_ready(c, "k");
    const char *token = call(c, "BF.REBUILD", "k", "START", "CAPACITY", "10")->str;
    CHECK_INT(load_numbers(c, "k", token, 0, 2000), 2000);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "2000");
    CHECK(info_of(c, "Number of filters") > 4);
    CHECK_INT(count_missing(c, "k", 0, 2000), 0);
    CHECK(count_missing(c, "k", 10000, 12000) > 1900);
}

TRANSCRIPT(the_next_generation_refuses_no_load) {
    make_ready(c, "k");
    const char *token =
        call(c, "BF.REBUILD", "k", "START", "CAPACITY", "10", "NONSCALING")->str;
    CHECK_INT(load_numbers(c, "k", token, 0, 100), 100);
    add_numbers(c, "k", 100, 200);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "100");
    CHECK_INT(count_missing(c, "k", 0, 200), 0);
    CHECK_INT(info_of(c, "Number of filters"), 1);
}

TRANSCRIPT(what_a_full_plain_filter_refuses_enters_neither_generation) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2", "NONSCALING");
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    const char *token = start_rebuild(c, "k");
    expect_refusal(c, FULL, "BF.ADD", "k", "carol");
    expect_refusal(c, "[" FULL "]", "BF.MADD", "k", "carol", "dora");
    expect(c, "[#f, #f]", "BF.REBUILD", "k", "CHECK", token, "carol", "dora");
    expect_like(c, "[*, " FULL "]", "BF.INSERT", "k", "ITEMS", "anna", "carol", "dora");
    expect(c, "[#t, #f, #f]", "BF.REBUILD", "k", "CHECK", token, "anna", "carol", "dora");
}

TRANSCRIPT(a_full_loading_filter_takes_adds_for_both_generations) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2", "NONSCALING", "LOADING");
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "bob");
    const char *token = start_rebuild(c, "k");
    expect(c, "[#t, #t]", "BF.MADD", "k", "carol", "dora");
    expect(c, "[#f, #t, #t]", "BF.REBUILD", "k", "CHECK", token, "anna", "carol", "dora");
}

/* ---- no room ---- */

TEST(start_is_refused_when_memory_would_not_do) {
    redisContext *c = client(server_start(.config = "maxmemory 20mb"));
    make_ready(c, "k");
    expect_refusal(c, NO_MEMORY, "BF.REBUILD", "k", "START", "CAPACITY", "100000000");
    expect_refusal(c, NO_MEMORY, "BF.REBUILD", "none", "START", "CAPACITY", "100000000");
    expect_like(c, "(error) *", "BF.REBUILD", "k", "START", "CAPACITY", "16000000");
    expect(c, "0", "EXISTS", "none");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "ABORT");

    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    expect_refusal(c, "(error) OOM *", "BF.REBUILD", "k", "START");
    expect_refusal(c, "(error) OOM *", "BF.REBUILD", "none", "START");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    start_rebuild(c, "k");
}

TEST(start_is_refused_beyond_the_largest_filter) {
    redisContext *c = client(server_start(.module_args = "bf-max-filter-bytes 4096"));
    make_ready(c, "k");
    expect_refusal(c, NO_MEMORY, "BF.REBUILD", "k", "START", "CAPACITY", "100000");
    const char *token = start_rebuild(c, "k");
    CHECK_INT(load_numbers(c, "k", token, 0, 10000), 10000);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "10000");
    CHECK_INT(count_missing(c, "k", 0, 10000), 0);
    CHECK(info_of(c, "Size") < 6000);
}

/* The memory of the one that went has to be there for the next. */
TEST(rebuilds_leave_no_memory_behind) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "8000000");
    commit_one(c, start_rebuild(c, "k"));
    long long before = info_int(c, "memory", "used_memory");
    for (int i = 0; i < 20; i++) {
        commit_one(c, start_rebuild(c, "k"));
        start_rebuild(c, "k");
        expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    }
    WAIT_UNTIL(info_int(c, "memory", "used_memory") < before + 1000000);
    CHECK_INT(counted(c, "rebuilds"), 0);
    CHECK_INT(counted(c, "filters"), 1);
}

TEST(info_counts_rebuilds_and_both_generations) {
    redisContext *c = client(server_start());
    make_ready(c, "k");
    long long bytes = counted(c, "bytes");
    const char *token = start_rebuild(c, "k");
    start_rebuild(c, "first fill");
    CHECK_INT(counted(c, "rebuilds"), 2);
    CHECK(counted(c, "bytes") > bytes);
    CHECK_INT(counted(c, "items"), 1);
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    CHECK_INT(counted(c, "items"), 2);
    WAIT_UNTIL(counted(c, "oldest_rebuild_seconds") >= 1);

    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    CHECK_INT(counted(c, "rebuilds"), 1);
    CHECK_INT(counted(c, "items"), 1);
    expect(c, "1", "DEL", "first fill");
    WAIT_UNTIL(counted(c, "rebuilds") == 0);
    CHECK_INT(counted(c, "oldest_rebuild_seconds"), 0);
    CHECK_INT(counted(c, "bytes"), bytes);
}

/* The ages of 64 are kept. */
TEST(rebuilds_are_counted_however_many_there_are) {
    redisContext *c = client(server_start());
    char key[16];
    for (int i = 0; i < 70; i++) {
        snprintf(key, sizeof key, "k%d", i);
        start_rebuild(c, key);
    }
    CHECK_INT(counted(c, "rebuilds"), 70);
    expect(c, "OK", "FLUSHALL");
    WAIT_UNTIL(counted(c, "rebuilds") == 0); /* some servers free in the background */
    CHECK_INT(counted(c, "oldest_rebuild_seconds"), 0);
}
