/* SPDX-License-Identifier: BSD-3-Clause */

/* json_test.c - what --json prints: the manual has its members, whoever prints them. */

#include "json.h"
#include "files.h"
#include "fill.h"
#include "harness.h"
#include "looks.h"
#include "states.h"

/* The section of the manual on JSON. */
static const char *documented(void) {
    const char *page = file_read("module/manual/program.md").bytes;
    const char *begin = strstr(page, "\n## JSON\n");
    CHECK(begin != NULL);
    return text_of("%.*s", (int)(strstr(begin + 1, "\n## ") - begin), begin);
}

/* The names of INFO bf and the causes are in settings.md. */
static bool is_of_settings(const char *name) {
    static const char *const causes = " bypass missing partial plain loading later_version "
                                      "link_down replica lease restart failover restore "
                                      "other ";
    return strncmp(name, "bf_", 3) == 0 || strstr(causes, text_of(" %s ", name));
}

static void check_documented(const struct json *object, const char *manual) {
    bool by_kind = object->name && strcmp(object->name, "kinds") == 0;
    JSON_EACH(member, object) {
        if (member->name && !by_kind && !is_of_settings(member->name) &&
            !strstr(manual, text_of("`%s`", member->name)))
            FAIL("the manual has no member %s", member->name);
        check_documented(member, manual);
    }
}

static void check_lines(struct outcome got, const char *manual) {
    CHECK(*got.out == '{');
    for (const char *line = got.out; *line; line += strcspn(line, "\n") + 1)
        check_documented(json_read(line), manual);
}

TEST(every_member_is_in_the_manual) {
    struct server *s = server_shared();
    const char *manual = documented(), *port = program_port(s), *ids = numbers_file(0, 9);
    make_ready(client(s), "loading");
    expectf(client(s), "OK", "BF.RESERVE plain 0.01 100");
    CHECK(call(client(s), "BF.REBUILD", "plain", "START")->type == REDIS_REPLY_STRING);
    check_lines(program_run("plan", "50M", "--parts", "8", "--json"), manual);
    check_lines(program_run("plan", "50M", "--memory", "1G", "--json"), manual);
    check_lines(fill(s, "--from", ids, "--json"), manual);
    check_lines(fill(s, "--from", ids, "--json", "--dry-run"), manual);
    check_lines(list(s, "--json"), manual);
    check_lines(list(s, "--json", "nothing"), manual);
    check_lines(
        program_run("watch", "--json", "--count", "2", "--interval", "100ms", "-p", port),
        manual);
    check_lines(program_run("parts", "2", "--format", "json"), manual);
    check_lines(program_run("parts", "2", "7", "--format", "json"), manual);
}

TEST(a_filter_of_one_key_has_one_part_whoever_says_it) {
    struct server *s = server_shared();
    struct outcome got = fill(s, "--from", numbers_file(0, 9), "--json");
    CHECK_INT(json_int(json_read(got.out), "parts"), 1);
    CHECK_INT(json_int(listed(s, "k"), "parts"), 1);
}

TEST(what_is_not_there_is_null) {
    struct outcome got = list(server_shared(), "nothing", "--json");
    const struct json *filter = line_of(got.out, "filter", "nothing");
    static const char *const unknown[] = {"items", "kind", "capacity", "bytes", "answers"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        test_case("%s", unknown[i]);
        CHECK(!json_field(filter, unknown[i]));
        CHECK(strstr(got.out, text_of("\"%s\":null", unknown[i])));
    }
}

/* A server of its own: a shared one may have lost a ready filter, which is a warning. */
TEST(a_watch_has_the_warnings_that_its_screen_has) {
    struct server *s = server_start();
    expect(client(s), "OK", "BF.RESERVE", "k", "0.001", "100", "LOADING");
    struct outcome got =
        program_run("watch", "--json", "--count", "1", "-p", program_port(s));
    const struct json *warnings = json_need(json_read(got.out), "warnings");
    CHECK_INT((int)warnings->count, 1);
    CHECK_STR(json_text(warnings->first, "filter"), "k");
    CHECK(strstr(json_text(warnings->first, "warning"), "nobody is at work on it"));
}

TEST(a_dry_run_prints_json_too) {
    struct outcome got =
        fill(server_shared(), "--from", numbers_file(0, 2000), "--dry-run", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_INT(json_int(json_read(got.out), "items"), 2000);
    CHECK_INT(json_int(json_read(got.out), "capacity"), 2400);
}
