/* SPDX-License-Identifier: BSD-3-Clause */

/* items.h - tables of files, with the items that a fill makes of each, or its refusal.
 *
 *     {"the last may lack its end", {"--null"}, BYTES("1\0" "2"), "1|2"},
 *     {"a tab", {NULL}, BYTES("2\tx\n"), EXIT_ITEMS, "row 1: * has a tab*"}, */

#ifndef ITEMS_H
#define ITEMS_H

#include <hiredis/hiredis.h>
#include <stddef.h>

#define BYTES(text) text, sizeof(text) - 1

struct good {
    const char *fact;
    const char *options[4];
    const char *bytes;
    size_t length;
    const char *items; /* all of them; bars between them */
};

struct bad {
    const char *fact;
    const char *options[4];
    const char *bytes;
    size_t length;
    int code;
    const char *pattern; /* what it says; the filter stays what it was */
};

#define EXPECT_ITEMS(cases)   expect_items((cases), sizeof(cases) / sizeof *(cases))
#define EXPECT_REFUSED(cases) expect_refused((cases), sizeof(cases) / sizeof *(cases))

void expect_items(const struct good *cases, size_t n);
void expect_refused(const struct bad *cases, size_t n);

/* Their bytes are the caller's. */
struct items {
    struct item {
        const char *bytes;
        size_t length;
    } * at;
    size_t n, room;
};

void items_add(struct items *items, const char *bytes, size_t length);

/* The filter "k" has these and no other, if it was made with EXACT for an error rate: it
 * takes one item for another less than once in a million runs. Sorts them. */
#define EXACT "0.000000000001"
void check_exactly(redisContext *c, struct items *items);

/* The same, with bars between the items. */
void check_bars(redisContext *c, const char *bars);

#endif
