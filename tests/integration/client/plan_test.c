/* SPDX-License-Identifier: BSD-3-Clause */

/* plan_test.c - bulwark plan: what it promises is what a server takes. */

#include "harness.h"
#include "files.h"
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

static void check_kind(redisContext *c, const struct json *kind, const char *items,
                       const char *error) {
    if (json_field(kind, "refused")) {
        expect_refusal(c, "(error) ERR *", "BF.RESERVE", "k", error, items, "KIND",
                       kind->name);
        return;
    }
    expect(c, "OK", "BF.RESERVE", "k", error, items, "KIND", kind->name);
    if (strcmp(kind->name, "lines") == 0) check_cost(c, kind);
    const redisReply *layer =
        reply_field(call(c, "BF.INFO", "k", "FULL"), "Layers")->element[0];
    CHECK_INT(json_int(kind, "bytes"), reply_field(layer, "Bytes")->integer);
    call(c, "DEL", "k");
}

TEST(a_plan_is_what_the_server_reserves) {
    static const char *const wishes[][2] = {
        {"1", "0.5"},         {"1000", "0.001"},    {"77777", "0.3"}, {"1000", "1e-12"},
        {"5000000", "0.012"}, {"20000000", "1e-6"}, {"1", "0.95"},
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
        JSON_EACH(kind, others)
        check_kind(c, kind, n, e);
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

TEST(a_kind_that_never_grows_is_said_to) {
    const struct json *p = plan("1000", "0.01"), *never = json_need(p, "never_grow");
    const char *text = program_run("plan", "1000", "0.01").out;
    redisContext *c = client(server_shared());
    CHECK(never->count > 0);
    JSON_EACH(kind, never) {
        test_case("%s", kind->text);
        CHECK(strstr(text, text_of("  KIND %s, fixed ", kind->text)));
        expect_refusal(c, "(error) ERR filters of this kind never grow", "BF.RESERVE", "k",
                       "0.01", "1000", "KIND", kind->text, "EXPANSION", "2");
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

TEST(a_plan_for_a_memory_has_the_least_rate_that_fits) {
    redisContext *c = client(server_shared());
    static const struct {
        const char *items, *memory;
        long long bytes;
    } table[] = {
        {"1", "64", 64},
        {"1000", "2000", 2000},
        {"1000000", "1.5MiB", 1572864},
        {"1000000", "4M", 4000000},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        test_case("%s items in %s", table[i].items, table[i].memory);
        const struct json *p = json_read(
            program_run("plan", table[i].items, "--memory", table[i].memory, "--json").out);
        const char *rate = json_need(p, "error_rate")->text;
        expect(c, "OK", "BF.RESERVE", "k", rate, table[i].items, "NONSCALING");
        check_cost(c, json_need(p, "nonscaling"));
        CHECK_INT(json_int(p, "memory"), table[i].bytes);
        CHECK(json_int(json_need(p, "nonscaling"), "bytes") <= table[i].bytes);
        call(c, "DEL", "k");

        /* A rate that is two hundredths less doesn't fit. */
        const char *less = text_of("%.6g", json_need(p, "error_rate")->number / 1.02);
        if (i == 0) continue; /* no filter keeps less */
        const struct json *more = json_need(plan(table[i].items, less), "nonscaling");
        CHECK(json_int(more, "bytes") > table[i].bytes);
    }
}

TEST(a_plan_for_a_memory_has_the_textbooks_numbers) {
    struct outcome got = program_run("plan", "2G", "--memory", "500MiB");
    CHECK(strstr(got.out, "  textbook                     500 MiB        2.10           2 "
                          "          2.65\n"));
    CHECK(strstr(got.out, "  hashes        1        2        3"));
    CHECK(strstr(got.out, "  rate      0.379    0.378     0.44"));
    CHECK(strstr(got.out, "BF.RESERVE users 0.38 2000000000 NONSCALING\n"));
    check_screen(got.out);
}

TEST(parts_share_the_memory) {
    struct outcome got =
        program_run("plan", "1M", "--memory", "2MiB", "--parts", "128", "--json");
    long long bytes = json_int(json_need(json_read(got.out), "parts"), "bytes");
    CHECK(bytes <= 2 << 20);
    CHECK(bytes > (2 << 20) * .97); /* each part has whole lines */
}
