/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_chunk_test.c - bit arrays in pieces: of any size, with zeros left out, repeated,
 * overlapping. */
#include "codec.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A filter of several layers, and an empty one that waits for its chunks. */
static struct chain *filled(uint64_t items) {
    struct filter *f = filter_made(0.01, 2, 50);
    chain_fill(f->live, 0, items);
    return f->live;
}

static struct chain *waiting_for(const struct chain *c) {
    struct filter f = {.live = (struct chain *)c};
    uint64_t follows[2];
    return value_read(header_of(&f, CODEC_STORED), follows)->live;
}

static size_t count_layers(const struct chain *c) {
    return c->nlayers;
}

TEST(chunks_of_any_size_carry_the_same_bits) {
    static const size_t rooms[] = {41, 42, 63, 64, 103, 104, 105, 1000, 4096, 4136, 65536};
    struct chain *c = filled(2000);
    for (size_t i = 0; i < COUNT(rooms); i++) {
        struct chain *to = waiting_for(c);
        test_case("chunks of %zu bytes", rooms[i]);
        size_t chunks = send_chunks(c, to, rooms[i]);
        must_be_equal(to, c);
        CHECK(chunks >= count_layers(c)); /* no chunk is of two layers */
    }
}

TEST(chunks_of_random_sizes_carry_the_same_bits) {
    struct chain *c = filled(2000), *to = waiting_for(c);
    unsigned char buffer[5000];
    for (uint64_t offset = 0;;) {
        size_t room = CODEC_CHUNK_HEADER + 1 + random_below(sizeof buffer - 41);
        size_t length = codec_write_chunk(c, offset, buffer, room, &offset);
        if (length == 0) break;
        struct block chunk = block_of(buffer, length);
        chunk_must_be_read(to, chunk);
        block_free(chunk);
    }
    must_be_equal(to, c);
}

TEST(there_is_no_chunk_at_the_end) {
    struct chain *c = filled(200);
    unsigned char buffer[100];
    uint64_t next = 1, total = chain_bytes(c);
    CHECK_UINT(codec_write_chunk(c, total, buffer, sizeof buffer, &next), 0);
    CHECK_UINT(next, total);
    CHECK_UINT(codec_write_chunk(c, UINT64_MAX, buffer, sizeof buffer, &next), 0);
    c->missing = total;
    CHECK_UINT(codec_write_chunk(c, 0, buffer, sizeof buffer, &next), 0);
    c->missing = 0;
}

/* ---- zeros ---- */

/* 26 MiB that nobody has touched, in chunks with room for one: not a single zero has to
 * be sent. A chunk looks at 8 MiB of zeros, so that the main thread is not held up. */
TEST(a_filter_that_was_just_reserved_costs_almost_nothing) {
    struct filter *f = filter_made(0.01, 2, 20000000);
    struct chain *to = waiting_for(f->live);
    struct block chunk = block_of(NULL, 1 << 20);
    block_defer(chunk);
    uint64_t next = 0;
    for (uint64_t before = 0;; before = next) {
        chunk.length = codec_write_chunk(f->live, before, chunk.bytes, 1 << 20, &next);
        if (chunk.length == 0) break;
        CHECK_UINT(chunk.length, CODEC_CHUNK_HEADER);
        CHECK(next - before <= 9 << 20);
        chunk_must_be_read(to, chunk);
    }
    must_be_equal(to, f->live);
}

TEST(a_run_of_zeros_may_cross_layers) {
    struct filter *f = filter_made(0.01, 2, 50);
    chain_must_grow(f->live);
    chain_must_grow(f->live);
    struct chain *to = waiting_for(f->live);
    CHECK_UINT(send_chunks(f->live, to, 65536), 1);
    must_be_equal(to, f->live);
}

/* Single bits in a large array: the runs between them are skipped. */
TEST(a_few_bits_among_zeros_arrive) {
    struct filter *f = filter_made(0.01, 2, 3000000);
    struct layer *layer = &f->live->layers[0];
    for (int i = 0; i < 20; i++)
        layer->bits[random_below(layer->bytes)] = 1;
    layer->bits[0] = layer->bits[layer->bytes - 1] = 0x80;
    struct chain *to = waiting_for(f->live);
    CHECK(send_chunks(f->live, to, 4096 + CODEC_CHUNK_HEADER) <= 2 * 22 + 1);
    must_be_equal(to, f->live);
}

/* What is not sent is not there: nothing is cleared by it. */
TEST(zeros_clear_no_bits) {
    struct chain *c = filled(2000);
    struct snapshot before = snapshot_of(c);
    chunk_must_be_read(c, chunk_by_hand(c, 0, chain_bytes(c), 0, 0));
    chunk_must_be_read(c, chunk_by_hand(c, 100, 0, 0, 20));
    must_be_unchanged(c, before);
}

/* ---- again, and in another order ---- */

TEST(chunks_may_come_again_and_overlap) {
    struct chain *c = filled(2000), *to = waiting_for(c);
    unsigned char buffer[300];
    uint64_t total = chain_bytes(c), present = 0;
    while (present < total) {
        uint64_t offset = random_below(present + 1), next;
        size_t length = codec_write_chunk(c, offset, buffer, 50 + random_below(200), &next);
        struct block chunk = block_of(buffer, length);
        CHECK_UINT(chunk_must_be_read(to, chunk), next);
        block_free(chunk);
        if (next > present) present = next;
        CHECK_UINT(to->missing, total - present); /* what came is never missing again */
    }
    must_be_equal(to, c);
}

TEST(a_chunk_that_leaves_a_gap_waits_for_its_turn) {
    struct chain *c = filled(500), *to = waiting_for(c);
    unsigned char first[100], second[100];
    uint64_t middle, end;
    size_t first_length = codec_write_chunk(c, 0, first, sizeof first, &middle);
    size_t second_length = codec_write_chunk(c, middle, second, sizeof second, &end);
    struct block one = {first, first_length}, two = {second, second_length};

    chunk_must_be_refused(to, two, "it leaves a gap");
    chunk_must_be_read(to, one);
    chunk_must_be_read(to, two);
    CHECK_UINT(to->missing, chain_bytes(c) - end);
}

/* A replica may have taken adds since the chunk was cut. */
TEST(a_chunk_is_added_to_the_bits_that_are_there) {
    struct chain *c = filled(2000);
    struct chain *to = waiting_for(c);
    for (uint64_t i = 5000; i < 5100; i++)
        add_number(to, i);
    send_chunks(c, to, 500);
    chain_must_hold(to, 0, 2000);
    chain_must_hold(to, 5000, 100);
}

/* What changed nothing is not passed on to replicas. */
TEST(a_chunk_says_whether_it_brought_anything) {
    struct chain *c = filled(200), *to = waiting_for(c);
    struct block bits = chunk_by_hand(c, 0, 10, 0x0F, 20);
    struct block zeros = chunk_by_hand(c, 0, 31, 0, 0);
    CHECK(chunk_brings_news(to, bits));
    CHECK(!chunk_brings_news(to, bits));
    CHECK(chunk_brings_news(to, zeros)); /* a byte further */
    CHECK(!chunk_brings_news(to, zeros));
    CHECK(!chunk_brings_news(to, chunk_by_hand(c, 12, 0, 0x0E, 3)));
    CHECK(chunk_brings_news(to, chunk_by_hand(c, 12, 0, 0x1E, 3)));
    CHECK(chunk_brings_news(to, chunk_by_hand(c, 0, 0, 0x01, 1)));
    CHECK_UINT(to->missing, chain_bytes(c) - 31);
}

TEST(the_end_of_a_chunk_can_be_told_without_its_filter) {
    struct chain *c = filled(500);
    struct block chunk = chunk_by_hand(c, 1000, 200, 1, 30);
    CHECK_UINT(codec_chunk_end(chunk.bytes, chunk.length), 1230);
    CHECK_UINT(codec_chunk_end(chunk.bytes, CODEC_CHUNK_HEADER), 1200);
    CHECK_UINT(codec_chunk_end(chunk.bytes, CODEC_CHUNK_HEADER - 1), 0);
    CHECK_UINT(codec_chunk_end(NULL, 0), 0);
}
