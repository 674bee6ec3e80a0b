/* SPDX-License-Identifier: BSD-3-Clause */
/* crc32.c - filters of a textbook's exercise that is often copied: one checksum, two
 * numbers made of it.
 *
 *     h        CRC-32 of the item, as in zlib and Ethernet
 *     place i  (h + i*(h >> 16)) mod bits                             (i from 1 on)
 *
 *     bits     trunc(-capacity * ln(error) / ln2^2)
 *     hashes   trunc(bits * ln2 / capacity)
 *
 *     form     the bits, in whole words of 64, the lowest byte first
 *
 * It is here for completeness. An item is 32 bits, and those are no hash: items can be
 * computed that have the same.
 *
 * The fields in this kind: a layer's parameter is its number of bits. */
#include <inttypes.h>
#include <stdio.h>

#include "bytes.h"
#include "kinds/flat.h"
#include "kinds/single.h"
#include "real.h"

/* A double holds any whole number up to here. The largest capacity takes fewer at any
 * rate. */
#define BITS_MAX (UINT64_C(1) << 53)

/* ---- places ---- */

/* By half bytes: the table is as small as a line of the cache. */
static uint32_t crc32_of(struct item item) {
    static const uint32_t step[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const unsigned char *at = item.bytes;
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < item.length; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ step[crc & 15];
        crc = crc >> 4 ^ step[crc & 15];
    }
    return ~crc;
}

static uint64_t bits_of(const struct layer *layer) {
    return (uint64_t)layer->parameter;
}

FLAT_INLINE uint64_t place(const struct layer *layer, struct hashed item, unsigned i) {
    return (item.x + (i + 1) * item.step) % bits_of(layer);
}

static struct hashed crc32_of_32_bits(uint32_t hash) {
    return (struct hashed){hash, hash >> 16};
}

static void crc32_hash(const struct chain *c, const struct item *items, size_t n,
                       struct hashed *out) {
    (void)c;
    for (size_t i = 0; i < n; i++)
        out[i] = crc32_of_32_bits(crc32_of(items[i]));
}

static void crc32_prefetch(const struct layer *layers, size_t nlayers,
                           const struct hashed *items, size_t n) {
    flat_prefetch(layers, nlayers, items, n, place);
}

static void crc32_ask(const struct layer *layers, size_t nlayers,
                      const struct hashed *items, size_t n, uint8_t *maybe) {
    flat_ask(layers, nlayers, items, n, maybe, place);
}

/* Larger arrays have bits that nothing sets. */
static uint64_t crc32_places(const struct layer *layer) {
    uint64_t reach = UINT32_MAX + (uint64_t)layer->probes * UINT16_MAX + 1;
    return bits_of(layer) < reach ? bits_of(layer) : reach;
}

static bool crc32_add(struct layer *layer, struct hashed item) {
    return flat_add(layer, item, place);
}

/* ---- sizes ---- */

static uint64_t bytes_for(uint64_t bits) {
    return (bits + 63) / 64 * 8;
}

static enum bloom_status crc32_plan(const struct chain *c, uint64_t capacity,
                                    struct layer *out) {
    double bits = (double)capacity * -real_log(c->error) / (REAL_LN2 * REAL_LN2);
    uint64_t whole = (uint64_t)bits;
    uint64_t hashes = (uint64_t)((double)whole * REAL_LN2 / (double)capacity);
    if (hashes < 1) return BLOOM_RATE_TOO_LARGE;
    *out = (struct layer){
        .bytes = bytes_for(whole),
        .capacity = capacity,
        .error = c->error,
        .parameter = (double)whole,
        .probes = (uint16_t)hashes,
    };
    return BLOOM_OK;
}

/* ---- what can be ---- */

static const char *crc32_flaw(const struct layer *layer) {
    double bits = layer->parameter;
    if (!(bits >= 1 && bits < (double)BITS_MAX) || (double)(uint64_t)bits != bits)
        return "it has a bad number of bits";
    if (layer->bytes != bytes_for(bits_of(layer))) return "its bytes don't match its bits";
    if (layer->probes < 1) return "it has a bad number of hashes";
    if (layer->variant != 0) return "its variant is unknown";
    return NULL;
}

/* ---- its form ---- */

static const char *read_form(const struct form *in, struct chain_spec *spec,
                             struct layer *plan) {
    (void)spec;
    if (in->hashes < 1 || in->hashes > SINGLE_HASHES_MAX)
        return "it has a bad number of hashes";
    if (in->bits < 1 || in->bits >= BITS_MAX) return "it has a bad number of bits";
    if (in->length != bytes_for(in->bits)) return "its bytes don't match its bits";
    plan->bytes = in->length;
    plan->probes = (uint16_t)in->hashes;
    plan->parameter = (double)in->bits;
    return NULL;
}

static void crc32_describe(const struct chain *c, char *out, size_t room) {
    const struct layer *layer = &c->layers[0];
    snprintf(out, room, "bitsSize: %" PRIu64 ", hashFuncSize: %u", bits_of(layer),
             layer->probes);
}

static const struct kind_form form = {
    .needs = FORM_HASHES | FORM_BITS,
    .read = read_form,
};

const struct kind kind_crc32 = {
    .name = "crc32",
    .id = 7,
    .exceeds = true,
    .layers_max = SINGLE_LAYERS_MAX,
    .complete = single_complete,
    .plan = crc32_plan,
    .chain_flaw = single_flaw,
    .flaw = crc32_flaw,
    .hash = crc32_hash,
    .prefetch = crc32_prefetch,
    .ask = crc32_ask,
    .add = crc32_add,
    .places = crc32_places,
    .of_32_bits = crc32_of_32_bits,
    .layer_facts = single_facts,
    .describe = crc32_describe,
    .form = &form,
};
