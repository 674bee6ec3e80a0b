/* SPDX-License-Identifier: BSD-3-Clause */
/* single.h - what the kinds of other libraries' filters have in common, which know no
 * layers: a single array, whose size is decided once, and which refuses nothing. */
#ifndef BLOOM_SINGLE_H
#define BLOOM_SINGLE_H

#include "chain.h"

#define SINGLE_LAYERS_MAX 1

/* No library takes more than 255 hashes or makes a filter with more than some hundreds, but
 * for ClickHouse, which takes any number. */
#define SINGLE_HASHES_MAX UINT16_MAX

/* Of a new chain: all but its error, its variant and its encoding. */
static inline void single_complete(struct chain_spec *spec) {
    spec->expansion = spec->asked_expansion = 0;
    spec->secret = spec->secret2 = (struct secret){0};
    spec->parameter = 0;
}

/* What of a chain has to be 0, but for a seed. Its layer repeats its variant. */
static inline const char *single_flaw(const struct chain *c) {
    if (c->secret.k1 != 0 || c->secret2.k0 != 0 || c->secret2.k1 != 0 || c->parameter != 0)
        return "it has a field set that its kind doesn't know";
    if (c->nlayers > 0 && c->layers[0].variant != c->variant)
        return "its layer is of another variant";
    return NULL;
}

static inline uint64_t single_round_up(double x) {
    uint64_t whole = (uint64_t)x;
    return whole + ((double)whole < x);
}

#endif
