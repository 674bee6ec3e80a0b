/* SPDX-License-Identifier: BSD-3-Clause */
/* single.h - what the kinds of other libraries' filters have in common, which know no
 * layers: a single array, whose size is decided once, and which refuses nothing. */
#ifndef BLOOM_SINGLE_H
#define BLOOM_SINGLE_H

#include "chain.h"

#define SINGLE_LAYERS_MAX 1

/* Any number would do, and this is what a layer has room for. No rate that a double can
 * hold makes a filter of more than 1074. */
#define SINGLE_HASHES_MAX UINT16_MAX

/* Of a new chain: all but its error, its variant and its encoding. The second form leaves
 * the seed, too. */
void single_complete(struct chain_spec *spec);
void single_complete_seeded(struct chain_spec *spec);

/* What of a chain has to be 0, and that its layer repeats its variant. The second form
 * allows a seed. */
const char *single_flaw(const struct chain *c);
const char *single_flaw_seeded(const struct chain *c);

/* What BF.DEBUG shows of the layer. */
size_t single_facts(const struct chain *c, const struct layer *layer, struct fact *out);

#endif
