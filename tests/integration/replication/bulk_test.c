/* SPDX-License-Identifier: BSD-3-Clause */

/* bulk_test.c - what comes into filters in bulk: BF.IMPORT, BF.MERGE, BF.REBUILD IMPORT and
 * RESERVE ... LIKE. It is the same on replicas, on their replicas and in the AOF. */

#include "files.h"
#include "samples.h"
#include "harness.h"
#include "master.h"
#include "records/format.h"
#include "states.h"
#include "zoo.h"

enum { MIB = 1 << 20 };

/* A leveldb filter of that many bytes, each of them this one. */
static struct bytes large(size_t length, int byte) {
    char *at = malloc(length + 1);
    test_defer(free, at);
    memset(at, byte, length);
    at[length] = 6;
    return (struct bytes){at, length + 1};
}

/* ---- everything ---- */

static const struct {
    const char *name, *capacity;
} kinds[] = {{"lines", "50"},    {"redisbloom", "50"},  {"valkeybloom", "50"},
             {"leveldb", "900"}, {"clickhouse", "900"}, {"guava", "900"},
             {"crc32", "900"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Two comparable filters of each kind, grown where the kind grows; one merged into the
 * other, and into none. */
static void merge_kinds(redisContext *c) {
    for (size_t i = 0; i < KINDS; i++) {
        const char *a = text_of("%s a", kinds[i].name), *b = text_of("%s b", kinds[i].name);
        expect(c, "OK", "BF.RESERVE", a, "0.01", kinds[i].capacity, "KIND", kinds[i].name);
        add_numbers(c, a, 0, 500);
        expect(c, "OK", "BF.RESERVE", b, "0.01", kinds[i].capacity, "LIKE", a);
        add_numbers(c, b, 500, 510);
        expect(c, "#t", "BF.MERGE", a, b);
        expect(c, "#t", "BF.MERGE", text_of("%s new", kinds[i].name), b, a);
        add_numbers(c, a, 510, 2000);
    }
}

static void merge_large(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "large", "0.01", "5000000", "READY");
    add_numbers(c, "large", 0, 5000);
    expect(c, "OK", "BF.RESERVE", "part", "0.01", "5000000", "LIKE", "large", "LOADING");
    add_numbers(c, "part", 5000, 7000);
    expect(c, "#t", "BF.MERGE", "large", "part");
    expect(c, "#t", "BF.MERGE", "both", "part", "large");
    expect(c, "OK", "BF.READY", "large");
}

static void import_all(redisContext *c) {
    for (size_t i = 0; i < SAMPLES; i++) {
        import_sample(c, text_of("form %zu", i), &samples[i]);
        add_numbers(c, text_of("form %zu", i), 0, 3);
    }
    CHECK_STR(import(c, "imported", "leveldb", large(3 * MIB + 5, 0x11), "ENCODE int64"),
              "OK");
    expect(c, "#t", "BF.ADD", "imported", "42");
}

static void rebuild_all(redisContext *c) {
    const struct sample *f = sample_of("clickhouse");
    import_sample(c, "rebuilt", f);
    import_sample(c, "being rebuilt", f);
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "rebuilt" : "being rebuilt", *token = start_rebuild(c, key);
        expect(c, "#t", "BF.ADD", key, "meanwhile");
        expectf(c, "2", "BF.REBUILD %s IMPORT %s %b ITEMS 2", key, token, f->data.at,
                f->data.length);
        if (i) expect(c, "OK", "BF.REBUILD", key, "COMMIT", token, "2");
    }
}

static void do_all(redisContext *c) {
    merge_kinds(c);
    merge_large(c);
    import_all(c);
    rebuild_all(c);
}

static void check_members(redisContext *c) {
    for (size_t i = 0; i < KINDS; i++) {
        CHECK_INT(count_missing(c, text_of("%s a", kinds[i].name), 0, 2000), 0);
        CHECK_INT(count_missing(c, text_of("%s new", kinds[i].name), 0, 510), 0);
    }
    CHECK_INT(count_missing(c, "large", 0, 7000), 0);
    CHECK_INT(count_missing(c, "both", 0, 7000), 0);
    expect(c, "[1, 1, 1]", "BF.MEXISTS", "rebuilt", "hello", "world", "meanwhile");
    expect(c, "1", "BF.EXISTS", "imported", "42");
}

static int by_name(const void *a, const void *b) {
    const redisReply *const *x = a, *const *y = b;
    return strcmp((*x)->str, (*y)->str);
}

/* All that both sides know of each filter, but for what each has answered. */
static const char *numbers(redisContext *c) {
    static const char *const fields[] = {"Generation", "Number of items inserted",
                                         "Capacity",   "Variant",
                                         "Encoding",   "Overfull",
                                         "State",      "Layers"};
    redisReply *keys = call(c, "KEYS", "*");
    qsort(keys->element, keys->elements, sizeof *keys->element, by_name);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < keys->elements; i++) {
        const redisReply *info = call(c, "BF.INFO", keys->element[i]->str, "FULL");
        for (size_t j = 0; j < sizeof fields / sizeof *fields; j++)
            fprintf(out, "%s: %s %s\n", keys->element[i]->str, fields[j],
                    render(reply_field(info, fields[j])));
    }
    fclose(out);
    test_defer(free, text);
    return text;
}

static void check_equal(const struct pair *p) {
    check_pair(p);
    CHECK_STR(zoo_state(p->r), zoo_state(p->m));
    CHECK_STR(numbers(p->r), numbers(p->m));
}

TEST(a_replica_and_its_replica_have_what_came_in_bulk) {
    struct pair p =
        pair_linked(server_start(), server_start(.module_args = "bf-max-filter-bytes 1"));
    struct pair next = pair_linked(p.replica, server_start());
    do_all(p.m);
    check_equal(&p);
    check_equal(&next);
    check_members(p.m);
    check_members(next.r);
    CHECK(strstr(server_log(p.replica), "Refused") == NULL);
    CHECK(strstr(server_log(next.replica), "Refused") == NULL);
}

TEST(a_full_sync_carries_what_came_in_bulk) {
    struct pair p = pair_of(server_start(), server_start());
    do_all(p.m);
    follow(p.r, p.master);
    check_equal(&p);
    check_members(p.r);
}

static void replays(const char *config, bool rewritten) {
    struct server *s = server_start(.config = config, .module_args = TRUST_ALL);
    redisContext *c = client(s);
    do_all(c);
    if (rewritten) rewrite_aof(c);
    add_numbers(c, "large", 7000, 8000);
    const char *state = zoo_state(c), *all = numbers(c);
    c = restart_with(s, "bf-max-filter-bytes 1 " TRUST_ALL);
    CHECK_STR(zoo_state(c), state);
    CHECK_STR(numbers(c), all);
    check_members(c);
    CHECK(strstr(server_log(s), "Refused") == NULL);
}

TEST(an_aof_has_what_came_in_bulk) {
    replays(AOF_BY_COMMAND, false);
}

TEST(a_rewritten_aof_has_what_came_in_bulk) {
    replays(AOF_BY_COMMAND, true);
}

TEST(an_aof_that_begins_as_an_rdb_file_has_what_came_in_bulk) {
    replays(AOF_BY_RDB, true);
}

TEST(a_transaction_and_a_script_are_replicated_with_what_they_merged) {
    struct pair p = pair_linked(server_start(), server_start());
    expect(p.m, "1", "BF.ADD", "a", "anna");
    expect(p.m, "OK", "MULTI");
    expect(p.m, "QUEUED", "BF.MERGE", "k", "a");
    expect(p.m, "QUEUED", "BF.ADD", "a", "bob");
    expect(p.m, "QUEUED", "BF.MERGE", "k", "a");
    expect(p.m, "[1, 1, 1]", "EXEC");
    expect(p.m, "[1, 1]", "EVAL",
           "redis.call('BF.ADD', KEYS[2], 'carol')"
           "return {redis.call('BF.MERGE', KEYS[1], KEYS[2]),"
           " redis.call('BF.MERGE', KEYS[3], KEYS[2])}",
           "3", "k", "a", "other");
    check_equal(&p);
    expect(p.r, "[1, 1, 1]", "BF.MEXISTS", "k", "anna", "bob", "carol");
}

/* ---- what a merge sends ---- */

static long long offset(const struct pair *p) {
    return info_int(p->m, "replication", "master_repl_offset");
}

/* Of a filter of 8 MiB and a byte, whose pieces are not zero, those are sent that have a
 * bit more. */
TEST(only_the_pieces_that_a_merge_changed_are_sent) {
    static const struct {
        size_t at[2];
        int pieces;
    } changed[] = {
        {{5 * MIB + 77, 5 * MIB + 99}, 1}, {{MIB - 1, MIB}, 2},         {{0, 8 * MIB}, 2},
        {{8 * MIB, 8 * MIB}, 1},           {{2 * MIB + 3, 7 * MIB}, 2},
    };
    struct pair p = pair_linked(server_start(.config = "repl-ping-replica-period 3600"),
                                server_start());
    CHECK_STR(import(p.m, "k", "leveldb", large(8 * MIB + 1, 0x55), ""), "OK");
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        struct bytes data = large(8 * MIB + 1, 0);
        ((char *)data.at)[changed[i].at[0]] |= 2;
        ((char *)data.at)[changed[i].at[1]] |= 8;
        CHECK_STR(import(p.m, "b", "leveldb", data, ""), "OK");
        wait_for_replica(p.m, p.r);
        test_case("bytes %zu and %zu", changed[i].at[0], changed[i].at[1]);

        long long before = offset(&p);
        expect(p.m, "1", "BF.MERGE", "k", "b");
        long long sent = offset(&p) - before;
        CHECK(sent > (changed[i].at[0] == 8 * MIB ? 1 : (changed[i].pieces - 1) * MIB));
        CHECK(sent < changed[i].pieces * MIB + 4096);
        before = offset(&p);
        expect(p.m, "0", "BF.MERGE", "k", "b");
        CHECK(offset(&p) - before < 512); /* a beat, at most */
        expect(p.m, "1", "DEL", "b");
    }
    check_equal(&p);
}

/* Those of valkey-bloom have any number of bytes, so pieces end within words. */
TEST(what_is_merged_into_layers_of_odd_sizes_reaches_a_replica) {
    struct pair p = pair_linked(server_start(), server_start());
    expect(p.m, "OK", "BF.RESERVE", "k", "0.000001", "150001", "EXPANSION", "1", "KIND",
           "valkeybloom");
    add_numbers(p.m, "k", 0, 320000);
    expect(p.m, "OK", "BF.RESERVE", "b", "0.000001", "150001", "LIKE", "k");
    expect(p.m, "1", "BF.MERGE", "b", "k");
    for (long n = 320000; n < 320040; n++) {
        callf(p.m, "BF.ADD b %ld", n);
        expect(p.m, "1", "BF.MERGE", "k", "b");
    }
    check_equal(&p);
}

/* ---- an AOF that breaks off ---- */

/* Filters of several pieces. */
static void fill(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1200000");
    add_numbers(c, "k", 0, 100);
    expect(c, "OK", "BF.READY", "k");
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "1200000", "LIKE", "k");
    add_numbers(c, "a", 100, 2000);
    expect(c, "1", "BF.MERGE", "k", "a");
    expect(c, "1", "BF.MERGE", "new", "k");
    CHECK_STR(import(c, "imported", "leveldb", large(2 * MIB + 5, 0xff), ""), "OK");
}

static bool exists(redisContext *c, const char *key) {
    return call_int(c, "EXISTS", key) == 1;
}

/* Everything in a merge is there, or nothing. */
static void check_sound(redisContext *c) {
    long long members = exists(c, "k") ? call_int(c, "BF.CARD", "k") : 0;
    CHECK_INT(count_missing(c, "k", 0, members < 100 ? (long)members : 100), 0);
    if (members > 100) CHECK_INT(count_missing(c, "k", 0, 2000), 0);
    if (exists(c, "new")) CHECK_INT(count_missing(c, "new", 0, 2000), 0);
    if (exists(c, "imported")) CHECK_INT(count_missing(c, "imported", 0, 1000), 0);
}

TEST(wherever_an_aof_breaks_off_within_what_came_in_bulk_no_member_is_denied) {
    struct server *s = server_start(.config = AOF_BY_COMMAND "aof-load-truncated yes\n",
                                    .module_args = TRUST_ALL);
    fill(client(s));
    server_kill(s);
    const char *path = server_aof(s);
    struct file whole = file_read(path);
    CHECK(whole.length > 5 * MIB);

    for (size_t cut = whole.length;;) {
        test_case("the first %zu of %zu bytes", cut, whole.length);
        file_write(path, whole.bytes, cut);
        server_start_again(s);
        check_sound(client(s));
        server_kill(s);
        size_t step = 1 + random_below(MIB / 2);
        if (cut < step) break;
        cut -= step;
    }
}

/* ---- records of counts ---- */

/* The counts of a filter of one layer, which has that many items. */
static struct record counts_of(redisContext *c, const char *key, uint64_t items) {
    struct record counts = {.length = COUNTS + 8};
    memcpy(counts.bytes, COUNTS_MAGIC, 8);
    memcpy(counts.bytes + N_IDENTITY,
           dump_filter(c, key)->pieces[0].bytes + FIXED + C_IDENTITY, 8);
    put_number(counts.bytes + N_LAYERS, 4, 1);
    put_number(counts.bytes + COUNTS, 8, items);
    return counts;
}

TEST(a_client_sends_no_counts) {
    redisContext *c = client(server_shared());
    expect(c, "1", "BF.ADD", "k", "anna");
    struct record counts = counts_of(c, "k", 7);
    const char *state = key_state(c, "k");
    long long before = changes(c);
    static const char *const iterators[] = {"0", "1", "2", "33", "-1"};
    for (size_t i = 0; i < sizeof iterators / sizeof *iterators; i++) {
        test_case("iterator %s", iterators[i]);
        expectf(c, "(error) ERR received bad data", "BF.LOADCHUNK k %s %b", iterators[i],
                counts.bytes, counts.length);
        CHECK_INT(
            callf(c, "BF.LOADCHUNK none %s %b", iterators[i], counts.bytes, counts.length)
                ->type,
            REDIS_REPLY_ERROR);
    }
    CHECK_STR(key_state(c, "k"), state);
    CHECK_INT(changes(c), before);
    expect(c, "1", "BF.CARD", "k");
    expect(c, "0", "EXISTS", "none");
}

/* A replica of a master that a test plays, with the filter "k", which is ready and has the
 * item "anna", and another one. */
struct played {
    struct master *master;
    struct server *replica;
    redisContext *c;
    struct record counts;     /* of "k": seven items */
    const struct dump *other; /* of the other one */
};

static struct played play(void) {
    struct server *source = server_start();
    redisContext *c = client(source);
    make_ready(c, "k");
    expect(c, "1", "BF.ADD", "other", "bob");
    save(c);
    struct played p = {.master = master_start(),
                       .replica = server_start(),
                       .counts = counts_of(c, "k", 7),
                       .other = dump_filter(c, "other")};
    struct file rdb = file_read(server_file(source, "dump.rdb"));
    p.c = client(p.replica);
    master_sync(p.master, p.c, rdb.bytes, rdb.length);
    return p;
}

static void send_record(const struct played *p, const char *key, const char *iterator,
                        const void *bytes, size_t length) {
    const char *argv[] = {"BF.LOADCHUNK", key, iterator, bytes};
    const size_t lengths[] = {12, strlen(key), strlen(iterator), length};
    master_sendv(p->master, 4, argv, lengths);
    master_wait(p->master, p->c);
}

TEST(counts_that_dont_fit_are_logged_and_change_nothing) {
    static const struct {
        const char *why;
        unsigned at, width;
        uint64_t value;
        int longer;
    } bad[] = {
        {"it is of another filter, or of another generation of this one", N_IDENTITY, 8, 1,
         0},
        {"it is of another filter, or of another generation of this one", N_LAYERS, 4, 2,
         8},
        {"it is of another filter, or of another generation of this one", N_LAYERS, 4, 0,
         -8},
        {"it is of another filter, or of another generation of this one", N_LAYERS, 4, 1,
         1},
        {"it is of another filter, or of another generation of this one", N_LAYERS, 4, 1,
         -1},
        {"it is not a record of counts", N_LAYERS, 4, 1, -9},
        {"a reserved field is not zero", N_RESERVED, 4, 1, 0},
        {"a layer has too many items", COUNTS, 8, (UINT64_C(1) << 48) + 1, 0},
        {"a layer has too many items", COUNTS, 8, UINT64_MAX, 0},
    };
    struct played p = play();
    const char *state = key_state(p.c, "k");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct record counts = p.counts;
        put_number(counts.bytes + bad[i].at, bad[i].width, bad[i].value);
        counts.length += (size_t)bad[i].longer;
        test_case("row %zu, %s", i, bad[i].why);
        size_t logged = strlen(server_log(p.replica));
        send_record(&p, "k", "1", counts.bytes, counts.length);
        CHECK(strstr(server_log(p.replica) + logged, bad[i].why) != NULL);
        CHECK_STR(key_state(p.c, "k"), state);
    }
    send_record(&p, "none", "1", p.counts.bytes, p.counts.length);
    CHECK(strstr(server_log(p.replica), "there is no such filter") != NULL);
    expect(p.c, "0", "EXISTS", "none");

    send_record(&p, "k", "1", p.counts.bytes, p.counts.length);
    expect(p.c, "7", "BF.CARD", "k");
}

/* What was merged into the master's filter has not come into this one. */
TEST(a_piece_of_another_filter_leaves_nothing_denied) {
    struct played p = play();
    const struct piece *piece = &p.other->pieces[1];
    CHECK_STR(reply_field(call(p.c, "BF.INFO", "k", "FULL"), "State")->str, "ready");
    send_record(&p, "k", text_of("%lld", piece->iterator), piece->bytes, piece->len);
    CHECK_STR(reply_field(call(p.c, "BF.INFO", "k", "FULL"), "State")->str, "loading");
    expect(p.c, "[1, 1]", "BF.MEXISTS", "k", "anna", "bob");
    expect(p.c, "1", "BF.CARD", "k");
}
