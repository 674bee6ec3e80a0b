/* SPDX-License-Identifier: BSD-3-Clause */
#include "form.h"

#include <float.h>

#include "bytes.h"
#include "chain.h"
#include "estimate.h"
#include "real.h"

/* The sizes are best for so many items that half of the bits are set. A filter that looks
 * at nothing says "maybe" to everything: what it was made for can't be told, and is taken
 * for what a single hash would do. */
static void guess(const struct kind *kind, struct layer *plan) {
    uint64_t bits = kind->places ? kind->places(plan) : 8 * plan->bytes;
    unsigned probes = plan->probes ? plan->probes : 1;
    uint64_t capacity = (uint64_t)((double)bits * REAL_LN2 / probes);
    plan->capacity = capacity ? capacity : 1;
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

bool form_is_empty(const struct kind *kind, const struct form *in) {
    size_t end = in->length - kind->form->tail;
    for (size_t at = kind->form->head; at < end; at++)
        if (in->bytes[at] != 0) return false;
    return true;
}

/* Nothing is written, and a word has as many bits in any order. */
uint64_t form_count(const struct kind *kind, const struct form *in,
                    const struct layer *plan) {
    struct layer layer = *plan;
    layer.bits = (unsigned char *)in->bytes + kind->form->head;
    return estimate_items(kind, &layer);
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
    if (spec.variant != c->variant) return "its variant is another";
    if (spec.secret.k0 != c->secret.k0) return "its seed is another";
    return NULL;
}

/* The arrays of kinds that swap are whole words. */
static uint64_t turned(const struct kind_form *form, uint64_t word) {
    return form->swaps ? __builtin_bswap64(word) : word;
}

/* What has all bits isn't written, for the sake of a snapshot that shares the page. */
bool form_pour(struct chain *c, const struct form *in) {
    const struct kind_form *form = c->kind->form;
    const struct layer *layer = &c->layers[0];
    const unsigned char *from = in->bytes + form->head;
    unsigned char *to = layer->bits;
    bool fresh = false;
    uint64_t at = 0;
    for (; at + 8 <= layer->bytes; at += 8) {
        uint64_t now = load_u64(to + at), more = turned(form, load_u64(from + at));
        if (!(more & ~now)) continue;
        store_u64(to + at, now | more);
        fresh = true;
    }
    for (; at < layer->bytes; at++) {
        if (!(from[at] & ~(unsigned)to[at])) continue;
        to[at] |= from[at];
        fresh = true;
    }
    return fresh;
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
    uint64_t at = 0;
    for (; at + 8 <= layer->bytes; at += 8)
        store_u64(to + at, turned(form, load_u64(layer->bits + at)));
    for (; at < layer->bytes; at++)
        to[at] = layer->bits[at];
}
