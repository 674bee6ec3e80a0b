/* SPDX-License-Identifier: BSD-3-Clause */

/* rebuild_import_test.c - BF.REBUILD key IMPORT token data ITEMS n: a new generation that
 * another library has built, while adds go on here. */

#include "events.h"
#include "samples.h"
#include "harness.h"
#include "states.h"

static const char *start_of_kind(redisContext *c, const struct sample *f) {
    bool variant = f->variant && strcmp(f->kind, "guava") == 0;
    const redisReply *r =
        call(c, "BF.REBUILD", "k", "START", "ERROR", "0.01", "CAPACITY", "2", "KIND",
             f->kind, variant ? "VARIANT" : NULL, f->variant);
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    return r->str;
}

static long long import_next(redisContext *c, const char *token, struct bytes data,
                             long long items) {
    const redisReply *r = callf(c, "BF.REBUILD k IMPORT %s %b ITEMS %lld", token, data.at,
                                data.length, items);
    CHECK_INT(r->type, REDIS_REPLY_INTEGER);
    return r->integer;
}

static const redisReply *full(redisContext *c, const char *field) {
    return reply_field(call(c, "BF.INFO", "k", "FULL"), field);
}

/* ---- what it is for ---- */

TRANSCRIPT(adds_during_a_build_elsewhere_are_in_the_generation_that_is_imported) {
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *f = &samples[i];
        test_case("row %zu, %s", i, f->kind);
        import_sample(c, "k", f);
        expect(c, "OK", "BF.READY", "k");
        const char *token = start_rebuild(c, "k");
        expect(c, "#t", "BF.ADD", "k", "written meanwhile");
        CHECK_INT(import_next(c, token, f->data, 2), 2);
        CHECK_INT(reply_field(full(c, "Rebuild"), "Received")->integer, 2);
        expect(c, "[#t, #t, #t, #f]", "BF.REBUILD", "k", "CHECK", token, f->member[0],
               f->member[1], "written meanwhile", "nobody at all");

        expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "2");
        expect(c, "[maybe, maybe, maybe, absent]", "BF.MCHECK", "k", f->member[0],
               f->member[1], "written meanwhile", "nobody at all");
        CHECK_STR(full(c, "Kind")->str, f->kind);
        CHECK_STR(full(c, "Variant")->str, f->variant);
        expect(c, "1", "DEL", "k");
    }
}

/* The sizes follow from the builder's own numbers. (Not ClickHouse's: these have another
 * seed and another size.) */
TRANSCRIPT(any_filter_is_rebuilt_into_a_librarys_and_back) {
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *f = &samples[i];
        if (strcmp(f->kind, "clickhouse") == 0) continue;
        test_case("row %zu, %s", i, f->kind);
        make_ready(c, "k");
        const char *token = start_of_kind(c, f);
        CHECK_INT(import_next(c, token, f->data, 2), 2);
        expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "2");
        must_export(c, "k", f->data);
        expect(c, "[maybe, absent]", "BF.MCHECK", "k", f->member[0], "nobody at all");

        const redisReply *r =
            call(c, "BF.REBUILD", "k", "START", "EXPANSION", "4", "KIND", "lines");
        CHECK_INT(load_numbers(c, "k", r->str, 0, 10), 10);
        expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "10");
        expect(c, "[maybe, absent]", "BF.MCHECK", "k", "9", f->member[0]);
        CHECK_STR(full(c, "Kind")->str, "lines");
        CHECK_INT(full(c, "Expansion rate")->integer, 4);
        expect(c, "1", "DEL", "k");
    }
}

/* ClickHouse's sizes are free: what was imported once can be imported again. A job names
 * its kind each night, since the filter may be gone. */
TRANSCRIPT(without_numbers_the_next_generation_has_the_sizes_of_the_live_one) {
    const struct sample *f = sample_of("clickhouse");
    const char *const kinds[] = {NULL, "clickhouse"};
    import_sample(c, "k", f);
    for (size_t i = 0; i < 2; i++) {
        test_case("%s", kinds[i] ? kinds[i] : "no option");
        const char *option = kinds[i] ? "KIND" : NULL;
        const redisReply *r = call(c, "BF.REBUILD", "k", "START", option, kinds[i]);
        CHECK_INT(r->type, REDIS_REPLY_STRING);
        CHECK_INT(import_next(c, r->str, f->data, 2), 2);
        expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "2");
        must_export(c, "k", f->data);
    }
}

TRANSCRIPT(parts_of_a_generation_may_come_one_by_one) {
    const struct sample *f = sample_of("leveldb");
    import_sample(c, "k", f);
    const char *token = start_rebuild(c, "k");
    CHECK_INT(import_next(c, token, BYTES("\x11\x40\0\0\0\0\0\0\x06"), 1), 1);
    CHECK_INT(import_next(c, token, BYTES("\0\0\0\x41\x44\x10\x40\x10\x06"), 1), 2);
    expect(c, "3", "BF.REBUILD", "k", "LOAD", token, "hello");
    expect(c, "(error) ERR rebuild received 3 of 4 items", "BF.REBUILD", "k", "COMMIT",
           token, "4");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "3");
    must_export(c, "k", f->data);
    expect(c, "OK", "DEBUG", "RELOAD");
    must_export(c, "k", f->data);
}

TRANSCRIPT(an_import_of_no_items_is_an_empty_table) {
    const struct sample *f = sample_of("leveldb");
    struct bytes empty = BYTES("\0\0\0\0\0\0\0\0\x06");
    import_sample(c, "k", f);
    const char *token = start_rebuild(c, "k");
    CHECK_INT(import_next(c, token, empty, 0), 0);
    expect_refusal(c, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);

    token = call(c, "BF.REBUILD", "k", "START", "EMPTY")->str;
    CHECK_INT(import_next(c, token, empty, 0), 0);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "0");
    expect(c, "absent", "BF.CHECK", "k", f->member[0]);
}

/* Committed, it would deny everything. */
TRANSCRIPT(an_import_of_items_that_have_no_bits_is_refused) {
    import_sample(c, "k", sample_of("leveldb"));
    const char *token = start_rebuild(c, "k");
    expectf(c, "(error) ERR received bad data: it has items but all bits are zero",
            "BF.REBUILD k IMPORT %s %b ITEMS 2", token, "\0\0\0\0\0\0\0\0\x06", (size_t)9);
    expect_refusal(c, EMPTY, "BF.REBUILD", "k", "COMMIT", token, "0");
}

/* ---- START ---- */

TRANSCRIPT(a_rebuild_begins_with_the_options_of_a_reserve) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "clickhouse", "SEED", "7",
           "ENCODE", "int64");
    const redisReply *r = call(c, "BF.REBUILD", "k", "START", "CAPACITY", "200");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", r->str, "42");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "1");
    expect(c, "OK", "BF.RESERVE", "alike", "0.01", "200", "KIND", "clickhouse", "SEED", "7",
           "ENCODE", "int64");
    expect(c, "#t", "BF.COVERS", "k", "alike");

    r = call(c, "BF.REBUILD", "k", "START", "SEED", "8");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", r->str, "42");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "1");
    expect(c, "(error) ERR filters can't be compared: their seeds differ", "BF.COVERS", "k",
           "alike");

    r = call(c, "BF.REBUILD", "k", "START", "ENCODE", "raw");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", r->str, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "1");
    expect(c, "(error) ERR filters can't be compared: their encodings differ", "BF.COVERS",
           "k", "alike");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "42");
}

TRANSCRIPT(a_rebuild_may_have_another_variant_than_the_live_filter) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", "guava");
    const redisReply *r = call(c, "BF.REBUILD", "k", "START", "VARIANT", "mitz32");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", r->str, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "1");
    CHECK_STR(full(c, "Variant")->str, "mitz32");
}

TRANSCRIPT(a_rebuild_refuses_what_a_reserve_refuses) {
    static const char *const bad[][4] = {
        {"guava", "SEED", "1", "(error) ERR kind 'guava' takes no SEED"},
        {"lines", "ENCODE", "raw", "(error) ERR kind 'lines' takes no ENCODE"},
        {"guava", "VARIANT", "x", "(error) ERR unknown variant 'x': mitz64, mitz32"},
        {"guava", "EXPANSION", "2", "(error) ERR filters of this kind never grow"},
        {"clickhouse", "SEED", "x", "(error) ERR bad seed"},
        {"crc32", "ERROR", "0.7", "(error) ERR error rate is too large for this kind"},
        {"guava", "LIKE", "k", "(error) ERR unknown option 'LIKE'"},
    };
    make_ready(c, "k");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("%s %s", bad[i][0], bad[i][1]);
        expect_refusal(c, bad[i][3], "BF.REBUILD", "k", "START", "KIND", bad[i][0],
                       bad[i][1], bad[i][2]);
        expect_refusal(c, bad[i][3], "BF.REBUILD", "none", "START", "KIND", bad[i][0],
                       bad[i][1], bad[i][2]);
    }
}

TRANSCRIPT(a_rebuild_makes_a_librarys_filter_that_is_not_there) {
    const redisReply *r = call(c, "BF.REBUILD", "k", "START", "KIND", "guava", "CAPACITY",
                               "2", "ERROR", "0.01", "ENCODE", "int64");
    expect(c, "#t", "BF.ADD", "k", "42");
    expect(c, "(error) ERR item 'x' can't be encoded as int64", "BF.ADD", "k", "x");
    CHECK_INT(import_next(c, r->str, sample_of("guava")->data, 2), 2);
    expect(c, "[unknown, maybe]", "BF.MCHECK", "k", "43", "42");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", r->str, "2");
    expect(c, "[absent, maybe]", "BF.MCHECK", "k", "43", "42");
}

/* ---- what is refused ---- */

#define FITS "abcdefgh\x06" /* leveldb, for two items at one in a hundred */

static const char *start_leveldb(redisContext *c) {
    import_sample(c, "k", sample_of("leveldb"));
    return start_rebuild(c, "k");
}

TRANSCRIPT(an_import_names_a_rebuild_that_is_under_way) {
    expect(c, NOT_FOUND, "BF.REBUILD", "none", "IMPORT", "0123456789abcdef", FITS, "ITEMS",
           "2");
    const char *token = start_leveldb(c);
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "IMPORT", "0123456789abcdef", FITS,
                   "ITEMS", "2");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "IMPORT", "x", FITS, "ITEMS", "2");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
    expect_refusal(c, NO_REBUILD, "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS", "2");
}

TRANSCRIPT(an_import_says_how_many_items_it_has) {
    static const char *const arity =
        "(error) ERR wrong number of arguments: BF.REBUILD key IMPORT token data ITEMS n "
        "[HASHES k] [SEED s] [BITS m] [VARIANT v]";
    const char *token = start_leveldb(c);
    expect_refusal(c, arity, "BF.REBUILD", "k", "IMPORT", token, FITS);
    expect_refusal(c, arity, "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS");
    expect_refusal(c, arity, "BF.REBUILD", "k", "IMPORT", token, FITS, "VARIANT",
                   "unsigned");
    expect_refusal(c, "(error) ERR unknown option 'COUNT'", "BF.REBUILD", "k", "IMPORT",
                   token, FITS, "COUNT", "2");
    expect_refusal(c, "(error) ERR option 'ITEMS' given twice", "BF.REBUILD", "k", "IMPORT",
                   token, FITS, "ITEMS", "2", "ITEMS", "2");
    static const char *const counts[] = {
        "", "x", "-1", "1.5", "281474976710657", "9223372036854775808"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        test_case("ITEMS %s", counts[i]);
        expect_refusal(c, "(error) ERR bad count of items", "BF.REBUILD", "k", "IMPORT",
                       token, FITS, "ITEMS", counts[i]);
    }
    expect(c, "2", "BF.REBUILD", "k", "IMPORT", token, FITS, "items", "2");
}

TRANSCRIPT(data_that_does_not_fit_the_generation_is_refused) {
    const char *bad = "(error) ERR received bad data: ";
    static const struct {
        const char *data, *why;
    } misfits[] = {
        {"", "it is shorter than two bytes"},
        {"\x06", "it is shorter than two bytes"},
        {"abcdefg\x06", "its size is another"},
        {"abcdefghi\x06", "its size is another"},
        {"abcdefgh\x07", "its number of hashes is another"},
        {"abcdefgh\x1f", "its number of hashes is another"},
    };
    const char *token = start_leveldb(c);
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "%s%s (the generation has 9 bytes, 6 hashes)", bad,
                 misfits[i].why);
        test_case("row %zu", i);
        expect_refusal(c, wanted, "BF.REBUILD", "k", "IMPORT", token, misfits[i].data,
                       "ITEMS", "2");
    }
    expect(c, "1", "DEL", "k");

    import_sample(c, "k", &samples[2]); /* mitz64 */
    token = start_rebuild(c, "k");
    expectf(c,
            "(error) ERR received bad data: its variant is another (the generation has 14 "
            "bytes, 7 hashes)",
            "BF.REBUILD k IMPORT %s %b ITEMS 2", token, samples[3].data.at,
            samples[3].data.length);
}

/* The bytes alone would fit. */
TRANSCRIPT(what_an_import_says_beside_the_bytes_is_compared_too) {
    static const struct {
        const char *kind, *option, *good, *bad, *why, *has;
    } said[] = {
        {"leveldb", "VARIANT", "unsigned", "signed", "its variant is another",
         "126 bytes, 6 hashes"},
        {"clickhouse", "HASHES", "5", "6", "its number of hashes is another",
         "125 bytes, 5 hashes"},
        {"clickhouse", "SEED", "0", "1", "its seed is another", "125 bytes, 5 hashes"},
        {"crc32", "HASHES", "6", "5", "its number of hashes is another",
         "120 bytes, 6 hashes"},
        {"crc32", "BITS", "958", "957", "its size is another", "120 bytes, 6 hashes"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char wanted[128];
        test_case("%s %s", said[i].kind, said[i].option);
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", said[i].kind);
        expect(c, "#t", "BF.ADD", "k", "anna");
        const char *token = start_rebuild(c, "k");
        const redisReply *data = call(c, "BF.EXPORT", "k");
        snprintf(wanted, sizeof wanted,
                 "(error) ERR received bad data: %s (the generation has %s)", said[i].why,
                 said[i].has);
        expectf(c, wanted, "BF.REBUILD k IMPORT %s %b ITEMS 1 %s %s", token, data->str,
                data->len, said[i].option, said[i].bad);
        expectf(c, "1", "BF.REBUILD k IMPORT %s %b %s %s ITEMS 1", token, data->str,
                data->len, said[i].option, said[i].good);
        expect(c, "1", "DEL", "k");
    }
    expect_refusal(c, "(error) ERR kind 'leveldb' takes no SEED", "BF.REBUILD", "k",
                   "IMPORT", start_leveldb(c), FITS, "ITEMS", "2", "SEED", "1");
}

TRANSCRIPT(a_generation_of_a_kind_without_such_a_form_is_fed_otherwise) {
    static const char *const kinds[] = {"lines", "redisbloom", "valkeybloom"};
    for (size_t i = 0; i < 3; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted,
                 "(error) ERR a filter of kind %s has no other form: use BF.REBUILD LOAD",
                 kinds[i]);
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", kinds[i]);
        const char *token = start_rebuild(c, "k");
        expect_refusal(c, wanted, "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS", "2");
        expect(c, "1", "DEL", "k");
    }
}

/* Adds may have been lost since it began. */
TEST(nothing_is_imported_into_a_rebuild_that_was_interrupted) {
    struct server *s = server_start();
    redisContext *c = client(s);
    const char *token = start_leveldb(c);
    expect(c, "2", "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS", "2");
    save(c);
    c = restart_with(s, NULL);
    expect_refusal(c, INTERRUPTED, "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS", "2");
    expect_refusal(c, INTERRUPTED, "BF.REBUILD", "k", "COMMIT", token, "2");
}

/* ---- limits and effects ---- */

/* 33,000 times 2^48 is more than 2^63. */
TEST(a_count_that_no_number_holds_stays_at_the_largest) {
    enum { CALLS = 33000 };
    struct pair p = pair_linked(server_start(), server_start());
    const char *token = start_leveldb(p.m);
    for (int i = 0; i < CALLS; i++)
        redisAppendCommand(p.m, "BF.REBUILD k IMPORT %s %s ITEMS 281474976710656", token,
                           FITS);
    long long received = 0;
    for (int i = 0; i < CALLS; i++) {
        redisReply *r = NULL;
        CHECK(redisGetReply(p.m, (void **)&r) == REDIS_OK);
        CHECK(r->type == REDIS_REPLY_INTEGER && r->integer >= received);
        received = r->integer;
        freeReplyObject(r);
    }
    CHECK_INT(received, INT64_MAX);
    expect(p.m, "OK", "BF.REBUILD", "k", "COMMIT", token, "9223372036854775807");
    check_pair(&p);
    CHECK(call_int(p.m, "BF.CARD", "k") > 0);
    expect(p.m, "OK", "DEBUG", "RELOAD");
}

TEST(an_import_into_a_rebuild_is_an_event_if_it_brought_a_bit) {
    struct server *s = server_start();
    redisContext *c = client(s);
    const char *token = start_leveldb(c);
    redisContext *l = listener(s);
    expect(c, "2", "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS", "2");
    CHECK_STR(events(l, c), "bf.rebuild");
    expect(c, "4", "BF.REBUILD", "k", "IMPORT", token, FITS, "ITEMS", "2");
    expect_like(c, "(error) *", "BF.REBUILD", "k", "IMPORT", token, "x", "ITEMS", "2");
    CHECK_STR(events(l, c), "");
}
