/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_hostile_test.c - forged payloads, tokens, counts and standings: it
 * never makes a filter say "absent", and what is refused changes nothing. */

#include "hostile.h"
#include "kind.h"
#include "states.h"

#include <ctype.h>

enum { NEXT_TOKEN = 0x77 };

/* Who is not in the filter, and is not taken for a member: it has to say so itself, so it
 * is plain, or ready. Its copies say the same. */
static char nobody[32];

static void find_nobody(const char *key) {
    for (int i = 0;; i++) {
        snprintf(nobody, sizeof nobody, "nobody%d", i);
        if (call_int(w.c, "BF.EXISTS", key, nobody) == 0) return;
    }
}

static void need_restore(void) {
    if (!may_restore()) SKIP("a %s ends at a bad payload", server_name());
}

/* w.header with a second chain like the first, of another identity. */
static struct record header_of_two(void) {
    struct record r = w.header;
    memcpy(r.bytes + HEADER, r.bytes + FIXED, HEADER - FIXED);
    r.length += HEADER - FIXED;
    r.bytes[HEADER + C_IDENTITY] ^= 1;
    set(&r, H_CHAINS, 2, 2);
    set(&r, H_TOKEN, 8, NEXT_TOKEN);
    return r;
}

static const char *restore_two(const struct record *header) {
    struct record next[2] = {w.chunks[0], w.chunks[1]};
    next[0].bytes[K_IDENTITY] ^= 1;
    next[1].bytes[K_IDENTITY] ^= 1;
    return restore_records(5, header, &w.chunks[0], &w.chunks[1], &next[0], &next[1]);
}

/* ---- forged payloads ---- */

static const struct {
    const char *what;
    unsigned state, doubt;
    uint64_t lease, vouched, start, received;
} standings[] = {
    {"plain", 0, 0, 0, 0, 0, 0},
    {"loading", 1, 0, 0, 0, 0, 0},
    {"ready", 2, 0, 0, 0, 0, 0},
    {"ready until the end of time", 2, 0, INT64_MAX, INT64_MAX, INT64_MAX, UINT64_MAX},
    {"ready since before all time", 2, 0, 0, (uint64_t)INT64_MIN, (uint64_t)INT64_MIN,
     (uint64_t)INT64_MIN},
    {"ready and in all doubts", 2, 0xffff, 0, 1, 1, 1},
    {"ready and in a later doubt", 2, 0x80, 0, 1, 1, 1},
    {"the rebuild is in doubt", 2, 0xff00, 0, 1, 1, 1},
    {"state 3", 3, 0, 0, 0, 0, 0},
    {"state 255", 255, 0, INT64_MAX, 0, 0, 0},
};

static struct record with_standing(struct record r, size_t i) {
    set(&r, H_STATE, 1, standings[i].state);
    set(&r, H_DOUBT, 2, standings[i].doubt);
    set(&r, H_LEASE, 8, standings[i].lease);
    set(&r, H_VOUCHED, 8, standings[i].vouched);
    set(&r, H_START, 8, standings[i].start);
    set(&r, H_RECEIVED, 8, standings[i].received);
    return r;
}

static void nothing_is_absent(const char *key) {
    expect(w.c, "[unknown, maybe]", "BF.MCHECK", key, nobody, "1");
    expect(w.c, "[unknown, nil]", "BF.GUARD", key, "cache", nobody);
    CHECK(call(w.c, "BF.INFO", key, "FULL")->type != REDIS_REPLY_ERROR);
    CHECK(*info_text(w.c, "bf", "bf_filters"));
}

TEST(no_payload_says_absent_before_somebody_vouches) {
    need_restore();
    set_up(server_shared());
    find_nobody("source");
    for (size_t i = 0; i < sizeof standings / sizeof *standings; i++) {
        struct record header = with_standing(w.header, i);
        test_case("%s", standings[i].what);
        CHECK_STR(restore_records(3, &header, &w.chunks[0], &w.chunks[1]), "OK");
        nothing_is_absent("new");
        if (standings[i].state == 2)
            expect(w.c, "nil", "BF.READY", "new", "XX"); /* in doubt: not renewed */
        expect(w.c, "OK", "BF.READY", "new");
        expect(w.c, "absent", "BF.CHECK", "new", nobody);
        expect(w.c, "1", "DEL", "new");
    }
    memory_must_be_back();
}

/* Not even a payload that is a DUMP of a ready filter, of this very moment. */
TEST(a_dump_of_a_ready_filter_is_restored_in_doubt) {
    set_up(server_shared());
    find_nobody("healthy");
    expect(w.c, "OK", "BF.READY", "healthy");
    expect(w.c, "absent", "BF.CHECK", "healthy", nobody);
    const redisReply *dump = call(w.c, "DUMP", "healthy");
    expectf(w.c, "OK", "RESTORE healthy 0 %b REPLACE", dump->str, dump->len);
    nothing_is_absent("healthy");
}

TEST(a_rebuild_that_was_restored_is_interrupted) {
    need_restore();
    set_up(server_shared());
    find_nobody("source");
    const char *token = "0000000000000077";
    for (size_t i = 0; i < sizeof standings / sizeof *standings; i++) {
        struct record two = header_of_two(), header = with_standing(two, i);
        test_case("%s", standings[i].what);
        CHECK_STR(restore_two(&header), "OK");
        nothing_is_absent("new");
        expect_refusal(w.c, INTERRUPTED, "BF.REBUILD", "new", "LOAD", token, "x");
        expect_refusal(w.c, INTERRUPTED, "BF.REBUILD", "new", "CHECK", token, "x");
        expect_refusal(w.c, INTERRUPTED, "BF.REBUILD", "new", "COMMIT", token, "0");
        expect(w.c, "OK", "BF.REBUILD", "new", "ABORT", token);
        nothing_is_absent("new");
        expect(w.c, "1", "DEL", "new");
    }
    CHECK_INT(info_int(w.c, "bf", "bf_rebuilds"), 0);
    memory_must_be_back();
}

static void change_must_be_refused(const struct change *change, const void *what) {
    struct record header = *(const struct record *)what;
    change_bytes(header.bytes, change);
    test_case("%s, at %u", change->name, change->at);
    CHECK_STR(restore_two(&header), BAD_PAYLOAD);
    must_be_as_before();
}

TEST(malformed_headers_with_two_chains_are_refused) {
    need_restore();
    set_up(server_shared());
    struct record header = header_of_two();
    each_malformed_pair(change_must_be_refused, &header);
    test_case("the same identity in both");
    memcpy(header.bytes + HEADER + C_IDENTITY, w.header.bytes + FIXED + C_IDENTITY, 8);
    CHECK_STR(restore_two(&header), BAD_PAYLOAD);
    header = header_of_two();
    test_case("no chunks of the second chain");
    CHECK_STR(restore_records(3, &header, &w.chunks[0], &w.chunks[1]), BAD_PAYLOAD);
    test_case("the first chain's chunks twice");
    CHECK_STR(
        restore_records(5, &header, &w.chunks[0], &w.chunks[1], &w.chunks[0], &w.chunks[1]),
        BAD_PAYLOAD);
    must_be_as_before();
    memory_must_be_back();
}

/* ---- LOADCHUNK ---- */

TEST(clients_bring_plain_filters_only) {
    static const struct {
        const char *what;
        unsigned at, width;
        uint64_t value;
    } said[] = {
        {"loading", H_STATE, 1, 1},
        {"ready", H_STATE, 1, 2},
        {"a later state", H_STATE, 1, 255},
        {"doubt", H_DOUBT, 2, 1},
        {"doubt about a rebuild", H_DOUBT, 2, 0x100},
        {"a lease", H_LEASE, 8, 1},
        {"a lease before time began", H_LEASE, 8, UINT64_MAX},
        {"vouched for", H_VOUCHED, 8, 1},
        {"a token", H_TOKEN, 8, 1},
        {"start", H_START, 8, 1},
        {"received", H_RECEIVED, 8, 1},
    };
    set_up(server_shared());
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct record header = w.header;
        set(&header, said[i].at, said[i].width, said[i].value);
        test_case("%s", said[i].what);
        CHECK_STR(load_record("new", &header, 1), BAD_DATA);
        must_be_as_before();
    }
    struct record two = header_of_two();
    test_case("a rebuild");
    CHECK_STR(load_record("new", &two, 1), BAD_DATA);
    must_be_as_before();
    memory_must_be_back();
}

TEST(nothing_is_loaded_into_a_filter_under_rebuild) {
    set_up(server_shared());
    const char *token = start_rebuild(w.c, "source");
    const char *before = call_text(w.c, "DEBUG", "DIGEST");
    struct record chunk = w.chunks[0], growth = next_growth();
    CHECK_STR(load_record("source", &w.header, 1), BAD_DATA);
    for (int i = 0; i < 2; i++)
        CHECK_STR(load_record("source", &w.chunks[i], iterator_of(&w.chunks[i])), BAD_DATA);
    /* The identity of the next chain is nobody's to know; in the right length. */
    set(&chunk, K_IDENTITY, 8, 1);
    CHECK_STR(load_record("source", &chunk, iterator_of(&chunk)), BAD_DATA);
    CHECK_STR(load_record("source", &growth, 1), BAD_DATA);

    CHECK_STR(call_text(w.c, "DEBUG", "DIGEST"), before);
    expectf(w.c, "1", "BF.REBUILD source LOAD %s x", token);
}

/* A file that was cut, or a payload, may leave a filter ready and partial. What completes
 * it may be older than what was vouched for. */
TEST(no_client_completes_a_filter_that_is_ready) {
    need_restore();
    set_up(server_start(.module_args = "bf-trust restore,restart"));
    find_nobody("source");
    for (unsigned state = 0; state <= 3; state++) {
        struct record header = w.header;
        test_case("state %u", state);
        set(&header, H_STATE, 1, state);
        set(&header, FIXED + C_FOLLOWS, 8, (uint64_t)iterator_of(&w.chunks[0]) - 1);
        CHECK_STR(restore_records(2, &header, &w.chunks[0]), "OK");
        expect(w.c, "unknown", "BF.CHECK", "new", nobody);
        CHECK_STR(load_record("new", &w.chunks[1], iterator_of(&w.chunks[1])),
                  state <= 1 ? "OK" : BAD_DATA);
        expect(w.c, "unknown", "BF.CHECK", "new", nobody);
        expect(w.c, state == 0 ? "0" : "1", "BF.EXISTS", "new", nobody);
        expect(w.c, "1", "DEL", "new");
    }
}

/* ---- tokens, counts and leases ---- */

/* With a letter in it, for its capitals. */
static const char *token_with_letters(const char *key) {
    for (;;) {
        const char *token = start_rebuild(w.c, key);
        if (strpbrk(token, "abcdef")) return token;
        expect(w.c, "OK", "BF.REBUILD", key, "ABORT");
    }
}

TEST(only_the_token_itself_is_the_token) {
    set_up(server_shared());
    const char *token = token_with_letters("healthy");
    struct {
        char text[32];
        size_t length;
    } wrong[12] = {{{0}, 0}};
    for (int i = 0; i < 16; i++)
        wrong[0].text[i] = (char)toupper((unsigned char)token[i]);
    wrong[0].length = 16;
    wrong[1].length = (size_t)sprintf(wrong[1].text, "%.15s", token);
    wrong[2].length = (size_t)sprintf(wrong[2].text, "%s0", token);
    wrong[3].length = (size_t)sprintf(wrong[3].text, "0%s", token);
    wrong[4].length = (size_t)sprintf(wrong[4].text, "%s", token) + 1; /* with its NUL */
    wrong[5].length = (size_t)sprintf(wrong[5].text, "%.8s", token) + 8;
    wrong[6].length = (size_t)sprintf(wrong[6].text, "0x%.14s", token);
    wrong[7].length = (size_t)sprintf(wrong[7].text, " %.15s", token);
    wrong[8].length = (size_t)sprintf(wrong[8].text, "-%.15s", token);
    wrong[9].length = (size_t)sprintf(wrong[9].text, "0000000000000000");
    wrong[10].length = (size_t)sprintf(wrong[10].text, "%.16s\n", token);
    wrong[11].length = 0;
    look_at_the_world();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_case("token %zu: %s", i, wrong[i].text);
        static const char *const lines[] = {
            "BF.REBUILD healthy LOAD %b x", "BF.REBUILD healthy CHECK %b x",
            "BF.REBUILD healthy COMMIT %b 0", "BF.REBUILD healthy ABORT %b"};
        for (size_t j = 0; j < sizeof lines / sizeof *lines; j++)
            expectf(w.c, NO_REBUILD, lines[j], wrong[i].text, wrong[i].length);
        must_be_as_before();
    }
    expectf(w.c, "1", "BF.REBUILD healthy LOAD %s x", token);
}

/* Zero is the token of no rebuild, and not the key to one. */
TEST(zero_commits_nothing) {
    set_up(server_shared());
    find_nobody("healthy");
    expect_refusal(w.c, NO_REBUILD, "BF.REBUILD", "healthy", "COMMIT", "0000000000000000",
                   "0");
    expect(w.c, "unknown", "BF.CHECK", "healthy", nobody);
}

TEST(counts_and_leases_that_are_none_are_refused) {
    static const char *const counts[] = {"-1",
                                         "9223372036854775808",
                                         "1e3",
                                         "",
                                         " 1",
                                         "1 ",
                                         "-9223372036854775808",
                                         "nan",
                                         "0x1",
                                         "1.0",
                                         "18446744073709551616"};
    static const char *const leases[] = {
        "0",   "-1", "9223372036854775807", "9223372036854776", "9223372036854775808",
        "1.5", "",   "-9223372036854775808"};
    set_up(server_shared());
    find_nobody("healthy");
    const char *token = start_rebuild(w.c, "healthy");
    expectf(w.c, "3", "BF.REBUILD healthy LOAD %s x x x", token);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        test_case("count %s", counts[i]);
        expect_refusal(w.c, "(error) ERR bad count of items", "BF.REBUILD", "healthy",
                       "COMMIT", token, counts[i]);
    }
    expect_refusal(w.c, "(error) ERR rebuild received 3 of 9223372036854775807 items",
                   "BF.REBUILD", "healthy", "COMMIT", token, "9223372036854775807");
    for (size_t i = 0; i < sizeof leases / sizeof *leases; i++) {
        test_case("lease %s", leases[i]);
        expect_refusal(w.c, "(error) ERR *", "BF.REBUILD", "healthy", "COMMIT", token, "1",
                       "EX", leases[i]);
        expect_refusal(w.c, "(error) ERR *", "BF.READY", "healthy", "EX", leases[i]);
    }
    expect_refusal(w.c, "(error) ERR *", "BF.REBUILD", "healthy", "COMMIT", token, "1",
                   "PXAT", "1000");
    expect_refusal(w.c, "(error) ERR *", "BF.READY", "healthy", "SINCE", "1");
    expect_refusal(w.c, "(error) ERR *", "BF.READY", "healthy", "EX", "1", "PXAT", "1");
    expect(w.c, "unknown", "BF.CHECK", "healthy", nobody);
    expect(w.c, "OK", "BF.READY", "healthy", "PXAT", "1");
    expect(w.c, "unknown", "BF.CHECK", "healthy", nobody);
}

/* ---- what only a master says ---- */

TEST(clients_promote_nobody) {
    const char *no = "(error) *only a master or an append-only file may send this*";
    set_up(server_shared());
    find_nobody("healthy");
    expect(w.c, "OK", "BF.READY", "healthy");
    look_at_the_world();
    expect_like(w.c, no, "BF.PROMOTED");
    expect_like(w.c, no, "EVAL", "return redis.call('BF.PROMOTED')", "0");
    expect_like(w.c, "(error) ERR *", "BF.REBUILD", "healthy", "START", "0000000000000001",
                "1", HEADER_MAGIC);
    must_be_as_before();
    expect(w.c, "OK", "MULTI"); /* for Redis 6.0 the EXEC itself is a change */
    expect(w.c, "QUEUED", "BF.PROMOTED");
    expect_like(w.c, "[(error) *]", "EXEC");
    expect(w.c, "absent", "BF.CHECK", "healthy", nobody);
}

/* ---- memory ---- */

TEST(a_rebuild_that_does_not_fit_is_refused_before_it_takes_anything) {
    struct server *s = server_start(.config = "maxmemory 64mb");
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000");
    add_numbers(c, "k", 0, 500);
    w.c = c;
    find_nobody("k");
    expect(c, "OK", "BF.READY", "k");
    long long before = info_int(c, "memory", "used_memory");
    static const char *const capacities[] = {"1099511627776", "100000000", "60000000"};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        test_case("capacity %s", capacities[i]);
        expect_refusal(c, "(error) *", "BF.REBUILD", "k", "START", "CAPACITY",
                       capacities[i]);
        expect_refusal(c, "(error) *", "BF.REBUILD", "missing", "START", "CAPACITY",
                       capacities[i]);
    }
    CHECK(info_int(c, "memory", "used_memory") < before + (1 << 20));
    expect(c, "0", "EXISTS", "missing");
    expect(c, "absent", "BF.CHECK", "k", nobody);
    CHECK_INT(info_int(c, "bf", "bf_rebuilds"), 0);
}

/* ---- a master and its replica ---- */

static struct pair pair_start(const char *module_args) {
    return pair_linked(server_start(.module_args = module_args),
                       server_start(.module_args = module_args));
}

/* LOAD of from ... to - 1 in one call; what it says. */
static long long load_at_once(redisContext *c, const char *token, long from, long to) {
    size_t n = (size_t)(to - from), argc = 4;
    char(*room)[16] = malloc(n * sizeof *room);
    const char **argv = malloc((n + 4) * sizeof *argv);
    CHECK(room && argv);
    test_defer(free, room);
    test_defer(free, argv);
    argv[0] = "BF.REBUILD", argv[1] = "k", argv[2] = "LOAD", argv[3] = token;
    for (size_t i = 0; i < n; i++) {
        snprintf(room[i], sizeof room[i], "%ld", from + (long)i);
        argv[argc++] = room[i];
    }
    const redisReply *r = callv(c, argc, argv, NULL);
    CHECK_INT(r->type, REDIS_REPLY_INTEGER);
    return r->integer;
}

/* Over capacity, but not one item less: who commits relies on that. */
TEST(a_rebuild_without_memory_to_grow_loses_no_item) {
    struct pair p = pair_start(NULL);
    expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "50");
    add_numbers(p.m, "k", 0, 50);
    expect(p.m, "OK", "BF.READY", "k");
    const char *token = start_rebuild(p.m, "k");
    char limit[32];
    snprintf(limit, sizeof limit, "%lld", info_int(p.m, "memory", "used_memory"));
    expect(p.m, "OK", "CONFIG", "SET", "maxmemory", limit);

    CHECK_INT(load_at_once(p.m, token, 0, 20000), 20000);
    add_numbers(p.m, "k", 20000, 20100);
    CHECK(info_int(p.m, "bf", "bf_overfull_adds") > 100);
    CHECK_INT(info_int(p.m, "bf", "bf_layers"), 2);
    check_pair(&p);
    expectf(p.m, "OK", "BF.REBUILD k COMMIT %s 20000", token);
    check_pair(&p);
    CHECK_INT(count_missing(p.m, "k", 0, 20100), 0);
    CHECK_INT(count_missing(p.r, "k", 0, 20100), 0);
}

TEST(one_load_may_bring_a_hundred_thousand_items) {
    struct pair p = pair_start(NULL);
    expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "100");
    const char *token = start_rebuild(p.m, "k");
    CHECK_INT(load_at_once(p.m, token, 0, 100000), 100000);
    CHECK_INT(load_at_once(p.m, token, 50000, 150000), 200000);
    expect(p.m, "[1, 1]", "BF.MADD", "k", "anna", "bob");
    check_pair(&p);

    expectf(p.m, "OK", "BF.REBUILD k COMMIT %s 200000", token);
    check_pair(&p);
    CHECK_INT(count_missing(p.r, "k", 0, 150000), 0);
    expect(p.r, "[1, 1]", "BF.MEXISTS", "k", "anna", "bob");
    w.c = p.m;
    find_nobody("k");
    expect(p.m, "absent", "BF.CHECK", "k", nobody);
}

/* A generation that can't grow has to be large, and so has one that follows such a
 * filter. */
static const char *room_after(const struct kind *from, const struct kind *to) {
    return from->exceeds || to->exceeds ? "1000" : "20";
}

TEST(every_kind_is_rebuilt_as_every_other) {
    struct pair p = pair_start(NULL);
    w.c = p.m;
    for (size_t i = 0; i < KINDS * KINDS; i++) {
        const char *from = kinds[i / KINDS]->name, *to = kinds[i % KINDS]->name;
        test_case("%s to %s", from, to);
        expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "10", "KIND", from);
        add_numbers(p.m, "k", 0, 30);
        const redisReply *r = call(p.m, "BF.REBUILD", "k", "START", "KIND", to, "CAPACITY",
                                   room_after(kinds[i / KINDS], kinds[i % KINDS]));
        CHECK_INT(r->type, REDIS_REPLY_STRING);
        const char *token = r->str;
        check_pair(&p);
        add_numbers(p.m, "k", 30, 300); /* both of them grow, if they may */
        check_pair(&p);
        CHECK_INT(load_at_once(p.m, token, 0, 30), 30);
        check_pair(&p);
        expectf(p.m, "OK", "BF.REBUILD k COMMIT %s 30", token);
        check_pair(&p);
        add_numbers(p.m, "k", 300, 900);
        check_pair(&p);
        CHECK_INT(count_missing(p.m, "k", 0, 900), 0);
        CHECK_INT(count_missing(p.r, "k", 0, 900), 0);
        w.c = p.m;
        find_nobody("k");
        expect(p.m, "absent", "BF.CHECK", "k", nobody);
        expect(p.m, "1", "DEL", "k");
    }
}

/* A rebuild under way that can't be read back takes the server with it. */
static void survives(redisContext *c, const char *how) {
    w.c = c;
    for (size_t i = 0; i < KINDS * KINDS; i++) {
        const char *from = kinds[i / KINDS]->name, *to = kinds[i % KINDS]->name;
        test_case("%s to %s, %s", from, to, how);
        expect(c, "OK", "BF.RESERVE", "k", "0.01",
               kinds[i / KINDS]->exceeds ? "1000" : "10", "KIND", from);
        add_numbers(c, "k", 0, 30);
        expect(c, "OK", "BF.READY", "k");
        call(c, "BF.REBUILD", "k", "START", "KIND", to, "CAPACITY", "20");
        add_numbers(c, "k", 30, 300);
        find_nobody("k");
        const char *before = call_text(c, "DEBUG", "DIGEST");

        if (strcmp(how, "LOADAOF") == 0) rewrite_aof(c);
        expect(c, "OK", "DEBUG", how);
        CHECK_STR(call_text(c, "DEBUG", "DIGEST"), before);
        expect(c, "unknown", "BF.CHECK", "k", nobody);
        const char *token = start_rebuild(c, "k");
        CHECK_INT(load_at_once(c, token, 0, 1), 1);
        expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
        CHECK_INT(count_missing(c, "k", 0, 300), 0);
        expect(c, "1", "DEL", "k");
    }
}

TEST(a_rebuild_of_every_kind_survives_a_file) {
    survives(client(server_start(.config = "appendonly yes")), "RELOAD");
}

TEST(a_rebuild_of_every_kind_survives_an_append_only_file) {
    survives(client(server_start(.config = "appendonly yes\naof-use-rdb-preamble no")),
             "LOADAOF");
}

TEST(a_rebuild_of_every_kind_can_be_dumped_and_restored) {
    redisContext *c = client(server_shared());
    for (size_t i = 0; i < KINDS * KINDS; i++) {
        const char *from = kinds[i / KINDS]->name, *to = kinds[i % KINDS]->name;
        test_case("%s to %s", from, to);
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "10", "KIND", from);
        call(c, "BF.REBUILD", "k", "START", "KIND", to, "CAPACITY", "20");
        add_numbers(c, "k", 0, 300);
        const redisReply *dump = call(c, "DUMP", "k");
        expectf(c, "OK", "RESTORE k 0 %b REPLACE", dump->str, dump->len);
        CHECK_INT(count_missing(c, "k", 0, 300), 0);
        expect(c, "1", "DEL", "k");
    }
}

/* A replica that somebody wrote to lacks what its master commits. It denies nothing, also
 * when it has been saved and loaded: the foreign types have no place for that. */
TEST(a_commit_that_cannot_be_followed_is_an_alarm) {
    for (size_t i = 0; i < KINDS; i++) {
        struct pair p = pair_start("bf-trust replica,restart");
        test_case("%s", kinds[i]->name);
        expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", kinds[i]->name);
        const char *token = start_rebuild(p.m, "k");
        CHECK_INT(load_at_once(p.m, token, 0, 10), 10);
        wait_for_replica(p.m, p.r);
        expect(p.r, "OK", "CONFIG", "SET", "replica-read-only", "no");
        expect(p.r, "OK", "BF.REBUILD", "k", "ABORT");
        expectf(p.m, "OK", "BF.REBUILD k COMMIT %s 10", token);
        wait_for_replica(p.m, p.r);

        expect(p.r, "1", "BF.EXISTS", "k", "5");
        expect(p.r, "unknown", "BF.CHECK", "k", "5");
        expect(p.r, "OK", "DEBUG", "RELOAD");
        expect(p.r, "1", "BF.EXISTS", "k", "5");
    }
}

/* Where RESTORE is trusted a rebuild goes on after it, and with it the number of items
 * that somebody forged: it may be none that a COMMIT can name. */
TEST(a_forged_number_of_received_items_is_followed) {
    static const uint64_t received[] = {INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1};
    need_restore();
    set_up(server_shared());
    find_nobody("source");
    struct pair p = pair_start("bf-trust restore");
    w.c = p.m;
    expect(w.c, "OK", "BF.RESERVE", "healthy", "0.01", "10");
    for (size_t i = 0; i < sizeof received / sizeof *received; i++) {
        struct record header = header_of_two();
        set(&header, H_RECEIVED, 8, received[i]);
        test_case("%llu", (unsigned long long)received[i]);
        CHECK_STR(restore_two(&header), "OK");
        expect(w.c, "9223372036854775807", "BF.REBUILD", "new", "LOAD", "0000000000000077",
               "x", "y", "z");
        expect(w.c, "OK", "BF.REBUILD", "new", "COMMIT", "0000000000000077",
               "9223372036854775807");
        check_pair(&p);
        expect(w.c, "absent", "BF.CHECK", "new", nobody);
        expect(w.c, "1", "DEL", "new");
    }
}
