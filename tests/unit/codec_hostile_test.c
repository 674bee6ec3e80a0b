/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_hostile_test.c - bytes that nobody wrote: each malformed input is a named case
 * with the reason that it is refused for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "codec.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Two small layers: the header whose places dumps.h knows. */
static struct filter *small(void) {
    struct chain_spec spec = random_spec(0.01, 2);
    struct filter *f = value_made(counting_memory(), &spec, 10);
    chain_must_grow(f->live);
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

/* ---- headers ---- */

#define TOTAL_MAX CHAIN_TOTAL_MAX
#define NO_NUMBER (double)NAN
#define INFINITE  (double)INFINITY

static const struct change headers[] = {
    {"another magic", 0, 1, 'b', 0, "it doesn't start as a header"},
    {"a chunk's magic", 7, 1, 0x82, 0, "it doesn't start as a header"},
    {"a growth record's magic", 7, 1, 0x83, 0, "it doesn't start as a header"},
    {"version 0", AT_VERSION, 2, 0, 0, "the version is unknown"},
    {"version 2", AT_VERSION, 2, 2, 0, "the version is unknown"},
    {"version 257", AT_VERSION, 2, 257, 0, "the version is unknown"},
    {"no chain", AT_CHAINS, 2, 0, 0, "the number of chains is wrong"},
    {"two chains", AT_CHAINS, 2, 2, 0, "a rebuild has no token"},
    {"three chains", AT_CHAINS, 2, 3, 0, "the number of chains is wrong"},
    {"257 chains", AT_CHAINS, 2, 257, 0, "the number of chains is wrong"},
    {"second flag", AT_FLAGS, 4, 2, 0, "a flag is unknown"},
    {"last flag", AT_FLAGS, 4, UINT32_C(1) << 31, 0, "a flag is unknown"},
    {"reserved byte", AT_RESERVED, 1, 1, 0, "a reserved field is not zero"},
    {"a section too many", AT_SECTIONS, 4, 1, 0, "it ends too early"},
    {"2^32 sections", AT_SECTIONS, 4, UINT32_MAX, 0, "it ends too early"},

    {"kind 0", AT_KIND, 1, 0, 0, "the kind is unknown"},
    {"kind 255", AT_KIND, 1, 255, 0, "the kind is unknown"},
    {"variant", AT_VARIANT, 1, 1, 0, "it has a field set that its kind doesn't know"},
    {"reserved 1", AT_CHAIN_RESERVED, 1, 1, 0, "a reserved field is not zero"},
    {"reserved 2", AT_CHAIN_RESERVED + 1, 1, 1, 0, "a reserved field is not zero"},
    {"reserved 3", AT_CHAIN_RESERVED2, 4, 1, 0, "a reserved field is not zero"},
    {"expansion 0", AT_EXPANSION, 4, 0, 0, "a non-scaling filter has grown"},
    {"expansion 32769", AT_EXPANSION, 4, 32769, 0, "the expansion is too large"},
    {"largest expansion", AT_EXPANSION, 4, UINT32_MAX, 0, "the expansion is too large"},
    {"second secret", AT_SECRET2, 8, 1, 0, "it has a field set that its kind doesn't know"},
    {"parameter", AT_PARAMETER, 0, 0, 1e-9,
     "it has a field set that its kind doesn't know"},
    {"parameter NaN", AT_PARAMETER, 0, 0, NO_NUMBER,
     "it has a field set that its kind doesn't know"},
    {"error 0", AT_ERROR, 0, 0, 0, "the error rate is not between 0 and 1"},
    {"error 1", AT_ERROR, 0, 0, 1, "the error rate is not between 0 and 1"},
    {"error -1", AT_ERROR, 0, 0, -1, "the error rate is not between 0 and 1"},
    {"error NaN", AT_ERROR, 0, 0, NO_NUMBER, "the error rate is not between 0 and 1"},
    {"error infinite", AT_ERROR, 0, 0, INFINITE, "the error rate is not between 0 and 1"},
    {"too much to follow", AT_FOLLOWS, 8, 4096, 0,
     "more bytes are to follow than the layers have"},
    {"2^64 - 1 to follow", AT_FOLLOWS, 8, UINT64_MAX, 0,
     "more bytes are to follow than the layers have"},
    {"no layers", AT_LAYERS, 4, 0, 0, "there is no layer"},
    {"a layer fewer", AT_LAYERS, 4, 1, 0, "more bytes are to follow than the layers have"},
    {"three layers", AT_LAYERS, 4, 3, 0, "it ends too early"},
    {"2^32 - 1 layers", AT_LAYERS, 4, UINT32_MAX, 0, "it ends too early"},

    {"no probe", AT_LAYER2 + LAYER_PROBES, 2, 0, 0, "a layer has a bad number of probes"},
    {"5 probes", AT_LAYER2 + LAYER_PROBES, 2, 5, 0, "a layer has a bad number of probes"},
    {"no sector", AT_LAYER1 + LAYER_SECTORS, 2, 0, 0,
     "a layer has a bad number of sectors"},
    {"16 sectors", AT_LAYER2 + LAYER_SECTORS, 2, 16, 0,
     "a layer has a bad number of sectors"},
    {"layer reserved", AT_LAYER1 + LAYER_RESERVED, 4, 1, 0, "a reserved field is not zero"},
    {"layer 2 reserved", AT_LAYER2 + LAYER_RESERVED, 4, UINT32_C(1) << 31, 0,
     "a reserved field is not zero"},
    {"no bytes", AT_LAYER2 + LAYER_BYTES, 8, 0, 0, "a layer has no bits"},
    {"half a line", AT_LAYER2 + LAYER_BYTES, 8, 32, 0, "a layer is not whole lines"},
    {"a byte too many", AT_LAYER1 + LAYER_BYTES, 8, 65, 0, "a layer is not whole lines"},
    {"too many lines", AT_LAYER2 + LAYER_BYTES, 8, TOTAL_MAX + 64, 0,
     "a layer has too many lines"},
    {"2^64 - 64 bytes", AT_LAYER2 + LAYER_BYTES, 8, UINT64_MAX - 63, 0,
     "a layer has too many lines"},
    {"bytes add up", AT_LAYER2 + LAYER_BYTES, 8, TOTAL_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"no capacity", AT_LAYER1 + LAYER_CAPACITY, 8, 0, 0, "a layer has no capacity"},
    {"capacities add up", AT_LAYER1 + LAYER_CAPACITY, 8, TOTAL_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"capacity 2^64 - 1", AT_LAYER2 + LAYER_CAPACITY, 8, UINT64_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"items over 2^48", AT_LAYER1 + LAYER_ITEMS, 8, CHAIN_ITEMS_MAX + 1, 0,
     "a layer has more items than can be counted"},
    {"items 2^64 - 1", AT_LAYER2 + LAYER_ITEMS, 8, UINT64_MAX, 0,
     "a layer has more items than can be counted"},
    {"layer error 0", AT_LAYER1 + LAYER_ERROR, 0, 0, 0,
     "the error rate of a layer is not between 0 and 1"},
    {"layer error NaN", AT_LAYER2 + LAYER_ERROR, 0, 0, NO_NUMBER,
     "the error rate of a layer is not between 0 and 1"},
    {"model error 1", AT_LAYER1 + LAYER_MODEL, 0, 0, 1,
     "the model error of a layer is no rate"},
    {"model error < 0", AT_LAYER2 + LAYER_MODEL, 0, 0, -1e-300,
     "the model error of a layer is no rate"},
    {"model error NaN", AT_LAYER2 + LAYER_MODEL, 0, 0, NO_NUMBER,
     "the model error of a layer is no rate"},
};

TEST(every_malformed_header_is_refused_with_its_reason) {
    struct filter *f = small();
    CHECK_UINT(codec_header_length(f, CODEC_STORED), HEADER_LENGTH);
    for (size_t i = 0; i < COUNT(headers); i++) {
        struct record r = header_of(f, CODEC_STORED);
        change_record(r, &headers[i]);
        test_case("%s", headers[i].name);
        header_must_be_refused(r, headers[i].why);
    }
}

TEST(every_shortened_header_is_refused) {
    struct record whole = header_of(small(), CODEC_STORED);
    for (size_t length = 0; length < whole.length; length++) {
        struct record r = record_of(whole.bytes, length);
        record_defer(r);
        test_case("%zu bytes", length);
        header_must_be_refused(r, "it ends too early");
    }
}

TEST(bytes_after_the_end_of_a_header_are_refused) {
    struct record whole = header_of(small(), CODEC_STORED);
    for (size_t more = 1; more < 100; more += 7) {
        struct record r = record_of(NULL, whole.length + more);
        record_defer(r);
        memset(r.bytes, 0, r.length);
        memcpy(r.bytes, whole.bytes, whole.length);
        header_must_be_refused(r, "there is something after its end");
    }
}

TEST(no_bytes_are_no_header) {
    header_must_be_refused((struct record){NULL, 0}, "it ends too early");
}

TEST(a_born_filter_has_no_items) {
    struct filter *f = small();
    add_number(f->live, 1);
    header_must_be_refused(header_of(f, CODEC_BORN), "it has items but all bits are zero");
}

TEST(too_many_layers_are_refused) {
    struct filter *f = small();
    struct chain honest = *f->live;
    uint32_t most = honest.kind->layers_max;
    struct layer *layers = calloc(most + 1, sizeof *layers);
    CHECK(layers != NULL);
    for (uint32_t i = 0; i <= most; i++)
        layers[i] = honest.layers[0];

    f->live->layers = layers;
    f->live->nlayers = most + 1;
    struct record many = header_of(f, CODEC_STORED);
    *f->live = honest;
    free(layers);
    header_must_be_refused(many, "there are too many layers");
}

/* ---- sections ---- */

/* One section of that tag and length, and so many bytes that really follow. */
static struct record with_section(struct record plain, uint32_t tag, uint32_t length,
                                  size_t follow) {
    struct record r = record_of(NULL, plain.length + 8 + follow);
    record_defer(r);
    memset(r.bytes, 0x55, r.length);
    memcpy(r.bytes, plain.bytes, plain.length);
    store_u32(r.bytes + AT_SECTIONS, 1);
    store_u32(r.bytes + plain.length, tag);
    store_u32(r.bytes + plain.length + 4, length);
    return r;
}

TEST(every_malformed_section_is_refused_with_its_reason) {
    static const struct {
        const char *name;
        uint32_t tag, length;
        size_t follow;
        const char *why;
    } table[] = {
        {"critical", UINT32_C(1) << 31, 4, 4, "a critical section is unknown"},
        {"critical, empty", UINT32_MAX, 0, 0, "a critical section is unknown"},
        {"shorter than it says", 1, 5, 4, "it ends too early"},
        {"much shorter", 1, UINT32_MAX, 100, "it ends too early"},
        {"longer than it says", 1, 4, 5, "there is something after its end"},
    };
    struct record plain = header_of(small(), CODEC_STORED);
    for (size_t i = 0; i < COUNT(table); i++) {
        test_case("%s", table[i].name);
        header_must_be_refused(
            with_section(plain, table[i].tag, table[i].length, table[i].follow),
            table[i].why);
    }
}

/* ---- memory ---- */

/* A header is a few hundred bytes: what it says must not take more than that. */
TEST(a_header_that_lies_about_its_layers_takes_no_memory) {
    static const struct change lie = {"", AT_LAYERS, 4, UINT32_MAX, 0, NULL};
    struct record r = header_of(small(), CODEC_STORED);
    change_record(r, &lie);
    uint64_t granted = memory_granted();
    header_must_be_refused(r, "it ends too early");
    CHECK(memory_granted() <= granted + 1); /* the chain, for which there are bytes */
    CHECK_UINT(memory_refused(), 0);
}

TEST(arrays_that_nobody_has_room_for_are_refused) {
    static const struct change vast = {
        "", AT_LAYER2 + LAYER_BYTES, 8, UINT64_C(1) << 60, 0, NULL};
    struct record r = header_of(small(), CODEC_STORED);
    change_record(r, &vast);
    struct filter *f;
    uint64_t follows[2];
    const char *why;
    CHECK_INT(codec_read_header(r.bytes, r.length, counting_memory(), &f, follows, &why),
              BLOOM_OK); /* legal somewhere: its user looks at the sizes first */
    uint64_t blocks = memory_blocks();
    enum bloom_status status = chain_take_arrays(f->live);
    bool bare = f->live->layers[0].bits == NULL && f->live->layers[1].bits == NULL;
    CHECK_UINT(memory_blocks(), blocks);
    filter_free(f);
    CHECK_INT(status, BLOOM_NO_MEMORY);
    CHECK(bare);
}

TEST(a_header_without_memory_leaves_nothing_behind) {
    struct record r = header_of(small(), CODEC_STORED);
    for (uint64_t allowed = 0; allowed < 3; allowed++) { /* chain, layers, value */
        struct filter *f = (struct filter *)&r;
        uint64_t follows[2], blocks = memory_blocks();
        const char *why = NULL;
        memory_fail_after(allowed);
        CHECK_INT(
            codec_read_header(r.bytes, r.length, counting_memory(), &f, follows, &why),
            BLOOM_NO_MEMORY);
        memory_never_fails();
        CHECK(f == NULL);
        CHECK_STR(why, "there is not enough memory");
        CHECK_UINT(memory_blocks(), blocks);
    }
}
