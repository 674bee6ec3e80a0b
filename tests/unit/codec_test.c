/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_test.c - what is written is what is read. Bytes that nobody wrote are the
 * business of codec_hostile_test.c, the bytes themselves of codec_golden_test.c. */
#include "codec.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct standing something = {
    .state = STATE_PLAIN,
    .doubt = 0xBEEF,
    .lease = INT64_MIN,
    .vouched_at = INT64_MAX,
    .rebuild_token = UINT64_MAX,
    .rebuild_start = -1,
    .rebuild_received = 123456789,
};

static void standings_must_be_equal(const struct standing *a, const struct standing *b) {
    CHECK_INT(a->state, b->state);
    CHECK_INT(a->doubt, b->doubt);
    CHECK_INT(a->lease, b->lease);
    CHECK_INT(a->vouched_at, b->vouched_at);
    CHECK_UINT(a->rebuild_token, b->rebuild_token);
    CHECK_INT(a->rebuild_start, b->rebuild_start);
    CHECK_UINT(a->rebuild_received, b->rebuild_received);
}

/* ---- headers ---- */

TEST(a_stored_filter_comes_back_with_everything) {
    static const uint64_t items[] = {0, 1, 50, 100, 101, 1000, 20000};
    static const uint32_t expansions[] = {1, 2, 10};
    for (size_t n = 0; n < COUNT(items); n++)
        for (size_t x = 0; x < COUNT(expansions); x++) {
            struct filter *f = filter_made(0.01, expansions[x], 1000);
            test_case("%llu items, expansion %u", (unsigned long long)items[n],
                      expansions[x]);
            chain_fill(f->live, 0, items[n]);
            f->standing = something;

            uint64_t follows[2];
            struct filter *read = value_read(header_of(f, CODEC_STORED), follows);
            CHECK_UINT(follows[0], chain_bytes(f->live));
            send_chunks(f->live, read->live, 4096);
            must_be_equal(read->live, f->live);
            standings_must_be_equal(&read->standing, &something);
            chain_must_hold(read->live, 0, items[n]);
        }
}

TEST(a_header_has_taken_no_arrays) {
    struct filter *f = filter_made(0.01, 2, 1000000), *read;
    struct block header = header_of(f, CODEC_STORED);
    uint64_t follows[2], bytes = memory_bytes();
    const char *why;
    CHECK_INT(codec_read_header(header.bytes, header.length, f->live->memory, &read,
                                follows, &why),
              BLOOM_OK);
    uint64_t taken = memory_bytes() - bytes;
    bool bare = read->live->layers[0].bits == NULL;
    filter_free(read);
    CHECK(bare);
    CHECK_UINT(taken, filter_memory(f) - chain_bytes(f->live));
}

TEST(what_was_stored_is_partial_until_its_last_byte_has_come) {
    struct filter *f = filter_made(0.01, 2, 100);
    chain_fill(f->live, 0, 1000);
    uint64_t follows[2], total = chain_bytes(f->live), next = 0;
    struct filter *read = value_read(header_of(f, CODEC_STORED), follows);
    unsigned char buffer[100];

    CHECK_UINT(read->live->missing, total);
    while (next < total) {
        CHECK(!denies(read));
        size_t length = codec_write_chunk(f->live, next, buffer, sizeof buffer, &next);
        chunk_must_be_read(read->live, (struct block){buffer, length});
        CHECK_UINT(read->live->missing, total - next);
    }
    CHECK(denies(read));
}

TEST(a_born_filter_is_complete_at_once) {
    struct filter *f = filter_made(0.001, 4, 12345);
    f->standing = something;
    uint64_t follows[2];
    struct filter *read = value_read(header_of(f, CODEC_BORN), follows);
    CHECK_UINT(follows[0], 0);
    CHECK(denies(read));
    must_be_equal(read->live, f->live);
    standings_must_be_equal(&read->standing, &something);
}

static void grow_both(struct chain *master, struct chain *replica) {
    unsigned char growth[CODEC_GROWTH_LENGTH];
    struct layer plan;
    const char *why;
    chain_must_grow(master);
    codec_write_growth(master, CODEC_LIVE, growth);
    CHECK_INT(codec_read_growth(replica, CODEC_LIVE, growth, sizeof growth, &plan, &why),
              BLOOM_OK);
    CHECK_STR(why, NULL);
    CHECK_INT(chain_grow(replica, &plan), BLOOM_OK);
}

/* How a replica gets a filter: born, then the adds that changed something, and growth. */
TEST(a_born_filter_that_follows_its_masters_effects_is_equal) {
    struct filter *f = filter_made(0.01, 2, 100);
    uint64_t follows[2];
    struct filter *replica = value_read(header_of(f, CODEC_BORN), follows);
    for (uint64_t i = 0; i < 5000; i++) {
        unsigned char room[ITEM_ROOM];
        struct item item = item_number(i, room);
        uint8_t added;
        if (chain_add(f->live, &item, 1, &added, CHAIN_STOP) == 0) {
            grow_both(f->live, replica->live);
            i--;
        } else if (added)
            CHECK(add_number(replica->live, i));
    }
    CHECK(f->live->nlayers == 6);
    must_be_equal(replica->live, f->live);
}

TEST(a_moved_filter_arrives_as_a_plain_one) {
    struct filter *f = filter_made(0.01, 2, 100);
    struct standing plain = {.state = STATE_PLAIN};
    chain_fill(f->live, 0, 500);
    f->standing = something;
    f->standing.state = 77;

    uint64_t follows[2];
    struct filter *read = value_read(header_of(f, CODEC_MOVED), follows);
    standings_must_be_equal(&read->standing, &plain);
    CHECK(!denies(read));
    send_chunks(f->live, read->live, 1000);
    CHECK(denies(read));
    must_be_equal(read->live, f->live);
}

/* A later version's state could mean that not all items are in it. */
TEST(an_unknown_state_is_kept_and_denies_nothing) {
    struct filter *f = filter_made(0.01, 2, 100);
    f->standing = something;
    for (unsigned state = 1; state < 256; state += 127) {
        f->standing.state = (uint8_t)state;
        uint64_t follows[2];
        struct block header = header_of(f, CODEC_STORED);
        struct filter *read = value_read(header, follows);
        send_chunks(f->live, read->live, 1000);
        CHECK_UINT(read->live->missing, 0);
        CHECK(!denies(read));

        struct block again = header_of(read, CODEC_STORED);
        CHECK_MEM(again.bytes, again.length, header.bytes, header.length);
    }
}

/* With its sections, which a filter loses when it passes through this version. */
TEST(sections_that_may_be_skipped_are) {
    struct filter *f = filter_made(0.01, 2, 100);
    struct block plain = header_of(f, CODEC_STORED);
    struct block r = block_of(NULL, plain.length + 3 * 8 + 5 + 1);
    block_defer(r);
    memset(r.bytes, 0xAA, r.length);
    memcpy(r.bytes, plain.bytes, plain.length);
    store_u32(r.bytes + H_SECTIONS, 3);
    unsigned char *at = r.bytes + plain.length;
    store_u32(at, 0), store_u32(at + 4, 0);
    store_u32(at + 8, 0x7FFFFFFF), store_u32(at + 12, 5);
    store_u32(at + 21, 1), store_u32(at + 25, 1);

    uint64_t follows[2];
    struct filter *read = value_read(r, follows);
    read->live->missing = 0; /* so that the same bytes follow */
    struct block again = header_of(read, CODEC_STORED);
    CHECK_MEM(again.bytes, again.length, plain.bytes, plain.length);
}

/* ---- partial filters ---- */

static void send_part_and_compare(struct filter *half) {
    uint64_t follows[2], present = chain_present(half->live);
    struct filter *read = value_read(header_of(half, CODEC_STORED), follows);
    CHECK_UINT(follows[0], present);
    send_chunks(half->live, read->live, 333);
    must_be_equal(read->live, half->live);
    CHECK(denies(read) == (present == chain_bytes(half->live)));
}

TEST(a_partial_filter_travels_as_a_partial_one) {
    struct filter *f = filter_made(0.01, 2, 100);
    chain_fill(f->live, 0, 1000);
    uint64_t total = chain_bytes(f->live);
    for (uint64_t present = 0; present <= total; present += total / 7) {
        uint64_t follows[2];
        unsigned char *buffer = malloc((size_t)total + CODEC_CHUNK_HEADER);
        CHECK(buffer != NULL);
        struct filter *half = value_read(header_of(f, CODEC_STORED), follows);
        uint64_t at = 0;
        while (at < present) {
            size_t room = CODEC_CHUNK_HEADER + (size_t)(present - at);
            size_t length = codec_write_chunk(f->live, at, buffer, room, &at);
            chunk_must_be_read(half->live, (struct block){buffer, length});
        }
        free(buffer);
        test_case("%llu of %llu bytes", (unsigned long long)at, (unsigned long long)total);
        CHECK_UINT(half->live->missing, total - at);
        send_part_and_compare(half);
    }
}

/* As runs of zeros, which end where it does. */
TEST(a_partial_filter_without_bits_travels_as_a_partial_one) {
    uint64_t total = chain_bytes(filter_made(0.01, 2, 100000)->live);
    for (uint64_t present = 0; present <= total; present += total / 7) {
        uint64_t follows[2];
        struct filter *half =
            value_read(header_of(filter_made(0.01, 2, 100000), CODEC_STORED), follows);
        test_case("%llu of %llu bytes", (unsigned long long)present,
                  (unsigned long long)total);
        half->live->missing = total - present;
        send_part_and_compare(half);
    }
}

/* ---- counts that no real filter has ---- */

TEST(forged_counts_of_items_do_not_break_saving_and_loading) {
    static const uint64_t counts[] = {1, UINT32_MAX, CHAIN_ITEMS_MAX - 1, CHAIN_ITEMS_MAX};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct filter *f = filter_made(0.01, 2, 10);
        chain_must_grow(f->live);
        test_case("%llu items", (unsigned long long)counts[i]);
        f->live->layers[0].items = f->live->layers[1].items = counts[i];
        for (uint64_t n = 0; n < 10; n++)
            add_number(f->live, n);
        CHECK_STR(chain_flaw(f->live), NULL);

        uint64_t follows[2];
        struct filter *read = value_read(header_of(f, CODEC_STORED), follows);
        send_chunks(f->live, read->live, 4096);
        must_be_equal(read->live, f->live);
        chain_must_hold(read->live, 0, 10);
    }
}

/* ---- records ---- */

TEST(a_record_is_known_by_its_first_eight_bytes) {
    CHECK_INT(codec_record_type("BULWARK\x81", 8), CODEC_HEADER);
    CHECK_INT(codec_record_type("BULWARK\x82 and more", 17), CODEC_CHUNK);
    CHECK_INT(codec_record_type("BULWARK\x83", 8), CODEC_GROWTH);
    CHECK_INT(codec_record_type("BULWARK\x80", 8), CODEC_NONE);
    CHECK_INT(codec_record_type("BULWARK\x84", 8), CODEC_COUNTS);
    CHECK_INT(codec_record_type("BULWARK\x85", 8), CODEC_NONE);
    CHECK_INT(codec_record_type("bulwark\x81", 8), CODEC_NONE);
    CHECK_INT(codec_record_type("BULWARK", 7), CODEC_NONE);
    CHECK_INT(codec_record_type("BULWARK\x81", 7), CODEC_NONE);
    CHECK_INT(codec_record_type(NULL, 0), CODEC_NONE);
}

/* RedisBloom's headers start with a count of items, little-endian. */
TEST(no_header_of_redisbloom_looks_like_ours) {
    CHECK(load_u64((const unsigned char *)"BULWARK\x81") > UINT64_C(1) << 63);
}

TEST(a_growth_record_is_the_last_layer_without_its_items) {
    struct filter *f = filter_made(0.01, 2, 100);
    chain_fill(f->live, 0, 2000);
    unsigned char growth[CODEC_GROWTH_LENGTH];
    struct layer plan, *last = &f->live->layers[f->live->nlayers - 1];
    const char *why = "untouched";
    codec_write_growth(f->live, CODEC_LIVE, growth);

    f->live->nlayers--;
    enum bloom_status status =
        codec_read_growth(f->live, CODEC_LIVE, growth, sizeof growth, &plan, &why);
    f->live->nlayers++;
    CHECK_INT(status, BLOOM_OK);
    CHECK_STR(why, NULL);
    CHECK(last->items > 0);
    CHECK_UINT(plan.items, 0);
    CHECK(plan.bits == NULL);
    CHECK_UINT(plan.bytes, last->bytes);
    CHECK_UINT(plan.capacity, last->capacity);
    CHECK(plan.error == last->error && plan.parameter == last->parameter);
    CHECK(plan.probes == last->probes && plan.variant == last->variant);
}
