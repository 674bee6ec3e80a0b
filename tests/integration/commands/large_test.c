/* SPDX-License-Identifier: BSD-3-Clause */
/* large_test.c - filters of a gigabyte: what must not depend on size.
 *
 * These take gigabytes and minutes: they run with LONG=1 (make long). What is
 * measured is printed. Times are the best of several tries: other work on the
 * machine can only add to them. */
#include <pthread.h>
#include <stdatomic.h>

#include "harness.h"

#define TRIES          7
#define SMALL_PAUSE_MS 5.0
#define BILLION        "1000000000"

/* Items that touch nearly every page of a filter for a billion. */
#define TOUCH 2000000

static void needs_time(void) {
    if (!getenv("LONG")) SKIP("takes minutes: LONG=1");
    test_time_limit(1800);
}

/* ---- another client, which notices every pause of the server ---- */

struct bystander {
    redisContext *c;
    pthread_t thread;
    atomic_bool stop;
    double worst_ms;
};

static void *look_on(void *data) {
    struct bystander *b = data;
    while (!b->stop) {
        double start = seconds_now();
        freeReplyObject(redisCommand(b->c, "PING"));
        double ms = (seconds_now() - start) * 1e3;
        if (ms > b->worst_ms) b->worst_ms = ms;
    }
    return NULL;
}

static void bystander_start(struct bystander *b, struct server *s) {
    *b = (struct bystander){.c = client(s)};
    CHECK_INT(pthread_create(&b->thread, NULL, look_on, b), 0);
}

static double bystander_stop(struct bystander *b) {
    b->stop = true;
    pthread_join(b->thread, NULL);
    return b->worst_ms;
}

/* ---- ways to lose a gigabyte ---- */

static void unlink_it(redisContext *c) {
    expect(c, "1", "UNLINK", "big");
}

static void delete_it(redisContext *c) {
    expect(c, "1", "DEL", "big");
}

static void let_it_expire(redisContext *c) {
    expect(c, "1", "PEXPIRE", "big", "1");
}

static void overwrite_it(redisContext *c) {
    expect(c, "OK", "SET", "big", "small");
}

static void rename_over_it(redisContext *c) {
    expect(c, "OK", "SET", "small", "value");
    expect(c, "OK", "RENAME", "small", "big");
}

static const struct way {
    const char *name;
    void (*lose)(redisContext *c);
} ways[] = {
    {"UNLINK", unlink_it},         {"DEL", delete_it},         {"expiry", let_it_expire},
    {"overwriting", overwrite_it}, {"RENAME", rename_over_it},
};

/* The server has given back what the filter took. */
static void wait_until_free(redisContext *c) {
    WAIT_UNTIL(info_int(c, "memory", "used_memory") < 100 << 20);
}

static double pause_of(struct server *s, redisContext *c, const struct way *way) {
    struct bystander b;
    expect(c, "OK", "BF.RESERVE", "big", "0.01", BILLION);
    add_numbers(c, "big", 0, TOUCH);
    bystander_start(&b, s);
    way->lose(c);
    wait_until_free(c);
    double worst = bystander_stop(&b);
    call(c, "DEL", "big");
    return worst;
}

TEST(no_client_waits_when_a_gigabyte_goes) {
    needs_time();
    struct server *s = server_start();
    redisContext *c = client(s);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double best = 1e9;
        for (int try = 0; try < TRIES && best >= SMALL_PAUSE_MS; try++) {
            double pause = pause_of(s, c, &ways[i]);
            if (pause < best) best = pause;
        }
        printf("  1.3 GB lost by %-12s longest pause of another client %.2f ms\n",
               ways[i].name, best);
        test_case("%s", ways[i].name);
        CHECK(best < SMALL_PAUSE_MS);
    }
}

TEST(a_billion_items_are_reserved_at_once) {
    needs_time();
    struct server *s = server_start();
    redisContext *c = client(s);
    double best = 1e9;
    for (int try = 0; try < TRIES; try++) {
        double start = seconds_now();
        expect(c, "OK", "BF.RESERVE", "big", "0.01", BILLION);
        double ms = (seconds_now() - start) * 1e3;
        if (ms < best) best = ms;
        add_numbers(c, "big", 0, TOUCH);
        call(c, "DEL", "big"); /* the next one follows a gigabyte just freed */
    }
    printf("  BF.RESERVE for 10^9 items: %.2f ms\n", best);
    CHECK(best < SMALL_PAUSE_MS);
}

/* How many bits are set in a piece of a dump, the record's own header left out. */
static long long count_bits(const redisReply *chunk) {
    long long bits = 0;
    for (size_t i = 40; i < chunk->len; i++)
        bits += __builtin_popcount((unsigned char)chunk->str[i]);
    return bits;
}

/* With indexes of 32 bits only the first 512 MiB would ever be reached. */
TEST(bits_spread_over_the_whole_of_a_large_filter) {
    enum { PARTS = 20 };
    needs_time();
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "big", "0.01", BILLION, "NONSCALING");
    long long size = reply_field(call(c, "BF.INFO", "big"), "Size")->integer;
    long long added = add_numbers(c, "big", 0, 4 * TOUCH), parts[PARTS + 1] = {0};

    redisReply *piece = callf(c, "BF.SCANDUMP big 1");
    for (long long at = 1; piece->element[0]->integer != 0;) {
        parts[(at - 1) * PARTS / size] += count_bits(piece->element[1]);
        at = piece->element[0]->integer;
        piece = callf(c, "BF.SCANDUMP big %lld", at);
    }

    /* A part expects 8 bits of each item that fell into it: 3.2 million, with a
     * scatter of 0.06 %; chunks of a megabyte cross its ends. */
    double expected = 8.0 * (double)added / PARTS;
    for (int i = 0; i < PARTS - 1; i++)
        CHECK_NEAR((double)parts[i], expected, 0.03 * expected);
    printf("  %lld bytes in %d parts: %lld ... %lld bits set, %.0f expected\n", size, PARTS,
           parts[0], parts[PARTS - 2], expected);
}

TEST(a_blacklist_of_two_billion_urls_fits_in_500_mib) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "urls", "0.38", "2000000000", "NONSCALING");
    CHECK(reply_field(call(c, "BF.INFO", "urls"), "Size")->integer <= 500LL << 20);
}

/* ---- the child that saves ---- */

static long long private_dirty_kib(pid_t pid) {
    char path[64], line[128];
    long long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %lld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

static pid_t child_of(pid_t pid) {
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%d", &child) != 1) child = 0;
    if (f) fclose(f);
    return child;
}

TEST(the_child_that_saves_takes_no_second_copy) {
    needs_time();
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "big", "0.01", BILLION);
    add_numbers(c, "big", 0, TOUCH);
    expect(c, "OK", "CONFIG", "SET", "rdbcompression", "no");
    call(c, "BGSAVE");

    long long most = 0;
    pid_t child;
    while ((child = child_of(s->pid)) > 0) {
        long long kib = private_dirty_kib(child);
        if (kib > most) most = kib;
    }
    printf("  BGSAVE of 1.4 GB: the child had %lld KiB of its own\n", most);
    CHECK(most > 0 && most < 8 << 10);
}
