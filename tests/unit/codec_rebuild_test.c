/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_rebuild_test.c - a filter with two chains, as bytes: what a rebuild leaves in a
 * file, and what it leaves out elsewhere. What nobody wrote: codec_hostile_test.c. */
#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "codec.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct standing rebuilding = {
    .state = STATE_READY,
    .doubt = 0x0402,
    .lease = 1,
    .vouched_at = INT64_MIN,
    .rebuild_token = UINT64_C(0xFEDCBA9876543210),
    .rebuild_start = INT64_MAX,
    .rebuild_received = 1000,
};

static void free_chain(void *c) {
    chain_free(c);
}

static struct chain *next_made(const struct chain_spec *spec, uint64_t capacity) {
    struct chain *c;
    struct layer plan;
    CHECK_INT(chain_new(spec, counting_memory(), &c), BLOOM_OK);
    test_defer(free_chain, c);
    CHECK_INT(chain_plan(c, capacity, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    return c;
}

/* Items 0 to live - 1 in the one chain, and 0 to next - 1 in the other. */
static struct filter *made(uint64_t live, uint64_t next) {
    struct chain_spec spec = random_spec(0.01, 2), other = random_spec(0.001, 4);
    const struct bloom_memory *memory = counting_memory();
    struct filter *f = value_made(memory, &spec, 100);
    CHECK_INT(chain_new(&other, memory, &f->next), BLOOM_OK);
    struct layer plan;
    CHECK_INT(chain_plan(f->next, 50, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(f->next, &plan), BLOOM_OK);
    chain_fill(f->live, 0, live);
    chain_fill(f->next, 0, next);
    f->standing = rebuilding;
    return f;
}

/* ---- there and back ---- */

TEST(a_rebuild_under_way_is_stored_with_both_chains) {
    static const uint64_t items[][2] = {{0, 0}, {0, 1}, {1, 0}, {90, 3000}, {5000, 10}};
    for (size_t i = 0; i < COUNT(items); i++) {
        struct filter *f = made(items[i][0], items[i][1]);
        test_case("%llu and %llu items", (unsigned long long)items[i][0],
                  (unsigned long long)items[i][1]);
        uint64_t follows[2];
        struct block header = header_of(f, CODEC_STORED);
        struct filter *read = value_read(header, follows);
        CHECK(read->next != NULL);
        CHECK_UINT(follows[0], chain_bytes(f->live));
        CHECK_UINT(follows[1], chain_bytes(f->next));
        send_chunks(f->live, read->live, 500);
        send_chunks(f->next, read->next, 700);

        must_be_equal(read->live, f->live);
        must_be_equal(read->next, f->next);
        chain_must_hold(read->live, 0, items[i][0]);
        chain_must_hold(read->next, 0, items[i][1]);
        struct block again = header_of(read, CODEC_STORED);
        CHECK_MEM(again.bytes, again.length, header.bytes, header.length);
    }
}

/* The next generation may be of another kind: that is how a foreign filter moves. If both
 * are RedisBloom's, whose filters have no identity, the order tells their chunks apart. */
TEST(the_kinds_of_the_chains_may_differ) {
    struct chain_spec foreign = {
        .kind = &kind_redisbloom, .error = 0.01, .expansion = 2, .asked_expansion = 2};
    foreign.kind->complete(&foreign);
    struct chain_spec own = random_spec(0.01, 2);
    const struct chain_spec *const specs[][2] = {
        {&foreign, &own}, {&own, &foreign}, {&foreign, &foreign}};
    for (size_t i = 0; i < COUNT(specs); i++) {
        struct filter *f = value_made(counting_memory(), specs[i][0], 100);
        f->standing = rebuilding;
        chain_fill(f->live, 0, 50);
        struct filter lent = *f;
        lent.next = next_made(specs[i][1], 100);
        chain_fill(lent.next, 100, 50);

        uint64_t follows[2];
        test_case("case %zu", i);
        struct filter *read = value_read(header_of(&lent, CODEC_STORED), follows);
        CHECK(read->live->kind == specs[i][0]->kind);
        CHECK(read->next->kind == specs[i][1]->kind);
        send_chunks(lent.live, read->live, 500);
        send_chunks(lent.next, read->next, 500);
        chain_must_hold(read->live, 0, 50);
        chain_must_hold(read->next, 100, 50);
    }
}

TEST(what_is_born_or_moved_is_the_live_chain_alone) {
    struct filter *f = made(0, 70), without = {.live = f->live};
    without.standing = f->standing;
    for (enum codec_form form = CODEC_BORN; form <= CODEC_MOVED; form++) {
        struct block header = header_of(f, form), bare = header_of(&without, form);
        test_case("form %d", form);
        CHECK_MEM(header.bytes, header.length, bare.bytes, bare.length);
        CHECK_UINT(load_u16(header.bytes + H_CHAINS), 1);

        uint64_t follows[2];
        struct filter *read = value_read(header, follows);
        CHECK(read->next == NULL);
        CHECK_UINT(follows[1], 0);
        CHECK_UINT(read->standing.rebuild_token,
                   form == CODEC_MOVED ? 0 : rebuilding.rebuild_token);
    }
}

/* A file that was cut may leave either of them so. */
TEST(each_chain_may_be_partial) {
    struct filter *f = made(300, 300);
    f->live->missing = 100;
    f->next->missing = chain_bytes(f->next);
    uint64_t follows[2];
    struct filter *read = value_read(header_of(f, CODEC_STORED), follows);
    CHECK_UINT(follows[0], chain_bytes(f->live) - 100);
    CHECK_UINT(follows[1], 0);
    send_chunks(f->live, read->live, 500);
    CHECK_UINT(send_chunks(f->next, read->next, 500), 0);
    CHECK_UINT(read->live->missing, 100);
    CHECK_UINT(read->next->missing, chain_bytes(read->next));
    f->live->missing = f->next->missing = 0;
}

TEST(a_header_with_two_chains_has_taken_no_arrays) {
    struct filter *f = made(1000, 1000), *read;
    struct block header = header_of(f, CODEC_STORED);
    uint64_t follows[2], bytes = memory_bytes();
    const char *why;
    CHECK_INT(codec_read_header(header.bytes, header.length, f->live->memory, &read,
                                follows, &why),
              BLOOM_OK);
    uint64_t taken = memory_bytes() - bytes;
    filter_free(read);
    CHECK_UINT(taken, filter_memory(f) - chain_bytes(f->live) - chain_bytes(f->next));
}

/* ---- chunks and growths find their chain ---- */

TEST(chunks_and_growths_of_one_chain_are_refused_by_the_other) {
    struct filter *f = made(50, 40);
    unsigned char growth[CODEC_GROWTH_LENGTH];
    struct layer plan;
    const char *why;
    CHECK_UINT(f->live->nlayers, f->next->nlayers);
    chunk_must_be_refused(f->live, chunk_by_hand(f->next, 0, 0, 1, 8),
                          "it is of another filter, or of another generation of this one");
    chunk_must_be_refused(f->next, chunk_by_hand(f->live, 0, 0, 1, 8),
                          "it is of another filter, or of another generation of this one");

    codec_write_growth(f->next, CODEC_NEXT, growth);
    f->live->nlayers--; /* so that it is the number that fits */
    enum bloom_status status =
        codec_read_growth(f->live, CODEC_LIVE, growth, sizeof growth, &plan, &why);
    f->live->nlayers++;
    CHECK_INT(status, BLOOM_CORRUPT);
    CHECK_STR(why, "it is of another filter, or another growth of this one");
}

/* Without a second chain the token is the one of the last rebuild: that is no mistake. */
TEST(a_token_without_a_second_chain_is_kept) {
    struct filter *f = made(0, 0), without = {.live = f->live, .standing = rebuilding};
    uint64_t follows[2];
    struct filter *read = value_read(header_of(&without, CODEC_STORED), follows);
    CHECK(read->next == NULL);
    CHECK_UINT(read->standing.rebuild_token, rebuilding.rebuild_token);
}
