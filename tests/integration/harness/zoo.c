/* SPDX-License-Identifier: BSD-3-Clause */

/* zoo.c - filters of every sort; see zoo.h. */

#include "zoo.h"

#include "files.h"
#include "samples.h"
#include "harness.h"
#include "kind.h"
#include "kind_options.h"

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
};

enum { RESERVED = sizeof reserved / sizeof *reserved };

/* Of each kind that never grows: an empty one, and one over capacity. */
static void fill_single(redisContext *c, const struct kind *kind) {
    expectf(c, "OK",
            text_of("BF.RESERVE %s,empty 0.01 1000 %s", kind->name, kind_options(kind)));
    expectf(c, "OK",
            text_of("BF.RESERVE %s,exceeded 0.001 300 %s", kind->name, kind_options(kind)));
    add_numbers(c, text_of("%s,exceeded", kind->name), 0, 500);
}

static const char *const merged[] = {"grown", "redisbloom, grown", "valkeybloom, grown",
                                     "guava,exceeded"};

enum { MERGED = sizeof merged / sizeof *merged };

static const char *name_merged(int i) {
    return text_of("%s, merged", merged[i]);
}

static void fill_with_merged_and_imported(redisContext *c) {
    for (int i = 0; i < MERGED; i++) {
        expect(c, "#t", "BF.MERGE", name_merged(i), merged[i]);
        add_numbers(c, name_merged(i), 5000, 5010);
    }
    for (size_t i = 0; i < SAMPLES; i++)
        import_sample(c, text_of("imported %zu", i), &samples[i]);
}

static void check_merged_and_imported(redisContext *c) {
    for (int i = 0; i < MERGED; i++) {
        CHECK_INT(count_missing(c, name_merged(i), 0, 500), 0);
        CHECK_INT(count_missing(c, name_merged(i), 5000, 5010), 0);
    }
    for (size_t i = 0; i < SAMPLES; i++)
        expect(c, "[#t, #t]", "BF.MEXISTS", text_of("imported %zu", i),
               samples[i].member[0], samples[i].member[1]);
}

static const char odd_item[] = {0, '\r', '\n', (char)0xff, 0};

void zoo_fill(redisContext *c) {
    for (int i = 0; i < RESERVED; i++) {
        expect(c, "OK", "BF.RESERVE", reserved[i].key, reserved[i].error,
               reserved[i].capacity, "EXPANSION", reserved[i].expansion, "KIND",
               reserved[i].kind ? reserved[i].kind : "lines");
        add_numbers(c, reserved[i].key, 0, reserved[i].items);
    }
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->exceeds) fill_single(c, kinds[i]);
    expect(c, "#t", "BF.ADD", "made by an add", "anna");
    expectf(c, "[#t, #t]", "BF.INSERT odd ITEMS %s %b", "", odd_item, sizeof odd_item);

    const struct dump *d = dump_filter(c, "several chunks");
    load_filter(c, "loaded", d);
    load_pieces(c, "partial", d, 0, 2);

    d = dump_filter(c, "redisbloom, large");
    load_filter(c, "redisbloom, loaded", d);
    load_pieces(c, "redisbloom, partial", d, 0, 2);
    load_filter(c, "valkeybloom, loaded", dump_filter(c, "valkeybloom, grown"));
    fill_with_merged_and_imported(c);
}

void zoo_check_members(redisContext *c) {
    for (int i = 0; i < RESERVED; i++)
        CHECK_INT(count_missing(c, reserved[i].key, 0, reserved[i].items), 0);
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->exceeds)
            CHECK_INT(count_missing(c, text_of("%s,exceeded", kinds[i]->name), 0, 500), 0);
    expect(c, "#t", "BF.EXISTS", "made by an add", "anna");
    expectf(c, "[#t, #t]", "BF.MEXISTS odd %s %b", "", odd_item, sizeof odd_item);
    CHECK_INT(count_missing(c, "loaded", 0, 5000), 0);
    CHECK_INT(count_missing(c, "partial", 0, 10000), 0);
    CHECK_INT(count_missing(c, "redisbloom, loaded", 0, 5000), 0);
    CHECK_INT(count_missing(c, "redisbloom, partial", 0, 10000), 0);
    CHECK_INT(count_missing(c, "valkeybloom, loaded", 0, 6000), 0);
    check_merged_and_imported(c);
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
