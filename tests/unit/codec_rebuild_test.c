/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_rebuild_test.c - a filter with two chains, as bytes: what a rebuild leaves in a
 * file, what it leaves out elsewhere, and what nobody wrote. */
#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "codec.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Two layers in each chain: the second one's places are the first one's, so much on. */
#define AT_NEXT     HEADER_LENGTH
#define NEXT(place) (AT_NEXT + (place)-AT_KIND)
#define BOTH_LENGTH (AT_NEXT + HEADER_LENGTH - AT_KIND)
#define AT_TOKEN    40

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

/* Two small layers in each. */
static struct filter *small(void) {
    struct filter *f = made(0, 0);
    chain_must_grow(f->live);
    chain_must_grow(f->next);
    return f;
}

static void header_must_be_refused(struct record r, const char *wanted) {
    struct filter *f = (struct filter *)&r;
    uint64_t follows[2], blocks = memory_blocks();
    const char *why = "untouched";
    enum bloom_status status =
        codec_read_header(r.bytes, r.length, counting_memory(), &f, follows, &why);
    CHECK_STR(why, wanted);
    CHECK_INT(status, BLOOM_CORRUPT);
    CHECK(f == NULL);
    CHECK_UINT(memory_blocks(), blocks);
}

/* ---- there and back ---- */

TEST(a_rebuild_under_way_is_stored_with_both_chains) {
    static const uint64_t items[][2] = {{0, 0}, {0, 1}, {1, 0}, {90, 3000}, {5000, 10}};
    for (size_t i = 0; i < COUNT(items); i++) {
        struct filter *f = made(items[i][0], items[i][1]);
        test_case("%llu and %llu items", (unsigned long long)items[i][0],
                  (unsigned long long)items[i][1]);
        uint64_t follows[2];
        struct record header = header_of(f, CODEC_STORED);
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
        struct record again = header_of(read, CODEC_STORED);
        CHECK_MEM(again.bytes, again.length, header.bytes, header.length);
    }
}

/* The next generation may be of another kind: that is how a foreign filter moves. If both
 * are RedisBloom's, whose filters have no identity, the order tells their chunks apart. */
TEST(the_kinds_of_the_chains_may_differ) {
    struct chain_spec foreign = {
        .kind = &kind_redisbloom, .error = 0.01, .expansion = 2, .growth = 2};
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
        struct record header = header_of(f, form), bare = header_of(&without, form);
        test_case("form %d", form);
        CHECK_MEM(header.bytes, header.length, bare.bytes, bare.length);
        CHECK_UINT(load_u16(header.bytes + AT_CHAINS), 1);

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
    struct record header = header_of(f, CODEC_STORED);
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

/* ---- what nobody wrote ---- */

static const struct change headers[] = {
    {"no token", AT_TOKEN, 8, 0, 0, "a rebuild has no token"},
    {"born", AT_FLAGS, 4, 1, 0, "it is just born, and being rebuilt"},
    {"three chains", AT_CHAINS, 2, 3, 0, "the number of chains is wrong"},
    {"one chain and something more", AT_CHAINS, 2, 1, 0,
     "there is something after its end"},
    {"a layer more in the first chain", AT_LAYERS, 4, 3, 0, "a reserved field is not zero"},
    {"a layer fewer in the first chain", AT_LAYERS, 4, 1, 0,
     "more bytes are to follow than the layers have"},

    {"kind", NEXT(AT_KIND), 1, 0, 0, "the kind is unknown"},
    {"later kind", NEXT(AT_KIND), 1, 200, 0, "the kind is unknown"},
    {"variant", NEXT(AT_VARIANT), 1, 1, 0, "it has a field set that its kind doesn't know"},
    {"reserved", NEXT(AT_CHAIN_RESERVED), 1, 1, 0, "a reserved field is not zero"},
    {"reserved 2", NEXT(AT_CHAIN_RESERVED2), 4, 1, 0, "a reserved field is not zero"},
    {"expansion", NEXT(AT_EXPANSION), 4, 0, 0, "a non-scaling filter has grown"},
    {"large expansion", NEXT(AT_EXPANSION), 4, 32769, 0, "the expansion is too large"},
    {"error 0", NEXT(AT_ERROR), 0, 0, 0, "the error rate is not between 0 and 1"},
    {"parameter", NEXT(AT_PARAMETER), 0, 0, 0.5,
     "it has a field set that its kind doesn't know"},
    {"too much to follow", NEXT(AT_FOLLOWS), 8, UINT64_MAX, 0,
     "more bytes are to follow than the layers have"},
    {"no layer", NEXT(AT_LAYERS), 4, 0, 0, "there is no layer"},
    {"a layer fewer", NEXT(AT_LAYERS), 4, 1, 0,
     "more bytes are to follow than the layers have"},
    {"three layers", NEXT(AT_LAYERS), 4, 3, 0, "it ends too early"},
    {"2^32 - 1 layers", NEXT(AT_LAYERS), 4, UINT32_MAX, 0, "it ends too early"},
    {"no probe", NEXT(AT_LAYER1) + LAYER_PROBES, 2, 0, 0,
     "a layer has a bad number of probes"},
    {"layer reserved", NEXT(AT_LAYER2) + LAYER_RESERVED, 4, 1, 0,
     "a reserved field is not zero"},
    {"half a line", NEXT(AT_LAYER2) + LAYER_BYTES, 8, 32, 0, "a layer is not whole lines"},
    {"bytes add up", NEXT(AT_LAYER2) + LAYER_BYTES, 8, CHAIN_TOTAL_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"items", NEXT(AT_LAYER1) + LAYER_ITEMS, 8, CHAIN_ITEMS_MAX + 1, 0,
     "a layer has more items than can be counted"},
    {"a section that isn't there", AT_SECTIONS, 4, 1, 0, "it ends too early"},
};

TEST(every_malformed_second_chain_is_refused_with_its_reason) {
    struct filter *f = small();
    CHECK_UINT(codec_header_length(f, CODEC_STORED), BOTH_LENGTH);
    for (size_t i = 0; i < COUNT(headers); i++) {
        struct record r = header_of(f, CODEC_STORED);
        change_record(r, &headers[i]);
        test_case("%s", headers[i].name);
        header_must_be_refused(r, headers[i].why);
    }
}

TEST(every_shortened_header_with_two_chains_is_refused) {
    struct record whole = header_of(small(), CODEC_STORED);
    for (size_t length = 0; length < whole.length; length++) {
        struct record r = record_of(whole.bytes, length);
        record_defer(r);
        test_case("%zu bytes", length);
        header_must_be_refused(r, "it ends too early");
    }
}

/* Without a second chain the token is the one of the last rebuild: that is no mistake. */
TEST(a_token_without_a_second_chain_is_kept) {
    struct filter *f = small(), without = {.live = f->live, .standing = rebuilding};
    uint64_t follows[2];
    struct filter *read = value_read(header_of(&without, CODEC_STORED), follows);
    CHECK(read->next == NULL);
    CHECK_UINT(read->standing.rebuild_token, rebuilding.rebuild_token);
}

/* ---- memory ---- */

TEST(two_chains_without_memory_leave_nothing_behind) {
    struct record r = header_of(small(), CODEC_STORED);
    /* chain and layers of either, value */
    for (uint64_t allowed = 0; allowed < 5; allowed++) {
        struct filter *f = (struct filter *)&r;
        uint64_t follows[2], blocks = memory_blocks();
        const char *why = NULL;
        memory_fail_after(allowed);
        enum bloom_status status =
            codec_read_header(r.bytes, r.length, counting_memory(), &f, follows, &why);
        memory_never_fails();
        test_case("%llu requests", (unsigned long long)allowed);
        CHECK_INT(status, BLOOM_NO_MEMORY);
        CHECK(f == NULL);
        CHECK_STR(why, "there is not enough memory");
        CHECK_UINT(memory_blocks(), blocks);
    }
}

TEST(a_second_chain_that_lies_about_its_layers_takes_no_memory) {
    static const struct change lie = {"", NEXT(AT_LAYERS), 4, UINT32_MAX, 0, NULL};
    struct record r = header_of(small(), CODEC_STORED);
    change_record(r, &lie);
    uint64_t granted = memory_granted();
    header_must_be_refused(r, "it ends too early");
    CHECK(memory_granted() <= granted + 3); /* the chains, and the first one's layers */
    CHECK_UINT(memory_refused(), 0);
}
