/* SPDX-License-Identifier: BSD-3-Clause */
/* valkeybloom.h - facts about valkey-bloom that its kind and its codec share. */
#ifndef BLOOM_VALKEYBLOOM_H
#define BLOOM_VALKEYBLOOM_H

#include <stdint.h>

#include "../../hash.h"

struct chain;

/* valkey-bloom's default. */
#define VALKEYBLOOM_TIGHTENING 0.5

/* The two halves of the seed of filters without a random one. */
extern const struct secret valkeybloom_fixed_seed[2];

/* The chain's identity. valkey-bloom doesn't store one, and every server that loads the
 * filter has to compute the same. */
uint64_t valkeybloom_identity(const struct secret *first, const struct secret *second);

/* The error of a layer, from its number. valkey-bloom doesn't store this either. */
double valkeybloom_error(const struct chain *c, uint32_t layer);

#endif
