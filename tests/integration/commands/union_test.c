/* SPDX-License-Identifier: BSD-3-Clause */

/* union_test.c - BF.COVERS key other, BF.MERGE key source [source ...],
 * BF.RESERVE key error capacity LIKE other */

#include "events.h"
#include "samples.h"
#include "harness.h"
#include "states.h"

#include <string.h>

#define CANT_COMPARE(what) "(error) ERR filters can't be compared: their " what " differ"

/* Every kind, once with a chain that has grown. */
static const struct {
    const char *kind, *capacity;
    long items;
    bool grows;
} kinds[] = {
    {"lines", "5000", 1000, false},       {"lines", "20", 1000, true},
    {"redisbloom", "5000", 1000, false},  {"redisbloom", "20", 1000, true},
    {"valkeybloom", "5000", 1000, false}, {"valkeybloom", "20", 1000, true},
    {"leveldb", "5000", 1000, false},     {"clickhouse", "5000", 1000, false},
    {"guava", "5000", 1000, false},       {"crc32", "5000", 1000, false},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void reserve(redisContext *c, const char *key, size_t i) {
    expect(c, "OK", "BF.RESERVE", key, "0.001", kinds[i].capacity, "KIND", kinds[i].kind);
}

/* Two comparable filters: "a" has the lower half of the numbers, "b" is empty, and has as
 * many layers. */
static void make_alike(redisContext *c, size_t i) {
    test_case("%s for %s", kinds[i].kind, kinds[i].capacity);
    reserve(c, "a", i);
    add_numbers(c, "a", 0, kinds[i].items / 2);
    expect(c, "OK", "BF.RESERVE", "b", "0.001", kinds[i].capacity, "LIKE", "a");
}

static void check_members(redisContext *c, const char *key, long from, long to) {
    CHECK_INT(count_missing(c, key, from, to), 0);
    CHECK(count_missing(c, key, 100000, 101000) > 950);
}

static void clear(redisContext *c) {
    expect(c, "OK", "FLUSHALL");
}

/* ---- LIKE ---- */

TRANSCRIPT(like_makes_an_empty_filter_that_is_comparable) {
    for (size_t i = 0; i < KINDS; i++) {
        make_alike(c, i);
        expect(c, "0", "BF.CARD", "b");
        CHECK(count_missing(c, "b", 0, 1000) == 1000);
        CHECK_STR(call_text(c, "BF.INFO", "b", "CAPACITY"),
                  call_text(c, "BF.INFO", "a", "CAPACITY"));
        CHECK_STR(call_text(c, "BF.INFO", "b", "FILTERS"),
                  call_text(c, "BF.INFO", "a", "FILTERS"));
        expect(c, "#t", "BF.COVERS", "a", "b");
        expect(c, "#f", "BF.COVERS", "b", "a");
        const char *state = key_state(c, "b");
        expect(c, "OK", "DEBUG", "RELOAD");
        CHECK_STR(key_state(c, "b"), state);
        add_numbers(c, "b", 1000, 2000);
        check_members(c, "b", 1000, 2000);
        clear(c);
    }
}

TRANSCRIPT(like_takes_the_encoding_the_variant_and_the_seed_too) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "10", "KIND", "clickhouse", "SEED",
           "18446744073709551615", "ENCODE", "int32");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "10", "LIKE", "a");
    expect(c, "#t", "BF.ADD", "b", "-5");
    expect(c, "(error) ERR item 'x' can't be encoded as int32", "BF.ADD", "b", "x");
    expect(c, "#t", "BF.MERGE", "a", "b");
    expect(c, "#t", "BF.EXISTS", "a", "-5");

    expect(c, "OK", "BF.RESERVE", "c", "0.01", "10", "KIND", "guava", "VARIANT", "mitz32");
    expect(c, "OK", "BF.RESERVE", "d", "0.01", "10", "LIKE", "c");
    expect(c, "#t", "BF.COVERS", "c", "d");
}

TRANSCRIPT(like_takes_a_state_and_nothing_else) {
    static const char *const other[][2] = {
        {"EXPANSION", "2"}, {"KIND", "lines"}, {"ENCODE", "raw"},
        {"SEED", "0"},      {"VARIANT", "x"},  {"NONSCALING", NULL},
    };
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "100");
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        test_case("%s", other[i][0]);
        expect_refusal(c, "(error) ERR LIKE takes all but LOADING and READY from the other",
                       "BF.RESERVE", "k", "0.01", "100", "LIKE", "a", other[i][0],
                       other[i][1]);
    }
    expect_refusal(c, "(error) ERR option 'LIKE' needs a value", "BF.RESERVE", "k", "0.01",
                   "100", "LIKE");
    expect_refusal(c, "(error) ERR option 'LIKE' given twice", "BF.RESERVE", "k", "0.01",
                   "100", "LIKE", "a", "LIKE", "a");
    expect_refusal(c, "(error) ERR a filter is LOADING or READY, not both", "BF.RESERVE",
                   "k", "0.01", "100", "LIKE", "a", "LOADING", "READY");

    expect(c, "OK", "BF.RESERVE", "ready", "0.01", "100", "like", "a", "READY");
    expect(c, "absent", "BF.CHECK", "ready", "dora");
    expect(c, "OK", "BF.RESERVE", "loading", "0.01", "100", "LOADING", "LIKE", "a");
    expect(c, "#t", "BF.EXISTS", "loading", "dora");
    expect(c, "OK", "BF.RESERVE", "plain", "0.01", "100", "LIKE", "ready");
    expect(c, "unknown", "BF.CHECK", "plain", "dora");
}

/* So that a program says what it means, and a reader sees it. */
TRANSCRIPT(like_wants_the_numbers_of_the_other) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "1000");
    const char *says = "(error) ERR 'a' was made for an error rate of 0.01 and 1000 items";
    expect_refusal(c, says, "BF.RESERVE", "k", "0.001", "1000", "LIKE", "a");
    expect_refusal(c, says, "BF.RESERVE", "k", "0.01", "1001", "LIKE", "a");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000", "LIKE", "a");

    expect(c, "OK", "BF.RESERVE", "grown", "0.01", "10");
    add_numbers(c, "grown", 0, 25);
    expect(c, "OK", "BF.RESERVE", "first", "0.01", "10", "LIKE", "grown");
    expect(c, "OK", "BF.RESERVE", "all", "0.01", "30", "LIKE", "grown");
    expect_refusal(c, "(error) ERR 'grown' was made for an error rate of 0.01 and 30 items",
                   "BF.RESERVE", "other", "0.01", "20", "LIKE", "grown");
}

/* .1 lies between two numbers that a double can hold, and is shown as it was given. */
TRANSCRIPT(like_names_the_error_rate_as_it_can_be_given_to_it) {
    expect(c, "OK", "BF.RESERVE", "a", "0.1", "100");
    expect(c, "OK", "BF.RESERVE", "b", "0.30000000000000004", "100");
    expect_refusal(c, "(error) ERR 'a' was made for an error rate of 0.1 and 100 items",
                   "BF.RESERVE", "k", "0.2", "100", "LIKE", "a");
    expect_refusal(
        c,
        "(error) ERR 'b' was made for an error rate of 0.30000000000000004 and 100 items",
        "BF.RESERVE", "k", "0.3", "100", "LIKE", "b");
}

TRANSCRIPT(like_wants_a_filter_and_a_name_that_is_free) {
    expect(c, "OK", "SET", "string", "x");
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "100");
    expect_refusal(c, NOT_FOUND, "BF.RESERVE", "k", "0.01", "100", "LIKE", "none");
    expect_refusal(c, NOT_FOUND, "BF.RESERVE", "k", "0.01", "100", "LIKE", "k");
    expect_refusal(c, WRONGTYPE, "BF.RESERVE", "k", "0.01", "100", "LIKE", "string");
    expect_refusal(c, "(error) ERR item exists", "BF.RESERVE", "a", "0.01", "100", "LIKE",
                   "a");
    expect_refusal(c, "(error) ERR item exists", "BF.RESERVE", "string", "0.01", "100",
                   "LIKE", "a");
}

/* ---- COVERS ---- */

TRANSCRIPT(a_filter_covers_what_has_none_but_its_bits) {
    for (size_t i = 0; i < KINDS; i++) {
        make_alike(c, i);
        expect(c, "#t", "BF.COVERS", "a", "a");
        expect(c, "#t", "BF.MERGE", "b", "a");
        expect(c, "#t", "BF.COVERS", "b", "a");
        expect(c, "#t", "BF.COVERS", "a", "b");
        CHECK(add_numbers(c, "b", 100000, 100003) > 0);
        bool grew = strcmp(call_text(c, "BF.INFO", "b", "FILTERS"),
                           call_text(c, "BF.INFO", "a", "FILTERS")) != 0;
        expect(c, grew ? CANT_COMPARE("numbers of layers") : "#t", "BF.COVERS", "b", "a");
        if (!grew) expect(c, "#f", "BF.COVERS", "a", "b");
        clear(c);
    }
}

/* Each row differs from the first of its kind. */
TRANSCRIPT(filters_that_set_other_bits_are_not_compared) {
    static const struct {
        const char *key, *error, *capacity, *kind, *option, *value;
    } made[] = {
        {"lines", "0.01", "100", "lines", NULL, NULL},
        {"other secret", "0.01", "100", "lines", NULL, NULL},
        {"redisbloom", "0.01", "100", "redisbloom", NULL, NULL},
        {"larger", "0.01", "1000", "redisbloom", NULL, NULL},
        {"guava", "0.01", "100", "guava", NULL, NULL},
        {"guava, larger", "0.01", "1000", "guava", NULL, NULL},
        {"guava, mitz32", "0.01", "100", "guava", "VARIANT", "mitz32"},
        {"guava, int64", "0.01", "100", "guava", "ENCODE", "int64"},
        {"clickhouse", "0.01", "100", "clickhouse", NULL, NULL},
        {"clickhouse, 7", "0.01", "100", "clickhouse", "SEED", "7"},
        {"leveldb", "0.01", "100", "leveldb", NULL, NULL},
    };
    static const char *const pairs[][3] = {
        {"lines", "redisbloom", CANT_COMPARE("kinds")},
        {"lines", "other secret", CANT_COMPARE("secrets")},
        {"redisbloom", "larger", CANT_COMPARE("sizes")},
        {"guava", "leveldb", CANT_COMPARE("kinds")},
        {"guava", "guava, larger", CANT_COMPARE("sizes")},
        {"guava", "guava, mitz32", CANT_COMPARE("variants")},
        {"guava", "guava, int64", CANT_COMPARE("encodings")},
        {"clickhouse", "clickhouse, 7", CANT_COMPARE("seeds")},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        expect(c, "OK", "BF.RESERVE", made[i].key, made[i].error, made[i].capacity, "KIND",
               made[i].kind, made[i].option, made[i].value);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        test_case("%s and %s", pairs[i][0], pairs[i][1]);
        expect(c, pairs[i][2], "BF.COVERS", pairs[i][0], pairs[i][1]);
        expect(c, pairs[i][2], "BF.COVERS", pairs[i][1], pairs[i][0]);
        expect_refusal(c, pairs[i][2], "BF.MERGE", pairs[i][0], pairs[i][0], pairs[i][1]);
        expect_refusal(c, pairs[i][2], "BF.MERGE", "none", pairs[i][0], pairs[i][1]);
    }
}

/* Of RedisBloom's filters, two are comparable as soon as they are of one size. */
TRANSCRIPT(filters_without_a_secret_need_no_like) {
    static const char *const some[] = {"redisbloom", "leveldb", "clickhouse", "guava",
                                       "crc32"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        test_case("%s", some[i]);
        expect(c, "OK", "BF.RESERVE", "a", "0.01", "100", "KIND", some[i]);
        expect(c, "OK", "BF.RESERVE", "b", "0.01", "100", "KIND", some[i]);
        expect(c, "#t", "BF.ADD", "b", "anna");
        expect(c, "#t", "BF.MERGE", "a", "b");
        expect(c, "#t", "BF.EXISTS", "a", "anna");
        clear(c);
    }
}

TRANSCRIPT(covers_and_merge_want_filters_that_are_all_there) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "2000000");
    add_numbers(c, "a", 0, 1000);
    const struct dump *d = dump_filter(c, "a");
    load_pieces(c, "partial", d, 0, 2);
    expect(c, "OK", "SET", "string", "x");

    expect(c, PARTIAL, "BF.COVERS", "a", "partial");
    expect(c, PARTIAL, "BF.COVERS", "partial", "a");
    expect_refusal(c, PARTIAL, "BF.MERGE", "a", "partial");
    expect_refusal(c, PARTIAL, "BF.MERGE", "partial", "a");
    expect_refusal(c, PARTIAL, "BF.MERGE", "none", "a", "partial");
    expect(c, NOT_FOUND, "BF.COVERS", "a", "none");
    expect(c, NOT_FOUND, "BF.COVERS", "none", "a");
    expect_refusal(c, NOT_FOUND, "BF.MERGE", "a", "none");
    expect_refusal(c, NOT_FOUND, "BF.MERGE", "new", "a", "none");
    expect_refusal(c, NOT_FOUND, "BF.MERGE", "new", "new");
    expect(c, WRONGTYPE, "BF.COVERS", "a", "string");
    expect(c, WRONGTYPE, "BF.COVERS", "string", "a");
    expect_refusal(c, WRONGTYPE, "BF.MERGE", "string", "a");
    expect_refusal(c, WRONGTYPE, "BF.MERGE", "a", "string");
    expect(c, WRONG_ARITY("bf.covers"), "bf.covers", "a");
    expect(c, WRONG_ARITY("bf.covers"), "bf.covers", "a", "a", "a");
    expect(c, WRONG_ARITY("bf.merge"), "bf.merge", "a");

    load_pieces(c, "partial", d, 2, d->npieces);
    expect(c, "#t", "BF.COVERS", "partial", "a");
}

/* ---- MERGE ---- */

TRANSCRIPT(a_merge_brings_everything_and_counts_it_about_right) {
    for (size_t i = 0; i < KINDS; i++) {
        make_alike(c, i);
        long half = kinds[i].items / 2;
        for (long n = 0; n < half; n++) { /* as long as it doesn't grow */
            callf(c, "BF.ADD b %ld", half + n);
            if (kinds[i].grows && n == 10) break;
        }
        long came = kinds[i].grows ? 11 : half;
        expect(c, "#t", "BF.MERGE", "a", "b");
        expect(c, "#f", "BF.MERGE", "a", "b");
        check_members(c, "a", 0, half + came);
        CHECK_NEAR((double)call_int(c, "BF.CARD", "a"), (double)(half + came), 0.05 * half);
        clear(c);
    }
}

TRANSCRIPT(a_merge_makes_a_filter_like_its_first_source) {
    for (size_t i = 0; i < KINDS; i++) {
        make_alike(c, i);
        expect(c, "#t", "BF.MERGE", "k", "b", "a", "b");
        check_members(c, "k", 0, kinds[i].items / 2);
        CHECK_STR(call_text(c, "TYPE", "k"), call_text(c, "TYPE", "a"));
        CHECK_STR(call_text(c, "BF.INFO", "k"), call_text(c, "BF.INFO", "a"));
        expect(c, "#t", "BF.COVERS", "a", "k");
        expect(c, "#f", "BF.MERGE", "empty", "b");
        expect(c, "0", "BF.CARD", "empty");
        clear(c);
    }
}

TRANSCRIPT(a_merge_into_itself_changes_nothing) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "100", "LIKE", "k");
    const char *state = key_state(c, "k");
    long long before = changes(c);
    expect(c, "#f", "BF.MERGE", "k", "k");
    expect(c, "#f", "BF.MERGE", "k", "k", "b", "k");
    CHECK_STR(key_state(c, "k"), state);
    CHECK_INT(changes(c), before);
}

/* An add of everything: it takes nothing away. */
TRANSCRIPT(a_ready_filter_stays_ready_and_answers_for_both) {
    make_ready(c, "k");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "100", "LIKE", "k", "LOADING");
    expect(c, "#t", "BF.ADD", "b", "bob");
    expect(c, "#t", "BF.MERGE", "k", "b");
    expect(c, "[maybe, maybe, absent]", "BF.MCHECK", "k", "anna", "bob", "dora");
    expect(c, "2", "BF.CARD", "k");
    expect(c, "#t", "BF.MERGE", "new", "k");
    expect(c, "[maybe, unknown]", "BF.MCHECK", "new", "bob", "dora");
    expect(c, "#t", "BF.MERGE", "b", "k");
    expect(c, "[maybe, unknown]", "BF.MCHECK", "b", "anna", "dora");
}

TRANSCRIPT(a_merge_keeps_the_time_to_live) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "1", "EXPIRE", "k", "1000");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "100", "LIKE", "k");
    expect(c, "#t", "BF.ADD", "b", "bob");
    expect(c, "#t", "BF.MERGE", "k", "b");
    CHECK(call_int(c, "TTL", "k") > 900);
}

TRANSCRIPT(what_is_merged_into_a_full_filter_is_not_refused) {
    static const char *const some[] = {"lines", "redisbloom", "valkeybloom", "guava"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        test_case("%s", some[i]);
        expect(c, "OK", "BF.RESERVE", "k", "0.001", "200", "NONSCALING", "KIND", some[i]);
        expect(c, "OK", "BF.RESERVE", "b", "0.001", "200", "LIKE", "k");
        add_numbers(c, "k", 0, 200);
        add_numbers(c, "b", 200, 400);
        expect(c, "#t", "BF.MERGE", "k", "b");
        CHECK_INT(count_missing(c, "k", 0, 400), 0);
        CHECK(call_int(c, "BF.CARD", "k") > 350);
        const struct dump *d = dump_filter(c, "k");
        expect(c, "OK", "DEBUG", "RELOAD");
        CHECK_DUMP(dump_filter(c, "k"), d);
        load_filter(c, "copy", d);
        CHECK_DUMP(dump_filter(c, "copy"), d);
        clear(c);
    }
}

/* What is merged in would have to go into the next generation, too. */
TRANSCRIPT(nothing_is_merged_while_a_rebuild_is_under_way) {
    make_ready(c, "k");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "100", "LIKE", "k");
    expect(c, "#t", "BF.ADD", "b", "bob");
    start_rebuild(c, "k");
    expect_refusal(c, "(error) ERR rebuild under way", "BF.MERGE", "k", "b");
    expect(c, "#t", "BF.MERGE", "b", "k");
    expect(c, "#t", "BF.COVERS", "b", "k");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    expect(c, "#t", "BF.MERGE", "k", "b");
}

TRANSCRIPT(a_merge_that_makes_a_filter_needs_memory_for_it) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "1000");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "1000", "LIKE", "a");
    expect(c, "#t", "BF.ADD", "b", "anna");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    const char *anew = call_text(c, "BF.MERGE", "k", "b");
    const char *like = call_text(c, "BF.RESERVE", "l", "0.01", "1000", "LIKE", "a");
    const char *into = call_text(c, "BF.MERGE", "a", "b");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    CHECK(strncmp(anew, "(error) OOM ", 12) == 0);
    CHECK(strncmp(like, "(error) OOM ", 12) == 0);
    CHECK(strncmp(into, "(error)", 7) != 0);
    expect(c, "0", "EXISTS", "k", "l");
    expect(c, "#t", "BF.EXISTS", "a", "anna");
}

/* ---- effects ---- */

TEST(a_merge_is_an_event_if_it_changed_something) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    expect(c, "1", "BF.ADD", "a", "anna");
    expect(c, "1", "BF.MERGE", "k", "a");
    CHECK_STR(events(l, c), "bf.merge");
    expect(c, "0", "BF.MERGE", "k", "a");
    expect(c, "1", "BF.COVERS", "k", "a");
    CHECK_STR(events(l, c), "");
    expect(c, "1", "BF.ADD", "a", "bob");
    CHECK(!survives_watch(s, "BF.MERGE", "k", "a"));
    CHECK_STR(events(l, c), "bf.merge");
    CHECK(survives_watch(s, "BF.MERGE", "k", "a"));
    CHECK(survives_watch(s, "BF.MERGE", "a", "k"));
    expect(c, "1", "DEL", "k");
    events(l, c); /* Redis 6.0 tells of that, too. */
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "LIKE", "a", "READY");
    CHECK_STR(events(l, c), "bf.reserve bf.ready");
}

TEST(a_merge_over_capacity_is_told_as_an_add_is) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "200", "NONSCALING");
    expect(c, "OK", "BF.RESERVE", "b", "0.001", "200", "LIKE", "k");
    add_numbers(c, "k", 0, 200);
    add_numbers(c, "b", 200, 400);
    events(l, c);
    expect(c, "1", "BF.MERGE", "k", "b");
    CHECK_STR(events(l, c), "bf.full bf.merge");
    CHECK(info_int(c, "bf", "bf_overfull_adds") > 150);
    CHECK(strstr(server_log(s), "k is over capacity"));
}

/* It may have been there, and lost: what else was in it is not to be denied. */
TEST(a_merge_into_a_filter_that_may_have_been_lost_makes_it_loading) {
    struct server *s = server_start(.module_args = "bf-missing-key maybe");
    struct pair p = pair_linked(s, server_start(.config = AOF_BY_COMMAND));
    expect(p.m, "OK", "BF.RESERVE", "a", "0.01", "100");
    expect(p.m, "1", "BF.ADD", "a", "anna");
    expect(p.m, "1", "BF.MERGE", "k", "a");
    expect(p.m, "[1, 1]", "BF.MEXISTS", "k", "anna", "bob");
    CHECK_STR(unknown_by(p.m, "k"), "loading");
    check_pair(&p);
    CHECK_STR(unknown_by(p.r, "k"), "loading");
    expect(p.m, "OK", "BF.READY", "k");
    expect(p.m, "absent", "BF.CHECK", "k", "bob");
    check_pair(&p);
    redisContext *c = restart_with(p.replica, NULL);
    expect(c, "[1, 1]", "BF.MEXISTS", "k", "anna", "bob");
}

TEST(transactions_and_scripts_merge) {
    redisContext *c = client(server_shared());
    expect(c, "1", "BF.ADD", "a", "anna");
    expect(c, "OK", "MULTI");
    expect(c, "QUEUED", "BF.MERGE", "k", "a");
    expect(c, "QUEUED", "BF.ADD", "a", "bob");
    expect(c, "QUEUED", "BF.COVERS", "k", "a");
    expect(c, "QUEUED", "BF.MERGE", "k", "a");
    expect(c, "QUEUED", "BF.COVERS", "k", "a");
    expect(c, "[1, 1, 0, 1, 1]", "EXEC");
    expect(c, "[1, 0, 1]", "EVAL",
           "redis.call('BF.ADD', KEYS[2], 'carol')"
           "return {redis.call('BF.MERGE', KEYS[1], KEYS[2]),"
           " redis.call('BF.MERGE', KEYS[1], KEYS[2]),"
           " redis.call('BF.EXISTS', KEYS[1], 'carol')}",
           "2", "k", "a");
}

TEST(info_counts_what_was_merged) {
    redisContext *c = client(server_start());
    expect(c, "[1, 1]", "BF.MADD", "a", "anna", "bob");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "LIKE", "a");
    expect(c, "1", "BF.MERGE", "k", "a");
    expect(c, "1", "BF.MERGE", "new", "a");
    CHECK_INT(info_int(c, "bf", "bf_filters"), 3);
    CHECK_INT(info_int(c, "bf", "bf_items"), 6);
    CHECK_INT(info_int(c, "bf", "bf_layers"), 3);
}
