/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.h - filters as bytes: the format, its writers and its readers.
 *
 * A filter travels as one header and then chunks of its bit arrays. The same
 * records serve RDB, DUMP, SCANDUMP, the AOF and replication. All numbers are
 * little-endian, rates are IEEE doubles, and the bytes of the bit arrays are
 * those in memory (bytes.h). Each kind's folder says what the kind's own fields hold
 * (kinds/lines/lines.c: s and the model error of a layer).
 *
 *   header                               chain record (offset from its start)
 *    0   8  "BULWARK" 0x81                0   1  kind
 *    8   2  version: 1                    1   1  variant: the kind's own
 *   10   2  chains: 1, or 2 in a rebuild  2   1  encoding of items (encode.h)
 *   12   4  flags: 1 = born               3   1  0
 *   16   1  state                         4   4  expansion; 0: never grows
 *   17   1  0                             8   8  identity
 *   18   2  causes of doubt              16  16  secret
 *   20   4  sections at the end          32  16  second secret
 *   24   8  lease                        48   8  error asked for
 *   32   8  vouched at                   56   8  parameter: the kind's own
 *   40   8  rebuild: token               64   8  bytes of the arrays that follow
 *   48   8  rebuild: start               72   4  layers
 *   56   8  rebuild: received            76   4  0
 *   64      chain records: live, next    80      layer records, oldest first
 *           sections
 *                                       layer record
 *   section                              0   2  probes
 *    0   4  tag; the top bit is set      2   2  variant: the kind's own
 *           in a critical one            4   4  0
 *    4   4  length                       8   8  bytes of the array
 *    8      bytes                       16   8  capacity
 *                                       24   8  items
 *                                       32   8  error share
 *                                       40   8  parameter: the kind's own
 *
 *   chunk                                growth
 *    0   8  "BULWARK" 0x82                0   8  "BULWARK" 0x83
 *    8   8  identity of the chain         8   8  identity of the chain
 *   16   4  layers of the chain          16   4  number of the layer (0: the first)
 *   20   4  0                            20   4  chain: 0 live, 1 next
 *   24   8  offset in the joined arrays  24  48  layer record, without items
 *   32   8  zeros: how many zero bytes,
 *           not sent, come first
 *   40      bytes that follow them,      counts
 *           all of one layer              0   8  "BULWARK" 0x84
 *                                         8   8  identity of the chain
 *                                        16   4  layers of the chain
 *                                        20   4  0
 *                                        24      8 for each layer: its items
 *
 * - The magic can't be the start of a RedisBloom header: that starts with a
 *   count of items, and this would be more than 2^63 of them.
 * - A header flagged "born" is of a filter whose bits are all zero and which is
 *   complete: no chunks follow. Without it nothing has come yet.
 * - "Bytes that follow" are fewer than the arrays' for a filter that was itself
 *   only partially loaded.
 * - The chunks of the next chain of a rebuild come after those of the live one.
 * - Counts follow chunks that brought bits into a complete filter, from another one.
 * - Identity and layer count in every chunk keep the chunks of native filters that were
 *   made apart, or before and after a growth, from being combined. A filter restored from
 *   an older DUMP can't be told from the filter as it was then.
 * - A reader refuses what it doesn't know: another version, a flag, a kind, a
 *   critical section. It ignores sections that are not critical, and
 *   a state it doesn't know denies nothing (shield.h).
 *
 * The readers take unchecked bytes. Whatever they accept has passed chain_flaw(). */
#ifndef BLOOM_CODEC_H
#define BLOOM_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "filter.h"

/* In BF.SCANDUMP and BF.LOADCHUNK a chunk's iterator is 1 + the offset after it, and this
 * is the iterator of a record that isn't a chunk. */
#define CODEC_RECORD_ITERATOR 1

#define CODEC_CHUNK_HEADER  40u
#define CODEC_GROWTH_LENGTH 72u

enum codec_record { CODEC_NONE, CODEC_HEADER, CODEC_CHUNK, CODEC_GROWTH, CODEC_COUNTS };

/* The type that the bytes claim to be. Checks the magic only. */
enum codec_record codec_record_type(const void *bytes, size_t length);

enum codec_form {
    CODEC_STORED, /* with its standing and both chains: RDB, AOF */
    CODEC_BORN,   /* the live chain, with its standing, complete as it is: replication */
    CODEC_MOVED,  /* the live chain as a plain filter: SCANDUMP */
};

size_t codec_header_length(const struct filter *f, enum codec_form form);

/* Writes codec_header_length() bytes. */
void codec_write_header(const struct filter *f, enum codec_form form, unsigned char *out);

/* Reads a header. The chains of *out have their layers, but no arrays yet (see
 * chain_take_arrays), so that the caller can check the sizes first. They are partial, with
 * everything missing, unless the header was flagged born. follows: how many bytes of the
 * arrays of live and next the chunks will bring.
 *
 * Refuses BLOOM_NO_MEMORY and BLOOM_CORRUPT; *out is NULL then, and *why says
 * what is wrong. */
enum bloom_status codec_read_header(const void *bytes, size_t length,
                                    const struct bloom_memory *memory, struct filter **out,
                                    uint64_t follows[2], const char **why);

/* Writes a chunk that starts at the offset into `room` (> CODEC_CHUNK_HEADER)
 * bytes. Returns its length, 0 if there is nothing from there on; *next is the
 * offset after it. Takes time for `room` bytes and for a bounded run of zeros. */
size_t codec_write_chunk(const struct chain *c, uint64_t offset, unsigned char *out,
                         size_t room, uint64_t *next);

/* The offset after a chunk, as the chunk itself says: nothing is checked. 0 if it is too
 * short to say. */
uint64_t codec_chunk_end(const void *bytes, size_t length);

/* Checks a chunk against the chain it should belong to, and sets its bits. *next is the
 * offset after it, and *changed tells whether it brought anything new. A chunk may repeat
 * or overlap what came before, but may not leave a gap. On BLOOM_CORRUPT nothing has
 * changed, and *why says what is wrong. */
enum bloom_status codec_read_chunk(struct chain *c, const void *bytes, size_t length,
                                   uint64_t *next, bool *changed, const char **why);

/* Which of a filter's chains has grown. The identity doesn't tell: two foreign chains may
 * have the same one. */
#define CODEC_LIVE 0u
#define CODEC_NEXT 1u

/* Writes the record of the layer that was just added, the last one. */
void codec_write_growth(const struct chain *c, uint32_t which,
                        unsigned char out[CODEC_GROWTH_LENGTH]);

/* Reads into *plan what chain_grow() needs to make the same layer. Changes nothing else. */
enum bloom_status codec_read_growth(const struct chain *c, uint32_t which,
                                    const void *bytes, size_t length, struct layer *plan,
                                    const char **why);

/* The items of each layer: codec_counts_length() bytes. The reader sets them. */
size_t codec_counts_length(const struct chain *c);
void codec_write_counts(const struct chain *c, unsigned char *out);
enum bloom_status codec_read_counts(struct chain *c, const void *bytes, size_t length,
                                    const char **why);

#endif
