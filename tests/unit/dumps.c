/* SPDX-License-Identifier: BSD-3-Clause */
#include "dumps.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"

struct block block_of(const void *bytes, size_t length) {
    struct block r = {malloc(length > 0 ? length : 1), length};
    if (!r.bytes) abort();
    if (bytes && length > 0) memcpy(r.bytes, bytes, length);
    return r;
}

void block_free(struct block r) {
    free(r.bytes);
}

static void free_bytes(void *bytes) {
    free(bytes);
}

void block_defer(struct block r) {
    test_defer(free_bytes, r.bytes);
}

struct block header_of(const struct filter *f, enum codec_form form) {
    struct block r = block_of(NULL, codec_header_length(f, form));
    block_defer(r);
    codec_write_header(f, form, r.bytes);
    return r;
}

struct block chunk_by_hand(const struct chain *c, uint64_t offset, uint64_t zeros,
                           unsigned char fill, size_t n) {
    struct block r = block_of(NULL, CODEC_CHUNK_HEADER + n);
    block_defer(r);
    put_chunk_head(r.bytes, c->identity, c->nlayers, offset, zeros);
    memset(r.bytes + CODEC_CHUNK_HEADER, fill, n);
    return r;
}

void header_must_be_refused(struct block r, const char *why) {
    struct filter *f = (struct filter *)&r;
    uint64_t follows[2], blocks = memory_blocks();
    const char *said = "untouched";
    enum bloom_status status =
        codec_read_header(r.bytes, r.length, counting_memory(), &f, follows, &said);
    CHECK_STR(said, why);
    CHECK_INT(status, BLOOM_CORRUPT);
    CHECK(f == NULL);
    CHECK_UINT(memory_blocks(), blocks);
}

static void free_value(void *f) {
    filter_free(f);
}

struct filter *value_made(const struct bloom_memory *memory, const struct chain_spec *spec,
                          uint64_t capacity) {
    struct chain *c;
    struct layer plan;
    CHECK_INT(chain_new(spec, memory, &c), BLOOM_OK);
    struct filter *f = filter_new(c);
    CHECK(f != NULL);
    test_defer(free_value, f);
    CHECK_INT(chain_plan(c, capacity, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    return f;
}

struct filter *filter_made(double error, uint32_t expansion, uint64_t capacity) {
    struct chain_spec spec = random_spec(error, expansion);
    return value_made(counting_memory(), &spec, capacity);
}

struct filter *value_read(struct block header, uint64_t follows[2]) {
    struct filter *f;
    const char *why = "untouched";
    enum bloom_status status = codec_read_header(header.bytes, header.length,
                                                 counting_memory(), &f, follows, &why);
    CHECK_STR(why, NULL);
    CHECK_INT(status, BLOOM_OK);
    test_defer(free_value, f);
    CHECK_STR(chain_flaw(f->live), NULL);
    if (f->next) CHECK_STR(chain_flaw(f->next), NULL);
    CHECK_INT(filter_take_arrays(f), BLOOM_OK);
    return f;
}

/* Returns whether the chunk brought anything. */
static bool must_read(struct chain *to, struct block chunk, uint64_t *next) {
    bool changed;
    const char *why = "untouched";
    enum bloom_status status =
        codec_read_chunk(to, chunk.bytes, chunk.length, next, &changed, &why);
    CHECK_STR(why, NULL);
    CHECK_INT(status, BLOOM_OK);
    CHECK_STR(chain_flaw(to), NULL);
    CHECK_UINT(*next, codec_chunk_end(chunk.bytes, chunk.length));
    return changed;
}

uint64_t chunk_must_be_read(struct chain *to, struct block chunk) {
    uint64_t next;
    must_read(to, chunk, &next);
    return next;
}

bool chunk_brings_news(struct chain *to, struct block chunk) {
    uint64_t next;
    return must_read(to, chunk, &next);
}

void chunk_must_be_refused(struct chain *to, struct block chunk, const char *why) {
    struct snapshot before = snapshot_of(to);
    uint64_t next;
    bool changed;
    const char *said = NULL;
    enum bloom_status status =
        codec_read_chunk(to, chunk.bytes, chunk.length, &next, &changed, &said);
    CHECK_STR(said, why);
    CHECK_INT(status, BLOOM_CORRUPT);
    must_be_unchanged(to, before);
}

size_t send_chunks(const struct chain *from, struct chain *to, size_t room) {
    unsigned char *buffer = malloc(room);
    if (!buffer) abort();
    test_defer(free_bytes, buffer);
    size_t length, chunks = 0;
    for (uint64_t offset = 0, next;; offset = next, chunks++) {
        length = codec_write_chunk(from, offset, buffer, room, &next);
        if (length == 0) return chunks;
        CHECK(length <= room && next > offset);
        struct block chunk = block_of(buffer, length);
        uint64_t read = chunk_must_be_read(to, chunk);
        block_free(chunk);
        CHECK_UINT(read, next);
    }
}

bool denies(const struct filter *f) {
    const struct circumstances here = {.bypass = false};
    return shield_denies(
        shield_unknown(&f->standing, chain_is_partial(f->live), &here, (struct moment){0}));
}
