/* SPDX-License-Identifier: BSD-3-Clause */

/* truncation_test.c - an AOF that ends in the middle of a command.
 *
 * A machine that loses power leaves such a file. The server drops the incomplete
 * end and goes on; whatever is left must be a filter that some moment has seen:
 * never one that grew without the item that made it grow, or the other way round. */

#include "harness.h"

#define AOF "appendonly yes\naof-use-rdb-preamble no\naof-load-truncated yes\n"

static char whole[1 << 16];

static long read_whole(const char *path) {
    FILE *in = fopen(path, "r");
    size_t len = fread(whole, 1, sizeof whole, in);
    fclose(in);
    CHECK(len < sizeof whole);
    return (long)len;
}

/* The server has cut off what it could not read, and added to the rest. */
static void write_beginning(const char *path, long len) {
    FILE *out = fopen(path, "w");
    fwrite(whole, 1, (size_t)len, out);
    fclose(out);
}

enum { BEFORE = 8, MADDS = 4, A_MADD = 8 };

/* Adds of one item and then of several, most of which make the filter grow. */
static void fill(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "1", "EXPANSION", "1");
    for (int i = 0; i < BEFORE; i++)
        expectf(c, "1", "BF.ADD k %d", i);
    for (int i = 0; i < MADDS; i++)
        add_numbers(c, "k", BEFORE + i * A_MADD, BEFORE + (i + 1) * A_MADD);
}

/* Items are added in order, so what was accepted is a beginning of them. */
static void check_sound(redisContext *c) {
    long long items = call_int(c, "BF.CARD", "k");
    CHECK_INT(count_missing(c, "k", 0, (long)items), 0);
    CHECK(items <= BEFORE || (items - BEFORE) % A_MADD == 0);
    if (items) add_numbers(c, "k", (long)items, BEFORE + MADDS * A_MADD);
}

TEST(wherever_an_aof_breaks_off_the_filter_is_sound) {
    struct server *s = server_start(.config = AOF);
    fill(client(s));
    server_kill(s);
    const char *path = server_aof(s);
    long len = read_whole(path);

    /* Steps that hit every place within a command, if not in this run. */
    for (long cut = len; cut >= 0; cut -= 1 + (long)random_below(200)) {
        test_case("the first %ld of %ld bytes", cut, len);
        write_beginning(path, cut);
        server_start_again(s);
        check_sound(client(s));
        server_kill(s);
    }
}
