/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_change_test.c - records in which something was changed: refused, or as good as
 * what a real filter writes. Chunks and growth records; headers byte by byte. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "codec.h"
#include "dumps.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct filter *small(void) {
    struct filter *f = filter_made(0.01, 2, 10);
    chain_must_grow(f->live);
    for (uint64_t i = 0; i < 20; i++)
        add_number(f->live, i);
    return f;
}

/* ---- headers, byte by byte ---- */

#define SMALL 65536 /* bytes: no more is tried out */

static struct filter *read_header(struct block r) {
    struct filter *f = NULL;
    uint64_t follows[2];
    const char *why = "untouched";
    enum bloom_status status =
        codec_read_header(r.bytes, r.length, counting_memory(), &f, follows, &why);
    CHECK((status == BLOOM_OK) == (f != NULL) && (status == BLOOM_OK) == (why == NULL));
    if (f) CHECK_STR(chain_flaw(f->live), NULL);
    return f;
}

/* A chunk of nothing but zeros, for all that is missing. */
static void complete(struct chain *c) {
    unsigned char zeros[CODEC_CHUNK_HEADER];
    put_chunk_head(zeros, c->identity, c->nlayers, 0, chain_bytes(c));
    chunk_must_be_read(c, (struct block){zeros, sizeof zeros});
    CHECK_UINT(c->missing, 0);
}

static void must_be_good_enough_to_save(const struct filter *f) {
    struct block again = block_of(NULL, codec_header_length(f, CODEC_STORED));
    codec_write_header(f, CODEC_STORED, again.bytes);
    struct filter *read = read_header(again);
    block_free(again);
    CHECK(read != NULL);
    filter_free(read);
}

/* Whatever its numbers are, it must never deny what it accepted. */
static void use(struct filter *f) {
    struct chain *c = f->live;
    CHECK_INT(chain_take_arrays(c), BLOOM_OK);
    CHECK(!chain_is_partial(c) || !denies(f));
    complete(c);

    for (uint64_t i = 0; i < 5; i++)
        add_number(c, i);
    struct layer plan;
    if (chain_plan(c, 1, &plan) == BLOOM_OK && plan.bytes <= SMALL)
        CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    for (uint64_t i = 5; i < 10; i++)
        add_number(c, i);
    CHECK_STR(chain_flaw(c), NULL);
    must_be_good_enough_to_save(f);
    for (uint64_t i = 0; i < 10; i++)
        CHECK(ask_number(c, i));
}

/* Returns whether the header was accepted. */
static bool try(struct block r) {
    struct filter *f = read_header(r);
    if (f && chain_bytes(f->live) <= SMALL) use(f);
    filter_free(f);
    return f != NULL;
}

TEST(a_header_with_any_byte_changed_is_refused_or_good) {
    struct block whole = header_of(small(), CODEC_STORED);
    unsigned accepted = 0, step = getenv("EMULATED") ? 17 : 1; /* 17: every bit */
    for (size_t at = 0; at < whole.length; at++) {
        unsigned char before = whole.bytes[at];
        for (unsigned change = 1; change < 256; change += step) {
            whole.bytes[at] = (unsigned char)(before ^ change);
            test_case("byte %zu is %02x instead of %02x", at, whole.bytes[at], before);
            accepted += try(whole);
        }
        whole.bytes[at] = before;
    }
    CHECK(accepted > 100 && try(whole)); /* secret, identity, lease ... may be anything */
}

/* Several numbers at once, of the sort that overflows. */
TEST(a_header_with_random_numbers_changed_is_refused_or_good) {
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   63,
                                   64,
                                   128,
                                   255,
                                   32768,
                                   UINT32_MAX,
                                   CHAIN_ITEMS_MAX,
                                   CHAIN_TOTAL_MAX / 2,
                                   CHAIN_TOTAL_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX,
                                   UINT64_C(0x3FF0000000000000),  /* 1.0 */
                                   UINT64_C(0x7FF0000000000000),  /* infinity */
                                   UINT64_C(0x3FEFFFFFFFFFFFFF)}; /* just below 1 */
    struct block whole = header_of(small(), CODEC_STORED);
    for (int i = 0; i < 20000; i++) {
        struct block r = block_of(whole.bytes, whole.length);
        for (uint64_t n = 1 + random_below(3); n > 0; n--)
            store_u64(r.bytes + FIXED + 8 * random_below(22),
                      odd[random_below(COUNT(odd))]);
        try(r);
        block_free(r);
    }
}

/* ---- chunks ---- */

static struct chain *waiting_for(const struct filter *f) {
    uint64_t follows[2];
    return value_read(header_of(f, CODEC_STORED), follows)->live;
}

static void chunk_of_change_must_be_refused(const struct change *change, const void *what) {
    struct chain *to = waiting_for(what);
    struct block r = chunk_by_hand(to, 0, 0, 0xFF, 64);
    change_bytes(r.bytes, change);
    test_case("%s", change->name);
    chunk_must_be_refused(to, r, change->why);
}

TEST(every_malformed_chunk_is_refused_with_its_reason) {
    each_malformed_chunk(chunk_of_change_must_be_refused, small());
}

/* The same places, relative to the end of the filter and to the border of a layer. */
TEST(a_chunk_may_reach_the_end_and_no_further) {
    struct filter *f = small();
    struct chain *to = waiting_for(f);
    uint64_t total = chain_bytes(to), first = to->layers[0].bytes;
    static const char past[] = "it goes past the end of the filter";
    static const char across[] = "its bytes are of more than one layer";

    chunk_must_be_refused(to, chunk_by_hand(to, 0, 0, 0, 0), "it is empty");
    chunk_must_be_refused(to, chunk_by_hand(to, 0, total + 1, 0, 0), past);
    chunk_must_be_refused(to, chunk_by_hand(to, 0, total, 1, 1), past);
    chunk_must_be_refused(to, chunk_by_hand(to, 0, 0, 1, total + 1), past);
    chunk_must_be_refused(to, chunk_by_hand(to, 0, 0, 1, first + 1), across);
    chunk_must_be_refused(to, chunk_by_hand(to, 0, first - 1, 1, 2), across);
    CHECK_UINT(to->missing, total);

    CHECK_UINT(chunk_must_be_read(to, chunk_by_hand(to, 0, total, 0, 0)), total);
    CHECK_UINT(to->missing, 0);
    chunk_must_be_refused(to, chunk_by_hand(to, total, 0, 0, 0), "it is empty");
    chunk_must_be_refused(to, chunk_by_hand(to, total, 0, 1, 1), past);
    chunk_must_be_refused(to, chunk_by_hand(to, total + 1, 0, 1, 1), "it leaves a gap");
    CHECK_UINT(chunk_must_be_read(to, chunk_by_hand(to, total - 1, 0, 1, 1)), total);
    CHECK_UINT(chunk_must_be_read(to, chunk_by_hand(to, 0, first, 1, 1)), first + 1);
}

/* Its head is all there or it is refused. Its bits may be fewer: then fewer have come, and
 * what follows leaves a gap. */
TEST(a_shortened_chunk_never_completes_a_filter) {
    struct filter *f = small();
    struct chain *to = waiting_for(f);
    uint64_t total = chain_bytes(to), first = to->layers[0].bytes, next;
    struct block whole = chunk_by_hand(to, 0, 0, 0, first);
    chunk_must_be_read(to, whole);
    to->missing = total;
    for (size_t length = 0; length < whole.length; length++) {
        struct block r = block_of(whole.bytes, length);
        block_defer(r);
        test_case("%zu bytes", length);
        if (length < CODEC_CHUNK_HEADER)
            chunk_must_be_refused(to, r, "it ends too early");
        else if (length == CODEC_CHUNK_HEADER)
            chunk_must_be_refused(to, r, "it is empty");
        else {
            next = chunk_must_be_read(to, r);
            CHECK_UINT(next, length - CODEC_CHUNK_HEADER);
            CHECK_UINT(to->missing, total - next);
            chunk_must_be_refused(to, chunk_by_hand(to, first, 0, 0, 64),
                                  "it leaves a gap");
        }
    }
}

/* A chunk of before a growth, a rebuild, or a DEL and another RESERVE. */
TEST(chunks_of_two_generations_are_not_put_together) {
    struct filter *f = small();
    struct chain *to = waiting_for(f);
    struct block before = chunk_by_hand(to, 0, 0, 1, 64);
    static const char why[] =
        "it is of another filter, or of another generation of this one";

    chain_must_grow(f->live);
    chunk_must_be_refused(waiting_for(f), before, why);
    f->live->identity++;
    chunk_must_be_refused(waiting_for(f), before, why);
}

TEST(a_chunk_with_any_byte_changed_is_refused_or_good) {
    struct filter *f = small();
    struct chain *to = waiting_for(f);
    struct block r = chunk_by_hand(to, 0, 64, 0xFF, 64);
    for (size_t at = 0; at < CODEC_CHUNK_HEADER; at++)
        for (unsigned change = 1; change < 256; change++) {
            uint64_t next, missing = to->missing = chain_bytes(to);
            bool changed;
            const char *why;
            r.bytes[at] ^= (unsigned char)change;
            test_case("byte %zu changed by %02x", at, change);
            bool good =
                codec_read_chunk(to, r.bytes, r.length, &next, &changed, &why) == BLOOM_OK;
            r.bytes[at] ^= (unsigned char)change;
            CHECK(good == (why == NULL));
            CHECK_UINT(to->missing, good ? chain_bytes(to) - next : missing);
            CHECK_STR(chain_flaw(to), NULL);
        }
}

/* ---- growth ---- */

/* A growth record for the third layer of `f`, and `f` as it was before. */
static struct block growth_of(struct filter *f) {
    struct block r = block_of(NULL, CODEC_GROWTH_LENGTH);
    block_defer(r);
    struct layer layers[3];
    struct chain grown = *f->live;
    memcpy(layers, f->live->layers, 2 * sizeof *layers);
    CHECK_INT(chain_plan(f->live, 0, &layers[2]), BLOOM_OK);
    grown.layers = layers;
    grown.nlayers = 3;
    codec_write_growth(&grown, CODEC_LIVE, r.bytes);
    return r;
}

/* Returns what the reader says to it; nothing has changed. */
static const char *read_growth(const struct filter *f, struct block r) {
    struct snapshot before = snapshot_of(f->live);
    struct layer plan;
    const char *why = "untouched";
    enum bloom_status status =
        codec_read_growth(f->live, CODEC_LIVE, r.bytes, r.length, &plan, &why);
    CHECK_INT(status, why ? BLOOM_CORRUPT : BLOOM_OK);
    must_be_unchanged(f->live, before);
    return why;
}

static void growth_must_be_refused(const struct change *change, const void *what) {
    struct block r = growth_of((struct filter *)what);
    change_bytes(r.bytes, change);
    test_case("%s", change->name);
    CHECK_STR(read_growth(what, r), change->why);
}

TEST(every_malformed_growth_record_is_refused_with_its_reason) {
    struct filter *f = small();
    CHECK_STR(read_growth(f, growth_of(f)), NULL);
    each_malformed_growth(growth_must_be_refused, f);
}

TEST(a_growth_record_has_its_length) {
    struct filter *f = small();
    struct block whole = growth_of(f);
    for (size_t length = 0; length < 100; length++) {
        struct block r = block_of(NULL, length);
        block_defer(r);
        memset(r.bytes, 0, length);
        memcpy(r.bytes, whole.bytes, length < whole.length ? length : whole.length);
        CHECK_STR(read_growth(f, r),
                  length == CODEC_GROWTH_LENGTH ? NULL : "it is not a growth record");
    }
}

/* What the reader lets through is for chain_grow() to judge. */
TEST(a_growth_record_with_any_byte_changed_makes_no_flawed_chain) {
    struct filter *f = small();
    struct block r = growth_of(f);
    for (size_t at = 0; at < r.length; at++)
        for (unsigned change = 1; change < 256; change++) {
            struct layer plan;
            const char *why;
            test_case("byte %zu changed by %02x", at, change);
            r.bytes[at] ^= (unsigned char)change;
            bool good = codec_read_growth(f->live, CODEC_LIVE, r.bytes, r.length, &plan,
                                          &why) == BLOOM_OK;
            r.bytes[at] ^= (unsigned char)change;
            if (!good || plan.bytes > SMALL) continue;

            struct chain *copy = chain_copy(f->live);
            CHECK(copy != NULL);
            enum bloom_status status = chain_grow(copy, &plan);
            const char *flaw = chain_flaw(copy);
            uint32_t layers = copy->nlayers;
            chain_free(copy);
            CHECK_STR(flaw, NULL);
            CHECK(status == BLOOM_CORRUPT ? layers == 2 : layers == 3);
        }
}
