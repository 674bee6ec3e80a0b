/* SPDX-License-Identifier: BSD-3-Clause */

/* hostile_chunk_test.c - malformed chunks and payloads, one by one, and what a partial
 * filter says meanwhile. Headers: hostile_test.c. */

#include "hostile.h"
#include "payload.h"

/* ---- chunks ---- */

/* With the iterator that fits what it says, so that it isn't the iterator that is
 * refused; 1 would mean a header. */
static void must_refuse_chunk(const struct record *chunk) {
    long long iterator = chunk->length < CHUNK ? 2 : iterator_of(chunk);
    CHECK_STR(load_record("part", chunk, iterator == 1 ? 2 : iterator), BAD_DATA);
    must_be_as_before();
    expect(w.c, "1", "BF.EXISTS", "part", "nobody");
    if (!may_restore()) return;
    CHECK_STR(restore_records(3, &w.header, chunk, &w.chunks[1]), BAD_PAYLOAD);
    must_be_as_before();
}

static void change_must_be_refused(const struct change *change, const void *what) {
    struct record chunk = *(const struct record *)what;
    change_bytes(chunk.bytes, change);
    test_case("%s", change->name);
    must_refuse_chunk(&chunk);
}

TEST(malformed_chunks_are_refused) {
    set_up(server_shared());
    each_malformed_chunk(change_must_be_refused, &w.chunks[0]);
    memory_must_be_back();
}

TEST(offset_and_zeros_that_come_round_are_refused) {
    set_up(server_shared());
    static const uint64_t offsets[] = {0, 1, 64, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct record chunk = w.chunks[0];
        set(&chunk, K_OFFSET, 8, offsets[i]);
        set(&chunk, K_ZEROS, 8, 0 - offsets[i] - (offsets[i] == 0));
        test_case("offset %llu", (unsigned long long)offsets[i]);
        must_refuse_chunk(&chunk);
    }
    memory_must_be_back();
}

TEST(chunks_cut_anywhere_in_their_head_are_refused) {
    set_up(server_shared());
    for (size_t len = 0; len <= CHUNK; len++) {
        struct record chunk = w.chunks[0];
        chunk.length = len;
        test_case("cut to %zu bytes", len);
        must_refuse_chunk(&chunk);
    }
    memory_must_be_back();
}

TEST(a_chunk_without_a_byte_is_refused) {
    set_up(server_shared());
    struct record chunk = w.chunks[0];
    chunk.length = CHUNK;
    CHECK_INT(get(&chunk, K_ZEROS), 0);
    must_refuse_chunk(&chunk);
}

TEST(a_chunk_over_the_border_of_two_layers_is_refused) {
    set_up(server_shared());
    struct record chunk = w.chunks[0];
    chunk.bytes[chunk.length++] = 0;
    must_refuse_chunk(&chunk);
}

TEST(a_chunk_past_the_end_is_refused) {
    set_up(server_shared());
    CHECK_STR(load_record("part", &w.chunks[0], iterator_of(&w.chunks[0])), "OK");
    look_at_the_world();
    struct record chunk = w.chunks[1];
    chunk.bytes[chunk.length++] = 0;
    CHECK_STR(load_record("part", &chunk, iterator_of(&chunk)), BAD_DATA);
    must_be_as_before();
    CHECK_STR(load_record("part", &w.chunks[1], iterator_of(&w.chunks[1])), "OK");
    CHECK_INT(count_missing(w.c, "part", 0, MEMBERS - 50), 0);
    CHECK(count_missing(w.c, "part", 10000, 11000) > 900);
}

TEST(iterators_that_do_not_go_with_the_chunk_are_refused) {
    set_up(server_shared());
    long long right = iterator_of(&w.chunks[0]);
    const long long wrong[] = {
        0,          1,      2,         -1,        right - 1,          right + 1,
        right + 64, -right, INT64_MAX, INT64_MIN, (1LL << 32) + right};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_case("%lld instead of %lld", wrong[i], right);
        CHECK_STR(load_record("part", &w.chunks[0], wrong[i]), BAD_DATA);
        must_be_as_before();
    }
    memory_must_be_back();
}

TEST(chunks_for_nobody_are_refused) {
    set_up(server_shared());
    for (int i = 0; i < 2; i++) {
        long long iterator = iterator_of(&w.chunks[i]);
        CHECK_STR(load_record("new", &w.chunks[i], iterator), "ERR not found");
        CHECK_STR(load_record("healthy", &w.chunks[i], iterator), BAD_DATA);
        CHECK_STR(load_record("source", &w.chunks[i], iterator), BAD_DATA);
        must_be_as_before();
    }
}

/* ---- payloads ---- */

TEST(payloads_whose_chunks_do_not_add_up_are_refused) {
    needs(700, "RESTORE that refuses a value and lives");
    set_up(server_shared());
    const struct record *h = &w.header, *a = &w.chunks[0], *b = &w.chunks[1];

    CHECK_STR(restore_records(0), BAD_PAYLOAD);
    CHECK_STR(restore_records(1, h), BAD_PAYLOAD);
    CHECK_STR(restore_records(2, h, a), BAD_PAYLOAD);
    CHECK_STR(restore_records(2, h, b), BAD_PAYLOAD);
    CHECK_STR(restore_records(3, h, b, a), BAD_PAYLOAD);
    CHECK_STR(restore_records(4, h, a, a, b), BAD_PAYLOAD);
    CHECK_STR(restore_records(4, h, a, b, b), BAD_PAYLOAD);
    CHECK_STR(restore_records(4, h, h, a, b), BAD_PAYLOAD);
    CHECK_STR(restore_records(3, a, b, h), BAD_PAYLOAD);

    must_be_as_before();
    memory_must_be_back();
    CHECK_STR(restore_records(3, h, a, b), "OK");
    CHECK_DUMP(dump_filter(w.c, "new"), dump_filter(w.c, "source"));
}

/* A filter that was saved while it was partial says how many bytes of it follow. */
TEST(payloads_of_partial_filters_bring_what_they_say) {
    needs(700, "RESTORE that refuses a value and lives");
    set_up(server_shared());
    struct record header = w.header;
    set(&header, FIXED + C_FOLLOWS, 8, get(&w.header, FIRST + L_BYTES));
    CHECK_STR(restore_records(3, &header, &w.chunks[0], &w.chunks[1]), BAD_PAYLOAD);
    set(&header, FIXED + C_FOLLOWS, 8, get(&w.header, FIRST + L_BYTES) - 1);
    CHECK_STR(restore_records(2, &header, &w.chunks[0]), BAD_PAYLOAD);
    must_be_as_before();

    set(&header, FIXED + C_FOLLOWS, 8, get(&w.header, FIRST + L_BYTES));
    CHECK_STR(restore_records(2, &header, &w.chunks[0]), "OK");
    CHECK_INT(count_missing(w.c, "new", 0, 10000), 0);
    CHECK_STR(load_record("new", &w.chunks[1], iterator_of(&w.chunks[1])), "OK");
    CHECK_DUMP(dump_filter(w.c, "new"), dump_filter(w.c, "source"));
}

static void must_refuse_payload(struct payload *p) {
    const redisReply *r = callf(w.c, "RESTORE new 0 %b", p->bytes, p->length);
    payload_free(p);
    CHECK_STR(r->str, BAD_PAYLOAD);
    must_be_as_before();
}

static struct payload begun(unsigned encoding_version) {
    struct payload p = payload_new("bulwarkBF", encoding_version);
    payload_add_string(&p, w.header.bytes, w.header.length);
    return p;
}

static void add_chunks(struct payload *p) {
    for (int i = 0; i < 2; i++)
        payload_add_string(p, w.chunks[i].bytes, w.chunks[i].length);
}

TEST(payloads_with_a_broken_frame_are_refused) {
    needs(700, "RESTORE that refuses a value and lives");
    set_up(server_shared());
    unsigned version = rdb_version();
    struct payload p;

    test_case("encoding version 0");
    p = begun(0), add_chunks(&p), payload_end(&p, version);
    must_refuse_payload(&p);
    test_case("encoding version 1023");
    p = begun(1023), add_chunks(&p), payload_end(&p, version);
    must_refuse_payload(&p);
    test_case("a later encoding of RedisBloom's");
    p = payload_new("MBbloom--", 5), payload_end(&p, version);
    must_refuse_payload(&p);
    test_case("no end");
    p = begun(1), add_chunks(&p), payload_seal(&p, version);
    must_refuse_payload(&p);
    test_case("a number instead of a chunk");
    p = begun(1), payload_add_number(&p, 2), payload_add_number(&p, 7);
    payload_end(&p, version);
    must_refuse_payload(&p);
    test_case("a string longer than the payload");
    p = begun(1), payload_add_number(&p, 5), payload_add_number(&p, 1000);
    payload_end(&p, version);
    must_refuse_payload(&p);
    test_case("a string of 2^63 bytes");
    p = begun(1), payload_add_number(&p, 5);
    payload_add_number(&p, UINT64_C(1) << 63), payload_end(&p, version);
    must_refuse_payload(&p);
    memory_must_be_back();
}

/* ---- partial filters ---- */

/* A few bytes at a time, so that every sort of half-loaded filter is asked. */
TEST(a_partial_filter_never_denies_and_never_takes) {
    set_up(server_shared());
    for (int layer = 0; layer < 2; layer++) {
        const struct record *whole = &w.chunks[layer];
        uint64_t start = get(whole, K_OFFSET), n = whole->length - CHUNK, step = 37;
        for (uint64_t at = 0; at < n; at += step) {
            struct record some = *whole;
            uint64_t length = n - at < step ? n - at : step;
            set(&some, K_OFFSET, 8, start + at);
            memcpy(some.bytes + CHUNK, whole->bytes + CHUNK + at, length);
            some.length = CHUNK + length;
            test_case("%llu bytes of layer %d", (unsigned long long)at, layer);
            CHECK_INT(count_missing(w.c, "part", 0, MEMBERS), 0);
            CHECK_INT(count_missing(w.c, "part", 50000, 50100), 0);
            expect(w.c, "(error) ERR filter is partially loaded", "BF.ADD", "part", "x");
            CHECK_STR(load_record("part", &some, iterator_of(&some)), "OK");
        }
    }
    CHECK_INT(count_missing(w.c, "part", 0, MEMBERS - 50), 0);
    CHECK(count_missing(w.c, "part", 50000, 51000) > 900);
    expect(w.c, "1", "BF.ADD", "part", "somebody else");
}

/* ---- arguments at their limits ---- */

TEST(arguments_at_their_limits) {
    static const struct {
        const char *error, *capacity, *expansion, *says;
    } reserves[] = {
        {"1e-18", "1", "2", "OK"},
        {"2.2e-19", "1", "2", "(error) ERR error rate is too small for this capacity"},
        {"5e-324", "1", "2", "(error) ERR error rate is too small for this capacity"},
        {"0.9999999999999999", "1", "2", "OK"},
        {"1.0", "1", "2", "(error) ERR error rate must be in the range *"},
        {"0.01", "1", "32768", "OK"},
        {"0.01", "1", "32769", "(error) ERR expansion must be in the range *"},
        {"0.01", "1", "-1", "(error) ERR expansion must be in the range *"},
        {"0.01", "0", "2", "(error) ERR capacity must be in the range *"},
        {"0.01", "1099511627777", "2", "(error) ERR capacity must be in the range *"},
        {"0.01", "9223372036854775807", "2", "(error) ERR capacity must be in the range *"},
        {"0.01", "9223372036854775808", "2", "(error) ERR bad capacity"},
        {"0.01", "1", "9223372036854775808", "(error) ERR bad expansion"},
    };
    set_up(server_start(.module_args = "bf-max-filter-bytes 1000000000"));
    for (size_t i = 0; i < sizeof reserves / sizeof *reserves; i++) {
        test_case("%s %s EXPANSION %s", reserves[i].error, reserves[i].capacity,
                  reserves[i].expansion);
        expect_like(w.c, reserves[i].says, "BF.RESERVE", "new", reserves[i].error,
                    reserves[i].capacity, "EXPANSION", reserves[i].expansion);
        call(w.c, "DEL", "new");
    }
    expect(w.c, "(error) " NO_ROOM, "BF.RESERVE", "new", "0.01", "1099511627776");
    expect_like(w.c, "(error) ERR filter has changed, start again*", "BF.SCANDUMP",
                "healthy", "9223372036854775807");
}

TEST(items_at_their_limits) {
    enum { LONG = 1 << 20 };
    char *item = malloc(LONG);
    test_defer(free, item);
    memset(item, 'x', LONG);
    set_up(server_shared());
    static const size_t lengths[] = {0, 1, 7, 8, 9, 511, 512, 513, LONG - 1, LONG};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        test_case("%zu bytes", lengths[i]);
        expectf(w.c, "1", "BF.ADD k %b", item, lengths[i]);
        expectf(w.c, "1", "BF.EXISTS k %b", item, lengths[i]);
    }
    CHECK_INT(call_int(w.c, "BF.CARD", "k"), sizeof lengths / sizeof *lengths);
}
