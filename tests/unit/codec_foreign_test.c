/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_foreign_test.c - RedisBloom's and valkey-bloom's forms, there and back, and every
 * lie in them by name. The products' own bytes:
 * integration/compatibility/fixture_test.c. */
#include "bytes.h"
#include "kinds/redisbloom/redisbloom_codec.h"
#include "kinds/valkeybloom/valkeybloom_codec.h"
#include "kinds/redisbloom/redisbloom.h"
#include "kinds/valkeybloom/valkeybloom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "check.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

enum { ROOM = 8192 };

/* A lie: the bytes at that place become this number, and why it is refused. */
struct lie {
    const char *name;
    size_t at, bytes;
    uint64_t number;
    const char *why;
};

static void put(unsigned char *to, size_t bytes, uint64_t number) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(number >> (8 * i));
}

/* ---- RedisBloom ---- */

/* Two layers, 100 and 200 items wide, 101 items in them. */
static struct chain *redisbloom_chain(void) {
    struct chain_spec spec = {
        .kind = &kind_redisbloom, .error = 0.01, .expansion = 2, .asked_expansion = 2};
    kind_redisbloom.complete(&spec);
    struct chain *c = chain_made(counting_memory(), &spec, 100);
    chain_fill(c, 0, 150);
    CHECK_INT(c->nlayers, 2);
    return c;
}

enum { HEAD = 20, LINK = 53, TWO_LINKS = HEAD + 2 * LINK };
enum {
    BYTES = 0,
    BITS = 8,
    ITEMS = 16,
    ERROR = 24,
    PER_ITEM = 32,
    HASHES = 40,
    CAPACITY = 44,
    N2 = 52
};

#define FIRST  HEAD
#define SECOND (HEAD + LINK)

#define NAN_BITS UINT64_C(0x7ff8000000000000)
#define INF_BITS UINT64_C(0x7ff0000000000000)

#define NO_RATE     "the error rate of a layer is not between 0 and 1"
#define FIRST_RATE  "the error rate is not between 0 and 1"
#define NO_BITS     "the bits per item of a layer are out of range"
#define NOT_MATCHED "a layer's bytes don't match its bits"
#define BAD_HASHES                                                                         \
    "a layer has a number of hashes that doesn't follow from its bits per item"
#define NO_LENGTH   "its length doesn't match its number of layers"
#define TOO_MUCH    "the sizes of the layers add up to too much"
#define NOT_THE_SUM "its items are not the sum of those in its layers"

static const struct lie redisbloom_lies[] = {
    {"one item more in all", 0, 8, 151, NOT_THE_SUM},
    {"2^64 - 1 items in all", 0, 8, UINT64_MAX, NOT_THE_SUM},
    {"no layer", 8, 4, 0, NO_LENGTH},
    {"one layer, and bytes behind it", 8, 4, 1, NO_LENGTH},
    {"2^32 - 1 layers", 8, 4, UINT32_MAX, NO_LENGTH},
    {"an unknown option", 12, 4, 5 | 16, "an option is unknown"},
    {"the capacity is bits", 12, 4, 5 | 2, "an option is unknown"},
    {"the highest option", 12, 4, UINT32_C(1) << 31, "an option is unknown"},
    {"non-scaling, with two layers", 12, 4, 13, "a non-scaling filter has grown"},
    {"no growth, with two layers", 16, 4, 0, "a non-scaling filter has grown"},
    {"no bytes", FIRST + BYTES, 8, 0, NOT_MATCHED},
    {"a byte less", FIRST + BYTES, 8, 143, NOT_MATCHED},
    {"2^64 - 1 bytes", FIRST + BYTES, 8, UINT64_MAX, NOT_MATCHED},
    {"bits and bytes of 2^61", SECOND + BYTES, 8, UINT64_C(1) << 61, NOT_MATCHED},
    {"no bits", FIRST + BITS, 8, 0, "a layer has no bits"},
    {"a bit less", FIRST + BITS, 8, 1151, "a layer's bits are not whole bytes"},
    {"bits of another size", FIRST + BITS, 8, 1152 + 64, NOT_MATCHED},
    {"2^64 - 8 bits", FIRST + BITS, 8, UINT64_MAX - 7, NOT_MATCHED},
    {"items of another layer", FIRST + ITEMS, 8, 99, NOT_THE_SUM},
    {"2^64 - 1 items", FIRST + ITEMS, 8, UINT64_MAX,
     "a layer has more items than can be counted"},
    {"error 0", SECOND + ERROR, 8, 0, NO_RATE},
    {"error 1", SECOND + ERROR, 8, UINT64_C(0x3ff0000000000000), NO_RATE},
    {"a negative error", SECOND + ERROR, 8, UINT64_C(0xbf847ae147ae147b), NO_RATE},
    {"an error that is no number", SECOND + ERROR, 8, NAN_BITS, NO_RATE},
    {"an infinite error", SECOND + ERROR, 8, INF_BITS, NO_RATE},
    {"a first error that is no number", FIRST + ERROR, 8, NAN_BITS, FIRST_RATE},
    {"no bits per item", FIRST + PER_ITEM, 8, 0, NO_BITS},
    {"negative bits per item", FIRST + PER_ITEM, 8, UINT64_C(0xc026000000000000), NO_BITS},
    {"bits per item that are no number", FIRST + PER_ITEM, 8, NAN_BITS, NO_BITS},
    {"infinite bits per item", FIRST + PER_ITEM, 8, INF_BITS, NO_BITS},
    {"a million bits per item", FIRST + PER_ITEM, 8, UINT64_C(0x412e848000000000), NO_BITS},
    {"no hashes", FIRST + HASHES, 4, 0, "a layer has a bad number of hashes"},
    {"a hash less", FIRST + HASHES, 4, 7, BAD_HASHES},
    {"65535 hashes", FIRST + HASHES, 4, 65535, BAD_HASHES},
    {"65544 hashes, which are 8 in 16 bits", FIRST + HASHES, 4, 65544,
     "a layer has a bad number of hashes"},
    {"2^32 - 1 hashes", FIRST + HASHES, 4, UINT32_MAX,
     "a layer has a bad number of hashes"},
    {"no capacity", FIRST + CAPACITY, 8, 0, "a layer has no capacity"},
    {"2^64 - 1 of capacity", FIRST + CAPACITY, 8, UINT64_MAX, TOO_MUCH},
    {"a power of two above the bits", FIRST + N2, 1, 11,
     "a layer has fewer bits than its power of two"},
    {"2^63 as power of two", FIRST + N2, 1, 63,
     "a layer has a power of two that is too large"},
    {"2^64 as power of two", FIRST + N2, 1, 64,
     "a layer has a power of two that is too large"},
    {"2^255 as power of two", FIRST + N2, 1, 255,
     "a layer has a power of two that is too large"},
};

static enum bloom_status read_redisbloom(const unsigned char *bytes, size_t length,
                                         struct chain **out, const char **why) {
    uint64_t blocks = memory_blocks();
    enum bloom_status status =
        redisbloom_read_header(bytes, length, counting_memory(), out, why);
    if (status < 0) {
        CHECK(*out == NULL && *why != NULL);
        CHECK_UINT(memory_blocks(), blocks);
    }
    return status;
}

TEST(every_lie_in_a_header_of_redisbloom_is_refused) {
    unsigned char header[ROOM];
    struct chain *c = redisbloom_chain(), *out;
    const char *why;
    for (size_t i = 0; i < COUNT(redisbloom_lies); i++) {
        const struct lie *lie = &redisbloom_lies[i];
        test_case("%s", lie->name);
        redisbloom_write_header(c, header);
        put(header + lie->at, lie->bytes, lie->number);
        CHECK_INT(redisbloom_read_header(header, TWO_LINKS, c->memory, &out, &why),
                  BLOOM_CORRUPT);
        CHECK(out == NULL);
        CHECK_STR(why, lie->why);
    }
}

TEST(sums_that_overflow_are_refused) {
    unsigned char header[ROOM];
    struct chain *c = redisbloom_chain(), *out;
    const char *why;
    redisbloom_write_header(c, header);
    for (size_t link = 0; link < 2; link++) {
        put(header + HEAD + link * LINK + BYTES, 8, UINT64_C(1) << 61);
        put(header + HEAD + link * LINK + BITS, 8, 0);
        put(header + HEAD + link * LINK + N2, 1, 64);
    }
    CHECK_INT(redisbloom_read_header(header, TWO_LINKS, c->memory, &out, &why),
              BLOOM_CORRUPT);
    for (size_t link = 0; link < 2; link++) {
        put(header + HEAD + link * LINK + BYTES, 8, UINT64_C(1) << 59);
        put(header + HEAD + link * LINK + N2, 1, 62);
    }
    CHECK_INT(redisbloom_read_header(header, TWO_LINKS, c->memory, &out, &why), BLOOM_OK);
    CHECK_UINT(chain_bytes(out), UINT64_C(1) << 60);
    CHECK_INT(chain_take_arrays(out), BLOOM_NO_MEMORY);
    chain_free(out);
}

TEST(an_encoding_of_redisbloom_has_options_from_2_and_growth_from_4_on) {
    CHECK(!redisbloom_has_options(1) && redisbloom_has_options(2));
    CHECK(!redisbloom_has_growth(3) && redisbloom_has_growth(4));
}

TEST(every_shorter_or_longer_header_of_redisbloom_is_refused) {
    unsigned char header[ROOM] = {0};
    struct chain *c = redisbloom_chain(), *out;
    const char *why;
    redisbloom_write_header(c, header);
    for (size_t length = 0; length < 2 * TWO_LINKS; length++) {
        test_case("%zu bytes", length);
        enum bloom_status status =
            redisbloom_read_header(header, length, c->memory, &out, &why);
        CHECK_INT(status, length == TWO_LINKS ? BLOOM_OK : BLOOM_CORRUPT);
        if (length <= 16) CHECK_STR(why, length < 16 ? "it ends too early" : NO_LENGTH);
        chain_free(out);
    }
}

TEST(a_header_of_redisbloom_without_memory_leaves_nothing) {
    unsigned char header[ROOM];
    struct chain *out;
    const char *why;
    redisbloom_write_header(redisbloom_chain(), header);
    for (uint64_t granted = 0; granted < 2; granted++) {
        memory_fail_after(granted);
        CHECK_INT(read_redisbloom(header, TWO_LINKS, &out, &why), BLOOM_NO_MEMORY);
        memory_never_fails();
    }
}

static void must_be_alike(const struct chain *a, const struct chain *b) {
    unsigned char x[ROOM], y[ROOM];
    CHECK_UINT(redisbloom_header_length(a), redisbloom_header_length(b));
    redisbloom_write_header(a, x);
    redisbloom_write_header(b, y);
    CHECK_MEM(x, redisbloom_header_length(a), y, redisbloom_header_length(b));
    for (uint32_t i = 0; i < a->nlayers; i++)
        CHECK_MEM(a->layers[i].bits, a->layers[i].bytes, b->layers[i].bits,
                  b->layers[i].bytes);
}

static unsigned char *joined(const struct chain *c) {
    unsigned char *all = malloc(chain_bytes(c));
    test_defer(free, all);
    uint64_t length;
    const unsigned char *piece;
    for (uint64_t at = 0; (piece = chain_piece(c, at, &length)) != NULL; at += length)
        memcpy(all + at, piece, length);
    return all;
}

TEST(chunks_of_any_size_bring_the_bits_back) {
    bool changed;
    unsigned char header[ROOM];
    struct chain *c = redisbloom_chain(), *out;
    const unsigned char *all = joined(c);
    uint64_t total = chain_bytes(c);
    const char *why;
    for (uint64_t step = 1; step <= total; step += 1 + step / 8) {
        test_case("%u bytes at a time", (unsigned)step);
        redisbloom_write_header(c, header);
        CHECK_INT(redisbloom_read_header(header, TWO_LINKS, c->memory, &out, &why),
                  BLOOM_OK);
        CHECK_INT(chain_take_arrays(out), BLOOM_OK);
        for (uint64_t at = 0; at < total; at += step) {
            uint64_t n = total - at < step ? total - at : step;
            CHECK_UINT(out->missing, total - at);
            CHECK_INT(redisbloom_read_chunk(out, at + n + 1, all + at, n, &changed, &why),
                      BLOOM_OK);
        }
        CHECK_UINT(out->missing, 0);
        must_be_alike(out, c);
        chain_free(out);
    }
}

/* Whether a replica and the AOF are told hangs on it. */
TEST(a_chunk_that_comes_again_says_whether_it_brings_a_bit) {
    static const unsigned char none = 0;
    bool changed;
    struct chain *c = redisbloom_chain();
    const char *why;
    memset(c->layers[0].bits, 0, c->layers[0].bytes);
    CHECK_INT(redisbloom_read_chunk(c, 2, &none, 1, &changed, &why), BLOOM_OK);
    CHECK(!changed);
    for (unsigned i = 0; i < 8; i++) {
        unsigned char bit = (unsigned char)(1u << i);
        test_case("bit %u", i);
        CHECK_INT(redisbloom_read_chunk(c, 2, &bit, 1, &changed, &why), BLOOM_OK);
        CHECK(changed);
        CHECK_INT(redisbloom_read_chunk(c, 2, &bit, 1, &changed, &why), BLOOM_OK);
        CHECK(!changed);
    }
    CHECK_INT(c->layers[0].bits[0], 0xff);
}

TEST(bad_chunks_of_redisbloom_change_nothing) {
    bool changed;
    unsigned char header[ROOM];
    struct chain *c = redisbloom_chain(), *out;
    const unsigned char *all = joined(c);
    uint64_t total = chain_bytes(c);
    const char *why;
    redisbloom_write_header(c, header);
    CHECK_INT(redisbloom_read_header(header, TWO_LINKS, c->memory, &out, &why), BLOOM_OK);
    CHECK_INT(chain_take_arrays(out), BLOOM_OK);
    CHECK_INT(redisbloom_read_chunk(out, 11, all, 10, &changed, &why), BLOOM_OK);
    struct snapshot before = snapshot_of(out);
    const struct {
        uint64_t iterator, length;
    } table[] = {{11, 0},          {0, 1},        {1, 1},          {5, 10},
                 {22, 10},         {13, 1},       {total + 2, 1},  {total + 2, total + 1},
                 {UINT64_MAX, 10}, {1 << 20, 10}, {total + 1, 10}, {UINT64_MAX, 1}};
    for (size_t i = 0; i < COUNT(table); i++) {
        test_case("iterator %llu, %llu bytes", (unsigned long long)table[i].iterator,
                  (unsigned long long)table[i].length);
        unsigned char *bytes = calloc(1, total + 1);
        test_defer(free, bytes);
        CHECK_INT(redisbloom_read_chunk(out, table[i].iterator, bytes, table[i].length,
                                        &changed, &why),
                  BLOOM_CORRUPT);
        CHECK(why != NULL);
        must_be_unchanged(out, before);
    }
    chain_free(out);
}

/* ---- valkey-bloom ---- */

static struct chain *valkeybloom_chain(void) {
    struct chain_spec spec = {.kind = &kind_valkeybloom,
                              .error = 0.01,
                              .expansion = 2,
                              .secret = {random_u64(), random_u64()},
                              .secret2 = {random_u64(), random_u64()}};
    kind_valkeybloom.complete(&spec);
    struct chain *c = chain_made(counting_memory(), &spec, 100);
    chain_fill(c, 0, 150);
    CHECK_INT(c->nlayers, 2);
    return c;
}

enum {
    LOAD = 30,
    RECORD = LOAD + 8,
    BITMAP = 45,
    FIRST_BYTES = 120,
    BEHIND = RECORD + BITMAP + FIRST_BYTES,
    SECOND_RECORD = BEHIND + 16 + 8
};

static const struct lie valkeybloom_lies[] = {
    {"version 0", 0, 1, 0, "the version is unknown"},
    {"version 2", 0, 1, 2, "the version is unknown"},
    {"non-scaling, with two layers", 1, 4, 0, "a non-scaling filter has grown"},
    {"error 0", 5, 8, 0, FIRST_RATE},
    {"error 1", 5, 8, UINT64_C(0x3ff0000000000000), FIRST_RATE},
    {"an error that is no number", 5, 8, NAN_BITS, FIRST_RATE},
    {"an infinite error", 5, 8, INF_BITS, FIRST_RATE},
    {"no tightening ratio", 13, 8, 0, "the tightening ratio is not between 0 and 1"},
    {"a tightening ratio of 1", 13, 8, UINT64_C(0x3ff0000000000000),
     "the tightening ratio is not between 0 and 1"},
    {"a tightening ratio that is no number", 13, 8, NAN_BITS,
     "the tightening ratio is not between 0 and 1"},
    {"a ratio that leaves nothing for the second layer", 13, 8, 1, NO_RATE},
    {"neither random nor fixed", 21, 1, 0, "its seed is neither random nor the fixed one"},
    {"random twice", 21, 1, 2, "a field that is yes or no is neither"},
    {"no filter", 22, 8, 0, "there is no layer"},
    {"one filter, and bytes behind it", 22, 8, 1, "there is something after its end"},
    {"three filters", 22, 8, 3, "it ends too early"},
    {"20000 filters", 22, 8, 20000, "there are too many layers"},
    {"2^64 - 1 filters", 22, 8, UINT64_MAX, "there are too many layers"},
    {"a record of no bytes", LOAD, 8, 0, "a layer ends too early"},
    {"a record of 44 bytes", LOAD, 8, 44, "a layer ends too early"},
    {"a record that goes past the end", LOAD, 8, 1 << 20, "it ends too early"},
    {"a record of 2^64 - 1 bytes", LOAD, 8, UINT64_MAX, "it ends too early"},
    {"a record of version 2", RECORD, 1, 2, "the version of a layer is unknown"},
    {"a bitmap of a byte more", RECORD + 1, 8, FIRST_BYTES + 1,
     "a layer's length doesn't match its bytes"},
    {"a bitmap of 2^64 - 45 bytes", RECORD + 1, 8, UINT64_MAX - 44,
     "a layer's length doesn't match its bytes"},
    {"no hashes", RECORD + 9, 4, 0, "a layer has a bad number of hashes"},
    {"1101 hashes", RECORD + 9, 4, 1101, "a layer has a bad number of hashes"},
    {"65543 hashes, which are 7 in 16 bits", RECORD + 9, 4, 65543,
     "a layer has a bad number of hashes"},
    {"another seed in the second layer", SECOND_RECORD + 13, 8, 1,
     "its layers have different seeds"},
    {"-1 items", BEHIND, 8, UINT64_MAX, "a layer has more items than can be counted"},
    {"no capacity", BEHIND + 8, 8, 0, "a layer has no capacity"},
    {"-1 of capacity", BEHIND + 8, 8, UINT64_MAX, TOO_MUCH},
};

TEST(every_lie_in_the_data_of_bf_load_is_refused) {
    unsigned char data[ROOM];
    struct chain *c = valkeybloom_chain(), *out;
    const char *why;
    size_t length = valkeybloom_load_length(c);
    for (size_t i = 0; i < COUNT(valkeybloom_lies); i++) {
        const struct lie *lie = &valkeybloom_lies[i];
        test_case("%s", lie->name);
        valkeybloom_write_load(c, data);
        put(data + lie->at, lie->bytes, lie->number);
        uint64_t blocks = memory_blocks();
        CHECK_INT(valkeybloom_read_load(data, length, c->memory, &out, &why),
                  BLOOM_CORRUPT);
        CHECK(out == NULL);
        CHECK_STR(why, lie->why);
        CHECK_UINT(memory_blocks(), blocks);
    }
}

TEST(as_many_layers_as_a_kind_may_have_are_begun_and_no_more) {
    struct chain *out;
    const char *why;
    for (uint64_t more = 0; more < 2; more++) {
        enum bloom_status wanted = more ? BLOOM_CORRUPT : BLOOM_OK;
        struct redisbloom_head r = {.links = kind_redisbloom.layers_max + more};
        CHECK_INT(redisbloom_start(&r, counting_memory(), &out, &why), wanted);
        chain_free(out);
        struct valkeybloom_head v = {
            .layers = kind_valkeybloom.layers_max + more, .error = 0.01, .tightening = 0.5};
        CHECK_INT(valkeybloom_start(&v, counting_memory(), &out, &why), wanted);
        chain_free(out);
    }
}

/* A file has 64 bits for it, BF.LOAD 32. */
TEST(an_expansion_of_more_than_32_bits_is_refused) {
    struct valkeybloom_head head = {.layers = 1, .expansion = UINT64_C(1) << 32};
    struct chain *out;
    const char *why;
    CHECK_INT(valkeybloom_start(&head, counting_memory(), &out, &why), BLOOM_CORRUPT);
    CHECK_STR(why, "the expansion is too large");
}

TEST(every_shorter_or_longer_data_of_bf_load_is_refused) {
    unsigned char data[ROOM] = {0};
    struct chain *c = valkeybloom_chain(), *out;
    const char *why;
    size_t whole = valkeybloom_load_length(c);
    valkeybloom_write_load(c, data);
    for (size_t length = 0; length < whole + 100; length++) {
        test_case("%zu bytes", length);
        CHECK_INT(valkeybloom_read_load(data, length, c->memory, &out, &why),
                  length == whole ? BLOOM_OK : BLOOM_CORRUPT);
        chain_free(out);
    }
}

TEST(bf_load_brings_everything_back) {
    unsigned char data[ROOM], again[ROOM];
    struct chain *c = valkeybloom_chain(), *out;
    const char *why;
    size_t length = valkeybloom_load_length(c);
    valkeybloom_write_load(c, data);
    CHECK_INT(valkeybloom_read_load(data, length, c->memory, &out, &why), BLOOM_OK);
    CHECK_INT(chain_take_arrays(out), BLOOM_OK);
    valkeybloom_read_bits(out, data);
    chain_must_hold(out, 0, 150);
    valkeybloom_write_load(out, again);
    CHECK_MEM(again, length, data, length);
    CHECK_UINT(out->identity, c->identity);
    chain_free(out);
}

TEST(bf_load_without_memory_leaves_nothing) {
    unsigned char data[ROOM];
    struct chain *c = valkeybloom_chain(), *out;
    const char *why;
    valkeybloom_write_load(c, data);
    for (uint64_t granted = 0; granted < 2; granted++) {
        uint64_t blocks = memory_blocks();
        memory_fail_after(granted);
        CHECK_INT(
            valkeybloom_read_load(data, valkeybloom_load_length(c), c->memory, &out, &why),
            BLOOM_NO_MEMORY);
        memory_never_fails();
        CHECK(out == NULL);
        CHECK_UINT(memory_blocks(), blocks);
    }
}

/* What the RDB form has no room for stays under our own type. */
TEST(a_filter_that_is_not_full_before_the_last_does_not_fit_the_rdb_form) {
    struct chain *c = valkeybloom_chain();
    CHECK(valkeybloom_fits(c));
    c->layers[0].items--;
    CHECK(!valkeybloom_fits(c));
}
