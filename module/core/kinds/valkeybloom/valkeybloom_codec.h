/* SPDX-License-Identifier: BSD-3-Clause */
/* valkeybloom_codec.h - valkey-bloom's forms of a filter: the fields of its RDB values,
 * and the data of its BF.LOAD. valkeybloom.c says what the numbers mean.
 *
 *   RDB value of type "bloomfltr",            data of BF.LOAD
 *   encoding 1                                 0  1  version: 1
 *   layers ("filters")       unsigned         22  8  layers
 *   expansion; 0: fixed      unsigned          1  4  expansion
 *   error asked for          double            5  8  error asked for
 *   tightening ratio         double           13  8  tightening ratio
 *   seed is random: 0, 1     unsigned         21  1  seed is random
 *                                             30     layers, oldest first
 *   then each layer, oldest first:            each layer:
 *   record                   string            0  8  length of the record, n
 *                                              8  n  record
 *   capacity                 unsigned        8+n  8  items
 *                                           16+n  8  capacity
 *   and after the last one:
 *   its items                unsigned
 *
 *   record ("filter"), little-endian like all of it
 *    0   1  version: 1
 *    1   8  bytes of the bitmap
 *    9   4  hashes
 *   13  32  seed
 *   45      bitmap
 *
 * What we call a layer is a filter to valkey-bloom. The RDB form has no field for the items
 * of layers before the last: they are full. */
#ifndef BLOOM_VALKEYBLOOM_CODEC_H
#define BLOOM_VALKEYBLOOM_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "../../chain.h"

#define VALKEYBLOOM_ENCODING      1
#define VALKEYBLOOM_RECORD_HEADER 45u
#define VALKEYBLOOM_SEED_LENGTH   32u

/* Splits a seed into its two halves. */
void valkeybloom_read_seed(const unsigned char *seed, struct secret *first,
                           struct secret *second);

/* The fields of the chain, and of each layer beside its record, that both forms have. */
struct valkeybloom_head {
    uint64_t layers, expansion, random;
    double error, tightening;
};
struct valkeybloom_layer {
    const unsigned char *record;
    size_t length;
    uint64_t capacity, items;
};

struct valkeybloom_head valkeybloom_head_of(const struct chain *c);

/* Whether the RDB form can hold the chain without losing anything. */
bool valkeybloom_fits(const struct chain *c);

/* Build a chain from these: start, then head->layers times add_layer, then finish, which
 * checks the whole with chain_flaw(). The layers have no arrays: their bits are in the
 * records, from VALKEYBLOOM_RECORD_HEADER on. An unfinished chain may only be passed to
 * chain_free(). On a refusal *why says what is wrong, and start leaves *out NULL. */
enum bloom_status valkeybloom_start(const struct valkeybloom_head *head,
                                    const struct bloom_memory *memory, struct chain **out,
                                    const char **why);
enum bloom_status valkeybloom_add_layer(struct chain *c,
                                        const struct valkeybloom_layer *stored,
                                        const char **why);
enum bloom_status valkeybloom_finish(const struct chain *c, const char **why);

/* Writes the part of a layer's record that precedes the bitmap. */
void valkeybloom_write_record_header(const struct chain *c, uint32_t number,
                                     unsigned char out[VALKEYBLOOM_RECORD_HEADER]);

/* The data of BF.LOAD. */
uint64_t valkeybloom_load_length(const struct chain *c);
void valkeybloom_write_load(const struct chain *c, unsigned char *out);

/* Reads the data of BF.LOAD. The chain has no arrays yet, so that the caller can check its
 * sizes first. Refuses BLOOM_NO_MEMORY and BLOOM_CORRUPT; *out is then NULL, and *why says
 * what is wrong. */
enum bloom_status valkeybloom_read_load(const void *bytes, size_t length,
                                        const struct bloom_memory *memory,
                                        struct chain **out, const char **why);

/* Sets the bits of a chain that was read from this data and has since got its arrays. */
void valkeybloom_read_bits(struct chain *c, const void *bytes);

#endif
