/* SPDX-License-Identifier: BSD-3-Clause */
/* sizing.h - how large a layer of lines must be: pure arithmetic, no memory, no state.
 *
 * A layer of the native kind is a run of B lines of 512 bits. An item touches m of them
 * ("probes") and sets s bits in each, one in every sector of 512/s bits. With n
 * items inside, a line has been touched by lam = m*n/B of them on average
 * (its "load"), about Poisson distributed, and the error is
 *
 *     g_s(lam) = sum over j of Poisson(j; lam) * (1 - (1 - s/512)^j)^s
 *     F        = g_s(lam)^m + n/2^64
 *
 * where n/2^64 is what a hash of 64 bits costs.
 *
 * Sources. Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters"
 * (2007), describe blocked and multi-blocked filters: an item's bits in one cache line, the
 * Poisson load that results, and several lines an item. Their bits may be anywhere in a
 * line. The split block filters of Impala and Parquet have one bit in every sector, with 8
 * words of 32 bits. With one bit a sector, j items leave a given bit of a line clear with
 * probability (1 - s/512)^j, and the term of the sum follows. Tests compare the sum with
 * its definition and with measured rates.
 *
 * Layers of other kinds are flat arrays of bits: sizing_flat_error() has their error.
 *
 * All of it is computed with real.h, so two machines that are asked the same question give
 * the same answer to the last bit. */
#ifndef BLOOM_SIZING_H
#define BLOOM_SIZING_H

#include <stdint.h>

#include "status.h"

#define LINE_BYTES 64u

/* The most lines an array can have. Its bytes then fit in 62 bits, and a few arrays can
 * still be added up. */
#define SIZING_LINES_MAX (UINT64_C(1) << 56)

struct geometry {
    unsigned probes;  /* m: lines an item touches, 1 to 4 */
    unsigned sectors; /* s: bits it sets in each, 2, 4 or 8 */
    uint64_t lines;   /* B */
};

/* g_s(load): the share of lines that answer "maybe" for an item that was never added. */
double sizing_line_error(unsigned sectors, double load);

/* F: the expected error of a layer of this geometry that holds that many items. */
double sizing_error(const struct geometry *g, uint64_t items);

/* The textbook's (1 - (1 - 1/m)^(k*n))^k: the expected error of a flat array of m bits, at
 * least one, in which n items have set k bits each, anywhere and independently. 1 if k is
 * 0. It leaves out what a kind loses by its hash, and what derived places cost. */
double sizing_flat_error(uint64_t bits, unsigned hashes, uint64_t items);

/* The largest load at which g_s(load)^probes stays at or under the error. */
double sizing_load(unsigned probes, unsigned sectors, double error);

/* The smallest geometry of the family that holds the items at that error. Refuses
 * BLOOM_BAD_ERROR_RATE, BLOOM_BAD_CAPACITY (no items) and BLOOM_RATE_TOO_SMALL (under
 * 4*items/2^64). */
enum bloom_status sizing_geometry(uint64_t items, double error, struct geometry *out);

#endif
