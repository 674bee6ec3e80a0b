/* SPDX-License-Identifier: BSD-3-Clause */

/* records_test.c - BF.SCANDUMP and BF.LOADCHUNK in RedisBloom's own records, where its
 * clients and its tests ask what ours never do. That the records are its own byte by byte:
 * fixture_test.c. */

#include <string.h>

#include "bytes.h"
#include "harness.h"

enum { HEADER_FIXED = 20, LINK = 53, LINK_BYTES = 0, LINK_BITS = 8 };

static void reserve_grown(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "10", "KIND", "redisbloom");
    add_numbers(c, "k", 0, 40);
}

/* RedisBloom's test walks from 0 on without a look at what comes back. */
TRANSCRIPT(any_iterator_of_a_redisbloom_filter_is_answered) {
    reserve_grown(c);
    const struct dump *d = dump_filter(c, "k");
    long long end = d->pieces[d->npieces - 1].iterator;
    for (long long iterator = 0; iterator < end + 10; iterator++) {
        const redisReply *r = callf(c, "BF.SCANDUMP k %lld", iterator);
        test_case("iterator %lld", iterator);
        CHECK_INT(r->type, REDIS_REPLY_ARRAY);
        CHECK((r->element[0]->integer > 0) == (iterator < end));
        if (iterator >= end) CHECK_INT(r->element[1]->len, 0);
    }
    expect(c, "[0, \"\"]", "BF.SCANDUMP", "k", "1000000");
    expect(c, "[0, \"\"]", "BF.SCANDUMP", "k", "9223372036854775807");
}

TRANSCRIPT(a_piece_from_any_place_of_a_redisbloom_filter_is_its_bytes_from_there) {
    reserve_grown(c);
    const struct dump *d = dump_filter(c, "k");
    for (size_t i = 1, at = 1; i < d->npieces; at += d->pieces[i++].len)
        for (size_t skip = 0; skip < d->pieces[i].len; skip += 7) {
            const redisReply *r = callf(c, "BF.SCANDUMP k %lld", (long long)(at + skip));
            test_case("piece %zu from byte %zu on", i, skip);
            CHECK_MEM(r->element[1]->str, r->element[1]->len, d->pieces[i].bytes + skip,
                      d->pieces[i].len - skip);
        }
}

/* It comes as ours, which can say that something is missing, and whose iterators are. */
TRANSCRIPT(an_iterator_past_a_partial_filter_is_an_error) {
    reserve_grown(c);
    const struct dump *d = dump_filter(c, "k");
    load_pieces(c, "partial", d, 0, 2);
    expect_like(c, "(error) ERR filter has changed, start again*", "BF.SCANDUMP", "partial",
                "1000000");
}

/* The header of an empty filter of one layer, which says that the layer has these bytes. */
static const char *load_lie(redisContext *c, uint64_t bytes) {
    static unsigned char header[HEADER_FIXED + LINK];
    const struct dump *d = dump_filter(c, "empty");
    struct piece lie = {.iterator = 1, .bytes = (char *)header, .len = sizeof header};
    CHECK_INT(d->pieces[0].len, sizeof header);
    memcpy(header, d->pieces[0].bytes, sizeof header);
    store_u64(header + HEADER_FIXED + LINK_BYTES, bytes);
    store_u64(header + HEADER_FIXED + LINK_BITS, 8 * bytes);
    return load_piece(c, "new", &lie);
}

static void reserve_empty(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "empty", "0.01", "100", "NONSCALING", "KIND",
           "redisbloom");
}

TRANSCRIPT(a_header_whose_sizes_cannot_be_is_bad_data) {
    reserve_empty(c);
    for (unsigned bits = 40; bits < 64; bits++) {
        test_case("2^%u bytes", bits);
        CHECK_STR(load_lie(c, UINT64_C(1) << bits), "ERR received bad data");
    }
    CHECK_STR(load_lie(c, UINT64_MAX / 8), "ERR received bad data");
    expect(c, "0", "EXISTS", "new");
}

TEST(a_header_that_the_server_could_never_hold_is_bad_data) {
    redisContext *c = client(server_start(.config = "maxmemory 50mb"));
    reserve_empty(c);
    CHECK_STR(load_lie(c, UINT64_C(60) << 20), "ERR received bad data");
    expect(c, "0", "EXISTS", "new");
}

/* The operator's limit is no lie of the header's. */
TEST(a_header_above_the_limit_is_told_so) {
    redisContext *c = client(server_start(.module_args = "bf-max-filter-bytes 100000"));
    reserve_empty(c);
    CHECK_STR(load_lie(c, 200000), "ERR Insufficient memory to create filter");
    CHECK_STR(load_lie(c, 90000), "OK");
}
