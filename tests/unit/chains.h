/* SPDX-License-Identifier: BSD-3-Clause */
/* chains.h - what the tests of the core make their chains and items with. */
#ifndef CHAINS_H
#define CHAINS_H

#include <stdbool.h>

#include "chain.h"
#include "counting_memory.h"

#define ITEM_ROOM 32

/* Item number n: different bytes for different numbers, of 8 to 32 bytes. */
struct item item_number(uint64_t n, unsigned char room[ITEM_ROOM]);

/* Items first, first + 1, ... as a batch. */
#define BATCH_MAX 512
struct batch {
    struct item items[BATCH_MAX];
    unsigned char room[BATCH_MAX][ITEM_ROOM];
};
void batch_of(struct batch *b, uint64_t first, size_t n);

/* A spec of the native kind under a random secret. */
struct chain_spec random_spec(double error, uint32_t expansion);

/* The spec that the chain was made from. */
struct chain_spec spec_of(const struct chain *c);

/* A chain with its first layer, freed when the test ends. counting_memory() first. */
struct chain *chain_made(const struct bloom_memory *memory, const struct chain_spec *spec,
                         uint64_t capacity);

/* One more layer, as planned. */
void chain_must_grow(struct chain *c);

/* Adds items first to first + n - 1, growing whenever the chain is full. */
void chain_fill(struct chain *c, uint64_t first, uint64_t n);

/* One item in or asked for; the answer. */
bool add_number(struct chain *c, uint64_t n);
bool ask_number(const struct chain *c, uint64_t n);

/* Fails unless every item of the range gets a "maybe". */
void chain_must_hold(const struct chain *c, uint64_t first, uint64_t n);

/* All that a chain is, as bytes to compare: its fields, its layers' and their bits. Freed
 * when the test ends. */
struct snapshot {
    unsigned char *bytes;
    size_t length;
};
struct snapshot snapshot_of(const struct chain *c);

/* Fails if the chain is not what it was. */
void must_be_unchanged(const struct chain *c, struct snapshot before);

/* Bits, counts and numbers of two chains are the same, whatever their addresses. */
void must_be_equal(const struct chain *a, const struct chain *b);

#endif
