/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"

#include "bytes.h"
#include "records_parts.h"

/* ---- sequences ---- */

struct feed records_next(struct feed *in) {
    size_t n = (size_t)feed_number(in, 2);
    return feed_part(in, n);
}

size_t records_append(uint8_t *out, size_t length, size_t max, const uint8_t *record,
                      size_t n) {
    if (n > UINT16_MAX || length + 2 + n > max) return length;
    store_u16(out + length, (uint16_t)n);
    if (n > 0) memcpy(out + length + 2, record, n);
    return length + 2 + n;
}

/* ---- records ---- */

static void make_born(uint8_t *header, struct shape_chain *shape) {
    store_u32(header + H_FLAGS, 1);
    store_u64(header + FIXED + C_FOLLOWS, 0);
    for (uint32_t i = 0; i < shape->layers; i++)
        store_u64(header + FIXED + CHAIN + i * LAYER + L_ITEMS, 0);
    shape->there = shape->total;
}

/* Mostly what a server would write; any number is a legal one. */
static void make_standing(uint8_t *out, struct dice *d) {
    out[H_STATE] = (uint8_t)(roll_below(d, 16) ? roll_below(d, 3) : roll(d));
    if (roll_below(d, 4) == 0) store_u16(out + H_DOUBT, (uint16_t)(roll(d) & roll(d)));
    if (roll_below(d, 4) == 0) store_u64(out + H_LEASE, number_that_hurts(d));
    store_u64(out + H_VOUCHED, number_that_hurts(d));
    if (roll_below(d, 2)) store_u64(out + H_TOKEN, roll(d));
    store_u64(out + H_START, number_that_hurts(d));
    store_u64(out + H_RECEIVED, number_that_hurts(d));
}

size_t record_header(uint8_t out[RECORD_MAX], struct dice *d, uint32_t layers,
                     enum records_for purpose, struct shape *shape) {
    *shape = (struct shape){.nchains = 1};
    memset(out, 0, FIXED);
    memcpy(out, HEADER_MAGIC, 8);
    store_u16(out + H_VERSION, 1);
    size_t length = FIXED + make_chain(out + FIXED, d, layers, &shape->chains[0]);
    if (purpose != FOR_CLIENTS && roll_below(d, 2)) {
        make_standing(out, d);
        if (roll_below(d, 2)) {
            shape->nchains = 2;
            length += make_chain(out + length, d, layers, &shape->chains[1]);
            store_u64(out + H_TOKEN, 1 + roll_below(d, UINT64_MAX));
        }
    }
    store_u16(out + H_CHAINS, (uint16_t)shape->nchains);
    if (shape->nchains == 1 && roll_below(d, 4) == 0) make_born(out, &shape->chains[0]);
    return length;
}

size_t record_chunk(uint8_t out[RECORD_MAX], struct dice *d, size_t room,
                    struct shape *shape) {
    struct shape_chain *c = shape_to_complete(shape);
    uint64_t left = c->total - c->there;
    uint64_t zeros = roll_below(d, 2) ? 0 : roll_below(d, left + 1);
    put_chunk_head(out, c->identity, c->layers, c->there, zeros);
    uint64_t bytes = shape_room_in_layer(c, c->there + zeros);
    if (bytes > room) bytes = room;
    if (bytes > RECORD_MAX - CHUNK) bytes = RECORD_MAX - CHUNK;
    for (uint64_t i = 0; i < bytes; i++)
        out[CHUNK + i] = (uint8_t)(roll(d) & roll(d));
    c->there += zeros + bytes;
    return CHUNK + (size_t)bytes;
}

size_t record_growth(uint8_t out[RECORD_MAX], struct dice *d, struct shape *shape) {
    struct shape_chain *c = &shape->chains[shape->nchains == 2 ? roll_below(d, 2) : 0];
    uint8_t layer[LAYER] = {0};
    make_layer(layer, d);
    put_growth(out, c->identity, c->layers, layer);
    shape_add_layer(c, load_u64(out + G_LAYER + L_BYTES));
    c->there += load_u64(out + G_LAYER + L_BYTES);
    return GROWTH;
}
