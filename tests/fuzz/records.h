/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h - sequences of stored records (core/codec.h), for fuzzing.
 *
 *     length u16 | record    length u16 | record    ...
 *
 * Most records that chance makes die at the first check: a magic, an identity, a
 * length. So mutation knows the format. It changes single fields to numbers that
 * hurt, puts records in and takes them out, and then repairs most of what no longer
 * fits the header at the front, so that headers, chunks and growths go on working
 * together on one chain, and nearly right ones are frequent. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>

#include "fuzz.h"
#include "records/format.h"

/* The next record of a sequence; bytes that are no whole record are the last one. */
struct feed records_next(struct feed *in);

/* Appends one record; returns the new length, the old one if it doesn't fit. */
size_t records_append(uint8_t *out, size_t length, size_t max, const uint8_t *record,
                      size_t n);

/* What becomes of a sequence: records for a filter in use, which may grow; the same from
 * a client, whose filters are plain; or a stored filter, which is one header and its
 * chunks. */
enum records_for { FOR_USE, FOR_CLIENTS, FOR_STORAGE };

/* Mutates a sequence in place; returns its new length. */
size_t records_mutate(uint8_t *data, size_t length, size_t max, enum records_for purpose,
                      struct dice *d);

/* What single records are made from. */
#define SHAPE_LAYERS 160
struct shape_chain {
    uint64_t identity;
    uint32_t layers;
    uint64_t ends[SHAPE_LAYERS]; /* of the layers in the joined arrays */
    uint64_t total;              /* bytes of all arrays */
    uint64_t there;              /* bytes that have come */
};

struct shape {
    unsigned nchains; /* 1, or 2 in a rebuild: live, next */
    struct shape_chain chains[2];
};

/* Has everything come? */
bool shape_is_whole(const struct shape *s);

/* A header of a small filter, whose chains have 1 to `layers` layers; *shape is what it
 * says. */
size_t record_header(uint8_t out[RECORD_MAX], struct dice *d, uint32_t layers,
                     enum records_for purpose, struct shape *shape);

/* The chunk that comes next, with up to `room` bytes and maybe zeros before them. */
size_t record_chunk(uint8_t out[RECORD_MAX], struct dice *d, size_t room,
                    struct shape *shape);

/* The next layer. */
size_t record_growth(uint8_t out[RECORD_MAX], struct dice *d, struct shape *shape);

#endif
