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

/* A layer's place in the joined arrays, and the pieces that change. */
struct pieces {
    uint8_t *changed; /* or NULL */
    uint64_t piece, offset;
};

static void note(const struct pieces *pieces, uint64_t at) {
    if (pieces->changed) pieces->changed[(pieces->offset + at) / pieces->piece] = 1;
}

/* A layer may begin anywhere, so that a word of it may lie in two pieces. */
static void note_word(const struct pieces *pieces, uint64_t at, uint64_t fresh) {
    note(pieces, at + (unsigned)__builtin_ctzll(fresh) / 8);
    note(pieces, at + 7 - (unsigned)__builtin_clzll(fresh) / 8);
}

/* What has all bits isn't written, for the sake of a snapshot that shares the page. */
static bool add_bits(struct layer *into, const struct layer *from,
                     const struct pieces *pieces) {
    bool changed = false;
    uint64_t at = 0;
    for (; at + 8 <= into->bytes; at += 8) {
        uint64_t now = load_u64(into->bits + at), more = load_u64(from->bits + at);
        if (!(more & ~now)) continue;
        store_u64(into->bits + at, now | more);
        note_word(pieces, at, more & ~now);
        changed = true;
    }
    for (; at < into->bytes; at++) {
        if (!(from->bits[at] & ~(unsigned)into->bits[at])) continue;
        into->bits[at] |= from->bits[at];
        note(pieces, at);
        changed = true;
    }
    return changed;
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
    struct pieces pieces = {changed, piece, 0};
    for (uint32_t i = 0; i < into->nlayers; i++) {
        struct layer *layer = &into->layers[i];
        if (add_bits(layer, &from->layers[i], &pieces)) {
            union_count(into->kind, layer, from->layers[i].items);
            any = true;
        }
        pieces.offset += layer->bytes;
    }
    return any;
}
