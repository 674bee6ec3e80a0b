/* SPDX-License-Identifier: BSD-3-Clause */

/* zoo.c - filters of every sort; see zoo.h. */

#include "zoo.h"

#include "files.h"
#include "forms.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* key, error, capacity, expansion, numbers added, kind if not the native one */
static const struct {
    const char *key, *error, *capacity, *expansion;
    long items;
    const char *kind;
} reserved[] = {
    {"empty", "0.01", "1000", "2", 0, NULL},
    {"well-sized", "0.01", "5000", "2", 4000, NULL},
    {"full", "0.000001", "100", "0", 100, NULL},
    {"grown", "0.01", "20", "2", 6000, NULL},
    {"in equal steps", "0.001", "50", "1", 1000, NULL},
    {"coarse", "0.4", "3000", "2", 4000, NULL},
    {"fine", "0.000000001", "300", "3", 1000, NULL},
    {"one bit or two", "0.9", "1", "2", 5, NULL},
    {"several chunks", "0.01", "2000000", "2", 5000, NULL},
    {"redisbloom, empty", "0.01", "1000", "2", 0, "redisbloom"},
    {"redisbloom, grown", "0.01", "20", "2", 6000, "redisbloom"},
    {"redisbloom, full", "0.001", "100", "0", 100, "redisbloom"},
    {"redisbloom, large", "0.01", "1500000", "2", 5000, "redisbloom"},
    {"valkeybloom, empty", "0.01", "1000", "2", 0, "valkeybloom"},
    {"valkeybloom, grown", "0.01", "20", "2", 6000, "valkeybloom"},
    {"valkeybloom, full", "0.001", "100", "0", 100, "valkeybloom"},
    {"leveldb, empty", "0.01", "1000", "0", 0, "leveldb"},
    {"leveldb, large", "0.01", "2000000", "0", 5000, "leveldb"},
    {"clickhouse", "0.01", "1000", "0", 2000, "clickhouse"},
    {"guava, large", "0.01", "2000000", "0", 5000, "guava"},
    {"crc32", "0.01", "1000", "0", 2000, "crc32"},
};

enum { RESERVED = sizeof reserved / sizeof *reserved };

/* What else a library's filter may be. */
static const char *const encoded[][7] = {
    {"of int64", "KIND", "guava", "VARIANT", "mitz32", "ENCODE", "int64"},
    {"of int32", "KIND", "leveldb", "VARIANT", "signed", "ENCODE", "int32"},
    {"of utf16", "KIND", "clickhouse", "SEED", "18446744073709551615", "ENCODE", "utf16"},
};

enum { ENCODED = sizeof encoded / sizeof *encoded, ENCODED_ITEMS = 1500 };

static void fill_with_libraries(redisContext *c) {
    for (int i = 0; i < ENCODED; i++) {
        const char *argv[10] = {"BF.RESERVE", encoded[i][0], "0.01", "1000"};
        for (int j = 1; j < 7; j++)
            argv[3 + j] = encoded[i][j];
        CHECK_STR(callv(c, 10, argv, NULL)->str, "OK");
        add_numbers(c, encoded[i][0], 0, ENCODED_ITEMS);
    }
    for (size_t i = 0; i < FORMS; i++)
        import_form(c, text_of("imported %zu", i), &forms[i]);
    const struct dump *d = dump_filter(c, "guava, large");
    load_filter(c, "guava, loaded", d);
    load_pieces(c, "guava, partial", d, 0, 2);
}

static const char *const merged[] = {"grown", "redisbloom, grown", "valkeybloom, grown",
                                     "guava, large"};

enum { MERGED = sizeof merged / sizeof *merged };

static const char *name_merged(int i) {
    return text_of("%s, merged", merged[i]);
}

static void fill_with_merged(redisContext *c) {
    for (int i = 0; i < MERGED; i++) {
        expect(c, "#t", "BF.MERGE", name_merged(i), merged[i]);
        add_numbers(c, name_merged(i), 5000, 5010);
    }
}

static void check_more_members(redisContext *c) {
    for (int i = 0; i < ENCODED; i++)
        CHECK_INT(count_missing(c, encoded[i][0], 0, ENCODED_ITEMS), 0);
    for (size_t i = 0; i < FORMS; i++)
        expect(c, "[#t, #t]", "BF.MEXISTS", text_of("imported %zu", i), forms[i].member[0],
               forms[i].member[1]);
    for (int i = 0; i < MERGED; i++)
        CHECK_INT(count_missing(c, name_merged(i), 0, 5010), 0);
    CHECK_INT(count_missing(c, "guava, loaded", 0, 5000), 0);
    CHECK_INT(count_missing(c, "guava, partial", 0, 10000), 0);
}

static const char odd_item[] = {0, '\r', '\n', (char)0xff, 0};

void zoo_fill(redisContext *c) {
    for (int i = 0; i < RESERVED; i++) {
        expect(c, "OK", "BF.RESERVE", reserved[i].key, reserved[i].error,
               reserved[i].capacity, "EXPANSION", reserved[i].expansion, "KIND",
               reserved[i].kind ? reserved[i].kind : "lines");
        add_numbers(c, reserved[i].key, 0, reserved[i].items);
    }
    expect(c, "#t", "BF.ADD", "made by an add", "anna");
    expectf(c, "[#t, #t]", "BF.INSERT odd ITEMS %s %b", "", odd_item, sizeof odd_item);

    const struct dump *d = dump_filter(c, "several chunks");
    load_filter(c, "loaded", d);
    load_pieces(c, "partial", d, 0, 2);

    d = dump_filter(c, "redisbloom, large");
    load_filter(c, "redisbloom, loaded", d);
    load_pieces(c, "redisbloom, partial", d, 0, 2);
    load_filter(c, "valkeybloom, loaded", dump_filter(c, "valkeybloom, grown"));
    fill_with_libraries(c);
    fill_with_merged(c);
}

void zoo_check_members(redisContext *c) {
    for (int i = 0; i < RESERVED; i++)
        CHECK_INT(count_missing(c, reserved[i].key, 0, reserved[i].items), 0);
    expect(c, "#t", "BF.EXISTS", "made by an add", "anna");
    expectf(c, "[#t, #t]", "BF.MEXISTS odd %s %b", "", odd_item, sizeof odd_item);
    CHECK_INT(count_missing(c, "loaded", 0, 5000), 0);
    CHECK_INT(count_missing(c, "partial", 0, 10000), 0);
    CHECK_INT(count_missing(c, "redisbloom, loaded", 0, 5000), 0);
    CHECK_INT(count_missing(c, "redisbloom, partial", 0, 10000), 0);
    CHECK_INT(count_missing(c, "valkeybloom, loaded", 0, 6000), 0);
    check_more_members(c);
}

void zoo_check_partial(redisContext *c) {
    long long before = changes(c);
    expect(c, PARTIAL, "BF.ADD", "partial", "anna");
    expect(c, PARTIAL, "BF.MADD", "partial", "anna", "bob");
    expect(c, PARTIAL, "BF.INSERT", "partial", "ITEMS", "anna");
    expect(c, PARTIAL, "BF.ADD", "redisbloom, partial", "anna");
    CHECK_INT(changes(c), before);
}

void zoo_complete_partial(redisContext *c) {
    const struct dump *d = dump_filter(c, "several chunks");
    load_pieces(c, "partial", d, 2, d->npieces);
    CHECK_DUMP(dump_filter(c, "partial"), d);

    const struct dump *r = dump_filter(c, "redisbloom, large");
    load_pieces(c, "redisbloom, partial", r, 2, r->npieces);
    CHECK_DUMP(dump_filter(c, "redisbloom, partial"), r);
    expect(c, "MBbloom--", "TYPE", "redisbloom, partial");
    CHECK(count_missing(c, "partial", 100000, 110000) > 9800);
}

static int by_name(const void *a, const void *b) {
    const redisReply *const *x = a, *const *y = b;
    return strcmp((*x)->str, (*y)->str);
}

const char *zoo_state(redisContext *c) {
    redisReply *keys = call(c, "KEYS", "*");
    if (keys->elements)
        qsort(keys->element, keys->elements, sizeof *keys->element, by_name);

    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    for (size_t i = 0; i < keys->elements; i++)
        fprintf(out, "%s: %s\n", keys->element[i]->str,
                key_state(c, keys->element[i]->str));
    fclose(out);
    test_defer(free, text);
    return text;
}
