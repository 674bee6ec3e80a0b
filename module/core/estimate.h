/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.h - how often a chain errs as it is: from the bits that are set.
 *
 * The ledger of chain.h says what the error will be when all layers are full. What
 * it is depends on what came in, and the counts of items don't tell: they may be
 * wrong in a chain that came from outside, and stop at a limit. The bits do tell,
 * and they are all that is looked at. Nothing is kept between calls.
 *
 *     pass     the share of a layer's places at which a stranger's probe passes: of
 *              its lines, by the bits set in each sector, or of its bits (kind.h)
 *     error    of a layer: pass^probes; of the chain: 1 - product of (1 - error)
 *
 * That takes it that the places of a stranger have nothing to do with each other, nor
 * with a member's. So it leaves out the n/2^64 that a hash of 64 bits costs, and what
 * it costs foreign kinds to make all places of two hashes, up to 6n/bits^2: it shows
 * in small layers only (1.05 % measured in full ones of 100 items that are said to err
 * at 1.00 %; 1.01 % in those of 1000).
 *
 * A layer of up to ESTIMATE_LAYER_BYTES is counted. In a larger one that many bytes are
 * looked at, in blocks at equal distances: items are hashed, so that one part of it is
 * as good a sample as another, and without chance the same bits give the same answer.
 * What it costs doesn't depend on a layer's size, and no more than ESTIMATE_CHAIN_BYTES
 * are read in all. Layers that must share these share alike, and what the older ones
 * are too small to use goes to those that follow.
 *
 * A counted layer's error is exact but for the above. That of a sample deviates by
 * (one standard deviation, of 64 KiB; with less it grows by the root):
 *
 *     asked for                    0.1     0.01    0.001   0.00001   foreign, 0.01
 *     full                         0.8 %    2 %     2 %      6 %         0.9 %
 *     twice as many items          0.4 %    1 %     1 %      3 %         0.5 %
 *     half as many                 1.4 %    5 %     4 %     11 %         1.5 %
 *     a tenth (errs at 1e-8)       4   %   19 %    10 %     56 %         3.5 %
 *
 * Lines pass by their own bits, and not all as an average line would: the fuller ones
 * let in more strangers than the emptier ones keep out, 20 % in all when full. To take
 * the load from the mean fill and the error from the load (sizing.h) allows for this too,
 * but is hardly more exact where the error matters, and 10 % too high for two lines. */
#ifndef BLOOM_ESTIMATE_H
#define BLOOM_ESTIMATE_H

#include <stdint.h>

#include "chain.h"

/* A layer takes some 30 microseconds if nothing of it is in the cache; 16 of them, which
 * is all that may be read, half a millisecond: as long as a server may stand still. */
#define ESTIMATE_LAYER_BYTES (UINT64_C(64) << 10)
#define ESTIMATE_CHAIN_BYTES (UINT64_C(1) << 20) /* a line for each of 16384 layers */

struct estimate {
    double error;       /* the share of strangers that are taken for members */
    double fill;        /* the share of bits that are set */
    uint64_t bits;      /* that items can set */
    uint64_t looked_at; /* bytes, to know this */
};

/* Of what is there: in a partial chain, what is missing counts as clear. A chain
 * without layers has errors of 0 and no bits. */
struct estimate estimate_chain(const struct chain *c);

/* Of one layer, after a look at no more than `most` bytes, at least a line's. */
struct estimate estimate_layer(const struct kind *kind, const struct layer *layer,
                               uint64_t most);

#endif
