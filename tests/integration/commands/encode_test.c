/* SPDX-License-Identifier: BSD-3-Clause */

/* encode_test.c - filters whose items become other bytes before they are hashed, and items
 * that can't: an error in every command, and never a "no". */

#include "events.h"
#include "harness.h"
#include "states.h"

#define CANT(item, encoding) "(error) ERR item '" item "' can't be encoded as " encoding

/* A filter "k" of numbers, with the item 42. */
static void make_numbers(redisContext *c, const char *state) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "1000", "KIND", "guava", "ENCODE", "int64",
           state);
    expect(c, "#t", "BF.ADD", "k", "42");
}

/* ---- each command ---- */

TRANSCRIPT(an_item_that_cant_be_encoded_is_not_added) {
    make_numbers(c, NULL);
    expect_refusal(c, CANT("anna", "int64"), "BF.ADD", "k", "anna");
    expect_refusal(c, "[" CANT("anna", "int64") "]", "BF.MADD", "k", "anna");
    expect_refusal(c, "[" CANT("a", "int64") ", " CANT("b", "int64") "]", "BF.INSERT", "k",
                   "ITEMS", "a", "b");

    expect(c, "[#t, " CANT("anna", "int64") ", #f, #t]", "BF.MADD", "k", "1", "anna", "42",
           "2");
    expect(c, "[" CANT("", "int64") ", #t, " CANT("4 2", "int64") "]", "BF.INSERT", "k",
           "NOCREATE", "ITEMS", "", "3", "4 2");
    expect(c, "4", "BF.CARD", "k");
    expect(c, "[#t, #t, #t, #t]", "BF.MEXISTS", "k", "1", "2", "3", "42");
}

/* Each answer beside the error is what it is without the error. */
TRANSCRIPT(a_question_about_what_cant_be_encoded_is_an_error) {
    make_numbers(c, NULL);
    expect(c, CANT("anna", "int64"), "BF.EXISTS", "k", "anna");
    expect(c, "[#t, " CANT("anna", "int64") ", #f]", "BF.MEXISTS", "k", "42", "anna", "43");
    expect(c, CANT("anna", "int64"), "BF.CHECK", "k", "anna");
    expect(c, "[maybe, " CANT("anna", "int64") ", unknown]", "BF.MCHECK", "k", "42", "anna",
           "43");
    expect(c, CANT("anna", "int64"), "BF.GUARD", "k", "none", "anna");

    expect(c, "OK", "SET", "cache", "value");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "k", "cache", "anna");
    expect(c, "OK", "BF.READY", "k");
    expect(c, CANT("anna", "int64"), "BF.GUARD", "k", "none", "anna");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "k", "cache", "anna");
    expect(c, "[absent, nil]", "BF.GUARD", "k", "none", "43");
}

/* As text that fits into a line of the protocol. */
TRANSCRIPT(the_error_shows_the_item_short_and_printable) {
    make_numbers(c, NULL);
    const redisReply *r = callf(c, "BF.EXISTS k %b", "a\r\nb\0c", (size_t)6);
    CHECK_INT(r->type, REDIS_REPLY_ERROR);
    CHECK(strstr(r->str, "can't be encoded as int64") != NULL);
    CHECK(strpbrk(r->str, "\r\n") == NULL);
    char item[5000];
    memset(item, 'x', sizeof item);
    r = callf(c, "BF.EXISTS k %b", item, sizeof item);
    CHECK(r->type == REDIS_REPLY_ERROR && r->len < 300);
}

/* ---- states ---- */

static void must_be_errors(redisContext *c) {
    expect(c, CANT("anna", "int64"), "BF.EXISTS", "k", "anna");
    expect(c, CANT("anna", "int64"), "BF.CHECK", "k", "anna");
    expect(c, CANT("anna", "int64"), "BF.GUARD", "k", "none", "anna");
    expect(c, "[" CANT("anna", "int64") ", #t]", "BF.MEXISTS", "k", "anna", "42");
    expect(c, "[" CANT("anna", "int64") ", maybe]", "BF.MCHECK", "k", "anna", "42");
    expect_refusal(c, CANT("anna", "int64"), "BF.ADD", "k", "anna");
}

TRANSCRIPT(what_cant_be_encoded_is_an_error_in_every_state) {
    make_numbers(c, "LOADING");
    test_case("loading");
    must_be_errors(c);
    expect(c, "[#t, #t]", "BF.MEXISTS", "k", "43", "44");

    expect(c, "OK", "BF.READY", "k");
    test_case("ready");
    must_be_errors(c);

    expect(c, "OK", "DEBUG", "RELOAD");
    expect(c, "OK", "BF.LOADING", "k");
    test_case("after an alarm");
    must_be_errors(c);
}

TEST(what_cant_be_encoded_is_an_error_in_doubt) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_numbers(c, "READY");
    save(c);
    c = restart_with(s, NULL);
    CHECK_STR(unknown_by(c, "k"), "restart");
    must_be_errors(c);
    expect(c, "[1, 1]", "BF.MEXISTS", "k", "43", "44");
}

TEST(what_cant_be_encoded_is_an_error_under_a_bypass) {
    redisContext *c = client(server_start(.module_args = "bf-bypass yes"));
    make_numbers(c, "READY");
    must_be_errors(c);
    expect(c, "[unknown, unknown]", "BF.MCHECK", "k", "43", "44");
}

/* Nobody knows what its encoding was. */
TEST(without_a_filter_every_item_is_an_item) {
    redisContext *c = client(server_start(.module_args = "bf-missing-key maybe"));
    expect(c, "[1, 1]", "BF.MEXISTS", "none", "42", "anna");
    expect(c, "[unknown, unknown]", "BF.MCHECK", "none", "42", "anna");
}

TRANSCRIPT(errors_are_not_counted_as_answers) {
    make_numbers(c, NULL);
    long long no = counted(c, "exists_no"), maybe = counted(c, "exists_maybe");
    long long unknown = counted(c, "unknown_plain"), checked = counted(c, "maybe_answers");
    must_be_errors(c);
    CHECK_INT(counted(c, "exists_no"), no);
    CHECK_INT(counted(c, "exists_maybe"), maybe + 1);
    CHECK_INT(counted(c, "unknown_plain"), unknown);
    CHECK_INT(counted(c, "maybe_answers"), checked + 1);

    const redisReply *answers = reply_field(call(c, "BF.INFO", "k", "FULL"), "Answers");
    CHECK_INT(reply_field(answers, "exists_no")->integer, 0);
    CHECK_INT(reply_field(answers, "exists_maybe")->integer, 1);
    CHECK_INT(reply_field(answers, "maybe")->integer, 1);
}

TEST(a_cached_value_contradicts_no_filter_that_cant_take_its_item) {
    redisContext *c = client(server_start());
    make_numbers(c, "READY");
    expect(c, "OK", "SET", "cache", "value");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "k", "cache", "anna");
    CHECK_INT(counted(c, "contradictions"), 0);
}

/* ---- rebuilds ---- */

static const char *start_numbers(redisContext *c) {
    const redisReply *r =
        call(c, "BF.REBUILD", "k", "START", "KIND", "guava", "ENCODE", "int64");
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    return r->str;
}

/* What goes into one of the generations only would be lost, or denied. */
TRANSCRIPT(during_a_rebuild_into_an_encoding_an_add_has_to_fit_it) {
    expect(c, "[#t, #t]", "BF.MADD", "k", "anna", "1");
    const char *token = start_numbers(c);
    expect_refusal(c, CANT("bob", "int64"), "BF.ADD", "k", "bob");
    expect_refusal(c, CANT("bob", "int64"), "BF.REBUILD", "k", "LOAD", token, "1", "bob",
                   "2");
    expect(c, "[" CANT("bob", "int64") ", #t]", "BF.MADD", "k", "bob", "42");
    expect(c, "[#t, #t, #f]", "BF.MEXISTS", "k", "anna", "42", "bob");
    expect(c, "[#t, " CANT("anna", "int64") ", #f]", "BF.REBUILD", "k", "CHECK", token,
           "42", "anna", "1");

    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "1");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "[maybe, maybe, absent, " CANT("anna", "int64") "]", "BF.MCHECK", "k", "1",
           "42", "43", "anna");
}

TRANSCRIPT(during_a_rebuild_out_of_an_encoding_an_add_still_has_to_fit_it) {
    make_numbers(c, NULL);
    const redisReply *r = call(c, "BF.REBUILD", "k", "START", "KIND", "lines");
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    const char *token = r->str;
    expect_refusal(c, CANT("bob", "int64"), "BF.ADD", "k", "bob");
    expect(c, "[#t, " CANT("bob", "int64") "]", "BF.MADD", "k", "1", "bob");
    expect(c, "2", "BF.REBUILD", "k", "LOAD", token, "anna", "42");
    expect(c, "[#t, #t, #t, #f]", "BF.REBUILD", "k", "CHECK", token, "anna", "42", "1",
           "bob");
    expect(c, CANT("anna", "int64"), "BF.EXISTS", "k", "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "2");
    expect(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK", "k", "anna", "42", "1", "bob");
}

TRANSCRIPT(a_rebuild_keeps_the_encoding_of_a_filter_whose_kind_it_keeps) {
    make_numbers(c, NULL);
    const char *token = start_rebuild(c, "k");
    expect_refusal(c, CANT("anna", "int64"), "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    const redisReply *r = call(c, "BF.REBUILD", "k", "START", "CAPACITY", "5000");
    expect_refusal(c, CANT("anna", "int64"), "BF.REBUILD", "k", "LOAD", r->str, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    r = call(c, "BF.REBUILD", "k", "START", "KIND", "leveldb");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", r->str, "anna");
}

/* Both errors in one reply: the refusal ends it, as without an encoding. */
TRANSCRIPT(a_full_filter_refuses_what_can_be_encoded_for_its_next_generation) {
    expect(c, "OK", "BF.RESERVE", "k", "0.0001", "1", "NONSCALING");
    expect(c, "#t", "BF.ADD", "k", "1");
    start_numbers(c);
    const char *both = "[" CANT("x", "int64") ", #f, " CANT("y", "int64") ", " FULL "]";
    expect(c, both, "BF.MADD", "k", "x", "1", "y", "2", "z", "3");
    expect(c, both, "BF.INSERT", "k", "ITEMS", "x", "1", "y", "2", "z", "3");
    expect_refusal(c, "[" CANT("x", "int64") "]", "BF.MADD", "k", "x");
    expect_refusal(c, "[" FULL "]", "BF.MADD", "k", "2", "x");
    expect_refusal(c, FULL, "BF.ADD", "k", "2");
}

/* ---- many ---- */

enum { MANY = 1500, EVERY = 7, LONG_ITEM = 40 };

static char items[MANY][LONG_ITEM];

/* Of every seven items one is no UTF-8. */
static bool is_bad(int i) {
    return i % EVERY == 3;
}

static const redisReply *send_many(redisContext *c, const char *command, int n) {
    const char *argv[MANY + 2] = {command, "k"};
    for (int i = 0; i < n; i++) {
        snprintf(items[i], LONG_ITEM, "%s an item as long as this, %d",
                 is_bad(i) ? "\xff" : "\xc3\xa9", i);
        argv[i + 2] = items[i];
    }
    return callv(c, n + 2, argv, NULL);
}

static void must_answer_many(redisContext *c, const char *command, int n,
                             const char *wanted) {
    const redisReply *r = send_many(c, command, n);
    CHECK_INT(r->elements, n);
    for (int i = 0; i < n; i++) {
        test_case("%s, item %d of %d", command, i, n);
        const redisReply *e = r->element[i];
        if (is_bad(i))
            CHECK_INT(e->type, REDIS_REPLY_ERROR);
        else if (e->type == REDIS_REPLY_STATUS)
            CHECK_STR(e->str, wanted);
        else
            CHECK_INT(e->integer, *wanted - '0');
    }
}

TRANSCRIPT(each_of_many_items_gets_its_own_answer) {
    static const int sizes[] = {1, 63, 64, 65, 511, 512, 513, 1500};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        expect(c, "OK", "BF.RESERVE", "k", "0.0000001", "2000", "KIND", "leveldb", "ENCODE",
               "utf16", "READY");
        must_answer_many(c, "BF.MEXISTS", sizes[i], "0");
        must_answer_many(c, "BF.MCHECK", sizes[i], "absent");
        must_answer_many(c, "BF.MADD", sizes[i], "1");
        must_answer_many(c, "BF.MEXISTS", sizes[i], "1");
        must_answer_many(c, "BF.MCHECK", sizes[i], "maybe");
        must_answer_many(c, "BF.MADD", sizes[i], "0");
        expect(c, "1", "DEL", "k");
    }
}

/* ---- what can be encoded ---- */

struct text {
    const char *bytes;
    size_t length;
};

#define TEXT(literal)                                                                      \
    { literal, sizeof(literal) - 1 }

static void must_be(redisContext *c, const char *wanted, const struct text *texts,
                    size_t n) {
    for (size_t i = 0; i < n; i++) {
        const redisReply *r = callf(c, "BF.MADD k %b", texts[i].bytes, texts[i].length);
        test_case("text %zu", i);
        CHECK_INT(r->elements, 1);
        CHECK_STR(r->element[0]->type == REDIS_REPLY_ERROR ? "error" : "added", wanted);
        r = callf(c, "BF.EXISTS k %b", texts[i].bytes, texts[i].length);
        CHECK_STR(r->type == REDIS_REPLY_ERROR ? "error" : "added", wanted);
    }
}

#define MUST_BE(c, wanted, texts)                                                          \
    must_be((c), (wanted), (texts), sizeof(texts) / sizeof *(texts))

TRANSCRIPT(numbers_have_one_way_to_be_written) {
    static const struct text right[] = {TEXT("0"), TEXT("-1"), TEXT("2147483647"),
                                        TEXT("-2147483648")};
    static const struct text long_ones[] = {TEXT("2147483648"), TEXT("-2147483649"),
                                            TEXT("9223372036854775807"),
                                            TEXT("-9223372036854775808")};
    static const struct text wrong[] = {
        TEXT(""),
        TEXT("-"),
        TEXT("-0"),
        TEXT("+1"),
        TEXT("01"),
        TEXT("-01"),
        TEXT(" 1"),
        TEXT("1 "),
        TEXT("1\n"),
        TEXT("1.0"),
        TEXT("1e3"),
        TEXT("0x10"),
        TEXT("1\0"),
        TEXT("--1"),
        TEXT("\xd9\xa1"),
        TEXT("9223372036854775808"),
        TEXT("-9223372036854775809"),
        TEXT("18446744073709551616"),
        TEXT("99999999999999999999999999"),
    };
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "guava", "ENCODE", "int64");
    MUST_BE(c, "added", right);
    MUST_BE(c, "added", long_ones);
    MUST_BE(c, "error", wrong);
    expect(c, "1", "DEL", "k");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "guava", "ENCODE", "int32");
    MUST_BE(c, "added", right);
    MUST_BE(c, "error", long_ones);
    MUST_BE(c, "error", wrong);
}

TRANSCRIPT(texts_have_to_be_utf8) {
    static const struct text right[] = {
        TEXT(""),
        TEXT("a\0b"),
        TEXT("\x7f"),
        TEXT("\xc2\x80"),
        TEXT("\xdf\xbf"),
        TEXT("\xe0\xa0\x80"),
        TEXT("\xed\x9f\xbf"),
        TEXT("\xee\x80\x80"),
        TEXT("\xef\xbf\xbf"),
        TEXT("\xf0\x90\x80\x80"),
        TEXT("\xf4\x8f\xbf\xbf"),
    };
    static const struct text wrong[] = {
        TEXT("\x80"),
        TEXT("\xbf"),
        TEXT("\xc0\x80"),
        TEXT("\xc1\xbf"),
        TEXT("\xc2"),
        TEXT("a\xc2"),
        TEXT("\xc2\x41"),
        TEXT("\xe0\x9f\xbf"),
        TEXT("\xe0\xa0"),
        TEXT("\xed\xa0\x80"),
        TEXT("\xed\xbf\xbf"),
        TEXT("\xf0\x8f\xbf\xbf"),
        TEXT("\xf4\x90\x80\x80"),
        TEXT("\xf5\x80\x80\x80"),
        TEXT("\xf8\x88\x80\x80\x80"),
        TEXT("\xfe"),
        TEXT("\xff"),
        TEXT("\xf0\x9f\x98"),
    };
    expect(c, "OK", "BF.RESERVE", "k", "0.0001", "100", "KIND", "guava", "ENCODE", "utf16");
    MUST_BE(c, "added", right);
    MUST_BE(c, "error", wrong);
}

/* ---- effects ---- */

TEST(only_what_can_be_encoded_is_told_to_replicas_and_listeners) {
    struct pair p = pair_linked(server_start(), server_start());
    redisContext *l = listener(p.master);
    make_numbers(p.m, NULL);
    events(l, p.m);
    expect_like(p.m, "[(error) *, (error) *]", "BF.MADD", "k", "x", "y");
    CHECK_STR(events(l, p.m), "");
    expect_like(p.m, "[(error) *, 1, (error) *, 0]", "BF.MADD", "k", "x", "7", "y", "42");
    CHECK_STR(events(l, p.m), "bf.add");
    start_rebuild(p.m, "k");
    expect_like(p.m, "[1, (error) *]", "BF.INSERT", "k", "ITEMS", "8", "y");
    check_pair(&p);
    CHECK_STR(key_state(p.r, "k"), key_state(p.m, "k"));
    expect(p.r, "[1, 1, 1]", "BF.MEXISTS", "k", "42", "7", "8");
    CHECK(strstr(server_log(p.replica), "encoded") == NULL);
}
