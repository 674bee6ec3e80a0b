/* SPDX-License-Identifier: BSD-3-Clause */
/* valkeybloom.h - facts about valkey-bloom that its kind and its codec share. */
#ifndef BLOOM_VALKEYBLOOM_H
#define BLOOM_VALKEYBLOOM_H

#include <stdint.h>

#include "../../hash.h"

struct chain;

/* What it takes where nothing is said. */
#define VALKEYBLOOM_TIGHTENING 0.5

/* The seed of filters that have no random one: its two halves. */
extern const struct secret valkeybloom_fixed_seed[2];

/* The chain's identity, which is not stored by valkey-bloom: every server that loads
 * the filter has to come to the same. */
uint64_t valkeybloom_identity(const struct secret *first, const struct secret *second);

/* The error of a layer by its number, which isn't stored either. */
double valkeybloom_error(const struct chain *c, uint32_t layer);

#endif
