/* SPDX-License-Identifier: BSD-3-Clause */

/* items.c - see items.h. */

#include "items.h"

#include "fill.h"
#include "harness.h"

#define QUESTION_ITEMS 1000

void items_add(struct items *items, const char *bytes, size_t length) {
    if (items->n == items->room) {
        items->room = items->room ? 2 * items->room : 1000;
        items->at = realloc(items->at, items->room * sizeof *items->at);
        if (!items->at) FAIL("no memory");
    }
    items->at[items->n++] = (struct item){bytes, length};
}

static int compare(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->length);
}

static long long count_different(struct items *items) {
    long long n = items->n > 0;
    if (items->n) qsort(items->at, items->n, sizeof *items->at, compare);
    for (size_t i = 1; i < items->n; i++)
        n += compare(&items->at[i - 1], &items->at[i]) != 0;
    return n;
}

static void check_are_there(redisContext *c, const struct item *at, size_t n) {
    const char *words[2 + QUESTION_ITEMS] = {"BF.MEXISTS", "k"};
    size_t lengths[2 + QUESTION_ITEMS] = {10, 1};
    for (size_t i = 0; i < n; i++) {
        words[2 + i] = at[i].bytes;
        lengths[2 + i] = at[i].length;
    }
    const redisReply *r = callv(c, n + 2, words, lengths);
    CHECK_INT(r->elements, n);
    for (size_t i = 0; i < n; i++)
        if (r->element[i]->integer != 1)
            FAIL("an item of %zu bytes is missing: %.100s", at[i].length, at[i].bytes);
}

void check_exactly(redisContext *c, struct items *items) {
    long long different = count_different(items);
    for (size_t i = 0; i < items->n; i += QUESTION_ITEMS)
        check_are_there(c, items->at + i,
                        items->n - i < QUESTION_ITEMS ? items->n - i : QUESTION_ITEMS);
    CHECK_INT(call_int(c, "BF.CARD", "k"), different);
}

void check_bars(redisContext *c, const char *bars) {
    struct items items = {0};
    for (size_t length; *bars; bars += length + (bars[length] == '|')) {
        length = strcspn(bars, "|");
        items_add(&items, bars, length);
    }
    test_defer(free, items.at);
    check_exactly(c, &items);
}

void expect_items(const struct good *cases, size_t n) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    for (size_t i = 0; i < n; i++) {
        test_case("%s", cases[i].fact);
        const char *const *o = cases[i].options;
        expect_filled(s, "--error", EXACT, "--from",
                      bytes_file(cases[i].bytes, cases[i].length), o[0], o[1], o[2], o[3]);
        check_bars(c, cases[i].items);
    }
}

void expect_refused(const struct bad *cases, size_t n) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_old(c);
    const char *before = filter_text(c, "k");
    for (size_t i = 0; i < n; i++) {
        test_case("%s", cases[i].fact);
        const char *const *o = cases[i].options;
        const char *path = bytes_file(cases[i].bytes, cases[i].length);
        struct outcome got = fill(s, "--from", path, o[0], o[1], o[2], o[3]);
        CHECK_INT(got.code, cases[i].code);
        if (!text_matches(got.err, cases[i].pattern)) FAIL("it said: %s", got.err);
        CHECK_STR(filter_text(c, "k"), before);
        CHECK(!is_rebuilding(c, "k"));
    }
}
