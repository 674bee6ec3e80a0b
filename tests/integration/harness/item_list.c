/* SPDX-License-Identifier: BSD-3-Clause */

/* item_list.c - many items of any bytes; see item_list.h. */

#include "item_list.h"

#include "check.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>

struct item_list item_list_new(size_t room) {
    struct item_list items = {0, calloc(room + 1, sizeof(char *)),
                              calloc(room + 1, sizeof(size_t))};
    test_defer(free, items.bytes);
    test_defer(free, items.lengths);
    return items;
}

void item_list_put(struct item_list *items, const void *bytes, size_t length) {
    items->bytes[items->n] = bytes;
    items->lengths[items->n++] = length;
}

struct item_list item_list_numbered(const char *prefix, long from, long to_inclusive) {
    struct item_list items = item_list_new((size_t)(to_inclusive - from) + 1);
    for (long i = from; i <= to_inclusive; i++) {
        const char *text = text_of("%s%ld", prefix, i);
        item_list_put(&items, text, strlen(text));
    }
    return items;
}

struct file bytes_from_hex(const char *text) {
    struct file bytes = {NULL, strlen(text) / 2};
    bytes.bytes = malloc(bytes.length + 1);
    test_defer(free, bytes.bytes);
    for (size_t i = 0; i < bytes.length; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        bytes.bytes[i] = (char)strtol(digits, NULL, 16);
    }
    return bytes;
}

struct item_list item_list_from_hex(const struct json *list) {
    struct item_list items = item_list_new(list->count);
    JSON_EACH(item, list) {
        struct file bytes = bytes_from_hex(item->text);
        item_list_put(&items, bytes.bytes, bytes.length);
    }
    return items;
}

redisReply *with_items(redisContext *c, const char *command, const char *key,
                       const struct item_list *items, size_t first, size_t n) {
    const char *argv[ITEMS_AT_ONCE + 2] = {command, key};
    size_t lengths[ITEMS_AT_ONCE + 2] = {strlen(command), strlen(key)};
    memcpy(argv + 2, items->bytes + first, n * sizeof *argv);
    memcpy(lengths + 2, items->lengths + first, n * sizeof *lengths);
    return callv(c, n + 2, argv, lengths);
}
