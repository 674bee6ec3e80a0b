/* SPDX-License-Identifier: BSD-3-Clause */
#include "union.h"

#include "bytes.h"
#include "estimate.h"

/* The identity of other products' chains follows from their fields. */
enum bloom_status union_alike(const struct chain *c, uint64_t identity,
                              struct chain **out) {
    struct chain_spec spec = {
        .kind = c->kind,
        .secret = c->secret,
        .identity = c->kind->foreign ? c->identity : identity,
        .error = c->error,
        .expansion = c->expansion,
        .secret2 = c->secret2,
        .parameter = c->parameter,
        .variant = c->variant,
        .encoding = c->encoding,
    };
    enum bloom_status status = chain_new(&spec, c->memory, out);
    for (uint32_t i = 0; i < c->nlayers && status >= 0; i++) {
        struct layer plan = c->layers[i];
        plan.items = 0;
        status = chain_grow(*out, &plan);
    }
    if (status >= 0) return status;
    chain_free(*out);
    *out = NULL;
    return status;
}

static bool are_same(struct secret a, struct secret b) {
    return a.k0 == b.k0 && a.k1 == b.k1;
}

static bool are_alike(const struct layer *a, const struct layer *b) {
    return a->bytes == b->bytes && a->probes == b->probes && a->variant == b->variant;
}

/* A layer's parameter is a size in one kind and a rate in others, which two layers of the
 * same size may differ in: see kind.h. */
static bool have_same_places(const struct kind *kind, const struct layer *a,
                             const struct layer *b) {
    return !kind->places || kind->places(a) == kind->places(b);
}

const char *union_difference(const struct chain *a, const struct chain *b) {
    if (a->kind != b->kind) return "kinds";
    if (a->encoding != b->encoding) return "encodings";
    if (a->variant != b->variant) return "variants";
    if (!are_same(a->secret, b->secret) || !are_same(a->secret2, b->secret2))
        return a->kind->form ? "seeds" : "secrets";
    if (a->nlayers != b->nlayers) return "numbers of layers";
    for (uint32_t i = 0; i < a->nlayers; i++)
        if (!are_alike(&a->layers[i], &b->layers[i]) ||
            !have_same_places(a->kind, &a->layers[i], &b->layers[i]))
            return "sizes";
    return NULL;
}

static bool covers(const struct layer *all, const struct layer *part) {
    uint64_t at = 0, missing = 0;
    for (; at + 8 <= all->bytes && !missing; at += 8)
        missing = load_u64(part->bits + at) & ~load_u64(all->bits + at);
    for (; at < all->bytes && !missing; at++)
        missing = part->bits[at] & ~(unsigned)all->bits[at];
    return !missing;
}

bool union_covers(const struct chain *all, const struct chain *part) {
    for (uint32_t i = 0; i < all->nlayers; i++)
        if (!covers(&all->layers[i], &part->layers[i])) return false;
    return true;
}

/* What has all bits isn't written, for the sake of a snapshot that shares the page. */
static bool add_bits(unsigned char *into, const unsigned char *from, uint64_t bytes) {
    bool changed = false;
    uint64_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t now = load_u64(into + at), more = load_u64(from + at);
        if (!(more & ~now)) continue;
        store_u64(into + at, now | more);
        changed = true;
    }
    for (; at < bytes; at++) {
        if (!(from[at] & ~(unsigned)into[at])) continue;
        into[at] |= from[at];
        changed = true;
    }
    return changed;
}

/* A layer begins and ends anywhere in the joined arrays, so its first piece may be short.
 * offset: where it begins there. */
static bool add_pieces(struct layer *into, const struct layer *from, uint64_t offset,
                       uint8_t *changed, uint64_t piece) {
    bool any = false;
    for (uint64_t at = 0, end; at < into->bytes; at = end) {
        end = at + piece - (offset + at) % piece;
        if (end > into->bytes) end = into->bytes;
        if (!add_bits(into->bits + at, from->bits + at, end - at)) continue;
        changed[(offset + at) / piece] = 1;
        any = true;
    }
    return any;
}

void union_count(const struct kind *kind, struct layer *layer, uint64_t others) {
    uint64_t least = layer->items > others ? layer->items : others;
    uint64_t most = layer->items + others, items = estimate_items(kind, layer);
    if (items < least) items = least;
    if (items > most) items = most;
    layer->items = items < CHAIN_ITEMS_MAX ? items : CHAIN_ITEMS_MAX;
}

bool union_add(struct chain *into, const struct chain *from, uint8_t *changed,
               uint64_t piece) {
    bool any = false;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < into->nlayers; i++) {
        struct layer *layer = &into->layers[i];
        const struct layer *other = &from->layers[i];
        if (changed ? add_pieces(layer, other, offset, changed, piece)
                    : add_bits(layer->bits, other->bits, layer->bytes)) {
            union_count(into->kind, layer, other->items);
            any = true;
        }
        offset += layer->bytes;
    }
    return any;
}
