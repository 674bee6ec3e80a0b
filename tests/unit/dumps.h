/* SPDX-License-Identifier: BSD-3-Clause */
/* dumps.h - filters as records, for the tests of the codec: written, spoilt, read. */
#ifndef DUMPS_H
#define DUMPS_H

#include "codec.h"
#include "records/malformed.h"

/* A block of exactly the record's length, so that the address sanitizer sees any read past
 * its end. */
struct block {
    unsigned char *bytes;
    size_t length;
};

struct block block_of(const void *bytes, size_t length);
void block_free(struct block r);
void block_defer(struct block r); /* freed when the test ends */

/* Freed when the test ends. */
struct block header_of(const struct filter *f, enum codec_form form);

/* A chunk made by hand: `n` bytes of `fill` after the zeros. Freed when the test ends. */
struct block chunk_by_hand(const struct chain *c, uint64_t offset, uint64_t zeros,
                           unsigned char fill, size_t n);

/* Fails unless the header is refused for that reason, and leaves nothing behind. */
void header_must_be_refused(struct block r, const char *why);

/* A filter around a chain of the spec with one layer; and of a random one. Freed when the
 * test ends. */
struct filter *value_made(const struct bloom_memory *memory, const struct chain_spec *spec,
                          uint64_t capacity);
struct filter *filter_made(double error, uint32_t expansion, uint64_t capacity);

/* Whether EXISTS may say 0. */
bool denies(const struct filter *f);

/* What the header says, with arrays, freed when the test ends. Fails if it is refused. */
struct filter *value_read(struct block header, uint64_t follows[2]);

/* Reads a chunk that must be good; returns the offset after it. */
uint64_t chunk_must_be_read(struct chain *to, struct block chunk);

/* Reads a chunk that must be good; returns whether it says that it brought anything. */
bool chunk_brings_news(struct chain *to, struct block chunk);

/* Fails unless the chunk is refused for that reason and nothing changed. */
void chunk_must_be_refused(struct chain *to, struct block chunk, const char *why);

/* All chunks from one chain to another, each in `room` bytes. Returns how many. */
size_t send_chunks(const struct chain *from, struct chain *to, size_t room);

#endif
