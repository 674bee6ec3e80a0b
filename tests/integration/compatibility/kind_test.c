/* SPDX-License-Identifier: BSD-3-Clause */

/* kind_test.c - KIND, bf-kind and BF.LOAD; foreign filters are the equals of native ones;
 * forged payloads of theirs. That they are what their products make: fixture_test.c. */

#include "fixtures.h"
#include "harness.h"
#include "kind.h"
#include "payload.h"

/* -------------------------------------------------------------------------
 * KIND and bf-kind
 * ---------------------------------------------------------------------- */

TRANSCRIPT(a_kind_is_asked_for_by_name) {
    expect(c, "OK", "BF.RESERVE", "l", "0.01", "100", "KIND", "lines");
    expect(c, "OK", "BF.RESERVE", "r", "0.01", "100", "kind", "RedisBloom");
    expect(c, "OK", "BF.RESERVE", "v", "0.01", "100", "EXPANSION", "4", "KIND",
           "valkeybloom");
    expect(c, "bulwarkBF", "TYPE", "l");
    expect(c, "MBbloom--", "TYPE", "r");
    expect(c, "bloomfltr", "TYPE", "v");
}

/* The names of all kinds follow the error. */
static const char *with_kinds(const char *error) {
    for (size_t i = 0; i < KINDS; i++)
        error = text_of("%s%s %s", error, i > 0 ? "," : "", kinds[i]->name);
    return error;
}

TRANSCRIPT(a_kind_that_is_none_is_refused) {
    expect_refusal(c, with_kinds("(error) ERR unknown kind 'cuckoo':"), "BF.RESERVE", "k",
                   "0.01", "100", "KIND", "cuckoo");
    expect_refusal(c, with_kinds("(error) ERR unknown kind '':"), "BF.RESERVE", "k", "0.01",
                   "100", "KIND", "");
    expect_refusal(c, "(error) ERR option 'KIND' needs a value", "BF.RESERVE", "k", "0.01",
                   "100", "KIND");
    expect_refusal(c, "(error) ERR option 'KIND' given twice", "BF.RESERVE", "k", "0.01",
                   "100", "KIND", "lines", "KIND", "lines");
    expect_refusal(c, "(error) Unknown argument received", "BF.INSERT", "k", "KIND",
                   "lines", "ITEMS", "anna");
    expect_refusal(c, "(error) Unknown argument received", "BF.INSERT", "k", "SEED", "x",
                   "ITEMS", "anna");
}

TEST(bf_kind_is_the_kind_of_all_new_filters) {
    redisContext *c = client(server_start(.module_args = "bf-kind RedisBloom"));
    expect(c, "1", "BF.ADD", "add", "anna");
    expect(c, "[1]", "BF.INSERT", "insert", "ITEMS", "anna");
    expect(c, "OK", "BF.RESERVE", "reserve", "0.01", "100");
    expect(c, "OK", "BF.RESERVE", "native", "0.01", "100", "KIND", "lines");
    expect(c, "MBbloom--", "TYPE", "add");
    expect(c, "MBbloom--", "TYPE", "insert");
    expect(c, "MBbloom--", "TYPE", "reserve");
    expect(c, "bulwarkBF", "TYPE", "native");
}

TEST(bf_kind_can_be_changed_at_run_time) {
    needs(700, "settings of modules");
    redisContext *c = client(server_start());
    const redisReply *r = call(c, "CONFIG", "GET", setting("bf-kind"));
    CHECK_STR(r->element[1]->str, "lines");
    expect(c, "OK", "CONFIG", "SET", setting("bf-kind"), "valkeybloom");
    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "bloomfltr", "TYPE", "k");
    expect_like(c, "(error) *", "CONFIG", "SET", setting("bf-kind"), "cuckoo");
}

TEST(a_bad_bf_kind_is_refused_at_start) {
    CHECK(text_matches(server_refusal(.module_args = "bf-kind cuckoo"),
                       "*must be one of lines, *redisbloom*"));
}

/* -------------------------------------------------------------------------
 * Numbers that users of RedisBloom look at
 * ---------------------------------------------------------------------- */

TRANSCRIPT(debug_prints_redisblooms_lines) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "redisbloom");
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c,
           "[\"size:1\", \"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:1 "
           "ratio:0.005\"]",
           "BF.DEBUG", "k");
}

TRANSCRIPT(debug_says_which_kind_another_filter_is) {
    expect(c, "OK", "BF.RESERVE", "l", "0.02", "10", "KIND", "lines");
    expect(c,
           "[\"kind:lines size:0 error:0.02 expansion:2 missing:0\", \"bytes:64 probes:1 "
           "sectors:8 capacity:10 size:0 ratio:0.01288 model:1.07797e-06\"]",
           "BF.DEBUG", "l");
    expect(c, "OK", "BF.RESERVE", "v", "0.02", "10", "KIND", "valkeybloom");
    expect(c,
           "[\"kind:valkeybloom size:0 error:0.02 expansion:2 missing:0\", \"bytes:11 "
           "probes:6 sectors:0 capacity:10 size:0 ratio:0.02 model:0.02\"]",
           "BF.DEBUG", "v");
}

static long long filters_of(redisContext *c, const struct kind *kind) {
    return info_int(c, "bf", text_of("bf_filters_%s", kind->name));
}

/* Two of the first kind, three of the second, and so on. */
TRANSCRIPT(the_info_section_counts_filters_by_kind) {
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == 0); /* what was flushed is freed */
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < k + 2; i++)
            expectf(c, "OK", "BF.RESERVE %s%d 0.01 100 KIND %s", kinds[k]->name, (int)i,
                    kinds[k]->name);
    for (size_t k = 0; k < KINDS; k++)
        CHECK_INT(filters_of(c, kinds[k]), k + 2);
    long long all = info_int(c, "bf", "bf_filters");
    for (size_t k = 0; k < KINDS; k++)
        expectf(c, "1", "DEL %s0", kinds[k]->name);
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == all - KINDS);
    for (size_t k = 0; k < KINDS; k++)
        CHECK_INT(filters_of(c, kinds[k]), k + 1);
}

/* -------------------------------------------------------------------------
 * The equals of native ones
 * ---------------------------------------------------------------------- */

TRANSCRIPT(a_filter_of_any_kind_is_copied_renamed_and_restored) {
    for (size_t k = 0; k < KINDS; k++) {
        test_case("%s", kinds[k]->name);
        call(c, "FLUSHALL");
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "10", "KIND", kinds[k]->name);
        add_numbers(c, "k", 0, 500);
        const char *state = key_state(c, "k");

        const redisReply *dump = call(c, "DUMP", "k");
        expectf(c, "OK", "RESTORE restored 0 %b", dump->str, dump->len);
        CHECK_STR(key_state(c, "restored"), state);
        if (server_speaks(602)) {
            expect(c, "1", "COPY", "k", "copy");
            CHECK_INT(count_missing(c, "copy", 0, 500), 0);
            if (kinds[k]->foreign) CHECK_STR(key_state(c, "copy"), state); /* no identity */
            add_numbers(c, "copy", 500, 1000);
            CHECK_STR(key_state(c, "k"), state);
        }
        expect(c, "OK", "RENAME", "k", "renamed");
        CHECK_STR(key_state(c, "renamed"), state);
        CHECK_INT(count_missing(c, "renamed", 0, 500), 0);
    }
}

/* A thousand items; these kinds put all the bits of some on one or two places, where they
 * are found by chance. */
static void fill_up(redisContext *c) {
    long long had = add_numbers(c, "k", 0, 1000);
    for (long item = 1000; had < 1000; item++)
        had += add_numbers(c, "k", item, item + 1);
}

TRANSCRIPT(a_foreign_filter_that_never_grows_is_full_some_day) {
    for (size_t k = 0; k < KINDS; k++) {
        if (!kinds[k]->foreign) continue;
        test_case("%s", kinds[k]->name);
        call(c, "FLUSHALL");
        expect(c, "OK", "BF.RESERVE", "k", "0.000001", "1002", "NONSCALING", "KIND",
               kinds[k]->name);
        fill_up(c);
        expect(c, "[#t, #t, (error) ERR non scaling filter is full]", "BF.MADD", "k",
               "anna", "bob", "carol", "dan");
        expect_refusal(c, "(error) ERR non scaling filter is full", "BF.ADD", "k", "carol");
        expect(c, "#f", "BF.ADD", "k", "anna");
    }
}

/* The type changes when the last piece comes; nothing else does. */
TRANSCRIPT(a_time_to_live_outlasts_the_loading) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "redisbloom");
    add_numbers(c, "k", 0, 50);
    const struct dump *d = dump_filter(c, "k");
    load_pieces(c, "copy", d, 0, 1);
    expect(c, "bulwarkBF", "TYPE", "copy");
    expect(c, "1", "EXPIRE", "copy", "1000");
    long long filters = info_int(c, "bf", "bf_filters");

    load_pieces(c, "copy", d, 1, d->npieces);

    expect(c, "MBbloom--", "TYPE", "copy");
    CHECK(call_int(c, "TTL", "copy") > 900);
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == filters); /* what stood in is freed */
    CHECK_DUMP(dump_filter(c, "copy"), d);
    expect(c, "#t", "BF.ADD", "copy", "anna");
}

TRANSCRIPT(a_gap_in_redisblooms_chunks_is_refused) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "redisbloom");
    add_numbers(c, "k", 0, 250);
    const struct dump *d = dump_filter(c, "k");
    load_pieces(c, "copy", d, 0, 1);
    CHECK_STR(load_piece(c, "copy", &d->pieces[2]), "ERR received bad data");
    load_pieces(c, "copy", d, 1, d->npieces);
    CHECK_STR(load_piece(c, "copy", &d->pieces[1]), "ERR received bad data");
    CHECK_STR(load_piece(c, "copy", &d->pieces[0]), "ERR received bad data");
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(bf_load_wants_a_key_that_is_not_there_and_data_that_is_right) {
    expect(c, WRONG_ARITY("bf.load"), "bf.load", "k");
    expect(c, "OK", "SET", "string", "x");
    expect(c, WRONGTYPE, "BF.LOAD", "string", "x");
    expect_refusal(c, "(error) ERR received bad data", "BF.LOAD", "k", "");
    expect_refusal(c, "(error) ERR received bad data", "BF.LOAD", "k", "x");
    expect(c, "#t", "BF.ADD", "there", "anna");
    expect_refusal(c, "(error) BUSYKEY Target key name already exists.", "BF.LOAD", "there",
                   "x");
}

/* -------------------------------------------------------------------------
 * Forged payloads, with right checksums
 * ---------------------------------------------------------------------- */

enum { MEMBERS = 1000 };

static void add_unsigned(struct payload *p, uint64_t n) {
    payload_add_number(p, 2);
    payload_add_number(p, n);
}

static void add_double(struct payload *p, double v) {
    payload_add_number(p, 4);
    payload_add_bytes(p, &v, sizeof v);
}

/* A link of 64 bits, and one of its fields forged. */
static const struct forged {
    const char *name;
    uint64_t items, links, options, growth, capacity, hashes, bits, n2, bytes, in_link;
    double error, per_item;
    bool right;
} forgeries[] = {
    {"nothing", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, true},
    {"no link", 0, 0, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"a link that isn't there", 0, 2, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"2^64 - 1 links", 0, UINT64_MAX, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"2^32 + 1 links", 0, 0x100000001, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"items that are in no link", 1, 1, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"option 2^32 + 5", 0, 1, 0x100000005, 2, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"growth 2^32", 0, 1, 5, 0x100000000, 1, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"no capacity", 0, 1, 5, 2, 0, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"capacity 2^63", 0, 1, 5, 2, UINT64_C(1) << 63, 8, 64, 0, 8, 0, 0.005, 11.02, false},
    {"no hashes", 0, 1, 5, 2, 1, 0, 64, 0, 8, 0, 0.005, 11.02, false},
    {"2^32 + 8 hashes", 0, 1, 5, 2, 1, 0x100000008, 64, 0, 8, 0, 0.005, 11.02, false},
    {"more bits than bytes", 0, 1, 5, 2, 1, 8, 72, 0, 8, 0, 0.005, 11.02, false},
    {"bits that wrap to 64", 0, 1, 5, 2, 1, 8, UINT64_MAX, 0, 8, 0, 0.005, 11.02, false},
    {"no bits at all", 0, 1, 5, 2, 1, 8, 0, 0, 8, 0, 0.005, 11.02, false},
    {"no bytes at all", 0, 1, 5, 2, 1, 8, 0, 0, 0, 0, 0.005, 11.02, false},
    {"2^6 in old form", 0, 1, 4, 2, 1, 8, 0, 6, 8, 0, 0.005, 11.02, true},
    {"2^7, in half of the bytes", 0, 1, 4, 2, 1, 8, 0, 7, 8, 0, 0.005, 11.02, false},
    {"2^64", 0, 1, 4, 2, 1, 8, 0, 64, 8, 0, 0.005, 11.02, false},
    {"2^(2^32 + 6)", 0, 1, 4, 2, 1, 8, 0, 0x100000006, 8, 0, 0.005, 11.02, false},
    {"error 0", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, 0, 11.02, false},
    {"error 1", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, 1, 11.02, false},
    {"error NaN", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, (double)__builtin_nan(""), 11.02, false},
    {"infinite bits per item", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, __builtin_inf(),
     false},
    {"bits per item NaN", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, __builtin_nan(""), false},
    {"-1 bits per item", 0, 1, 5, 2, 1, 8, 64, 0, 8, 0, 0.005, -1, false},
};

static const redisReply *restore_forged(redisContext *c, const struct forged *f,
                                        unsigned rdb_version) {
    static const char bitmap[64];
    struct payload p = payload_new("MBbloom--", 4);
    add_unsigned(&p, f->items);
    add_unsigned(&p, f->links);
    add_unsigned(&p, f->options);
    add_unsigned(&p, f->growth);
    add_unsigned(&p, f->capacity);
    add_double(&p, f->error);
    add_unsigned(&p, f->hashes);
    add_double(&p, f->per_item);
    add_unsigned(&p, f->bits);
    add_unsigned(&p, f->n2);
    payload_add_string(&p, bitmap, f->bytes);
    add_unsigned(&p, f->in_link);
    payload_end(&p, rdb_version);
    const redisReply *r = callf(c, "RESTORE k 0 %b", p.bytes, p.length);
    payload_free(&p);
    return r;
}

static unsigned rdb_version_of(redisContext *c) {
    const redisReply *dump = call(c, "DUMP", "healthy");
    return payload_rdb_version(dump->str, dump->len);
}

static void make_healthy(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "healthy", "0.01", "2000", "KIND", "redisbloom");
    add_numbers(c, "healthy", 0, MEMBERS);
}

TEST(every_forged_payload_is_refused) {
    needs(700, "way to survive a payload that a module refuses");
    redisContext *c = client(server_shared());
    make_healthy(c);
    unsigned version = rdb_version_of(c);
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        test_case("forged: %s", forgeries[i].name);
        const redisReply *r = restore_forged(c, &forgeries[i], version);
        CHECK_STR(r->str, forgeries[i].right ? "OK" : "ERR Bad data format");
        CHECK_INT(call_int(c, "DEL", "k"), forgeries[i].right);
    }
    CHECK_INT(count_missing(c, "healthy", 0, MEMBERS), 0);
}

/* Any bytes of a real payload changed, sealed again: LONG=1 does it a million times. */
TEST(spoiled_payloads_do_no_harm) {
    needs(700, "way to survive a payload that a module refuses");
    long rounds = getenv("LONG") ? 1000000 : 4000, accepted = 0;
    test_time_limit(getenv("LONG") ? 3600 : 120);
    struct server *s = server_start(.module_args = "bf-max-filter-bytes 1000000",
                                    .config = "logfile /dev/null");
    redisContext *c = client(s);
    make_healthy(c);
    unsigned version = rdb_version_of(c);
    static const char *const victims[] = {"one", "tiny_grown", "nonscaling_full", "binary"};
    struct file dumps[36];
    size_t ndumps = 0;
    for (int i = 0; i < FOLDERS; i++)
        for (int v = 0; v < 4; v++) {
            const char *path = folder_file(&folders[i], text_of("dump/%s.bin", victims[v]));
            FILE *there = fopen(path, "rb");
            if (there) fclose(there);
            if (there) dumps[ndumps++] = file_read(path);
        }
    for (long round = 0; round < rounds; round++) {
        struct file *d = &dumps[random_below(ndumps)];
        struct payload p = {NULL, 0};
        payload_add_bytes(&p, d->bytes, d->length - 10);
        for (uint64_t n = 1 + random_below(4); n > 0; n--)
            p.bytes[10 + random_below(random_below(2) ? 60 : p.length - 10)] =
                (unsigned char)(random_below(3) ? random_u64() : 0);
        payload_seal(&p, version);
        redisReply *r = redisCommand(c, "RESTORE k 0 %b", p.bytes, p.length);
        payload_free(&p);
        if (!r) FAIL("the server has gone, round %ld", round);
        bool ok = r->type == REDIS_REPLY_STATUS;
        freeReplyObject(r);
        if (!ok) continue;
        accepted++;
        freeReplyObject(redisCommand(c, "BF.MADD k anna bob carol"));
        freeReplyObject(redisCommand(c, "BF.MEXISTS k anna bob carol"));
        freeReplyObject(redisCommand(c, "DUMP k"));
        freeReplyObject(redisCommand(c, "DEL k"));
    }
    CHECK(accepted > rounds / 100);
    CHECK_INT(call_int(c, "DBSIZE"), 1);
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == 1);
    CHECK_INT(count_missing(c, "healthy", 0, MEMBERS), 0);
}
