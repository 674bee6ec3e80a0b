/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "check.h"
#include "random.h"

/* Step j of the generator that starts at x. */
static uint64_t step_of(uint64_t x, unsigned j) {
    return scatter(x + (j - 1) * RANDOM_STEP);
}

/* The high 64 bits of a product, from four products of halves. */
static uint64_t high_of_product(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t carry = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

unsigned places_of(const struct layer *sizes, uint64_t x, uint64_t places[PLACES_MAX]) {
    uint64_t bits_per_sector = 512 / sizes->variant, lines = sizes->bytes / 64;
    unsigned n = 0;
    for (unsigned j = 0; j < sizes->probes; j++) {
        uint64_t x_j = j == 0 ? x : step_of(x, j);
        uint64_t y = (x_j ^ (x_j >> 32)) * 0x9E3779B97F4A7C15u;
        uint64_t fields = y ^ (y >> 29);
        for (unsigned q = 0; q < sizes->variant; q++, fields /= bits_per_sector)
            places[n++] = high_of_product(x_j, lines) * 512 + q * bits_per_sector +
                          fields % bits_per_sector;
    }
    return n;
}

/* Bit t of a little-endian word is bit t % 8 of its byte t / 8. */
bool bit_is_set(const unsigned char *bits, uint64_t place) {
    return bits[place / 8] >> (place % 8) & 1;
}

static bool layer_has(const struct layer *layer, uint64_t x) {
    uint64_t places[PLACES_MAX];
    unsigned n = places_of(layer, x, places), set = 0;
    for (unsigned i = 0; i < n; i++)
        set += bit_is_set(layer->bits, places[i]);
    return set == n;
}

static uint64_t hash_of(const struct model *m, uint64_t number) {
    unsigned char room[ITEM_ROOM];
    CHECK(number < MODEL_ITEMS);
    struct item item = item_number(number, room);
    return siphash13(&m->secret, item.bytes, item.length);
}

static bool some_layer_has(const struct model *m, uint64_t x) {
    bool found = false;
    for (uint32_t i = 0; i < m->nlayers; i++)
        found |= layer_has(&m->layers[i], x);
    return found;
}

bool model_ask(const struct model *m, uint64_t number) {
    bool maybe = some_layer_has(m, hash_of(m, number));
    if (m->accepted[number] && !maybe) FAIL("the model itself says a false no");
    return maybe;
}

enum model_answer model_add(struct model *m, uint64_t number, enum chain_full when_full) {
    uint64_t x = hash_of(m, number), places[PLACES_MAX];
    struct layer *last = &m->layers[m->nlayers - 1];
    m->accepted[number] = true;
    if (some_layer_has(m, x)) return MODEL_THERE;
    if (last->items >= last->capacity && when_full == CHAIN_STOP) {
        m->accepted[number] = false;
        return MODEL_FULL;
    }

    unsigned n = places_of(last, x, places);
    for (unsigned i = 0; i < n; i++)
        last->bits[places[i] / 8] |= (unsigned char)(1 << places[i] % 8);
    last->items++;
    return MODEL_ADDED;
}

void model_follow_growth(struct model *m, const struct chain *c) {
    m->layers = realloc(m->layers, c->nlayers * sizeof *m->layers);
    if (!m->layers) abort();
    for (; m->nlayers < c->nlayers; m->nlayers++) {
        struct layer *layer = &m->layers[m->nlayers];
        *layer = c->layers[m->nlayers];
        layer->items = 0;
        layer->bits = calloc(1, (size_t)layer->bytes);
        if (!layer->bits) abort();
    }
}

static void free_model(void *what) {
    struct model *m = what;
    for (uint32_t i = 0; i < m->nlayers; i++)
        free(m->layers[i].bits);
    free(m->layers);
    free(m);
}

struct model *model_of(const struct chain *c) {
    struct model *m = calloc(1, sizeof *m);
    if (!m) abort();
    m->secret = c->secret;
    model_follow_growth(m, c);
    test_defer(free_model, m);
    return m;
}

void model_must_agree(const struct model *m, const struct chain *c) {
    CHECK_UINT(c->nlayers, m->nlayers);
    uint64_t items = 0;
    for (uint32_t i = 0; i < m->nlayers; i++) {
        const struct layer *layer = &c->layers[i], *g = &m->layers[i];
        CHECK_UINT(layer->items, g->items);
        CHECK_MEM(layer->bits, (size_t)layer->bytes, g->bits, (size_t)g->bytes);
        items += g->items;
    }
    CHECK_UINT(chain_items(c), items);
}
