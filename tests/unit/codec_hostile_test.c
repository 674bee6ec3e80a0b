/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_hostile_test.c - bytes that nobody wrote: each malformed input is a named case
 * with the reason that it is refused for. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "codec.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Two small layers: the header that format.h and malformed.h are of. */
static struct filter *small(void) {
    struct filter *f = filter_made(0.01, 2, 10);
    chain_must_grow(f->live);
    return f;
}

/* In a rebuild, with two such chains. */
static struct filter *small_pair(void) {
    struct filter *f = small();
    f->next = chain_copy(f->live);
    CHECK(f->next != NULL);
    f->next->identity = ~f->live->identity;
    f->standing.rebuild_token = 1;
    return f;
}

/* ---- headers ---- */

static void change_must_be_refused(const struct change *change, const void *filter) {
    struct block r = header_of(filter, CODEC_STORED);
    change_bytes(r.bytes, change);
    test_case("%s, at %u", change->name, change->at);
    header_must_be_refused(r, change->why);
}

TEST(every_malformed_header_is_refused_with_its_reason) {
    struct filter *f = small();
    CHECK_UINT(codec_header_length(f, CODEC_STORED), HEADER);
    each_malformed_header(change_must_be_refused, f);
}

TEST(every_malformed_header_with_two_chains_is_refused_with_its_reason) {
    struct filter *f = small_pair();
    CHECK_UINT(codec_header_length(f, CODEC_STORED), HEADER + HEADER - FIXED);
    each_malformed_pair(change_must_be_refused, f);
}

TEST(every_shortened_header_is_refused) {
    struct block whole = header_of(small_pair(), CODEC_STORED);
    for (size_t length = 0; length < whole.length; length++) {
        struct block r = block_of(whole.bytes, length);
        block_defer(r);
        test_case("%zu bytes", length);
        header_must_be_refused(r, "it ends too early");
    }
}

TEST(bytes_after_the_end_of_a_header_are_refused) {
    struct block whole = header_of(small(), CODEC_STORED);
    for (size_t more = 1; more < 100; more += 7) {
        struct block r = block_of(NULL, whole.length + more);
        block_defer(r);
        memset(r.bytes, 0, r.length);
        memcpy(r.bytes, whole.bytes, whole.length);
        header_must_be_refused(r, "there is something after its end");
    }
}

TEST(no_bytes_are_no_header) {
    header_must_be_refused((struct block){NULL, 0}, "it ends too early");
}

TEST(a_born_filter_has_no_items) {
    struct filter *f = small();
    add_number(f->live, 1);
    header_must_be_refused(header_of(f, CODEC_BORN), "it has items but all bits are zero");
}

TEST(a_born_filter_has_no_bytes_to_follow) {
    struct block r = header_of(small(), CODEC_BORN);
    store_u64(r.bytes + FIXED + C_FOLLOWS, 1);
    header_must_be_refused(r, "it is complete but bytes are to follow");
}

TEST(another_record_is_no_record_of_counts) {
    struct filter *f = small();
    const char *why;
    struct block header = header_of(f, CODEC_STORED);
    CHECK_INT(codec_read_counts(f->live, header.bytes, header.length, &why), BLOOM_CORRUPT);
    CHECK_STR(why, "it is not a record of counts");
}

/* Nobody can add, or hear of a growth, before all of it is there. */
TEST(a_partial_chain_does_not_grow) {
    struct filter *f = small();
    struct layer plan;
    f->live->missing = 1;
    CHECK_INT(chain_plan(f->live, 10, &plan), BLOOM_PARTIAL);
}

TEST(too_many_layers_are_refused) {
    struct filter *f = small();
    struct chain before = *f->live;
    uint32_t most = before.kind->layers_max;
    struct layer *layers = calloc(most + 1, sizeof *layers);
    CHECK(layers != NULL);
    for (uint32_t i = 0; i <= most; i++)
        layers[i] = before.layers[0];

    f->live->layers = layers;
    f->live->nlayers = most + 1;
    struct block many = header_of(f, CODEC_STORED);
    *f->live = before;
    free(layers);
    header_must_be_refused(many, "there are too many layers");
}

/* ---- sections ---- */

/* One section of that tag and length, and the number of bytes that really follow. */
static struct block with_section(struct block plain, uint32_t tag, uint32_t length,
                                 size_t follow) {
    struct block r = block_of(NULL, plain.length + 8 + follow);
    block_defer(r);
    memset(r.bytes, 0x55, r.length);
    memcpy(r.bytes, plain.bytes, plain.length);
    store_u32(r.bytes + H_SECTIONS, 1);
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
    struct block plain = header_of(small(), CODEC_STORED);
    for (size_t i = 0; i < COUNT(table); i++) {
        test_case("%s", table[i].name);
        header_must_be_refused(
            with_section(plain, table[i].tag, table[i].length, table[i].follow),
            table[i].why);
    }
}

/* ---- memory ---- */

static void layers_must_take_no_memory(const struct filter *f, unsigned at,
                                       uint64_t blocks) {
    struct block r = header_of(f, CODEC_STORED);
    put_number(r.bytes + at + C_LAYERS, 4, UINT32_MAX);
    uint64_t granted = memory_granted();
    header_must_be_refused(r, "it ends too early");
    CHECK(memory_granted() <= granted + blocks);
    CHECK_UINT(memory_refused(), 0);
}

/* A header is a few hundred bytes: what it says must not take more than that. */
TEST(a_header_that_lies_about_its_layers_takes_no_memory) {
    layers_must_take_no_memory(small(), FIXED,
                               1); /* the chain, for which there are bytes */
    layers_must_take_no_memory(small_pair(), HEADER, 3); /* and the first one with layers */
}

TEST(arrays_that_nobody_has_room_for_are_refused) {
    struct block r = header_of(small(), CODEC_STORED);
    put_number(r.bytes + SECOND + L_BYTES, 8, UINT64_C(1) << 60);
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
    struct block r = header_of(small_pair(), CODEC_STORED);
    /* The value, and chain and layers of either. */
    for (uint64_t allowed = 0; allowed < 5; allowed++) {
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
