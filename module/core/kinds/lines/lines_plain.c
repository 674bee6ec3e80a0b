/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_plain.c - the loops of the native kind in plain C: the form that runs
 * everywhere, and that the others must equal. */
#include "bytes.h"
#include "lines_loops.h"

/* Each bit is computed when it is looked at. */
struct bits {
    uint64_t pattern;
};

INLINE struct bits bits_of(uint64_t pattern, unsigned sectors) {
    (void)sectors;
    return (struct bits){pattern};
}

/* Where in its line the bit of sector q is. */
INLINE unsigned bit_in_line(uint64_t pattern, unsigned sectors, unsigned q) {
    unsigned width = sectors == 8 ? 6 : sectors == 4 ? 7 : 8; /* log2(512 / sectors) */
    unsigned in_sector = (unsigned)(pattern >> (width * q)) & ((1u << width) - 1);
    return (q << width) + in_sector;
}

/* The AND of the item's bits. */
INLINE bool line_has(const unsigned char *line, struct bits bits, unsigned sectors) {
    uint64_t set = 1;
    for (unsigned q = 0; q < sectors; q++) {
        unsigned bit = bit_in_line(bits.pattern, sectors, q);
        set &= load_u64(line + bit / 64 * 8) >> (bit & 63);
    }
    return set;
}

INLINE bool line_set(unsigned char *line, struct bits bits, unsigned sectors) {
    if (line_has(line, bits, sectors)) return false;
    for (unsigned q = 0; q < sectors; q++) {
        unsigned bit = bit_in_line(bits.pattern, sectors, q);
        unsigned char *word = line + bit / 64 * 8;
        store_u64(word, load_u64(word) | UINT64_C(1) << (bit & 63));
    }
    return true;
}

static void hash_all(const struct secret *secret, const struct item *items, size_t n,
                     struct hashed *out) {
    for (size_t i = 0; i < n; i++)
        out[i].x = siphash13(secret, items[i].bytes, items[i].length);
}

#define LINES_LOOPS lines_plain
#include "lines_loops.h"

INLINE bool layer_has(const struct layer *layer, unsigned sectors, uint64_t x) {
    uint64_t lines = layer->bytes / LINE_BYTES;
    for (unsigned j = 0; j < layer->probes; j++) {
        uint64_t x_j = probe(x, j);
        struct bits bits = bits_of(pattern_of(x_j), sectors);
        if (!line_has(line_of(layer->bits, lines, x_j), bits, sectors)) return false;
    }
    return true;
}

bool lines_ask_one(const struct layer *layers, size_t nlayers, struct hashed item) {
    for (const struct layer *layer = layers + nlayers; layer-- > layers;) {
        bool has = sectors_of(layer) == 8   ? layer_has(layer, 8, item.x)
                   : sectors_of(layer) == 4 ? layer_has(layer, 4, item.x)
                                            : layer_has(layer, 2, item.x);
        if (has) return true;
    }
    return false;
}
