/* SPDX-License-Identifier: BSD-3-Clause */
#include "records_parts.h"

#include "bytes.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- what is there ---- */

enum record_type record_type_of(const struct record *r) {
    if (r->length < 8) return OTHER;
    if (r->bytes[7] == 0x81 && r->length >= FIXED + CHAIN) return HEADER_RECORD;
    if (r->bytes[7] == 0x82 && r->length >= CHUNK) return CHUNK_RECORD;
    if (r->bytes[7] == 0x83 && r->length >= GROWTH) return GROWTH_RECORD;
    return OTHER;
}

size_t record_chain_end(const struct record *r, size_t at) {
    uint64_t layers = load_u32(r->bytes + at + C_LAYERS);
    uint64_t room = (r->length - at - CHAIN) / LAYER;
    return at + CHAIN + (size_t)(layers < room ? layers : room) * LAYER;
}

unsigned record_chains(const struct record *r, size_t at[3]) {
    at[0] = FIXED;
    at[1] = record_chain_end(r, FIXED);
    if (load_u16(r->bytes + H_CHAINS) != 2 || r->length - at[1] < CHAIN) return 1;
    at[2] = record_chain_end(r, at[1]);
    return 2;
}

/* ---- making ---- */

static const uint64_t whole[] = {
    0,
    1,
    2,
    3,
    4,
    8,
    63,
    64,
    65,
    128,
    4096,
    65536,
    1u << 20,
    INT32_MAX,
    UINT32_MAX,
    UINT64_C(1) << 32,
    UINT64_C(1) << 40,
    (UINT64_C(1) << 62) - 64,
    UINT64_C(1) << 62,
    (UINT64_C(1) << 62) + 64,
    INT64_MAX,
    UINT64_C(1) << 63,
    UINT64_MAX - 63,
    UINT64_MAX,
};

uint64_t number_that_hurts(struct dice *d) {
    return whole[roll_below(d, COUNT(whole))];
}

void make_layer(uint8_t *out, struct dice *d) {
    static const uint16_t sectors[] = {2, 4, 8};
    store_u16(out + L_PROBES, (uint16_t)(1 + roll_below(d, 4)));
    store_u16(out + L_VARIANT, sectors[roll_below(d, 3)]);
    store_u64(out + L_BYTES, 64 * (1 + roll_below(d, roll_below(d, 4) ? 8 : 60)));
    store_u64(out + L_CAPACITY, 1 + roll_below(d, 300));
    store_u64(out + L_ITEMS, roll_below(d, 2) ? 0 : roll_below(d, 400));
    store_f64(out + L_ERROR, 0.1 / (double)(1 + roll_below(d, 1000)));
    store_f64(out + L_PARAMETER, 0.1 / (double)(1 + roll_below(d, 1000)));
}

/* ---- single layers ---- */

enum { LEVELDB = 4, CLICKHOUSE, GUAVA, CRC32 };

bool is_single(const uint8_t *chain) {
    return chain[C_KIND] >= LEVELDB && chain[C_KIND] <= CRC32;
}

static uint64_t hashes_fit(unsigned kind, uint64_t hashes) {
    if (kind == LEVELDB) return hashes % 40;
    return 1 + hashes % (kind == GUAVA ? 255 : 300);
}

static void fit_layer(uint8_t *layer, unsigned kind) {
    uint64_t bytes = 1 + load_u64(layer + L_BYTES) % 2048, bits = 0;
    if (kind == GUAVA) bytes *= 8;
    if (kind == CRC32) bits = 8 * bytes - bytes % 8;
    if (kind == CRC32) bytes = (bits + 63) / 64 * 8;
    store_u16(layer + L_PROBES, (uint16_t)hashes_fit(kind, load_u16(layer + L_PROBES)));
    store_u64(layer + L_BYTES, bytes);
    store_f64(layer + L_PARAMETER, (double)bits);
}

void fit_single(uint8_t *chain) {
    unsigned kind = chain[C_KIND];
    chain[C_VARIANT] &= kind == LEVELDB || kind == GUAVA;
    chain[C_ENCODING] %= 4;
    store_u32(chain + C_EXPANSION, 0);
    if (kind != CLICKHOUSE) store_u64(chain + C_SECRET, 0);
    store_u64(chain + C_SECRET + 8, 0);
    store_u16(chain + CHAIN + L_VARIANT, chain[C_VARIANT]);
    fit_layer(chain + CHAIN, kind);
}

/* ---- chains ---- */

static void make_single(uint8_t *out, struct dice *d) {
    out[C_KIND] = (uint8_t)(LEVELDB + roll_below(d, 4));
    out[C_VARIANT] = (uint8_t)roll(d);
    out[C_ENCODING] = (uint8_t)roll(d);
    fit_single(out);
}

size_t make_chain(uint8_t *out, struct dice *d, uint32_t layers,
                  struct shape_chain *shape) {
    layers = 1 + (uint32_t)roll_below(d, layers);
    *shape = (struct shape_chain){.identity = roll(d)};
    memset(out, 0, CHAIN + layers * LAYER);
    out[C_KIND] = 1;
    store_u32(out + C_EXPANSION, (uint32_t)(roll_below(d, 4) + (layers > 1)));
    store_u64(out + C_IDENTITY, shape->identity);
    store_u64(out + C_SECRET, roll(d));
    store_u64(out + C_SECRET + 8, roll(d));
    store_f64(out + C_ERROR, 0.01);
    store_u32(out + C_LAYERS, layers);
    for (uint32_t i = 0; i < layers; i++) {
        uint8_t *layer = out + CHAIN + i * LAYER;
        make_layer(layer, d);
        if (layers == 1 && roll_below(d, 2)) make_single(out, d);
        shape_add_layer(shape, load_u64(layer + L_BYTES));
    }
    store_u64(out + C_FOLLOWS, shape->total);
    return CHAIN + layers * LAYER;
}

/* ---- shapes ---- */

void shape_add_layer(struct shape_chain *s, uint64_t bytes) {
    s->total += bytes;
    if (s->layers < SHAPE_LAYERS) s->ends[s->layers] = s->total;
    s->layers++;
}

uint64_t shape_room_in_layer(const struct shape_chain *s, uint64_t offset) {
    for (uint32_t i = 0; i < s->layers && i < SHAPE_LAYERS; i++)
        if (offset < s->ends[i]) return s->ends[i] - offset;
    return 0;
}

struct shape_chain *shape_to_complete(struct shape *s) {
    struct shape_chain *live = &s->chains[0];
    return s->nchains == 2 && live->there >= live->total ? &s->chains[1] : live;
}

bool shape_is_whole(const struct shape *s) {
    for (unsigned i = 0; i < s->nchains; i++)
        if (s->chains[i].there < s->chains[i].total) return false;
    return true;
}
