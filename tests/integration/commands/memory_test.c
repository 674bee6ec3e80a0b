/* SPDX-License-Identifier: BSD-3-Clause */

/* memory_test.c - what is taken is given back, and nothing is taken before it is
 * needed, but for a rebuild. */

#include <sys/mman.h>
#include <unistd.h>

#include "samples.h"
#include "harness.h"
#include "states.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static long long used(redisContext *c) {
    return info_int(c, "memory", "used_memory");
}

/* Filters of other libraries, with items of more bytes than fit on the stack. */
static void bulk_round(redisContext *c) {
    char item[1000];
    memset(item, 'x', sizeof item);
    const struct sample *f = sample_of("guava");
    import_sample(c, "form", f);
    must_export(c, "form", f->data);
    import(c, "refused", "guava", f->data, "PROVE nobody");
    import(c, "refused", "guava", f->data, "ENCODE int64 PROVE nobody");
    expect(c, "OK", "BF.RESERVE", "utf16", "0.01", "10", "KIND", "guava", "ENCODE",
           "utf16");
    callf(c, "BF.MADD utf16 %b %b \xff", item, sizeof item, item, sizeof item);
    callf(c, "BF.MEXISTS utf16 %b %b \xff", item, sizeof item, item, sizeof item);

    const redisReply *token = call(c, "BF.REBUILD", "form", "START");
    callf(c, "BF.REBUILD form IMPORT %s %b ITEMS 2", token->str, f->data.at,
          f->data.length);
    callf(c, "BF.REBUILD form IMPORT %s x ITEMS 2", token->str);
    expect(c, "OK", "BF.REBUILD", "form", "ABORT"); /* a ready one would be noted as lost */

    expect(c, "#t", "BF.MERGE", "merged", "k");
    add_numbers(c, "merged", 2000, 2010);
    call(c, "BF.MERGE", "k", "merged", "k");
    call(c, "BF.COVERS", "k", "merged");
    call(c, "BF.MERGE", "refused", "k", "form");
    call(c, "BF.RESERVE", "like", "0.01", "10", "LIKE", "k");
    call(c, "BF.RESERVE", "refused", "0.01", "10", "LIKE", "form");
}

/* Everything that allocates: creation, growth, copies, loads whole and partial, and
 * refusals of each. */
static void one_round(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "10");
    add_numbers(c, "k", 0, 2000);
    const struct dump *d = dump_filter(c, "k");
    load_filter(c, "loaded", d);
    load_pieces(c, "partial", d, 0, 1);
    load_piece(c, "loaded", &d->pieces[1]);

    struct piece cut = d->pieces[0];
    for (cut.len--; cut.len > 0; cut.len /= 2)
        CHECK_STR(load_piece(c, "refused", &cut), "ERR received bad data");

    const redisReply *payload = call(c, "DUMP", "k");
    callf(c, "RESTORE restored 0 %b", payload->str, payload->len);
    callf(c, "RESTORE restored 0 %b REPLACE", payload->str, payload->len);
    if (server_speaks(602)) expect(c, "1", "COPY", "k", "copied");
    expect(c, "OK", "RENAME", "loaded", "partial");

    bulk_round(c);
    call(c, "BF.INSERT", "refused", "CAPACITY", "1099511627776", "ITEMS", "x");
    call(c, "BF.RESERVE", "refused", "1e-18", "100");
    call(c, "BF.INFO", "k");
    call(c, "BF.DEBUG", "k");
    expect(c, "OK", "FLUSHALL");
}

/* The first rounds warm up what the server keeps. A leak of 40 bytes, the smallest
 * struct that there is, in any step of a round would be more than the slack. */
TEST(nothing_is_left_behind) {
    redisContext *c = client(server_start());
    for (int i = 0; i < 20; i++)
        one_round(c);
    long long before = used(c);
    for (int i = 0; i < 400; i++)
        one_round(c);
    WAIT_UNTIL(used(c) < before + 8 * KIB);
    CHECK_INT(info_int(c, "bf", "bf_bytes"), 0);
}

TEST(large_arrays_are_given_back) {
    redisContext *c = client(server_start());
    long long before = used(c);
    static const char *const ways[][3] = {{"DEL", "k"}, {"UNLINK", "k"}, {"SET", "k", "x"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        test_case("%s", ways[i][0]);
        call(c, "DEL", "k");
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "80000000");
        CHECK(used(c) > before + 90 * MIB);
        call(c, ways[i][0], ways[i][1], ways[i][2]);
        WAIT_UNTIL(used(c) < before + MIB);
    }
}

/* 100 MB of bits of which nobody has touched any. */
TEST(a_filter_takes_pages_only_when_it_is_filled) {
    redisContext *c = client(server_start());
    long long before = info_int(c, "memory", "used_memory_rss");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "80000000");
    add_numbers(c, "k", 0, 10);
    WAIT_UNTIL(info_int(c, "memory", "used_memory_rss") < before + 20 * MIB);
}

/* Items in every twentieth page or so. */
TEST(a_filter_that_is_loaded_takes_pages_only_where_it_is_filled) {
    if (getenv("SERVER_PRELOAD")) SKIP("a sanitizer holds back what is freed");
    struct server *s = server_start();
    redisContext *c = client(s);
    long long before = info_int(c, "memory", "used_memory_rss");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "80000000");
    add_numbers(c, "k", 0, 1000);
    save(c);
    c = restart_with(s, NULL);
    CHECK_INT(count_missing(c, "k", 0, 1000), 0);
    WAIT_UNTIL(info_int(c, "memory", "used_memory_rss") < before + 20 * MIB);
}

static bool system_gives_pages_ahead(void) {
    size_t length = (size_t)sysconf(_SC_PAGESIZE);
    void *page =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool gives = page != MAP_FAILED && madvise(page, length, 23) == 0;
    if (page != MAP_FAILED) munmap(page, length);
    return gives; /* 23: MADV_POPULATE_WRITE, which older headers don't have */
}

TEST(a_rebuild_takes_its_pages_before_items_come) {
    if (getenv("SERVER_PRELOAD")) SKIP("a sanitizer holds back what is freed");
    if (!system_gives_pages_ahead()) SKIP("no MADV_POPULATE_WRITE: Linux 5.14 has it");
    redisContext *c = client(server_start());
    long long before = info_int(c, "memory", "used_memory_rss");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    call(c, "BF.REBUILD", "k", "START", "CAPACITY", "80000000");
    WAIT_UNTIL(info_int(c, "memory", "used_memory_rss") > before + 90 * MIB);
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    WAIT_UNTIL(info_int(c, "memory", "used_memory_rss") < before + 30 * MIB);
}

TEST(memory_of_a_filled_filter_goes_back_to_the_system) {
    redisContext *c = client(server_start());
    long long before = info_int(c, "memory", "used_memory_rss");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "80000000");
    add_numbers(c, "k", 0, 100000); /* Nearly every page of it. */
    expect(c, "1", "DEL", "k");
    WAIT_UNTIL(info_int(c, "memory", "used_memory_rss") < before + 30 * MIB);
}

TEST(one_call_may_add_a_hundred_thousand_items) {
    enum { MANY = 100000 };
    redisContext *c = client(server_start());
    static char numbers[MANY][12];
    const char **argv = calloc(MANY + 2, sizeof *argv);
    test_defer(free, argv);
    argv[0] = "BF.MADD";
    argv[1] = "k";
    for (int i = 0; i < MANY; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        argv[i + 2] = numbers[i];
    }

    const redisReply *answers = callv(c, MANY + 2, argv, NULL);

    CHECK_INT(answers->elements, MANY);
    CHECK_INT(count_missing(c, "k", 0, MANY), 0);
}

/* ---- arrays that wait to be emptied ---- */

/* DEL frees on the main thread: by default Valkey leaves it to another one, and that
 * one's backlog to itself. */
#define MAIN_THREAD "lazyfree-lazy-user-del no\n"

#define LIMIT      "200mb"
#define MOST_OF_IT "100000000" /* items at 1 %: 138 MB */

TEST(memory_of_a_deleted_filter_is_there_for_the_next) {
    redisContext *c = client(server_start(.config = MAIN_THREAD "maxmemory " LIMIT));
    for (int i = 0; i < 10; i++) {
        post(c, "BF.RESERVE", "k", "0.01", MOST_OF_IT);
        post(c, "DEL", "k");
        expect_next(c, "OK");
        expect_next(c, "1");
    }
}

TEST(deleted_filters_do_not_pile_up) {
    redisContext *c = client(server_start(.config = MAIN_THREAD));
    for (int i = 0; i < 100; i++) {
        post(c, "BF.RESERVE", "k", "0.01", MOST_OF_IT);
        post(c, "DEL", "k");
    }
    for (int i = 0; i < 100; i++) {
        expect_next(c, "OK");
        expect_next(c, "1");
    }
    CHECK(info_int(c, "memory", "used_memory") < 3000LL * MIB);
}

static long long peak_kib(const struct server *s) {
    char path[64], line[128];
    long long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", s->pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

/* Timers stand still while a server loads: the old data set must not wait for one. */
TEST(a_full_sync_does_not_hold_two_data_sets) {
    if (getenv("SERVER_PRELOAD")) SKIP("a sanitizer holds back what is freed");
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    expect(m, "OK", "BF.RESERVE", "k", "0.01", "80000000");
    add_numbers(m, "k", 0, 100000);
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", master->port);
    wait_for_replica(m, r);
    long long once = peak_kib(replica);

    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    expect(r, "1", "BF.ADD", "k", "a history of its own");
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", master->port);
    expect(m, "1", "BF.ADD", "k", "anna");
    wait_for_replica(m, r);

    CHECK(peak_kib(replica) < once * 13 / 10);
}

/* The normal state of a cache: always full, and evicting. */
TEST(a_server_that_evicts_takes_filters_as_it_takes_strings) {
    redisContext *c = client(
        server_start(.config = "maxmemory 30mb\nmaxmemory-policy allkeys-lru\nsave ''"));
    char value[512] = {0};
    memset(value, 'x', sizeof value - 1);
    for (int i = 0; i < 60000; i++)
        redisAppendCommand(c, "SET cached:%d %s", i, value);
    for (int i = 0; i < 60000; i++)
        expect_next(c, "OK");
    CHECK(info_int(c, "stats", "evicted_keys") > 0);

    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000000");
    expect(c, "(error) ERR Insufficient memory to create filter", "BF.RESERVE", "too big",
           "0.01", "100000000");
}
