/* SPDX-License-Identifier: BSD-3-Clause */

/* large_journey_test.c - filters of more than 4 GiB, with items in their last bytes, and
 * wherever filters go: files, replicas, payloads.
 *
 * These take gigabytes and minutes: they run with LONG=1 (make long). */

#include "harness.h"
#include "states.h"

#define GIB       (1LL << 30)
#define BEYOND    (4 * GIB) /* bytes that no number of 32 bits counts */
#define CAPACITY  "4000000000"
#define ITEMS     200000L
#define STRANGERS 100000L

/* What the machine could still give, of the bytes that a test takes at most. */
static void needs_memory(long long bytes) {
    char line[128];
    long long kib = 0;
    if (!getenv("LONG")) SKIP("takes minutes: LONG=1");
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kib) == 1) break;
    if (f) fclose(f);
    if (kib << 10 < bytes) SKIP("it takes %lld GiB of memory", bytes / GIB);
    test_time_limit(1800);
    setenv("PATIENCE", "20", 0);
}

static long long size_of(redisContext *c, const char *key) {
    return reply_field(call(c, "BF.INFO", key), "Size")->integer;
}

/* How many bits are set in that stretch; a piece that crosses its end counts whole. */
static long long count_bits(redisContext *c, const char *key, long long from,
                            long long to) {
    long long bits = 0;
    for (long long at = from + 1; at != 0 && at <= to;) {
        redisReply *piece = redisCommand(c, "BF.SCANDUMP %s %lld", key, at);
        CHECK(piece && piece->type == REDIS_REPLY_ARRAY);
        const redisReply *chunk = piece->element[1];
        for (size_t i = 40; i < chunk->len; i++)
            bits += __builtin_popcount((unsigned char)chunk->str[i]);
        at = piece->element[0]->integer;
        freeReplyObject(piece);
    }
    return bits;
}

static void check_answers(redisContext *c, const char *key) {
    CHECK_INT(count_missing(c, key, 0, ITEMS), 0);
    CHECK(count_missing(c, key, ITEMS, ITEMS + STRANGERS) > STRANGERS * 99 / 100);
}

static void reserve(redisContext *c, const char *key, const char *kind) {
    expect(c, "OK", "BF.RESERVE", key, "0.01", CAPACITY, "KIND", kind);
    CHECK(size_of(c, key) > BEYOND + GIB / 4);
}

/* The others keep 32 bits of an item, or have no such sizes. */
static const char *const wide[] = {"lines", "redisbloom", "valkeybloom", "guava"};

TEST(items_reach_the_bytes_beyond_4_gib_as_the_first_ones) {
    needs_memory(4 * GIB);
    redisContext *c = client(server_start());
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        test_case("%s", wide[i]);
        reserve(c, "big", wide[i]);
        add_numbers(c, "big", 0, ITEMS);
        long long end = size_of(c, "big"), length = end - BEYOND;
        long long first = count_bits(c, "big", 0, length);
        long long last = count_bits(c, "big", BEYOND, end);
        printf("  %s: of %lld bytes the first %lld have %lld bits set, the last %lld\n",
               wide[i], end, length, first, last);
        CHECK(first > ITEMS / 2);
        CHECK_NEAR((double)last, (double)first, 0.03 * (double)first);
        check_answers(c, "big");
        expect(c, "1", "DEL", "big");
    }
}

/* ---- the journey ---- */

static void check_counted(redisContext *c) {
    long long size = size_of(c, "big");
    CHECK(call_int(c, "MEMORY", "USAGE", "big") >= size);
    CHECK(counted(c, "bytes") >= size);
    CHECK(counted(c, "largest_filter_bytes") >= size);
    CHECK(info_int(c, "memory", "used_memory") >= size);
}

/* Nearly all of it are zeros: a payload that is as large as the filter fits no command. */
static void through_a_payload(redisContext *c) {
    redisReply *payload = redisCommand(c, "DUMP big");
    CHECK(payload && payload->type == REDIS_REPLY_STRING);
    printf("  DUMP: %zu bytes\n", payload->len);
    expect(c, "1", "DEL", "big");
    expectf(c, "OK", "RESTORE big 0 %b", payload->str, payload->len);
    freeReplyObject(payload);
}

static redisContext *through_a_file(struct server *s, redisContext *c) {
    double start = seconds_now();
    call(c, "BGSAVE");
    wait_for_bgsave(c);
    double saved = seconds_now();
    c = restart_with(s, TRUST_ALL);
    printf("  BGSAVE %.0f s, restart %.0f s\n", saved - start, seconds_now() - saved);
    return c;
}

static void through_a_full_sync(const struct server *s, redisContext *c,
                                const char *digest) {
    redisContext *r = client(server_start());
    double start = seconds_now();
    follow(r, s);
    printf("  full sync %.0f s\n", seconds_now() - start);
    CHECK_STR(call_text(r, "DEBUG", "DIGEST"), digest);
    check_answers(r, "big");
    expect(c, "1", "UNLINK", "big");
    WAIT_UNTIL(info_int(r, "memory", "used_memory") < GIB);
}

TEST(a_filter_of_more_than_4_gib_stays_whole_wherever_it_goes) {
    needs_memory(6 * GIB);
    struct server *s = server_start();
    redisContext *c = client(s);
    reserve(c, "big", "lines");
    add_numbers(c, "big", 0, ITEMS);
    check_counted(c);
    const char *digest = call_text(c, "DEBUG", "DIGEST");

    through_a_payload(c);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    c = through_a_file(s, c);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
    check_answers(c, "big");
    check_counted(c);
    through_a_full_sync(s, c, digest);
    WAIT_UNTIL(info_int(c, "memory", "used_memory") < GIB);
}
