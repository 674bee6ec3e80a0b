/* SPDX-License-Identifier: BSD-3-Clause */
#include "form.h"

#include <float.h>
#include <string.h>

#include "chain.h"
#include "real.h"

#define LN2 0.693147180559945309417

/* The sizes are best for so many items that half of the bits are set. A filter that looks
 * at nothing says "maybe" to everything: what it was made for can't be told. */
static void guess(const struct kind *kind, struct layer *plan) {
    uint64_t bits = kind->places ? kind->places(plan) : 8 * plan->bytes;
    unsigned probes = plan->probes ? plan->probes : 1;
    double capacity = (double)bits * LN2 / probes;
    plan->capacity = capacity >= 1 ? (uint64_t)capacity : 1;
    plan->error = real_power(0.5, probes);
    if (plan->error < DBL_MIN) plan->error = DBL_MIN;
}

enum bloom_status form_read(const struct kind *kind, const struct form *in,
                            struct chain_spec *spec, struct layer *plan, const char **why) {
    *spec = (struct chain_spec){.kind = kind};
    *plan = (struct layer){0};
    *why = kind->form->read(in, spec, plan);
    if (*why) return BLOOM_CORRUPT;
    guess(kind, plan);
    spec->error = plan->error;
    *why = kind->flaw(plan);
    return *why ? BLOOM_CORRUPT : BLOOM_OK;
}

struct form form_like(const struct chain *c, const void *bytes, size_t length) {
    const struct layer *layer = &c->layers[0];
    return (struct form){
        .bytes = bytes,
        .length = length,
        .hashes = layer->probes,
        .bits = (uint64_t)layer->parameter,
        .seed = c->secret.k0,
        .variant = c->variant,
    };
}

const char *form_misfit(const struct chain *c, const struct form *in) {
    struct chain_spec spec;
    struct layer plan;
    const char *why;
    const struct layer *layer = &c->layers[0];
    if (form_read(c->kind, in, &spec, &plan, &why) < 0) return why;
    if (plan.bytes != layer->bytes || plan.parameter != layer->parameter)
        return "its size is another";
    if (plan.probes != layer->probes) return "its number of hashes is another";
    if (spec.variant != c->variant || plan.variant != layer->variant)
        return "its variant is another";
    if (spec.secret.k0 != c->secret.k0) return "its seed is another";
    return NULL;
}

bool form_pour(struct chain *c, const struct form *in) {
    const struct layer *layer = &c->layers[0];
    const unsigned char *from = in->bytes + c->kind->form->head;
    unsigned char *to = layer->bits, fresh = 0;
    uint64_t flip = c->kind->form->flip;
    for (uint64_t i = 0; i < layer->bytes; i++) {
        unsigned char *at = &to[i ^ flip];
        fresh |= from[i] & (unsigned char)~*at;
        *at |= from[i];
    }
    return fresh != 0;
}

uint64_t form_length(const struct chain *c) {
    const struct kind_form *form = c->kind->form;
    return form->head + c->layers[0].bytes + form->tail;
}

void form_write(const struct chain *c, unsigned char *out) {
    const struct kind_form *form = c->kind->form;
    const struct layer *layer = &c->layers[0];
    unsigned char *to = out + form->head;
    if (form->write_ends) form->write_ends(c, out, to + layer->bytes);
    if (form->flip == 0) {
        memcpy(to, layer->bits, layer->bytes);
        return;
    }
    for (uint64_t i = 0; i < layer->bytes; i++)
        to[i] = layer->bits[i ^ form->flip];
}
