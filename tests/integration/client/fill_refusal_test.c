/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_refusal_test.c - bulwark fill with bad input: a sentence, an exit code, and nothing
 * has changed. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "kind.h"
#include "states.h"

#include <unistd.h>

/* A server with a filter that is ready, which no refused fill may change. */
static struct server *with_old(void) {
    struct server *s = server_shared();
    make_old(client(s));
    return s;
}

TEST(a_wrong_command_line_is_refused) {
    static const struct {
        const char *pattern;
        const char *arguments[5];
    } cases[] = {
        {"*--turbo*", {"--turbo"}},
        {"*--from*--pg*", {NULL}},
        {"*two sources*", {"--from", "/dev/null", "--pg", "host=/nowhere"}},
        {"--batch is*", {"--from", "/dev/null", "--batch", "0"}},
        {"*--batch*", {"--from", "/dev/null", "--batch", "-1"}},
        {"--window is*", {"--from", "/dev/null", "--window", "20000"}},
        {"--parts is at most*", {"--from", "/dev/null", "--parts", "100000"}},
        {"--lease wants whole*", {"--from", "/dev/null", "--lease", "1500ms"}},
        {"*--settle*", {"--from", "/dev/null", "--settle", "soon"}},
        {"*--error*", {"--from", "/dev/null", "--error", "2"}},
        {"*--capacity*", {"--from", "/dev/null", "--capacity", "1.5x"}},
        {"--item*lacks {}*", {"--from", "/dev/null", "--item", "user"}},
        {"--item*twice*", {"--from", "/dev/null", "--item", "{}{}"}},
        {"*too many*", {"another", "--from", "/dev/null"}},
        {"*can't be counted beforehand: give --capacity*", {"--from", "-"}},
    };
    struct server *s = with_old();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("case %zu", i);
        const char *line[6] = {0};
        memcpy(line, cases[i].arguments, sizeof cases[i].arguments);
        expect_unfilled_at(__FILE__, __LINE__, s, EXIT_USAGE, cases[i].pattern, line);
    }
}

TEST(a_fill_without_a_filter_s_name_is_refused) {
    CHECK_INT(program_run("fill").code, EXIT_USAGE);
    CHECK_INT(program_run("fill", "", "--from", "/dev/null").code, EXIT_USAGE);
    CHECK_INT(program_run("full", "k").code, EXIT_USAGE);
}

static struct outcome fill_strictly(const struct server *s, const char *file,
                                    const char *option) {
    return program_run("fill", "k", "-p", program_port(s), "--settle", "0", "--from", file,
                       option);
}

/* Half of the hundred is taken for a bad day. Nothing is said of a filter that isn't ready:
 * nobody relies on it. */
TEST(a_source_with_less_than_half_of_the_items_is_refused_unless_that_is_said) {
    struct server *s = with_old();
    redisContext *c = client(s);
    const char *before = filter_text(c, "k"), *three = numbers_file(0, 3);
    struct outcome got = fill_strictly(s, three, NULL);
    CHECK_INT(got.code, EXIT_SOURCE);
    CHECK(text_matches(got.err, "*has 3 items, and k 100: *give --fewer\n"));
    CHECK_STR(filter_text(c, "k"), before);

    struct program *p = program_start("fill", "k", "-p", program_port(s), "--settle", "0",
                                      "--from", "-", "--capacity", "1000");
    CHECK(program_feed(p, "1\n", 2));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_SOURCE);
    CHECK(strstr(program_errors(p), "the standard input has 1 item, and k 100"));
    CHECK_STR(filter_text(c, "k"), before);

    CHECK_INT(fill_strictly(s, numbers_file(0, 50), NULL).code, EXIT_DONE);
    CHECK_INT(fill_strictly(s, three, "--fewer").code, EXIT_DONE);
    expect(c, "OK", "BF.LOADING", "k");
    CHECK_INT(fill_strictly(s, numbers_file(0, 1), NULL).code, EXIT_DONE);
}

TEST(an_empty_source_is_refused) {
    struct server *s = with_old();
    expect_unfilled(s, EXIT_SOURCE, "*has no items*--empty*", "--from", bytes_file("", 0));
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000");
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_SOURCE);
    CHECK(!is_rebuilding(client(s), "k"));
    expect(client(s), "maybe", "BF.CHECK", "k", "1");
}

TEST(a_key_of_another_type_is_refused) {
    struct server *s = server_shared();
    expect(client(s), "1", "RPUSH", "k", "a");
    expect_unfilled(s, EXIT_REFUSED, "the key k is no filter*", "--from",
                    numbers_file(0, 9));
    expect(client(s), "[\"a\"]", "LRANGE", "k", "0", "-1");
}

TEST(a_filter_of_a_foreign_kind_is_refused_unless_a_kind_is_said) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i]->name;
        if (kinds[i] == &kind_lines) continue;
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", kind);
        expect_unfilled(s, EXIT_REFUSED, text_of("*of kind %s*", kind), "--from",
                        numbers_file(0, 9));
        expect_filled(s, "--kind", kind, "--from", numbers_file(0, 9));
        CHECK_STR(reply_field(call(c, "BF.INFO", "k", "FULL"), "Kind")->str, kind);
        expect_filled(s, "--kind", "lines", "--from", numbers_file(0, 9));
        CHECK_STR(reply_field(call(c, "BF.INFO", "k", "FULL"), "Kind")->str, "lines");
        call(c, "DEL", "k");
    }
    expect_unfilled(s, EXIT_REFUSED, "START of k is refused*", "--kind", "cuckoo", "--from",
                    numbers_file(0, 9));
}

TEST(a_server_without_the_module_is_refused) {
    struct server *s = server_start(.without_module = true);
    struct outcome got = fill(s, "--from", numbers_file(0, 9));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "no Bulwark module: load it"));
    CHECK_INT(call_int(client(s), "DBSIZE"), 0);
}

TEST(a_server_that_is_not_there_is_told_by_its_address) {
    struct outcome got = program_run("fill", "k", "-p", "1", "--timeout", "100ms", "--from",
                                     numbers_file(0, 9));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "127.0.0.1:1"));
}

TEST(an_item_that_is_expected_and_missing_stops_the_fill) {
    struct server *s = with_old();
    expect_unfilled(s, EXIT_ITEMS, "'user:3'*--expect*", "--from", numbers_file(0, 9),
                    "--expect", "3", "--expect", "user:3");
}

TEST(no_memory_for_a_second_generation_is_told_before_anything_is_begun) {
    struct server *s = server_start(.config = "maxmemory-policy noeviction");
    redisContext *c = client(s);
    make_old(c);
    long long used = info_int(c, "memory", "used_memory");
    expectf(c, "OK", "CONFIG SET maxmemory %lld", used + (2LL << 20));
    expect_unfilled(s, EXIT_REFUSED,
                    "the server has no memory for a second generation of k*", "--from",
                    numbers_file(0, 10), "--capacity", "100M");
    expectf(c, "OK", "CONFIG SET maxmemory 1");
    expect_unfilled(s, EXIT_REFUSED,
                    "the server has no memory for a second generation of k*", "--from",
                    numbers_file(0, 10));
}

/* Writers that add with NOCREATE find a filter, and readers are not turned away. */
TEST(the_filter_that_a_first_fill_made_stays_loading_if_it_is_refused) {
    struct server *s = server_shared();
    struct outcome got = fill(s, "--from", bytes_file("1\n\n", 3));
    CHECK_INT(got.code, EXIT_ITEMS);
    redisContext *c = client(s);
    CHECK(!is_rebuilding(c, "k"));
    CHECK_STR(unknown_by(c, "k"), "loading");
    CHECK_INT(call_int(c, "BF.CARD", "k"), 0);
}
