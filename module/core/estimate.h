/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.h - how often a chain errs at present, computed from the bits that are set.
 *
 * The ledger of chain.h says what the error will be when all layers are full. The present
 * error depends on what was added. The item counts don't tell it: they may be wrong in a
 * chain that came from outside, and they stop at a limit. The bits do tell it, so only the
 * bits are looked at. Nothing is kept between calls.
 *
 *     pass     the share of a layer's places at which a probe for an item that was
 *              never added passes: of its lines, by the bits set in each sector, or of
 *              its bits (kind.h)
 *     error    of a layer: pass^probes; of the chain: 1 - product of (1 - error)
 *
 * This assumes that the places of such an item are independent of each other and of a
 * member's. So it leaves out the n/2^64 that a 64-bit hash costs, and it leaves out what
 * foreign kinds lose by deriving all places from two hashes, up to 6n/bits^2. The latter
 * shows in small layers only: full layers of 100 items measure 1.05 % where 1.00 % is
 * estimated; with 1000 items, 1.01 %.
 *
 * Where an item's hash has 32 bits, the bits don't tell all: a stranger may have a member's
 * hash, and places that all follow from so few bits are not independent. So ESTIMATE_ASKED
 * hashes are made up and asked for. The error is the share that passes, or what the bits
 * tell and n/2^32, whichever is more. That is right for items of any sort; counted ones
 * ("user:00000001") may err three times as often, or not at all.
 *
 * A layer of up to ESTIMATE_LAYER_BYTES is counted in full. In a larger one, that many
 * bytes are counted, in blocks at equal distances. Items are hashed, so one part of a layer
 * is as good a sample as another; and without randomness the same bits give the same
 * answer. The cost doesn't depend on a layer's size, and at most ESTIMATE_CHAIN_BYTES are
 * read in all. Layers that have to share these get equal parts; what an older layer is too
 * small to use goes to the ones after it.
 *
 * The error of a fully counted layer is exact apart from the above. The error of a sample
 * deviates by (one standard deviation for 64 KiB; for fewer bytes it grows by the square
 * root):
 *
 *     asked for                    0.1     0.01    0.001   0.00001   foreign, 0.01
 *     full                         0.8 %    2 %     2 %      6 %         0.9 %
 *     twice as many items          0.4 %    1 %     1 %      3 %         0.5 %
 *     half as many                 1.4 %    5 %     4 %     11 %         1.5 %
 *     a tenth (errs at 1e-8)       4   %   19 %    10 %     56 %         3.5 %
 *
 * Each line passes by its own bits, and lines differ from the average one: the fuller lines
 * let in more items than the emptier ones keep out, 20 % overall when full. Taking the load
 * from the mean fill and the error from the load (sizing.h) would also allow for this, but
 * is hardly more exact where the error matters, and 10 % too high for two lines. */
#ifndef BLOOM_ESTIMATE_H
#define BLOOM_ESTIMATE_H

#include <stdint.h>

#include "chain.h"

/* A layer takes some 30 microseconds if none of it is in the cache. 16 layers, the most
 * that is read, take half a millisecond: as long as a server may stand still. */
#define ESTIMATE_LAYER_BYTES (UINT64_C(64) << 10)
#define ESTIMATE_CHAIN_BYTES (UINT64_C(1) << 20) /* a line for each of 16384 layers */

struct estimate {
    double error;       /* the share of items never added that pass for members */
    double fill;        /* the share of bits that are set */
    uint64_t bits;      /* how many bits items can set */
    uint64_t looked_at; /* bytes that were read */
};

/* About half a millisecond, if none of the layer is in the cache. Fewer hashes are asked
 * for if together they could look at more places than this: whoever brings a filter decides
 * how many hashes it has, up to 65,535. */
#define ESTIMATE_ASKED  16384u
#define ESTIMATE_PLACES (ESTIMATE_ASKED * 32)

/* Estimates the chain as it is. In a partial chain, missing bytes count as clear. A chain
 * without layers has an error of 0 and no bits. */
struct estimate estimate_chain(const struct chain *c);

/* Estimates one layer from at most `most` bytes. `most` must be at least LINE_BYTES. */
struct estimate estimate_layer(const struct kind *kind, const struct layer *layer,
                               uint64_t most);

/* The chance that a stranger has the hash of one of so many items, if that has 32 bits.
 * With 64 it is 0: too small to matter. */
double estimate_twins(const struct kind *kind, uint64_t items);

/* How many items the bits of a layer tell of; all of it is read. If every place is taken,
 * there may be any number: then as many as one place more would have told of. */
uint64_t estimate_items(const struct kind *kind, const struct layer *layer);

#endif
