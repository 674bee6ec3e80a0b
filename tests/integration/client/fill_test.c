/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_test.c - bulwark fill: what it makes of a source of items. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "json.h"
#include "states.h"

static redisContext *fresh(struct server **s) {
    *s = server_shared();
    return client(*s);
}

static long long info_of(redisContext *c, const char *field) {
    return reply_field(call(c, "BF.INFO", "k", "FULL"), field)->integer;
}

TEST(a_filled_filter_is_ready_and_holds_every_line) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 20000));
    check_holds(c, "k", 0, 20000);
}

TEST(the_capacity_is_what_the_source_has_and_a_fifth) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 20000));
    CHECK_INT(info_of(c, "Capacity"), 24000);
}

/* Without --error it is the server's setting, or what the old generation has. */
TEST(a_fill_tells_the_error_rate_that_it_made) {
    struct server *s;
    redisContext *c = fresh(&s);
    static const struct {
        const char *rate, *told;
    } all[] = {{NULL, "0.01"}, {"0.001", "0.001"}, {NULL, "0.001"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%zu", i);
        const char *option = all[i].rate ? "--error" : NULL;
        struct outcome got = fill(s, "--from", numbers_file(0, 10), option, all[i].rate);
        CHECK(text_matches(got.out, text_of("*, error rate %s\n", all[i].told)));
        got = fill(s, "--from", numbers_file(0, 10), "--json");
        CHECK_NEAR(json_need(json_read(got.out), "error_rate")->number,
                   strtod(all[i].told, NULL), 1e-12);
    }
    expect(c, "1", "DEL", "k");
    CHECK(strstr(fill(s, "--from", numbers_file(0, 1), "--dry-run").out,
                 ": 1 item\nk: room for 1000 items, error rate as the server's"));
}

TEST(a_fill_forgets_what_is_not_in_the_source_any_more) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 10000));
    expect_filled(s, "--from", numbers_file(5000, 10000));
    check_holds(c, "k", 5000, 10000);
    CHECK(count_missing(c, "k", 0, 5000) > 4900);
}

/* Added between START and COMMIT, and so in no file. */
TEST(what_is_added_during_a_fill_stays) {
    struct server *s;
    redisContext *c = fresh(&s);
    make_old(c);
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    expect(c, "[1]", "BF.INSERT", "k", "NOCREATE", "ITEMS", "late");
    CHECK(program_feed(p, "1\n2\n", 4));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK", "k", "late", "1", "2", "3");
}

TEST(parts_hold_each_item_in_its_place) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 5000), "--parts", "128");
    CHECK_INT(call_int(c, "DBSIZE"), 128);
    expect(c, "[maybe, absent]", "BF.MCHECK", "k:{111}", "77", "4321");
    expect(c, "[absent, maybe]", "BF.MCHECK", "k:{132}", "77", "4321");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k:{11}", "0", "77");
}

TEST(many_parts_may_have_few_items) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 3), "--parts", "128");
    CHECK_INT(call_int(c, "DBSIZE"), 128);
}

TEST(a_dry_run_changes_nothing) {
    struct server *s;
    redisContext *c = fresh(&s);
    make_old(c);
    const char *before = filter_text(c, "k");
    struct outcome got = fill(s, "--from", numbers_file(0, 20000), "--dry-run");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(text_matches(got.out,
                       "*20000 items\nk: room for 24000 items, error rate 0.001\n*"));
    CHECK_STR(filter_text(c, "k"), before);
}

/* One for each line, however long, and for what comes after the last newline. */
TEST(a_file_is_counted_as_it_is_read) {
    static char long_line[600000];
    static const struct {
        const char *text;
        int items;
    } files[] = {{"", 0},
                 {"a", 1},
                 {"a\n", 1},
                 {"\n\na", 3},
                 {"\xef\xbb\xbf", 0},
                 {"\xef\xbb\xbf-\nb", 2},
                 {"\xef\xbb", 1},
                 {long_line, 2},
                 {long_line + 590000, 2}};
    struct server *s = server_shared();
    memset(long_line, 'x', sizeof long_line - 1);
    memcpy(long_line + sizeof long_line - 3, "\ny", 2);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char counted[32];
        const char *file = bytes_file(files[i].text, strlen(files[i].text));
        snprintf(counted, sizeof counted, "*: %d item%s\n*", files[i].items,
                 files[i].items == 1 ? "" : "s");
        struct outcome got = fill(s, "--from", file, "--empty", "--dry-run");
        test_case("file %zu: %s%s", i, got.out, got.err);
        CHECK(text_matches(got.out, counted));
    }
}

TEST(a_lease_ends) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 10), "--lease", "1s");
    CHECK_STR(said_of(c, "k"), "absent");
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
}

TEST(an_empty_source_makes_everything_absent_if_that_is_said) {
    struct server *s;
    redisContext *c = fresh(&s);
    make_old(c);
    expect_filled(s, "--from", bytes_file("", 0), "--empty");
    expect(c, "absent", "BF.CHECK", "k", "1");
}

TEST(more_items_than_capacity_are_taken_and_told_of) {
    struct server *s;
    redisContext *c = fresh(&s);
    for (int i = 0; i < 2; i++) {
        const char *grows = i ? "NONSCALING" : NULL;
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", grows);
        struct outcome got = fill(s, "--from", numbers_file(0, 5000), "--capacity", "1000");
        CHECK_INT(got.code, EXIT_DONE);
        CHECK(strstr(got.out, "more items than --capacity"));
        CHECK_INT(count_missing(c, "k", 0, 5000), 0);
        call(c, "DEL", "k");
    }
}

TEST(items_of_any_bytes_are_taken_if_that_is_said) {
    static const char bytes[] = "a\nb\0\0c\r\xff";
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", bytes_file(bytes, sizeof bytes), "--null", "--binary");
    expectf(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK k %b %b %b %b", "a\nb",
            (size_t)3, "", (size_t)0, "c\r\xff", (size_t)3, "a", (size_t)1);
}

TEST(a_slow_pipe_is_filled_from_as_it_comes) {
    struct server *s;
    redisContext *c = fresh(&s);
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000");
    CHECK(program_feed(p, "1\n2\n3", 5));
    WAIT_UNTIL(received(c, "k") == 2);
    CHECK(program_feed(p, "4\n", 2));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK", "k", "1", "2", "34", "3");
}

TEST(items_that_are_expected_are_looked_for_as_they_are) {
    struct server *s;
    redisContext *c = fresh(&s);
    expect_filled(s, "--from", numbers_file(0, 100), "--item", "user:{}", "--expect",
                  "user:7", "--expect", "user:99", "--parts", "4");
    CHECK_INT(call_int(c, "DBSIZE"), 4);
}

TEST(json_says_what_was_done) {
    struct server *s = server_shared();
    struct outcome got =
        fill(s, "--from", numbers_file(0, 2000), "--json", "--capacity", "3k");
    CHECK_INT(got.code, EXIT_DONE);
    const struct json *said = json_read_file(bytes_file(got.out, strlen(got.out)));
    CHECK_STR(json_text(said, "filter"), "k");
    CHECK_INT(json_int(said, "items"), 2000);
    CHECK_INT(json_int(said, "capacity"), 3000);
    CHECK_INT(json_int(said, "passes"), 1);
}
