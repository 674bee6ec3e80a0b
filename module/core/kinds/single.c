/* SPDX-License-Identifier: BSD-3-Clause */
#include "single.h"

#include <string.h>

void single_complete_seeded(struct chain_spec *spec) {
    spec->expansion = spec->asked_expansion = 0;
    spec->secret.k1 = 0;
    spec->secret2 = (struct secret){0};
    spec->parameter = 0;
}

void single_complete(struct chain_spec *spec) {
    single_complete_seeded(spec);
    spec->secret.k0 = 0;
}

const char *single_flaw_seeded(const struct chain *c) {
    if (c->secret.k1 != 0 || c->secret2.k0 != 0 || c->secret2.k1 != 0 || c->parameter != 0)
        return "it has a field set that its kind doesn't know";
    if (c->nlayers > 0 && c->layers[0].variant != c->variant)
        return "its layer is of another variant";
    return NULL;
}

const char *single_flaw(const struct chain *c) {
    if (c->secret.k0 != 0) return "it has a seed, and its kind has none";
    return single_flaw_seeded(c);
}

size_t single_facts(const struct chain *c, const struct layer *layer, struct fact *out) {
    uint64_t bits = c->kind->places ? c->kind->places(layer) : 8 * layer->bytes;
    const struct fact facts[] = {
        {"bytes", FACT_COUNT, .count = layer->bytes},
        {"bits", FACT_COUNT, .count = bits},
        {"hashes", FACT_COUNT, .count = layer->probes},
        {"capacity", FACT_COUNT, .count = layer->capacity},
        {"size", FACT_COUNT, .count = layer->items},
    };
    _Static_assert(sizeof facts <= KIND_FACTS_MAX * sizeof *facts, "kind.h");
    memcpy(out, facts, sizeof facts);
    return sizeof facts / sizeof *facts;
}
