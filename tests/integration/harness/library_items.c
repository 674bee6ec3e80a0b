/* SPDX-License-Identifier: BSD-3-Clause */

/* library_items.c - items by rule; see library_items.h. */

#include "library_items.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *room_for(size_t bytes) {
    unsigned char *room = calloc(1, bytes + 1);
    test_defer(free, room);
    return room;
}

static struct item_list of_texts(const char *const *texts, size_t n) {
    struct item_list items = item_list_new(n);
    for (size_t i = 0; i < n; i++)
        item_list_put(&items, texts[i], strlen(texts[i]));
    return items;
}

#define TEXTS(...)                                                                         \
    of_texts((const char *const[]){__VA_ARGS__},                                           \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- bytes ---- */

static struct item_list none(long n) {
    (void)n;
    return item_list_new(0);
}

static struct item_list hello(long n) {
    (void)n;
    return TEXTS("hello");
}

static struct item_list hello_world(long n) {
    (void)n;
    return TEXTS("hello", "world");
}

static struct item_list keys(long n) {
    return item_list_numbered("key", 0, n - 1);
}

static struct item_list nokeys(long n) {
    return item_list_numbered("nokey", 0, n - 1);
}

/* The empty item, each byte, and longer ones with bytes of 128 and more. */
static struct item_list high_bytes(long n) {
    struct item_list items = item_list_new((size_t)n);
    unsigned char *at = room_for(256 + 52 * 8 * 9);
    item_list_put(&items, "", 0);
    for (unsigned byte = 0; byte < 256; byte++, at++) {
        *at = (unsigned char)byte;
        item_list_put(&items, at, 1);
    }
    for (unsigned first = 0; first < 256; first += 5)
        for (unsigned length = 2; length < 10; length++, at += 9) {
            for (unsigned i = 0; i < length; i++)
                at[i] = (unsigned char)(first + 37 * i);
            item_list_put(&items, at, length);
        }
    return items;
}

static void put_number(struct item_list *items, unsigned char *at, uint32_t number,
                       bool big) {
    for (unsigned i = 0; i < 4; i++)
        at[big ? 3 - i : i] = (unsigned char)(number >> (8 * i));
    item_list_put(items, at, 4);
}

static struct item_list little_numbers(long n) {
    struct item_list items = item_list_new((size_t)n);
    unsigned char *at = room_for(4 * (size_t)n);
    for (long i = 0; i < n; i++)
        put_number(&items, at + 4 * i, (uint32_t)i, false);
    return items;
}

static struct item_list scattered(long n, uint32_t more) {
    struct item_list items = item_list_new((size_t)n);
    unsigned char *at = room_for(4 * (size_t)n);
    for (long i = 0; i < n; i++)
        put_number(&items, at + 4 * i, (uint32_t)i * 2654435761u + more, true);
    return items;
}

static struct item_list scattered_numbers(long n) {
    return scattered(n, 0);
}

static struct item_list next_to_scattered(long n) {
    return scattered(n, 1);
}

static struct item_list runs_of_a(long n) {
    struct item_list items = item_list_new((size_t)n);
    unsigned char *all = room_for((size_t)n);
    memset(all, 'a', (size_t)n);
    for (long i = 0; i < n; i++)
        item_list_put(&items, all, (size_t)i);
    return items;
}

static struct item_list byte_arrays(long n) {
    struct item_list items = item_list_new((size_t)n);
    for (long i = 0; i < n; i++) {
        unsigned char *at = room_for(40);
        for (long j = 0; j < i % 40; j++)
            at[j] = (unsigned char)(7 * i + 31 * j);
        item_list_put(&items, at, (size_t)(i % 40));
    }
    return items;
}

/* ---- what is encoded ---- */

static struct item_list in_steps(long n, long long start, long long step) {
    struct item_list items = item_list_new((size_t)n);
    for (long i = 0; i < n; i++) {
        const char *text = text_of("%lld", start + i * step);
        item_list_put(&items, text, strlen(text));
    }
    return items;
}

static struct item_list long_steps(long n) {
    return in_steps(n, -500000000, 1000003);
}

static struct item_list beside_long_steps(long n) {
    return in_steps(n, -499999999, 1000003);
}

static struct item_list around_zero(long n) {
    return in_steps(n, -500, 1);
}

static struct item_list from_500(long n) {
    return in_steps(n, 500, 1);
}

/* Half of a pair is no text in UTF-8. Java encodes it as '?' there, and as itself in
 * UTF-16, which no client can say. */
#define ODD_TEXTS "", "\xc3\xa9", "\xe6\xbc\xa2\xe5\xad\x97", "\xf0\x9f\x98\x80"

static struct item_list odd(struct item_list texts) {
    struct item_list items = item_list_new(texts.n + 1);
    for (size_t i = 0; i < texts.n; i++)
        item_list_put(&items, texts.bytes[i], texts.lengths[i]);
    item_list_put(&items, "a\0b", 3);
    return items;
}

static struct item_list odd_texts(long n) {
    (void)n;
    return odd(TEXTS(ODD_TEXTS, "?"));
}

static struct item_list odd_units(long n) {
    (void)n;
    return odd(TEXTS(ODD_TEXTS));
}

static struct item_list question_mark(long n) {
    (void)n;
    return TEXTS("?");
}

/* ---- what a Go program prints ---- */

static struct item_list one_to(long n) {
    return in_steps(n, 1, 1);
}

static struct item_list beyond_1000(long n) {
    return in_steps(n, 1001, 1);
}

static struct item_list printed(long n) {
    (void)n;
    return TEXTS("", "a", "-1", "1.5", "1e+21", "true", "[104 105]", "<nil>");
}

static struct item_list printed_or_not(long n) {
    (void)n;
    return TEXTS("-1", "1.5", "1e+21", "true", "[104 105]", "<nil>", "hi");
}

/* ---- by name ---- */

static const struct {
    const char *name; /* or how it begins */
    struct item_list (*make)(long n);
} rules[] = {
    {"none", none},
    {"one", hello},
    {"two", hello_world},
    {"key", keys},
    {"high", high_bytes},
    {"u32le1000", little_numbers},
    {"a10000", runs_of_a},
    {"nokey", nokeys},
    {"uint32(i*2654435761),", scattered_numbers},
    {"uint32(i*2654435761+1),", next_to_scattered},
    {"i = 0..299: i % 40 bytes", byte_arrays},
    {"i*1000003 - 500000000", long_steps},
    {"i*1000003 - 499999999", beside_long_steps},
    {"i - 500", around_zero},
    {"i + 500", from_500},
    {"'', U+00E9,", odd_texts},
    {"the same, each char as 2 bytes", odd_units},
    {"'?'", question_mark},
    {"int 1..1000", one_to},
    {"int 1001..1500", beyond_1000},
    {"\"\", \"a\", -1", printed},
    {"the texts -1, 1.5", printed_or_not},
};

struct item_list library_items(const char *rule, long n) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strncmp(rule, rules[i].name, strlen(rules[i].name)) == 0)
            return rules[i].make(n);
    FAIL("there is no rule \"%s\"", rule);
}
