/* SPDX-License-Identifier: BSD-3-Clause */

/* check_test.c - what EXISTS and CHECK say of a filter in each state, and what the
 * settings bf-missing-key and bf-bypass change about it. */

#include "harness.h"
#include "kind.h"
#include "states.h"

/* What is said of an item that isn't there. What is there is "maybe", whatever else. */
static void expect_said(redisContext *c, const char *key, const char *exists,
                        const char *word) {
    char both[64];
    expect(c, exists, "BF.EXISTS", key, "bob");
    expect(c, word, "BF.CHECK", key, "bob");
    snprintf(both, sizeof both, "[%s, %s]", exists, exists);
    expect(c, both, "BF.MEXISTS", key, "bob", "carol");
    snprintf(both, sizeof both, "[%s, %s]", word, word);
    expect(c, both, "BF.MCHECK", key, "bob", "carol");
}

static void expect_has_anna(redisContext *c, const char *key) {
    expect(c, "#t", "BF.EXISTS", key, "anna");
    expect(c, "maybe", "BF.CHECK", key, "anna");
}

/* ---- the table ---- */

TRANSCRIPT(a_missing_filter_is_unknown_to_check) {
    expect_said(c, "none", "#f", "unknown");
    expect(c, "0", "EXISTS", "none");
}

TRANSCRIPT(a_partial_filter_denies_nothing) {
    expect(c, "#t", "BF.ADD", "original", "anna");
    const struct dump *d = dump_filter(c, "original");
    load_pieces(c, "k", d, 0, 1);
    expect_said(c, "k", "#t", "unknown");

    load_pieces(c, "k", d, 1, d->npieces);
    expect_said(c, "k", "#f", "unknown");
    expect_has_anna(c, "k");
}

TRANSCRIPT(a_plain_filter_denies_to_exists_only) {
    expect(c, "OK", "BF.RESERVE", "reserved", "0.01", "100");
    expect_said(c, "reserved", "#f", "unknown");
    expect(c, "#t", "BF.ADD", "made by an add", "anna");
    expect_said(c, "made by an add", "#f", "unknown");
    expect_has_anna(c, "made by an add");
}

TRANSCRIPT(a_copy_of_a_ready_filter_is_plain) {
    needs(602, "COPY");
    make_ready(c, "k");
    expect(c, "1", "COPY", "k", "copied");
    expect_said(c, "copied", "#f", "unknown");
    expect_has_anna(c, "copied");
    expect_said(c, "k", "#f", "absent");
}

TRANSCRIPT(a_filter_loaded_from_a_ready_one_is_plain) {
    make_ready(c, "k");
    load_filter(c, "loaded", dump_filter(c, "k"));
    expect_said(c, "loaded", "#f", "unknown");
    expect_has_anna(c, "loaded");
}

TRANSCRIPT(filters_of_every_kind_are_plain) {
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i]->name;
        expect(c, "OK", "BF.RESERVE", kind, "0.01", "100", "KIND", kind);
        expect(c, "#t", "BF.ADD", kind, "anna");
        expect_said(c, kind, "#f", "unknown");
        expect(c, "OK", "BF.READY", kind);
        expect_said(c, kind, "#f", "absent");
        expect_has_anna(c, kind);
    }
}

TRANSCRIPT(a_loading_filter_denies_nothing) {
    expect(c, "OK", "BF.RESERVE", "reserved", "0.01", "100", "LOADING");
    expect_said(c, "reserved", "#t", "unknown");
    expect(c, "#t", "BF.ADD", "declared", "anna");
    expect(c, "OK", "BF.LOADING", "declared");
    expect_said(c, "declared", "#t", "unknown");
    expect_has_anna(c, "declared");
    start_rebuild(c, "first fill");
    expect_said(c, "first fill", "#t", "unknown");
}

TRANSCRIPT(a_ready_filter_denies) {
    make_ready(c, "k");
    expect_said(c, "k", "#f", "absent");
    expect_has_anna(c, "k");
    expect(c, "OK", "BF.RESERVE", "born ready", "0.01", "100", "READY");
    expect_said(c, "born ready", "#f", "absent");
}

TRANSCRIPT(a_ready_filter_in_doubt_denies_nothing) {
    make_ready(c, "k");
    const redisReply *dump = call(c, "DUMP", "k");
    expectf(c, "OK", "RESTORE restored 0 %b", dump->str, dump->len);
    expect_said(c, "restored", "#t", "unknown");
    expect_has_anna(c, "restored");

    expect(c, "OK", "BF.READY", "k", "PXAT", "1");
    expect_said(c, "k", "#t", "unknown");
    expect_has_anna(c, "k");
}

TRANSCRIPT(only_vouching_makes_a_filter_ready) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.LOADING", "k");
    expect(c, "#t", "BF.ADD", "k", "dora");
    expect(c, "[#t]", "BF.INSERT", "k", "ITEMS", "emil");
    expect(c, "OK", "RENAME", "k", "renamed");
    expect(c, "OK", "DEBUG", "RELOAD");
    expect_said(c, "renamed", "#t", "unknown");
}

/* ---- syntax ---- */

TRANSCRIPT(check_and_mcheck_want_their_arguments) {
    expect(c, WRONG_ARITY("bf.check"), "bf.check", "k");
    expect(c, WRONG_ARITY("bf.check"), "bf.check", "k", "anna", "bob");
    expect(c, WRONG_ARITY("bf.mcheck"), "bf.mcheck", "k");
}

TRANSCRIPT(check_and_mcheck_want_a_filter) {
    expect(c, "OK", "SET", "string", "x");
    expect_refusal(c, WRONGTYPE, "BF.CHECK", "string", "anna");
    expect_refusal(c, WRONGTYPE, "BF.MCHECK", "string", "anna", "bob");
}

TRANSCRIPT(mcheck_answers_in_the_order_of_its_items) {
    make_ready(c, "k");
    expect(c, "[maybe, absent, maybe, absent]", "BF.MCHECK", "k", "anna", "bob", "anna",
           "carol");
    expect(c, "OK", "BF.LOADING", "k");
    expect(c, "[maybe, unknown]", "BF.MCHECK", "k", "anna", "bob");
}

TRANSCRIPT(mcheck_takes_a_thousand_items) {
    enum { MANY = 1000 };
    expect(c, "OK", "BF.RESERVE", "k", "0.000000001", "1000");
    add_numbers(c, "k", 0, MANY / 2);
    expect(c, "OK", "BF.READY", "k");
    char numbers[MANY][12];
    const char *argv[MANY + 2] = {"BF.MCHECK", "k"};
    for (int i = 0; i < MANY; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        argv[i + 2] = numbers[i];
    }
    const redisReply *r = callv(c, MANY + 2, argv, NULL);
    CHECK_INT(r->elements, MANY);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(r->element[i]->type, REDIS_REPLY_STATUS);
        CHECK_STR(r->element[i]->str, i < MANY / 2 ? "maybe" : "absent");
    }
}

/* ---- bf-missing-key: also a module argument, for servers without CONFIG ---- */

TEST(a_missing_key_may_deny_nothing) {
    redisContext *c = client(server_start(.module_args = "bf-missing-key maybe"));
    expect_said(c, "none", "#t", "unknown");
    expect(c, "0", "EXISTS", "none");
    make_ready(c, "k");
    expect_said(c, "k", "#f", "absent");
}

TEST(a_missing_key_may_be_an_error_to_exists) {
    redisContext *c = client(server_start(.module_args = "bf-missing-key error"));
    expect(c, NOT_FOUND, "BF.EXISTS", "none", "anna");
    expect(c, NOT_FOUND, "BF.MEXISTS", "none", "anna", "bob");
    expect(c, "unknown", "BF.CHECK", "none", "anna");
    expect(c, "[unknown, unknown]", "BF.MCHECK", "none", "anna", "bob");
    expect(c, "0", "BF.CARD", "none");
}

TEST(a_filter_made_by_an_add_is_loading_where_a_missing_one_denies_nothing) {
    static const char *const args[] = {"bf-missing-key maybe", "bf-missing-key error"};
    for (int i = 0; i < 2; i++) {
        test_case("%s", args[i]);
        struct server *master = server_start(.module_args = args[i]);
        struct server *replica = server_start();
        redisContext *c = client(master), *r = client(replica);
        follow(r, master);
        expect(c, "1", "BF.ADD", "add", "anna");
        expect(c, "[1]", "BF.MADD", "madd", "anna");
        expect(c, "[1]", "BF.INSERT", "insert", "CAPACITY", "50", "ITEMS", "anna");
        expect(c, "OK", "BF.RESERVE", "reserved", "0.01", "100");
        wait_for_replica(c, r);

        static const char *const made[] = {"add", "madd", "insert"};
        for (int k = 0; k < 3; k++) {
            expect_said(c, made[k], "#t", "unknown");
            expect_said(r, made[k], "#t", "unknown");
        }
        expect_said(c, "reserved", "#f", "unknown");
        check_digests(c, r);
    }
}

/* ---- bf-bypass ---- */

TEST(under_the_bypass_nothing_is_denied) {
    redisContext *c = client(server_start(.module_args = "bf-bypass yes"));
    make_ready(c, "ready");
    expect(c, "1", "BF.ADD", "plain", "anna");
    expect_said(c, "ready", "#t", "unknown");
    expect_said(c, "plain", "#t", "unknown");
    expect_said(c, "none", "#t", "unknown");
    expect_has_anna(c, "ready");
    expect(c, "[unknown, nil]", "BF.GUARD", "ready", "cache", "bob");
    expect(c, "OK", "BF.READY", "ready", "XX");
}

TEST(under_the_bypass_a_missing_key_may_stay_an_error) {
    redisContext *c =
        client(server_start(.module_args = "bf-bypass yes bf-missing-key error"));
    expect(c, NOT_FOUND, "BF.EXISTS", "none", "anna");
    expect(c, NOT_FOUND, "BF.MEXISTS", "none", "anna", "bob");
    expect(c, "unknown", "BF.CHECK", "none", "anna");
}

TEST(the_bypass_is_switched_while_the_server_runs) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_shared());
    make_ready(c, "k");
    expect_said(c, "k", "#f", "absent");
    expect(c, "OK", "CONFIG", "SET", setting("bf-bypass"), "yes");
    expect_said(c, "k", "#t", "unknown");
    expect(c, "OK", "CONFIG", "SET", setting("bf-bypass"), "no");
    expect_said(c, "k", "#f", "absent");
}

/* ---- what is counted ---- */

TEST(answers_are_counted_by_item_and_cause) {
    redisContext *c = client(server_start());
    make_ready(c, "ready");
    expect(c, "1", "BF.ADD", "plain", "anna");
    expect(c, "1", "BF.ADD", "loading", "anna");
    expect(c, "OK", "BF.LOADING", "loading");

    call(c, "BF.MCHECK", "ready", "anna", "bob", "carol");
    call(c, "BF.CHECK", "plain", "bob");
    call(c, "BF.MCHECK", "loading", "bob", "carol");
    call(c, "BF.CHECK", "none", "bob");
    call(c, "BF.MEXISTS", "plain", "anna", "bob", "carol");
    call(c, "BF.GUARD", "ready", "cache", "bob");

    CHECK_INT(counted(c, "absent_answers"), 3);
    CHECK_INT(counted(c, "maybe_answers"), 1);
    CHECK_INT(counted(c, "unknown_plain"), 1);
    CHECK_INT(counted(c, "unknown_loading"), 2);
    CHECK_INT(counted(c, "unknown_missing"), 1);
    CHECK_INT(counted(c, "exists_no"), 2);
    CHECK_INT(counted(c, "exists_maybe"), 1);
    CHECK_INT(counted(c, "questions"), 11);
}
