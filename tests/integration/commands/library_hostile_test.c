/* SPDX-License-Identifier: BSD-3-Clause */

/* library_hostile_test.c - filters of other libraries, from someone who means harm or has
 * bad luck. */

#include <sys/resource.h>

#include "files.h"
#include "harness.h"

/* Address space that the server has taken. */
static unsigned long long taken_by(const struct server *s) {
    char path[64], line[256];
    unsigned long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)s->pid);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmSize: %llu", &kib) == 1) break;
    fclose(f);
    CHECK(kib > 0);
    return kib << 10;
}

static void leave_it(const struct server *s, unsigned long long bytes) {
    struct rlimit most = {taken_by(s) + bytes, RLIM_INFINITY};
    CHECK_INT(prlimit(s->pid, RLIMIT_AS, &most, NULL), 0);
}

/* There is room for the bytes, and none for a reply of them. */
TEST(an_export_without_memory_for_it_is_refused) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "large", "0.01", "100000000", "KIND", "guava");
    expect(c, "OK", "BF.RESERVE", "small", "0.01", "100", "KIND", "guava");
    leave_it(s, 180 << 20);
    expect_refusal(c, NO_MEMORY, "BF.EXPORT", "large");
    CHECK_INT(call(c, "BF.EXPORT", "small")->type, REDIS_REPLY_STRING);
}

/* ---- items that take twice their length while they are encoded ---- */

/* As long as a block of the allocator, with what the server puts around it. */
enum { LONG_ITEM = (64 << 20) - 1024 };

#define NO_ROOM "(error) ERR insufficient memory to encode item 'xxx*'"

/* A filter "k" of text; and of numbers, with a rebuild to text under way, token in hand. */
static const char *make_texts(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "guava", "ENCODE", "utf16",
           "READY");
    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.RESERVE", "raw", "0.01", "100");
    expect(c, "OK", "BF.RESERVE", "rebuilt", "0.01", "100", "READY");
    return call(c, "BF.REBUILD", "rebuilt", "START", "KIND", "guava", "ENCODE", "utf16")
        ->str;
}

static const char *long_item(void) {
    char *item = malloc(LONG_ITEM + 1);
    CHECK(item != NULL);
    memset(item, 'x', LONG_ITEM);
    item[LONG_ITEM] = 0;
    test_defer(free, item);
    return item;
}

/* A sanitizer's runtime keeps what was freed for a while, and takes more instead: here it
 * doesn't. */
static struct server *start_thrifty(void) {
    if (!getenv("ASAN_OPTIONS")) return server_start();
    const char *given = text_of("%s", getenv("ASAN_OPTIONS"));
    setenv("ASAN_OPTIONS", text_of("%s:quarantine_size_mb=0", given), 1);
    struct server *s = server_start();
    setenv("ASAN_OPTIONS", given, 1);
    return s;
}

/* There is memory for the item itself and for the server's next one, which it makes room
 * for at once, and none for UTF-16. */
static redisContext *cramped(const struct server *s, redisContext *c) {
    leave_it(s, LONG_ITEM * 9ULL / 4);
    return c;
}

TEST(an_item_without_memory_to_encode_it_is_an_error_and_never_a_no) {
    struct server *s = start_thrifty();
    redisContext *c = client(s);
    const char *token = make_texts(c), *item = long_item();
    for (int i = 0; i < 3; i++) /* what arriving takes, its allocator keeps */
        expect(c, "[0, 0]", "BF.MEXISTS", "raw", "bob", item);

    expect_refusal(cramped(s, c), NO_ROOM, "BF.ADD", "k", item);
    expect_refusal(cramped(s, c), "[" NO_ROOM "]", "BF.MADD", "k", item);
    expect_refusal(cramped(s, c), "[" NO_ROOM "]", "BF.INSERT", "k", "ITEMS", item);
    expect_refusal(cramped(s, c), NO_ROOM, "BF.ADD", "rebuilt", item);
    expect_refusal(cramped(s, c), NO_ROOM, "BF.REBUILD", "rebuilt", "LOAD", token, item);
    expect_like(cramped(s, c), NO_ROOM, "BF.EXISTS", "k", item);
    expect_like(cramped(s, c), "[0, " NO_ROOM ", 1]", "BF.MEXISTS", "k", "bob", item,
                "anna");
    expect_like(cramped(s, c), NO_ROOM, "BF.CHECK", "k", item);
    expect_like(cramped(s, c), "[" NO_ROOM ", absent]", "BF.MCHECK", "k", item, "bob");
    expect_like(cramped(s, c), NO_ROOM, "BF.GUARD", "k", "none", item);
    expect_like(cramped(s, c), "[1, " NO_ROOM ", 1]", "BF.MADD", "k", "bob", item, "carol");

    leave_it(s, 1ULL << 30);
    expect(c, "1", "BF.ADD", "k", item);
    expect(c, "maybe", "BF.CHECK", "k", item);
}

/* A block of items takes no more than the longest of them. */
TEST(many_long_items_are_encoded_one_after_the_other) {
    enum { ITEMS = 12 };
    struct server *s = start_thrifty();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "guava", "ENCODE", "utf16");
    size_t length = LONG_ITEM / 8;
    char *item = strndup(long_item(), length);
    test_defer(free, item);
    const char *argv[ITEMS + 2] = {"BF.MADD", "k"};
    for (int i = 0; i < ITEMS; i++)
        argv[i + 2] = item;

    leave_it(s, (2 * ITEMS + 6) * length);

    const redisReply *r = callv(c, ITEMS + 2, argv, NULL);
    CHECK_INT(r->elements, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        CHECK_INT(r->element[i]->type, REDIS_REPLY_INTEGER);
}
