/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h - where things are in the stored records, for all tests: the page at the top of
 * core/codec.h, written a second time and on purpose. A change of the format that codec.c
 * makes alone shows here.
 *
 *     H_ in a header, up to FIXED         K_ in a chunk: its head is CHUNK long
 *     C_ in a chain record of a header    G_ in a growth record of GROWTH bytes
 *     L_ in a layer record                N_ in a record of counts: its head is COUNTS long
 *
 * FIXED + C_KIND is the kind of a header's first chain. Most headers here have one chain of
 * two layers: those begin at FIRST and SECOND, and it ends at HEADER, where a second
 * chain would begin. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    H_VERSION = 8,
    H_CHAINS = 10,
    H_FLAGS = 12,
    H_STATE = 16,
    H_RESERVED = 17,
    H_DOUBT = 18,
    H_SECTIONS = 20,
    H_LEASE = 24,
    H_VOUCHED = 32,
    H_TOKEN = 40,
    H_START = 48,
    H_RECEIVED = 56,
    FIXED = 64,

    C_KIND = 0,
    C_VARIANT = 1,
    C_ENCODING = 2,
    C_RESERVED = 3,
    C_EXPANSION = 4,
    C_IDENTITY = 8,
    C_SECRET = 16,
    C_SECOND = 32,
    C_ERROR = 48,
    C_PARAMETER = 56,
    C_FOLLOWS = 64,
    C_LAYERS = 72,
    C_RESERVED2 = 76,
    CHAIN = 80,

    L_PROBES = 0,
    L_VARIANT = 2,
    L_RESERVED = 4,
    L_BYTES = 8,
    L_CAPACITY = 16,
    L_ITEMS = 24,
    L_ERROR = 32,
    L_PARAMETER = 40,
    LAYER = 48,

    K_IDENTITY = 8,
    K_LAYERS = 16,
    K_RESERVED = 20,
    K_OFFSET = 24,
    K_ZEROS = 32,
    CHUNK = 40,

    G_IDENTITY = 8,
    G_NUMBER = 16,
    G_CHAIN = 20,
    G_LAYER = 24,
    GROWTH = G_LAYER + LAYER,

    N_IDENTITY = 8,
    N_LAYERS = 16,
    N_RESERVED = 20,
    COUNTS = 24,

    FIRST = FIXED + CHAIN,
    SECOND = FIRST + LAYER,
    HEADER = SECOND + LAYER,
};

#define HEADER_MAGIC "BULWARK\x81"
#define CHUNK_MAGIC  "BULWARK\x82"
#define GROWTH_MAGIC "BULWARK\x83"
#define COUNTS_MAGIC "BULWARK\x84"

/* A record to be copied and spoiled. */
#define RECORD_MAX 8192
struct record {
    uint8_t bytes[RECORD_MAX];
    size_t length;
};

/* A number of `width` bytes, the lowest first. */
static inline void put_number(uint8_t *at, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t get_number(const uint8_t *at, unsigned width) {
    uint64_t n = 0;
    while (width-- > 0)
        n = n << 8 | at[width];
    return n;
}

/* The CHUNK bytes before a chunk's own. */
static inline void put_chunk_head(uint8_t *out, uint64_t identity, uint32_t layers,
                                  uint64_t offset, uint64_t zeros) {
    memset(out, 0, CHUNK);
    memcpy(out, CHUNK_MAGIC, 8);
    put_number(out + K_IDENTITY, 8, identity);
    put_number(out + K_LAYERS, 4, layers);
    put_number(out + K_OFFSET, 8, offset);
    put_number(out + K_ZEROS, 8, zeros);
}

/* The GROWTH bytes of a growth record; its layer, which has no items, is copied from a
 * header. */
static inline void put_growth(uint8_t *out, uint64_t identity, uint32_t number,
                              const uint8_t *layer) {
    memset(out, 0, GROWTH);
    memcpy(out, GROWTH_MAGIC, 8);
    put_number(out + G_IDENTITY, 8, identity);
    put_number(out + G_NUMBER, 4, number);
    memcpy(out + G_LAYER, layer, LAYER);
    put_number(out + G_LAYER + L_ITEMS, 8, 0);
}

#endif
