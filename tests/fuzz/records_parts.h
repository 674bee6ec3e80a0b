/* SPDX-License-Identifier: BSD-3-Clause */
/* records_parts.h - what a record is made of, its chains and layers, and how much of a
 * filter a sequence of records has brought (struct shape).
 *
 * records.c makes whole records out of these parts, and a mutation changes, adds or
 * repairs single ones. What is found in a record that is broken still lies inside it, if
 * its type says that it is long enough. */
#ifndef RECORDS_PARTS_H
#define RECORDS_PARTS_H

#include <stdbool.h>

#include "records.h"

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

/* The kinds that have a single layer and never grow. */
bool is_single(const uint8_t *chain);

/* Of such a chain and its layer: numbers become ones that its kind can have. */
void fit_single(uint8_t *chain);

/* One chain's record of 1 to `layers` such layers; returns its length. */
size_t make_chain(uint8_t *out, struct dice *d, uint32_t layers, struct shape_chain *shape);

void shape_add_layer(struct shape_chain *s, uint64_t bytes);

/* How many bytes there are from the offset on in one layer. */
uint64_t shape_room_in_layer(const struct shape_chain *s, uint64_t offset);

/* The chain to which the next chunk belongs. */
struct shape_chain *shape_to_complete(struct shape *s);

#endif
