/* SPDX-License-Identifier: BSD-3-Clause */
/* malformed.h - records with one wrong field, and why the codec refuses each.
 *
 * unit/codec_hostile_test.c and codec_change_test.c show that the codec refuses them for
 * these reasons; the hostile tests of integration/ show that the server refuses them,
 * whichever way they come, and is what it was before. */
#ifndef MALFORMED_H
#define MALFORMED_H

#include "format.h"

/* `width` bytes at `at` become the value, or with width 0 the eight bytes of the rate. */
struct change {
    const char *name;
    unsigned at, width;
    uint64_t value;
    double rate;
    const char *why; /* what the reader says to it */
};

void change_bytes(uint8_t *bytes, const struct change *change);

/* Takes a change that makes the record malformed, and the `what` that was given to the
 * walk. */
typedef void malformed_visit(const struct change *change, const void *what);

/* A stored header, not born, of one chain with two layers. */
void each_malformed_header(malformed_visit *visit, const void *what);

/* A stored header of two such chains. */
void each_malformed_pair(malformed_visit *visit, const void *what);

/* The first chunk of such a chain, without zeros. */
void each_malformed_chunk(malformed_visit *visit, const void *what);

/* A growth record for the third layer of such a chain. */
void each_malformed_growth(malformed_visit *visit, const void *what);

#endif
