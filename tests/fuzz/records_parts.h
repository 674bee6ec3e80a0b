/* SPDX-License-Identifier: BSD-3-Clause */
/* records_parts.h - what a record is made of: where its fields are, its chains and layers,
 * and how much of a filter a sequence of records has brought (struct shape).
 *
 * records.c makes whole records out of these parts, and a mutation changes, adds or
 * repairs single ones. What is found in a record that is broken still lies inside it, if
 * its type says that it is long enough. */
#ifndef RECORDS_PARTS_H
#define RECORDS_PARTS_H

#include "records.h"

/* Where things are: the page at the top of codec.h, once more and on purpose. A
 * change of the format that codec.c makes alone shows here. */
enum {
    H_VERSION = 8,
    H_CHAINS = 10,
    H_FLAGS = 12,
    H_STATE = 16,
    H_RESERVED = 17,
    H_DOUBT = 18,
    H_SECTIONS = 20,
    H_LEASE = 24,
    H_VOUCHED = 32,
    H_TOKEN = 40,
    H_START = 48,
    H_RECEIVED = 56,
    FIXED = 64,

    C_KIND = 0,
    C_VARIANT = 1,
    C_RESERVED = 2,
    C_EXPANSION = 4,
    C_IDENTITY = 8,
    C_SECRET = 16,
    C_SECOND = 32,
    C_ERROR = 48,
    C_PARAMETER = 56,
    C_FOLLOWS = 64,
    C_LAYERS = 72,
    C_RESERVED2 = 76,
    CHAIN = 80,

    L_PROBES = 0,
    L_SECTORS = 2,
    L_RESERVED = 4,
    L_BYTES = 8,
    L_CAPACITY = 16,
    L_ITEMS = 24,
    L_ERROR = 32,
    L_MODEL = 40,
    LAYER = 48,

    K_IDENTITY = 8,
    K_LAYERS = 16,
    K_RESERVED = 20,
    K_OFFSET = 24,
    K_ZEROS = 32,
    CHUNK = 40,

    G_IDENTITY = 8,
    G_NUMBER = 16,
    G_RESERVED = 20,
    G_LAYER = 24,
    GROWTH = 72
};

struct record {
    uint8_t bytes[RECORD_MAX];
    size_t length;
};

enum record_type { OTHER, HEADER_RECORD, CHUNK_RECORD, GROWTH_RECORD };

/* By the eighth byte alone: a broken magic gets repaired. */
enum record_type record_type_of(const struct record *r);

/* In a header: the end of the chain record there, if the number of its layers is
 * believed. */
size_t record_chain_end(const struct record *r, size_t at);

/* In a header: where the chain records are, if their number is believed; the end of the
 * last one comes after them. Returns how many there are. */
unsigned record_chains(const struct record *r, size_t at[3]);

/* One of the numbers at which something ends, or 0. */
uint64_t number_that_hurts(struct dice *d);

/* A layer that a server could have written. */
void make_layer(uint8_t *out, struct dice *d);

/* One chain's record of 1 to `layers` such layers; returns its length. */
size_t make_chain(uint8_t *out, struct dice *d, uint32_t layers, struct shape_chain *shape);

void shape_add_layer(struct shape_chain *s, uint64_t bytes);

/* How many bytes there are from the offset on in one layer. */
uint64_t shape_room_in_layer(const struct shape_chain *s, uint64_t offset);

/* The chain to which the next chunk belongs. */
struct shape_chain *shape_to_complete(struct shape *s);

#endif
