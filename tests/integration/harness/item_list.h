/* SPDX-License-Identifier: BSD-3-Clause */

/* item_list.h - many items of any bytes, and commands about them. */

#ifndef ITEM_LIST_H
#define ITEM_LIST_H

#include <hiredis/hiredis.h>
#include <stddef.h>

#include "files.h"
#include "json.h"

/* The arrays belong to the test, and so do the bytes, or they are constants. */
struct item_list {
    size_t n;
    const char **bytes;
    size_t *lengths;
};

/* None yet, with room for that many. */
struct item_list item_list_new(size_t room);
void item_list_put(struct item_list *items, const void *bytes, size_t length);

/* The prefix with each number. */
struct item_list item_list_numbered(const char *prefix, long from, long to_inclusive);

/* Each text of the list, in hex. */
struct item_list item_list_from_hex(const struct json *list);

/* The bytes of a text in hex, owned by the test. */
struct file bytes_from_hex(const char *text);

/* One command with the key and n items, ITEMS_AT_ONCE at most, from `first` on. */
#define ITEMS_AT_ONCE 2000
redisReply *with_items(redisContext *c, const char *command, const char *key,
                       const struct item_list *items, size_t first, size_t n);

#endif
