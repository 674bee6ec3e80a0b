/* SPDX-License-Identifier: BSD-3-Clause */
/* dumps.h - filters as records, for the tests of the codec: written, spoilt, read. */
#ifndef DUMPS_H
#define DUMPS_H

#include "codec.h"

/* Where the numbers are (codec.h has the page), with two layers in the chain. */
enum {
    AT_VERSION = 8,
    AT_CHAINS = 10,
    AT_FLAGS = 12,
    AT_STATE = 16,
    AT_RESERVED = 17,
    AT_DOUBT = 18,
    AT_SECTIONS = 20,
    AT_LEASE = 24,

    AT_KIND = 64,
    AT_VARIANT = 65,
    AT_CHAIN_RESERVED = 66,
    AT_EXPANSION = 68,
    AT_IDENTITY = 72,
    AT_SECRET2 = 96,
    AT_ERROR = 112,
    AT_PARAMETER = 120,
    AT_FOLLOWS = 128,
    AT_LAYERS = 136,
    AT_CHAIN_RESERVED2 = 140,

    AT_LAYER1 = 144,
    AT_LAYER2 = 192,
    HEADER_LENGTH = 240,

    /* in a layer record */
    LAYER_PROBES = 0,
    LAYER_SECTORS = 2,
    LAYER_RESERVED = 4,
    LAYER_BYTES = 8,
    LAYER_CAPACITY = 16,
    LAYER_ITEMS = 24,
    LAYER_ERROR = 32,
    LAYER_MODEL = 40,

    /* in a chunk and in a growth record */
    AT_OWNER = 8,
    AT_OWNER_LAYERS = 16,
    AT_OWNER_RESERVED = 20,
    AT_OFFSET = 24,
    AT_ZEROS = 32,
    AT_GROWN = 24,
};

/* A block of exactly the record's length, so that the address sanitizer sees whoever
 * reads past its end. */
struct record {
    unsigned char *bytes;
    size_t length;
};

struct record record_of(const void *bytes, size_t length);
void record_free(struct record r);
void record_defer(struct record r); /* freed when the test ends */

/* Freed when the test ends. */
struct record header_of(const struct filter *f, enum codec_form form);

/* A chunk made by hand: `n` bytes of `fill` after the zeros. Freed when the test ends. */
struct record chunk_by_hand(const struct chain *c, uint64_t offset, uint64_t zeros,
                            unsigned char fill, size_t n);

/* A change of a record: `width` bytes at `at` become the value, or with width 0 the eight
 * bytes of the double. */
struct change {
    const char *name;
    unsigned at, width;
    uint64_t value;
    double number;
    const char *why; /* what the reader says to it; NULL: nothing */
};
void change_record(struct record r, const struct change *change);

/* A value around a chain of the spec with one layer; freed when the test ends. */
struct filter *value_made(const struct bloom_memory *memory, const struct chain_spec *spec,
                          uint64_t capacity);

/* Whether EXISTS may say 0. */
bool denies(const struct filter *f);

/* What the header says, with arrays, freed when the test ends. Fails if it is refused. */
struct filter *value_read(struct record header, uint64_t follows[2]);

/* Reads a chunk that must be good; returns the offset after it. */
uint64_t chunk_must_be_read(struct chain *to, struct record chunk);

/* Reads a chunk that must be good; returns whether it says that it brought anything. */
bool chunk_brings_news(struct chain *to, struct record chunk);

/* Fails unless the chunk is refused for that reason and nothing changed. */
void chunk_must_be_refused(struct chain *to, struct record chunk, const char *why);

/* All chunks from one chain to another, each in `room` bytes. Returns how many. */
size_t send_chunks(const struct chain *from, struct chain *to, size_t room);

#endif
