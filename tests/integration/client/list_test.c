/* SPDX-License-Identifier: BSD-3-Clause */

/* list_test.c - bulwark list: every filter as it is, whatever it is called, and as it fits
 * a terminal. */

#include "fill.h"
#include "files.h"
#include "harness.h"
#include "looks.h"
#include "states.h"

#include "kind.h"

static bool warns(const char *lines, const char *pattern) {
    return text_matches(lines, text_of("*\"warning\":\"%s*", pattern));
}

/* -------------------------------------------------------------------------
 * States
 * ---------------------------------------------------------------------- */

TEST(list_tells_a_ready_filter_in_full) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "1000", "LOADING");
    add_numbers(c, "k", 0, 100);
    expect(c, "OK", "BF.READY", "k");
    expect(c, "absent", "BF.CHECK", "k", "no");
    expect(c, "maybe", "BF.CHECK", "k", "1");

    const struct json *k = listed(s, "k"), *answers = json_need(k, "answers");
    CHECK_STR(json_text(k, "state"), "ready");
    CHECK_STR(causes_of(k), "");
    CHECK_STR(json_text(k, "kind"), "lines");
    CHECK_INT(json_int(k, "items"), 100);
    CHECK_INT(json_int(k, "capacity"), 1000);
    CHECK_NEAR(json_need(k, "full")->number, 0.1, 1e-9);
    CHECK_NEAR(json_need(k, "error_rate")->number, 0.001, 1e-9);
    CHECK_INT(json_int(k, "layers"), 1);
    CHECK_INT(json_int(k, "overfull"), 0);
    CHECK(json_int(k, "vouched_for_at_ms") > 0);
    CHECK(!json_field(k, "lease_left_ms") && !json_field(k, "rebuild"));
    CHECK_INT(json_int(answers, "absent"), 1);
    CHECK_INT(json_int(answers, "maybe"), 1);
}

TEST(list_tells_each_state_and_why_nothing_is_absent) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "loading", "0.01", "100", "LOADING");
    expect(c, "#t", "BF.ADD", "plain", "anna");
    expect(c, "OK", "BF.RESERVE", "theirs", "0.01", "100", "KIND", "redisbloom");
    expect(c, "OK", "BF.RESERVE", "others", "0.01", "100", "KIND", "valkeybloom");
    make_partial(c, "partial");
    static const struct {
        const char *key, *state, *causes, *kind;
    } all[] = {{"loading", "loading", "loading", "lines"},
               {"plain", "plain", "plain", "lines"},
               {"theirs", "plain", "plain", "redisbloom"},
               {"others", "plain", "plain", "valkeybloom"},
               {"partial", "plain", "partial", "lines"}};

    struct outcome got = list(s, "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_INT((int)count_of(got.out, "filter"), 5);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s", all[i].key);
        const struct json *f = line_of(got.out, "filter", all[i].key);
        CHECK_STR(json_text(f, "state"), all[i].state);
        CHECK_STR(causes_of(f), all[i].causes);
        CHECK_STR(json_text(f, "kind"), all[i].kind);
    }
    CHECK(warns(got.out, "is loading, and nobody is at work on it: fill it (bulwark fill "
                         "loading)\""));
    CHECK(warns(got.out, "has items, but nobody has vouched for it, so nothing is absent: "
                         "fill it (bulwark fill plain)\""));
    CHECK(warns(got.out, "is partial"));
}

/* A fill would make of them what their library can't read. */
TEST(what_a_library_builds_is_vouched_for_or_built_anew) {
    struct server *s = server_start();
    redisContext *c = client(s);
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i]->name;
        if (!kinds[i]->form) continue;
        test_case("%s", kind);
        expect(c, "OK", "FLUSHALL");
        expect(c, "OK", "BF.RESERVE", "plain", "0.01", "100", "KIND", kind);
        add_numbers(c, "plain", 0, 10);
        expect(c, "OK", "BF.RESERVE", "loading", "0.01", "100", "KIND", kind, "LOADING");
        expect(c, "OK", "BF.RESERVE", "full", "0.01", "100", "KIND", kind, "READY");
        add_numbers(c, "full", 0, 300);
        const char *said = list(s, "--json").out;
        CHECK(warns(said, text_of("has items, but *: vouch for it if it has all of them "
                                  "(BF.READY plain), or build it anew (bulwark import "
                                  "plain %s --rebuild COMMAND)\"",
                                  kind)));
        CHECK(warns(said, text_of("is loading, and nobody is at work on it: build it "
                                  "(bulwark import loading %s --rebuild COMMAND)\"",
                                  kind)));
        CHECK(warns(said, text_of("holds * more than it was made for, and errs more often: "
                                  "rebuild it with a larger --capacity, as that of COMMAND "
                                  "(bulwark import full %s --rebuild COMMAND)\"",
                                  kind)));
        CHECK(!strstr(said, "bulwark fill"));
    }
}

/* An import knows no parts. */
TEST(what_a_library_builds_is_filled_if_it_is_split) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k:{2}", "0.01", "100", "KIND", "guava", "LOADING");
    expect(c, "OK", "BF.RESERVE", "k:{0}", "0.01", "100", "KIND", "guava", "LOADING");
    CHECK(warns(list(s, "--json").out, "*(bulwark fill k --parts 2 --kind guava)\""));
}

/* What is of another product's kind but more than its type can hold lives under our type,
 * as the kinds do that have no type. */
TEST(list_finds_a_filter_of_every_kind_in_every_state) {
    struct server *s = server_start();
    redisContext *c = client(s);
    for (size_t i = 0; i < KINDS; i++) {
        test_case("%s", kinds[i]->name);
        const char *plain = text_of("%s:plain", kinds[i]->name),
                   *loading = text_of("%s:loading", kinds[i]->name);
        expect(c, "OK", "FLUSHALL");
        expect(c, "OK", "BF.RESERVE", loading, "0.01", "100", "KIND", kinds[i]->name,
               "LOADING");
        CHECK_STR(json_text(listed(s, loading), "kind"), kinds[i]->name);
        expect(c, "OK", "BF.RESERVE", plain, "0.01", "100", "KIND", kinds[i]->name);
        CHECK_STR(json_text(listed(s, plain), "kind"), kinds[i]->name);
        CHECK_STR(json_text(listed(s, loading), "kind"), kinds[i]->name);
    }
}

TEST(list_tells_of_doubt_after_a_restart) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    save(client(s));
    restart_with(s, NULL);

    struct outcome got = list(s, "--json");
    const struct json *k = line_of(got.out, "filter", "k");
    CHECK_STR(json_text(k, "state"), "ready");
    CHECK_STR(causes_of(k), "restart");
    CHECK(warns(got.out, "is ready but says unknown since a restart: rebuild it "
                         "(bulwark fill k)\""));
    CHECK(strstr(list(s, NULL).out, "ready (restart)"));
}

TEST(list_tells_how_long_a_lease_lasts_and_that_it_has_ended) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "BF.READY", "k", "EX", "1000");
    long long left = json_int(listed(s, "k"), "lease_left_ms");
    CHECK(left > 900000 && left <= 1000000);

    expect(c, "OK", "BF.READY", "k", "PXAT", "1");
    struct outcome got = list(s, "--json");
    const struct json *k = line_of(got.out, "filter", "k");
    CHECK(json_int(k, "lease_left_ms") < 0);
    CHECK_STR(causes_of(k), "lease");
    CHECK(warns(got.out, "*its lease has ended"));
}

TEST(list_tells_of_a_rebuild_and_that_it_was_interrupted) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    load_numbers(c, "k", start_rebuild(c, "k"), 0, 30);
    const struct json *rebuild = json_need(listed(s, "k"), "rebuild");
    CHECK_INT(json_int(rebuild, "received"), 30);
    CHECK_INT(json_int(rebuild, "interrupted"), 0);
    CHECK(strstr(list(s, NULL).out, "\n    rebuild: 30 items in "));

    save(c);
    restart_with(s, NULL);
    struct outcome got = list(s, "--json");
    rebuild = json_need(line_of(got.out, "filter", "k"), "rebuild");
    CHECK_INT(json_int(rebuild, "interrupted"), 1);
    CHECK(warns(got.out, "has a rebuild that was interrupted"));
}

TEST(list_tells_what_is_overfull_and_what_has_grown) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "full", "0.01", "100", "NONSCALING", "LOADING");
    add_numbers(c, "full", 0, 300);
    expect(c, "OK", "BF.RESERVE", "grown", "0.01", "100");
    add_numbers(c, "grown", 0, 500);

    struct outcome got = list(s, "--json");
    const struct json *full = line_of(got.out, "filter", "full");
    CHECK_INT(json_int(full, "overfull"), json_int(full, "items") - 100);
    CHECK(json_need(full, "full")->number > 2);
    CHECK(warns(got.out, "holds * items more than it was made for"));
    CHECK(json_int(line_of(got.out, "filter", "grown"), "layers") > 1);
    CHECK(text_matches(list(s, NULL).out, "*\ngrown *\n    * layers\n*"));
}

/* -------------------------------------------------------------------------
 * Which filters
 * ---------------------------------------------------------------------- */

static struct server *with_three(void) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "shop:users");
    make_ready(c, "shop:mails");
    make_ready(c, "others");
    expect(c, "OK", "SET", "shop:cached", "no filter");
    return s;
}

TEST(list_takes_a_pattern) {
    struct outcome got = list(with_three(), "--json", "--match", "shop:*");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_INT((int)count_of(got.out, "filter"), 2);
    line_of(got.out, "filter", "shop:users");
    line_of(got.out, "filter", "shop:mails");
}

TEST(list_takes_names_and_says_which_is_missing) {
    struct server *s = with_three();
    struct outcome got = list(s, "--json", "others", "shop:users");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_INT((int)count_of(got.out, "filter"), 2);

    got = list(s, "--json", "others", "nowhere");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "there is no filter called nowhere"));
    CHECK_STR(json_text(line_of(got.out, "filter", "others"), "state"), "ready");
    CHECK_STR(json_text(line_of(got.out, "filter", "nowhere"), "state"), "missing");
    CHECK_STR(causes_of(line_of(got.out, "filter", "nowhere")), "missing");
}

TEST(list_says_what_a_named_key_is_if_it_is_no_filter) {
    struct outcome got = list(with_three(), "shop:cached");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "shop:cached") && strstr(got.err, "WRONGTYPE"));
}

TEST(a_server_without_filters_is_no_failure) {
    struct outcome got = list(server_shared(), NULL);
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "There is no filter here."));
}

/* -------------------------------------------------------------------------
 * Parts
 * ---------------------------------------------------------------------- */

TEST(parts_are_added_up_or_listed_one_by_one) {
    struct server *s = server_shared();
    CHECK_INT(fill(s, "--from", numbers_file(0, 4000), "--parts", "6").code, EXIT_DONE);

    struct outcome got = list(s, "--json");
    CHECK_INT((int)count_of(got.out, "filter"), 1);
    CHECK(!warns(got.out, "has * parts"));
    const struct json *sum = line_of(got.out, "filter", "k:{*}");
    CHECK_INT(json_int(sum, "parts"), 6);
    CHECK_STR(json_text(sum, "state"), "ready");

    got = list(s, "--json", "--each-part");
    CHECK_INT((int)count_of(got.out, "filter"), 6);
    long long items = 0, bytes = 0;
    for (const char *at = got.out; (at = strstr(at, "{\"filter\"")); at++) {
        items += json_int(json_read(at), "items");
        bytes += json_int(json_read(at), "bytes");
    }
    CHECK_INT(json_int(sum, "items"), items);
    CHECK_INT(json_int(sum, "bytes"), bytes);
    CHECK(items > 3900 && items <= 4000);
}

TEST(a_filter_in_parts_is_found_by_its_name) {
    struct server *s = server_shared();
    CHECK_INT(fill(s, "--from", numbers_file(0, 100), "--parts", "6").code, EXIT_DONE);
    make_ready(client(s), "k2:{3}");
    static const char *const names[] = {"k", "k:{*}"};
    for (size_t i = 0; i < 2; i++) {
        struct outcome got = list(s, "--json", names[i]);
        CHECK_INT(got.code, EXIT_DONE);
        CHECK_INT((int)count_of(got.out, "filter"), 1);
        CHECK_INT(json_int(line_of(got.out, "filter", "k:{*}"), "parts"), 6);
    }
    CHECK_STR(
        json_text(line_of(list(s, "--json", "k:{3}").out, "filter", "k:{3}"), "state"),
        "ready");
}

TEST(a_filter_is_as_good_as_its_worst_part) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    CHECK_INT(fill(s, "--from", numbers_file(0, 600), "--parts", "6").code, EXIT_DONE);
    expect(c, "OK", "BF.LOADING", "k:{3}");
    struct outcome got = list(s, "--json");
    const struct json *k = line_of(got.out, "filter", "k:{*}");
    CHECK_STR(json_text(k, "state"), "loading");
    CHECK_INT(json_int(k, "parts_in_state"), 1);
    CHECK_INT(json_int(k, "parts_missing"), 0);
    CHECK(strstr(list(s, NULL).out, "loading 1/6"));

    expect(c, "1", "DEL", "k:{3}");
    got = list(s, "--json");
    CHECK_INT(json_int(line_of(got.out, "filter", "k:{*}"), "parts_missing"), 1);
    CHECK(warns(got.out, "has 5 parts"));
}

/* -------------------------------------------------------------------------
 * Names with any bytes
 * ---------------------------------------------------------------------- */

static const struct {
    const char *bytes;
    size_t length;
    const char *shown, *json;
} odd[] = {
    {"a\0b", 3, "a\\x00b", "\"a\\u0000b\""},
    {"\x1b]0;owned\x07", 10, "\\x1b]0;owned\\x07", "\"\\u001b]0;owned\\u0007\""},
    {"\x1b[2J", 4, "\\x1b[2J", "\"\\u001b[2J\""},
    {"line\r\nfeed", 10, "line\\x0d\\x0afeed", "\"line\\u000d\\u000afeed\""},
    {"\xff\xfe", 2, "\\xff\\xfe", "\"\\u00ff\\u00fe\""},
    {"\xc2\x9b"
     "31m",
     5, "\\xc2\\x9b31m", "\"\\u009b31m\""},
    {"caf\xc3\xa9", 5, "caf\xc3\xa9", "\"caf\xc3\xa9\""},
    {"\xe2\x80\xaetxt", 6, "\\xe2\\x80\\xaetxt", "\"\xe2\x80\xaetxt\""},
    {"a\"b\\c", 5, "a\"b\\\\c", "\"a\\\"b\\\\c\""},
    {"", 0, "", "\"\""},
};
#define ODD (sizeof odd / sizeof *odd)

static struct server *with_odd_names(void) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    for (size_t i = 0; i < ODD; i++)
        expectf(c, "#t", "BF.ADD %b anna", odd[i].bytes, odd[i].length);
    return s;
}

TEST(no_name_reaches_the_terminal_as_it_is) {
    struct outcome got = list(with_odd_names(), NULL);
    CHECK_INT(got.code, EXIT_DONE);
    check_plain(got.out, 0);
    for (size_t i = 0; i < ODD; i++)
        CHECK(strstr(got.out, text_of("\n%s ", odd[i].shown)));
}

TEST(names_with_any_bytes_are_json) {
    struct outcome got = list(with_odd_names(), "--json");
    check_plain(got.out, 0);
    CHECK_INT((int)count_of(got.out, "filter"), (int)ODD);
    for (size_t i = 0; i < ODD; i++) {
        CHECK(strstr(got.out, text_of("{\"filter\":%s,", odd[i].json)));
        json_read(strstr(got.out, text_of("{\"filter\":%s,", odd[i].json)));
    }
}

TEST(a_name_that_may_not_be_asked_for_is_not_obeyed_either) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expectf(c, "#t", "BF.ADD %b anna", "\x1b[2J", (size_t)4);
    expect(c, "OK", "ACL", "SETUSER", "eve", "on", "nopass", "~users", "+@all");
    struct outcome got = list(s, "--user", "eve", "--pass", "any");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "bf.info for the key \\x1b[2J") && strstr(got.err, "NOPERM"));
    check_plain(got.err, 0);
}

/* -------------------------------------------------------------------------
 * Terminals
 * ---------------------------------------------------------------------- */

TEST(on_a_terminal_nothing_is_wider) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "#t", "BF.ADD", text_of("%0100d", 7), "anna");
    expect(c, "OK", "BF.RESERVE", "full", "0.01", "100", "NONSCALING", "LOADING");
    add_numbers(c, "full", 0, 500);
    struct program *p = program_start_on_terminal("list", "-p", program_port(s));
    CHECK_INT(program_wait(p), EXIT_DONE);
    const char *out = program_output(p);
    check_plain(out, 80);
    CHECK(strstr(out, " SIZE\r\n"));                /* The name gave way. */
    CHECK(strstr(out, "(bulwark fill full).\r\n")); /* The sentence is whole. */
}

/* A number that is cut is another number: where there is no room for a column, it goes. */
TEST(on_a_narrow_terminal_no_number_is_cut) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "a-name-of-some-length", "0.001", "1000000", "LOADING");
    add_numbers(c, "a-name-of-some-length", 0, 1234);
    expect(c, "OK", "BF.READY", "a-name-of-some-length");
    for (int columns = 60; columns <= 80; columns++) {
        test_case("%d columns", columns);
        struct program *p =
            program_start_on_narrow_terminal(columns, "list", "-p", program_port(s));
        CHECK_INT(program_wait(p), EXIT_DONE);
        const char *out = program_output(p);
        check_plain(out, (size_t)columns);
        CHECK(text_matches(out, "SERVER * ROLE\r\n*"));
        CHECK(text_matches(out, "* master\r\n*"));
        CHECK(text_matches(out, "* 1.23 k *"));
        CHECK(strstr(out, "FULL") && strstr(out, "0.1%"));
        CHECK(!strstr(out, " SIZE\r\n\r\n") || strstr(out, "1.91 MiB\r\n"));
    }
}
