/* SPDX-License-Identifier: BSD-3-Clause */

/* rebuild_test.c - BF.REBUILD step by step: what each replies, and what it refuses. What
 * becomes of a rebuild elsewhere is in rebuild_survival_test.c. */

#include "harness.h"
#include "kind.h"
#include "states.h"

#include <unistd.h>

#define NO_TOKEN "0123456789abcdef"

/* ---- the whole way ---- */

TRANSCRIPT(a_rebuild_forgets_what_was_deleted) {
    expect(c, "[#t, #t]", "BF.MADD", "k", "deleted", "kept");
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "kept");
    expect(c, "[#t, #f]", "BF.REBUILD", "k", "CHECK", token, "kept", "deleted");
    expect(c, "[#t, #t]", "BF.MEXISTS", "k", "kept", "deleted");

    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "kept", "deleted");
    expect(c, "[#t, #f]", "BF.MEXISTS", "k", "kept", "deleted");
    expect(c, "1", "BF.CARD", "k");
}

TRANSCRIPT(a_first_fill_is_a_rebuild_of_nothing) {
    const redisReply *started =
        call(c, "BF.REBUILD", "k", "START", "ERROR", "0.000001", "CAPACITY", "2000");
    const char *token = started->str;
    expect(c, "unknown", "BF.CHECK", "k", "anna");
    expect(c, "#t", "BF.EXISTS", "k", "anna");
    expect(c, "0", "BF.CARD", "k");
    expect(c, "#t", "BF.ADD", "k", "during");
    CHECK_INT(load_numbers(c, "k", token, 0, 1000), 1000);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1000");
    expect(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK", "k", "0", "999", "during",
           "anna");
    CHECK_INT(count_missing(c, "k", 0, 1000), 0);
}

TRANSCRIPT(an_abort_of_a_first_fill_leaves_what_was_added) {
    const char *token = start_rebuild(c, "k");
    expect(c, "#t", "BF.ADD", "k", "during");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "loaded");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
    expect(c, "[maybe, unknown, unknown]", "BF.MCHECK", "k", "during", "loaded", "anna");
    expect(c, "1", "BF.CARD", "k");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "ABORT");
    start_rebuild(c, "k");
}

TRANSCRIPT(adds_go_to_both_generations) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect(c, "#t", "BF.ADD", "k", "by add");
    expect(c, "[#t, #t]", "BF.MADD", "k", "by madd", "too");
    expect(c, "[#t]", "BF.INSERT", "k", "NOCREATE", "ITEMS", "by insert");
    expect(c, "[#t, #t, #t, #t]", "BF.REBUILD", "k", "CHECK", token, "by add", "by madd",
           "too", "by insert");
    expect(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK", "k", "by add", "too",
           "by insert", "bob");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "[maybe, maybe, maybe, maybe, maybe, absent]", "BF.MCHECK", "k", "anna",
           "by add", "by madd", "too", "by insert", "bob");
}

/* The second add of add-commit-add: the live generation has the item already. */
TRANSCRIPT(an_add_that_is_new_to_the_next_generation_only_is_an_effect) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    long long before = changes(c);
    expect(c, "#f", "BF.ADD", "k", "anna");
    CHECK(changes(c) > before);
    expect(c, "[#t]", "BF.REBUILD", "k", "CHECK", token, "anna");
    before = changes(c);
    expect(c, "#f", "BF.ADD", "k", "anna");
    CHECK_INT(changes(c), before);
}

TRANSCRIPT(questions_and_figures_are_the_live_generations) {
    make_ready(c, "k");
    const char *info = call_text(c, "BF.INFO", "k");
    const struct dump *d = dump_filter(c, "k");
    long long memory = call_int(c, "MEMORY", "USAGE", "k");
    expect_like(c, "\"*\"", "BF.REBUILD", "k", "START", "CAPACITY", "100000");
    CHECK_STR(call_text(c, "BF.INFO", "k"), info);
    CHECK_DUMP(dump_filter(c, "k"), d);
    expect(c, "1", "BF.CARD", "k");
    CHECK(call_int(c, "MEMORY", "USAGE", "k") > memory + 100000);
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
}

TRANSCRIPT(received_counts_repeats) {
    const char *token = start_rebuild(c, "k");
    expect(c, "3", "BF.REBUILD", "k", "LOAD", token, "anna", "anna", "bob");
    expect(c, "4", "BF.REBUILD", "k", "load", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "4");
    expect(c, "2", "BF.CARD", "k");
}

TRANSCRIPT(a_rebuild_may_change_kind) {
    for (size_t i = 0; i < KINDS * KINDS; i++) {
        const char *from = kinds[i / KINDS]->name, *to = kinds[i % KINDS]->name;
        bool grows = !kinds[i / KINDS]->exceeds && !kinds[i % KINDS]->exceeds;
        const char *room = grows ? "500" : "2500";
        test_case("from %s to %s", from, to);
        call(c, "DEL", "k");
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "500", "KIND", from);
        add_numbers(c, "k", 0, 1000);
        const char *token =
            call(c, "BF.REBUILD", "k", "START", "KIND", to, "CAPACITY", room)->str;
        add_numbers(c, "k", 1000, 2500);
        CHECK_INT(load_numbers(c, "k", token, 0, 1000), 1000);
        expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1000");
        CHECK_INT(count_missing(c, "k", 0, 2500), 0);
        CHECK(count_missing(c, "k", 100000, 101000) > 950);
    }
}

TRANSCRIPT(commit_may_give_a_lease) {
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1", "EX", "1");
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
}

TRANSCRIPT(commit_drops_the_lease_that_was) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.READY", "k", "PXAT", "1");
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "unknown", "BF.CHECK", "k", "bob");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "absent", "BF.CHECK", "k", "bob");
}

/* ---- refusals ---- */

TRANSCRIPT(rebuild_wants_its_arguments) {
    static const char *const with_token[][2] = {
        {"LOAD", "LOAD token [AT n] item [item ...]"},
        {"CHECK", "CHECK token item [item ...]"},
        {"COMMIT", "COMMIT token count [EX seconds | PXAT ms]"},
    };
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect(c, WRONG_ARITY("bf.rebuild"), "bf.rebuild", "k");
    for (int i = 0; i < 3; i++) {
        char words[128];
        snprintf(words, sizeof words,
                 "(error) ERR wrong number of arguments: BF.REBUILD key %s",
                 with_token[i][1]);
        expect(c, words, "bf.rebuild", "k", with_token[i][0]);
        expect(c, words, "bf.rebuild", "k", with_token[i][0], token);
    }
    expect(c, "(error) ERR wrong number of arguments: BF.REBUILD key ABORT [token]",
           "bf.rebuild", "k", "ABORT", token, "x");
    expect(c,
           "(error) ERR unknown step 'STOP': START, LOAD, IMPORT, CHECK, COMMIT or ABORT",
           "BF.REBUILD", "k", "STOP");
    expect(c, "(error) ERR unknown step '': START, LOAD, IMPORT, CHECK, COMMIT or ABORT",
           "BF.REBUILD", "k", "");
}

TRANSCRIPT(a_zero_byte_ends_no_step) {
    make_ready(c, "k");
    expectf(c,
            "(error) ERR unknown step 'START?junk': START, LOAD, IMPORT, CHECK, COMMIT or "
            "ABORT",
            "BF.REBUILD k %b", "START\0junk", (size_t)10);
    expectf(c, "(error) ERR unknown option 'ERROR?x'", "BF.REBUILD k START %b 0.1",
            "ERROR\0x", (size_t)7);
    expect_like(c, "\"*\"", "BF.REBUILD", "k", "START");
}

TRANSCRIPT(rebuild_wants_a_filter) {
    expect(c, "OK", "SET", "k", "x");
    expect_refusal(c, WRONGTYPE, "BF.REBUILD", "k", "START");
    expect_refusal(c, WRONGTYPE, "BF.REBUILD", "k", "LOAD", NO_TOKEN, "x");
    expect_refusal(c, WRONGTYPE, "BF.REBUILD", "k", "CHECK", NO_TOKEN, "x");
    expect_refusal(c, WRONGTYPE, "BF.REBUILD", "k", "COMMIT", NO_TOKEN, "1");
    expect_refusal(c, WRONGTYPE, "BF.REBUILD", "k", "ABORT");
}

TRANSCRIPT(only_start_creates) {
    expect_refusal(c, NOT_FOUND, "BF.REBUILD", "k", "LOAD", NO_TOKEN, "x");
    expect_refusal(c, NOT_FOUND, "BF.REBUILD", "k", "CHECK", NO_TOKEN, "x");
    expect_refusal(c, NOT_FOUND, "BF.REBUILD", "k", "COMMIT", NO_TOKEN, "1");
    expect_refusal(c, NOT_FOUND, "BF.REBUILD", "k", "ABORT");
    expect_refusal(c, NOT_FOUND, "BF.REBUILD", "k", "ABORT", NO_TOKEN);
    expect(c, "0", "EXISTS", "k");
}

static void expect_no_rebuild(redisContext *c, const char *token) {
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "LOAD", token, "x");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "CHECK", token, "x");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "COMMIT", token, "1");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "ABORT", token);
}

TRANSCRIPT(a_token_that_was_never_given_is_no_rebuild) {
    make_ready(c, "k");
    expect_no_rebuild(c, NO_TOKEN);
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "ABORT");
    start_rebuild(c, "k");
    static const char *const tokens[] = {NO_TOKEN, "0000000000000000", "", "x", "1",
                                         "-1",     "0123456789abcdef0"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        test_case("token '%s'", tokens[i]);
        expect_no_rebuild(c, tokens[i]);
    }
}

TRANSCRIPT(a_loader_with_an_old_token_does_nothing) {
    make_ready(c, "k");
    const char *old = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", old, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    expect_no_rebuild(c, old);

    const char *token = start_rebuild(c, "k");
    CHECK(strcmp(token, old) != 0);
    expect_no_rebuild(c, old);
    expect(c, "[#f]", "BF.REBUILD", "k", "CHECK", token, "anna");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "bob");
    expect_no_rebuild(c, old);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect_no_rebuild(c, old);
}

TRANSCRIPT(one_rebuild_at_a_time) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect_refusal(c,
                   "(error) ERR rebuild under way, begun * seconds ago, no LOAD yet: ABORT "
                   "first",
                   "BF.REBUILD", "k", "START");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect_refusal(c,
                   "(error) ERR rebuild under way, begun * seconds ago, last LOAD * "
                   "seconds ago: ABORT first",
                   "BF.REBUILD", "k", "START");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    start_rebuild(c, "k");
}

/* False: it took more than a second, since the machine is slow; not each time. */
static bool is_kept_by_a_load(redisContext *c, const char **token) {
    call(c, "BF.REBUILD", "k", "ABORT");
    *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", *token, "anna");
    sleep(1);
    expect(c, "2", "BF.REBUILD", "k", "LOAD", *token, "bob");
    return text_matches(call_text(c, "BF.REBUILD", "k", "START", "REPLACE", "1"),
                        REBUILDING);
}

TRANSCRIPT(start_replaces_a_rebuild_that_nobody_feeds) {
    const char *token;
    make_ready(c, "k");
    start_rebuild(c, "k");
    expect_refusal(c, REBUILDING, "BF.REBUILD", "k", "START", "REPLACE", "100");
    WAIT_UNTIL(is_kept_by_a_load(c, &token));
    sleep(1);
    const char *other = call(c, "BF.REBUILD", "k", "START", "REPLACE", "1")->str;
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "LOAD", token, "carol");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", other, "carol");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", other, "1");
    expect(c, "[absent, maybe]", "BF.MCHECK", "k", "bob", "carol");
}

TRANSCRIPT(replace_is_no_condition_where_there_is_no_rebuild) {
    make_ready(c, "k");
    CHECK_INT(strlen(call(c, "BF.REBUILD", "k", "START", "REPLACE", "1000")->str), 16);
    CHECK_INT(strlen(call(c, "BF.REBUILD", "none", "START", "REPLACE", "1000")->str), 16);
}

TRANSCRIPT(a_table_that_has_become_empty_is_rebuilt) {
    make_ready(c, "k");
    const char *token = call(c, "BF.REBUILD", "k", "START", "EMPTY")->str;
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "0");
    expect(c, "[absent, absent]", "BF.MCHECK", "k", "anna", "bob");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "0");
}

/* EMPTY allows no more than that. */
TRANSCRIPT(a_rebuild_that_may_be_empty_wants_its_count_all_the_same) {
    make_ready(c, "k");
    const char *token = call(c, "BF.REBUILD", "k", "START", "EMPTY")->str;
    expect_refusal(c, "(error) ERR rebuild received 0 of 1 items", "BF.REBUILD", "k",
                   "COMMIT", token, "1");
    expect(c, "#t", "BF.ADD", "k", "added");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "loaded");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "[absent, maybe, maybe]", "BF.MCHECK", "k", "anna", "added", "loaded");

    token = start_rebuild(c, "k");
    expect_refusal(c, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
}

TRANSCRIPT(a_commit_short_of_items_changes_nothing) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect(c, "2", "BF.REBUILD", "k", "LOAD", token, "anna", "bob");
    expect_refusal(c, "(error) ERR rebuild received 2 of 3 items", "BF.REBUILD", "k",
                   "COMMIT", token, "3");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
    expect(c, "3", "BF.REBUILD", "k", "LOAD", token, "carol");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "3");
}

TRANSCRIPT(a_commit_of_nothing_is_refused) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect_refusal(c, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
    expect_refusal(c, "(error) ERR rebuild received 0 of 1 items", "BF.REBUILD", "k",
                   "COMMIT", token, "1");
    expect(c, "#t", "BF.ADD", "k", "added, not loaded");
    expect_refusal(c, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
}

TRANSCRIPT(a_commit_may_be_repeated) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect_refusal(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect_refusal(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1", "EX", "100");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "LOAD", token, "bob");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "CHECK", token, "bob");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "ABORT", token);

    expect(c, "OK", "BF.LOADING", "k");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "unknown", "BF.CHECK", "k", "bob");
}

TRANSCRIPT(commit_refuses_what_makes_no_sense) {
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    static const struct {
        const char *reply, *arguments[4];
    } bad[] = {
        {"(error) ERR bad count of items", {"x"}},
        {"(error) ERR bad count of items", {"-1"}},
        {"(error) ERR bad count of items", {"1.5"}},
        {"(error) ERR bad count of items", {""}},
        {"(error) ERR unknown option 'XX'", {"1", "XX"}},
        {"(error) ERR PXAT is in the past (use 1 to revoke)", {"1", "PXAT", "9"}},
        {"(error) ERR invalid lease time", {"1", "PXAT", "0"}},
        {"(error) ERR unknown option 'SINCE'", {"1", "SINCE", "9"}},
        {"(error) ERR option 'EX' needs a value", {"1", "EX"}},
        {"(error) ERR invalid lease time", {"1", "EX", "0"}},
        {"(error) ERR value is not an integer or out of range", {"1", "EX", "x"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const *a = bad[i].arguments;
        test_case("case %zu", i);
        expect_refusal(c, bad[i].reply, "BF.REBUILD", "k", "COMMIT", token, a[0], a[1],
                       a[1] ? a[2] : NULL);
    }
}

TRANSCRIPT(commit_takes_the_time_at_which_a_lease_ends) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1", "PXAT", "4102444800000");
    expect(c, "absent", "BF.CHECK", "k", "bob");
    const redisReply *full = call(c, "BF.INFO", "k", "FULL");
    CHECK_INT(reply_field(full, "Lease until ms")->integer, 4102444800000);

    token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1", "PXAT", "1");
    expect(c, "unknown", "BF.CHECK", "k", "bob");
}

TRANSCRIPT(start_refuses_what_makes_no_sense) {
    make_ready(c, "k");
    static const struct {
        const char *reply, *arguments[4];
    } bad[] = {
        {"(error) ERR unknown option 'FOO'", {"FOO"}},
        {"(error) ERR unknown option 'READY'", {"READY"}},
        {"(error) ERR option 'CAPACITY' needs a value", {"CAPACITY"}},
        {"(error) ERR option 'CAPACITY' given twice", {"CAPACITY", "1", "CAPACITY", "1"}},
        {"(error) ERR bad capacity", {"CAPACITY", "x"}},
        {CAPACITY_RANGE, {"CAPACITY", "0"}},
        {"(error) ERR bad error rate", {"ERROR", "x"}},
        {RATE_RANGE, {"ERROR", "1"}},
        {"(error) ERR bad expansion", {"EXPANSION", "x"}},
        {EXPANSION_RANGE, {"EXPANSION", "-1"}},
        {"(error) Nonscaling filters cannot expand", {"NONSCALING", "EXPANSION", "2"}},
        {"(error) ERR unknown kind 'x'*", {"KIND", "x"}},
        {"(error) ERR option 'REPLACE' needs a value", {"REPLACE"}},
        {"(error) ERR REPLACE takes seconds, from 1 on", {"REPLACE", "0"}},
        {"(error) ERR REPLACE takes seconds, from 1 on",
         {"REPLACE", "9223372036854775807"}},
        {"(error) ERR value is not an integer or out of range", {"REPLACE", "x"}},
        {"(error) ERR option 'EMPTY' given twice", {"EMPTY", "EMPTY"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const *a = bad[i].arguments;
        test_case("case %zu: %s", i, a[0]);
        expect_refusal(c, bad[i].reply, "BF.REBUILD", "k", "START", a[0], a[1],
                       a[1] ? a[2] : NULL, a[1] && a[2] ? a[3] : NULL);
        expect_refusal(c, bad[i].reply, "BF.REBUILD", "none", "START", a[0], a[1],
                       a[1] ? a[2] : NULL, a[1] && a[2] ? a[3] : NULL);
    }
    expect(c, "0", "EXISTS", "none");
}
