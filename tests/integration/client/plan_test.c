/* SPDX-License-Identifier: BSD-3-Clause */

/* plan_test.c - bulwark plan: what it promises is what a server takes. */

#include "harness.h"
#include "json.h"
#include "textbook.h"

#include <math.h>

static const struct json *plan(const char *items, const char *error) {
    struct outcome got = program_run("plan", items, error, "--json");
    CHECK_STR(got.err, "");
    CHECK_INT(got.code, 0);
    return json_read(got.out);
}

/* What the server says of the filter k. */
static void check_cost(redisContext *c, const struct json *cost) {
    const redisReply *layers = reply_field(call(c, "BF.INFO", "k", "FULL"), "Layers");
    long long bytes = 0;
    for (size_t i = 0; i < layers->elements; i++)
        bytes += reply_field(layers->element[i], "Bytes")->integer;

    CHECK_INT(json_int(cost, "layers"), (long long)layers->elements);
    CHECK_INT(json_int(cost, "bytes"), bytes);
    long long size = reply_field(call(c, "BF.INFO", "k"), "Size")->integer;
    CHECK(size >= bytes && size < bytes + 1024);
}

TEST(a_plan_is_what_the_server_reserves) {
    static const char *const wishes[][2] = {
        {"1", "0.5"},      {"1000", "0.001"},    {"77777", "0.3"},
        {"1000", "1e-12"}, {"5000000", "0.012"}, {"20000000", "1e-6"},
    };
    redisContext *c = client(server_shared());
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        const char *n = wishes[i][0], *e = wishes[i][1];
        test_case("%s items, %s", n, e);
        const struct json *p = plan(n, e), *others = json_need(p, "kinds");

        expect(c, "OK", "BF.RESERVE", "k", e, n);
        check_cost(c, json_need(p, "grows"));
        call(c, "DEL", "k");
        expect(c, "OK", "BF.RESERVE", "k", e, n, "NONSCALING");
        check_cost(c, json_need(p, "nonscaling"));
        call(c, "DEL", "k");
        JSON_EACH(kind, others) {
            expect(c, "OK", "BF.RESERVE", "k", e, n, "KIND", kind->name);
            if (strcmp(kind->name, "lines") == 0) check_cost(c, kind);
            const redisReply *layer =
                reply_field(call(c, "BF.INFO", "k", "FULL"), "Layers")->element[0];
            CHECK_INT(json_int(kind, "bytes"), reply_field(layer, "Bytes")->integer);
            call(c, "DEL", "k");
        }
    }
}

TEST(a_filter_that_was_too_small_becomes_what_the_plan_says) {
    redisContext *c = client(server_shared());
    const struct json *sizes = json_need(plan("1000", "0.01"), "if_more_come");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000");

    /* The last layer that the plan has for so many items has begun; a hundredth of them
     * may be taken for known ones. */
    long from = 0;
    JSON_EACH(size, sizes) {
        long items = (long)json_int(size, "items");
        test_case("%ld items", items);
        add_numbers(c, "k", from, items);
        from = items;
        check_cost(c, json_need(size, "grown"));
    }
    CHECK_INT(from, 10000);
}

TEST(a_plan_has_the_error_that_is_measured) {
    redisContext *c = client(server_shared());
    const struct json *p = plan("50000", "0.02");
    expect(c, "OK", "BF.RESERVE", "k", "0.02", "50000");
    add_numbers(c, "k", 0, 50000);

    long asked = 200000, passed = asked - count_missing(c, "k", 50000, 50000 + asked);
    double error = json_need(json_need(p, "grows"), "estimated_error_rate")->number;
    /* Five sigmas, and the few per cent by which one filter differs from another. */
    CHECK_NEAR((double)passed / (double)asked, error,
               5 * sqrt(error / (double)asked) + 0.05 * error);
}

TEST(a_plan_shows_the_textbooks_bound) {
    const struct json *p = plan("50M", "0.001");
    CHECK_NEAR(json_need(p, "textbook_bits_per_item")->number,
               textbook_bits_per_item(0.001), 1e-3);
    CHECK(json_need(json_need(p, "nonscaling"), "bits_per_item")->number > 14.3);
}

TEST(a_plan_for_parts_is_the_sum_of_what_each_takes) {
    redisContext *c = client(server_shared());
    struct outcome got = program_run("plan", "1M", "0.001", "--parts", "128", "--json");
    const struct json *parts = json_need(json_read(got.out), "parts"),
                      *each = json_need(parts, "each");
    /* 1e6/128 and four standard deviations. */
    CHECK_INT(json_int(parts, "capacity_of_each"), 8167);
    CHECK_INT(json_int(parts, "bytes"), 128 * json_int(each, "bytes"));

    expect(c, "OK", "BF.RESERVE", "k", "0.001", "8167");
    check_cost(c, each);
}

static void check_screen(const char *text) {
    int lines = 0;
    for (const char *line = text; *line; lines++) {
        size_t length = strcspn(line, "\n");
        if (length > 80) FAIL("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (lines > 30) FAIL("%d lines:\n%s", lines, text);
}

TEST(a_plan_fits_a_screen) {
    static const char *const wishes[][2] = {
        {"1", "0.9999999"}, {"50M", "0.001"}, {"1099G", "0.0000003"}, {"1000G", "1e-6"}};
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        test_case("%s items, %s", wishes[i][0], wishes[i][1]);
        struct outcome got =
            program_run("plan", wishes[i][0], wishes[i][1], "--parts", "16384");
        CHECK_INT(got.code, 0);
        check_screen(got.out);
    }
}

TEST(a_rate_that_only_a_filter_of_fixed_size_keeps_is_planned_so) {
    struct outcome got = program_run("plan", "1000G", "3e-7");
    CHECK_INT(got.code, 0);
    CHECK(strstr(got.out, "may grow                refused: "));
    CHECK(strstr(got.out, "BF.RESERVE users 3e-7 1000000000000 NONSCALING\n"));

    /* The hash is one of each key. */
    got = program_run("plan", "1000G", "3e-8", "--parts", "1000");
    CHECK(strstr(got.out, "NONSCALING              refused: "));
    CHECK(strstr(got.out, "BF.RESERVE users:{TAG} 3e-8 1000126492\n"));
}
