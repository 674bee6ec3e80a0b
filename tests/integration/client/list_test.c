/* SPDX-License-Identifier: BSD-3-Clause */

/* list_test.c - bulwark list: every filter as it is, whatever it is called and however the
 * server fares. */

#include "fill.h"
#include "files.h"
#include "harness.h"
#include "looks.h"
#include "states.h"

#include "kind.h"

#include <signal.h>

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
 * Servers
 * ---------------------------------------------------------------------- */

TEST(a_server_without_the_module_gets_a_sentence) {
    struct server *s = server_start(.without_module = true);
    struct outcome got = list(s, NULL);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "has no Bulwark: load bulwark.so"));
    CHECK(strstr(got.out, program_port(s)));
}

TEST(a_server_that_is_away_gets_a_sentence) {
    struct server *s = server_start();
    server_kill(s);
    struct outcome got = list(s, "--json");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "can't reach the server at 127.0.0.1:"));
    CHECK_INT(json_int(line_of(got.out, "node", NULL), "up"), 0);
}

TEST(a_server_that_hangs_is_not_waited_for_longer_than_told) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    server_pause(s);
    struct outcome got = list(s, "--timeout", "1s");
    server_resume(s);
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "does not answer"));
}

/* Ten minutes are more than a test may take. */
TEST(who_waits_for_a_server_that_hangs_may_end_it) {
    struct server *s = server_start();
    server_pause(s);
    struct program *p = program_start("list", "-p", program_port(s), "--timeout", "10m");
    WAIT_UNTIL(program_catches(p, SIGINT));
    program_signal(p, SIGINT);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    server_resume(s);
}

TEST(a_server_that_loads_its_data_gets_a_sentence) {
    needs(700, "a slow start to show");
    struct server *s = server_start();
    redisContext *reloading = client(s), *other = client(s);
    make_ready(other, "k");
    expect(other, "OK", "DEBUG", "POPULATE", "20000");
    expect(other, "OK", "CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
    expect(other, "OK", "CONFIG", "SET", "key-load-delay", "1000");
    post(reloading, "DEBUG", "RELOAD");
    WAIT_UNTIL(text_matches(call_text(other, "PING"), "*LOADING*"));
    struct outcome got = list(s, "k"), all = list(s, NULL);
    expect(other, "OK", "CONFIG", "SET", "key-load-delay", "0");
    expect_next(reloading, "OK");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "is loading its data"));
    CHECK_INT(all.code, EXIT_SERVER);
}

/* SCRIPT KILL is the only thing that such a server listens to. */
TEST(a_server_that_is_busy_with_a_script_gets_a_sentence) {
    struct server *s = server_start(.config = "lua-time-limit 1");
    redisContext *busy = client(s), *other = client(s);
    make_ready(other, "k");
    post(busy, "EVAL", "while true do end", "0");
    WAIT_UNTIL(text_matches(call_text(other, "PING"), "*BUSY*"));
    struct outcome got = list(s, "k"), all = list(s, NULL);
    expect(other, "OK", "SCRIPT", "KILL");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "is busy with a script"));
    CHECK_INT(all.code, EXIT_SERVER);
}

/* -------------------------------------------------------------------------
 * Rights
 * ---------------------------------------------------------------------- */

static struct server *with_user(const char *rights) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    expectf(c, "OK", text_of("ACL SETUSER eve on nopass ~* +@all %s", rights));
    return s;
}

TEST(without_the_right_to_scan_filters_are_named) {
    struct server *s = with_user("-scan");
    struct outcome got = list(s, "--user", "eve", "--pass", "any");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "refuses SCAN") && strstr(got.err, "name the filters"));

    got = list(s, "--user", "eve", "--pass", "any", "--json", "k");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_STR(json_text(line_of(got.out, "filter", "k"), "state"), "ready");
}

TEST(without_the_right_to_info_filters_are_listed) {
    struct outcome got =
        list(with_user("-info"), "--user", "eve", "--pass", "any", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_STR(json_text(line_of(got.out, "filter", "k"), "state"), "ready");
}

/* What the manual asks for. */
TEST(four_rights_are_enough) {
    struct outcome got = list(with_user("-@all +info +time +scan +bf.info"), "--user",
                              "eve", "--pass", "any", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_STR(json_text(line_of(got.out, "node", NULL), "role"), "master");
    CHECK_STR(json_text(line_of(got.out, "filter", "k"), "state"), "ready");
}

TEST(a_wrong_password_gets_a_sentence) {
    struct outcome got = list(server_shared(), "--user", "nobody", "--pass", "wrong");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(text_matches(got.err, "bulwark: AUTH is refused: *(WRONGPASS*)\n"));

    struct server *s = server_start();
    expect(client(s), "OK", "CONFIG", "SET", "requirepass", "secret");
    got = list(s, NULL);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(text_matches(got.err, "bulwark: the server wants a password: --pass-file*"));
}

TEST(a_right_that_is_missing_is_named) {
    struct outcome got = list(with_user("-bf.info"), "--user", "eve", "--pass", "any", "k");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(text_matches(got.err, "bulwark: the ACL user needs bf.info for the key k (NO*"));
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

/* -------------------------------------------------------------------------
 * What is no server
 * ---------------------------------------------------------------------- */

/* It ends by itself, with a sentence, and says nothing that a terminal obeys. */
static void check_survives(const void *bytes, size_t length) {
    struct outcome got =
        program_run("list", "-p", stand_in(bytes, length), "--timeout", "2s");
    CHECK(got.code == EXIT_REFUSED || got.code == EXIT_SERVER || got.code == EXIT_DONE);
    CHECK(got.code == EXIT_DONE || strncmp(got.err, "bulwark: ", 9) == 0);
    check_plain(got.out, 0);
    check_plain(got.err, 0);
}

TEST(what_speaks_another_protocol_gets_a_sentence) {
    static const char *const garbage[] = {
        "",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2p1\r\n",
        "\x1b[2J\x1b]0;owned\x07\r\n",
        "$-2\r\n",
        "*-7\r\n",
        ":99999999999999999999\r\n",
        "$5\r\nhel",
        "$99999999999999\r\n",
        "*4294967295\r\n",
        "*1048576\r\n*1048576\r\n*1048576\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
        "%2\r\n+a\r\n:1\r\n+b\r\n_\r\n",
        ">1\r\n+a\r\n",
        "-ERR \x1b[2J\r\n-LOADING \x1b[2J\r\n-BUSY\r\n-ERR\r\n-\r\n",
        "-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n-ERR \x1b[2J\r\n",
        "+OK\r\n:1\r\n$-1\r\n*-1\r\n*2\r\n$-1\r\n:5\r\n+what\r\n",
        "_\r\n#t\r\n,nan\r\n(99999\r\n=7\r\ntxt:abc\r\n",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        test_case("garbage %zu", i);
        check_survives(garbage[i], strlen(garbage[i]));
    }
}

#define CURSOR_7 "*2\r\n$1\r\n7\r\n*0\r\n"
#define CURSOR_8 "*2\r\n$1\r\n8\r\n*0\r\n"

/* What it says of itself, and then to each SCAN that there is more. */
static const char *endless_walk(const char *more, size_t steps) {
    size_t each = strlen(more);
    const char *info = "$18\r\nbf_version:1.0.0\r\n\r\n";
    char *all = calloc(1, 1000 + steps * each), *to = all;
    test_defer(free, all);
    for (int i = 0; i < 6; i++)
        to = stpcpy(to, info);
    to = stpcpy(to, "*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
    for (size_t i = 0; i < steps; i++)
        to = stpcpy(to, more);
    return all;
}

TEST(a_walk_through_the_keys_ends_whatever_the_server_says) {
    const char *says = endless_walk(CURSOR_7 CURSOR_8, 1 << 17);
    struct outcome got = program_run("list", "-p", stand_in(says, strlen(says)));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "refuses SCAN"));
    CHECK(strstr(got.err, "it doesn't end"));
}

TEST(a_walk_that_comes_no_further_ends_at_once) {
    const char *says = endless_walk(CURSOR_7, 2);
    struct outcome got = program_run("list", "-p", stand_in(says, strlen(says)));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "its cursor stays where it is"));
}

/* The first look of a watch shows what it has found so far. */
TEST(who_looks_again_and_again_does_not_wait_for_a_whole_walk) {
    const char *says = endless_walk(CURSOR_7 CURSOR_8, 1 << 17);
    struct outcome got =
        program_run("watch", "--count", "1", "-p", stand_in(says, strlen(says)));
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "keys that were not looked at yet"));
}

/* There is one filter to be found, and a walk that ends with it: one SCAN. */
TEST(a_name_that_is_known_to_be_missing_costs_no_walk) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    struct outcome got = program_run("watch", "nothing", "--count", "60", "--interval",
                                     "100ms", "-p", program_port(s));
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(info_text(client(s), "commandstats", "cmdstat_scan"), "calls=1,"));
}

TEST(a_reply_without_end_is_not_waited_for) {
    static const char begun[] = "$1000000\r\n";
    struct outcome got = program_run(
        "list", "-p", stand_in_without_end(begun, strlen(begun)), "--timeout", "1s");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "does not answer"));
}

static const char *bulk(const char *text) {
    return text_of("$%zu\r\n%s\r\n", strlen(text), text);
}

/* [name, value, ...] of bulk strings, or of numbers where the value begins with ':'. */
static const char *fields(const char *const *words) {
    const char *all = "";
    size_t n = 0;
    for (; words[n]; n++)
        all = *words[n] == ':' ? text_of("%s%s\r\n", all, words[n])
                               : text_of("%s%s", all, bulk(words[n]));
    return text_of("*%zu\r\n%s", n, all);
}
#define FIELDS(...) fields((const char *[]){__VA_ARGS__, NULL})

#define MOST    "9223372036854775807"
#define CONTROL "\x1b[2J"

/* What a server of ours answers to list, with numbers that are too large and texts that
 * are not plain. */
static const char *lie(void) {
    const char *info = bulk("redis_version:\x1b[31m7\r\nvalkey_version:8\x07\r\n"
                            "bf_version:\xff" CONTROL "\r\n::\r\nx:\r\nused_memory:-5\r\n"
                            "maxmemory:18446744073709551615\r\nrole:" CONTROL "\r\n"
                            "bf_trust_warnings:" CONTROL "\r\nbf_filters_lines:4\r\n"
                            "bf_filters_redisbloom:0\r\nbf_filters_valkeybloom:0\r\n"
                            "bf_bytes:18446744073709551615\r\n"),
               *time = FIELDS(MOST, "-" MOST),
               *keys = FIELDS("k" CONTROL, "k:{1}", "k:{2}", "l"),
               *lies = FIELDS("State", CONTROL, "Unknown by", CONTROL, "Kind", CONTROL,
                              "Advice", CONTROL, "Doubt", CONTROL, "Lease until ms",
                              ":" MOST, "Vouched for at ms", ":" MOST, "Capacity", ":" MOST,
                              "Overfull", ":" MOST, "Fill", "-1e999", "Error rate", "nan",
                              "Size", ":-1", "Number of filters", ":" MOST),
               *rebuild = FIELDS("Seconds since START", ":" MOST, "Seconds since LOAD",
                                 ":" MOST, "Received", ":" MOST);
    const char *part = text_of("*6\r\n%s%s%s%s%s:1\r\n", bulk("State"), bulk("loading"),
                               bulk("Rebuild"), rebuild, bulk("Doubt"));
    return text_of("%s%s%s%s%s%s%s*2\r\n%s%s%s%s%s%s", info, info, info, info, info, info,
                   time, bulk("0"), keys, lies, part, part, FIELDS("State", ":1"));
}

/* Port 0 would be a unix socket, and the name its path. */
TEST(no_reply_leads_to_a_unix_socket) {
    struct server *s = server_start(.config = "unixsocket here.sock");
    const char *path = server_file(s, "here.sock"), *named = bulk(path);
    const char *master = text_of("*2\r\n%s%s", named, bulk("0"));
    struct outcome got = program_run(
        "list", "--sentinel", text_of("127.0.0.1:%s", stand_in(master, strlen(master))));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "names no port"));

    const char *slots = text_of("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n%s:0\r\n", named);
    got = program_run("list", "-c", "-p", stand_in(slots, strlen(slots)));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "the cluster has no slots"));
}

TEST(a_server_that_lies_is_not_obeyed) {
    const char *lies = lie(), *port = stand_in(lies, strlen(lies));
    struct outcome got = program_run("list", "-p", port, "--timeout", "2s");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "k\\x1b[2J") && strstr(got.out, "k:{*}"));
    check_plain(got.out, 0);
    got = program_run("list", "-p", port, "--timeout", "2s", "--json");
    CHECK_INT((int)count_of(got.out, "filter"), 3);
}

TEST(any_bytes_may_come_in_place_of_others) {
    const char *lies = lie();
    size_t length = strlen(lies);
    char *bytes = malloc(length);
    test_defer(free, bytes);
    for (int round = 0; round < 60; round++) {
        test_case("round %d", round);
        memcpy(bytes, lies, length);
        for (uint64_t n = random_below(6); n > 0; n--)
            bytes[random_below(length)] = (char)random_u64();
        check_survives(bytes, round % 2 ? length : 1 + random_below(length));
    }
}
