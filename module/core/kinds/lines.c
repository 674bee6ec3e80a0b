/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - the native kind: one cache line an item, or a few.
 *
 * An item touches m lines of 512 bits and sets s bits in each, one in every
 * sector of 512/s bits. One line is one read from memory instead of one for
 * every bit, one page dirtied instead of many while a snapshot is written, and
 * it can be fetched ahead.
 *
 *     x        64 bits: the keyed hash of the item
 *     x_0      x;  x_j = mix(x + j * GOLDEN) for the further lines
 *     line_j   the high 64 bits of x_j * B: uniform, and no division
 *     pattern  the low bits of x_j, spread by a multiplication: 6, 7 or 8
 *              of its bits choose the bit in each sector
 *
 *     s = 8   | word 0 | word 1 | word 2 | word 3 | word 4 | ...       a bit each
 *     s = 4   |     sector 0    |     sector 1    |     sector 2    | ...
 *     s = 2   |             sector 0              |            sector 1  ... |
 *
 * Sectors instead of free bits cost one or two per cent of space, and make a
 * question a handful of shifts without a branch. */
#include "kind.h"

#include "bytes.h"
#include "chain.h"
#include "sizing.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio */

#define PROBES_MAX 4

/* Prefetch all lines of this many layers (the newest hold most of the items) ... */
#define FETCH_WHOLE 2
/* ... and the first line of this many in all. Older ones are small and cached. */
#define FETCH_FIRST 8

/* The finaliser of splitmix64: every bit of the result depends on every bit given. */
static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static inline uint64_t probe(uint64_t x, unsigned j) {
    return j == 0 ? x : mix(x + j * GOLDEN);
}

static inline unsigned char *line_of(const struct filter *f, uint64_t x) {
    uint64_t lines = f->bytes / LINE_BYTES;
    return f->bits + (uint64_t)((unsigned __int128)x * lines >> 64) * LINE_BYTES;
}

static inline uint64_t pattern_of(uint64_t x) {
    uint64_t y = (x ^ x >> 32) * GOLDEN;
    return y ^ y >> 29;
}

/* Where in its line the bit of sector q is. */
static inline unsigned bit_in_line(uint64_t pattern, unsigned sectors, unsigned q) {
    unsigned width = sectors == 8 ? 6 : sectors == 4 ? 7 : 8; /* log2(512 / sectors) */
    unsigned in_sector = (unsigned)(pattern >> (width * q)) & ((1u << width) - 1);
    return (q << width) + in_sector;
}

/* The AND of the item's bits: 1 if all are set. */
static inline uint64_t all_set(const unsigned char *line, uint64_t pattern,
                               unsigned sectors) {
    uint64_t set = 1;
    for (unsigned q = 0; q < sectors; q++) {
        unsigned bit = bit_in_line(pattern, sectors, q);
        set &= load_u64(line + bit / 64 * 8) >> (bit & 63);
    }
    return set;
}

static inline void set_all(unsigned char *line, uint64_t pattern, unsigned sectors) {
    for (unsigned q = 0; q < sectors; q++) {
        unsigned bit = bit_in_line(pattern, sectors, q);
        unsigned char *word = line + bit / 64 * 8;
        store_u64(word, load_u64(word) | UINT64_C(1) << (bit & 63));
    }
}

/* The number of sectors as a constant, so that the loops above unroll. */
static inline uint64_t line_has(const unsigned char *line, uint64_t pattern,
                                unsigned sectors) {
    if (sectors == 8) return all_set(line, pattern, 8);
    if (sectors == 4) return all_set(line, pattern, 4);
    return all_set(line, pattern, 2);
}

static inline void line_set(unsigned char *line, uint64_t pattern, unsigned sectors) {
    if (sectors == 8)
        set_all(line, pattern, 8);
    else if (sectors == 4)
        set_all(line, pattern, 4);
    else
        set_all(line, pattern, 2);
}

static inline bool layer_has(const struct filter *f, uint64_t x) {
    for (unsigned j = 0; j < f->probes; j++) {
        uint64_t x_j = probe(x, j);
        if (!line_has(line_of(f, x_j), pattern_of(x_j), f->sectors)) return false;
    }
    return true;
}

static void lines_hash(const struct chain *c, const struct item *items, size_t n,
                       struct hashed *out) {
    for (size_t i = 0; i < n; i++)
        out[i].x = siphash13(&c->secret, items[i].bytes, items[i].length);
}

static void lines_prefetch(const struct filter *layers, size_t nlayers,
                           const struct hashed *items, size_t n) {
    size_t first = nlayers > FETCH_FIRST ? nlayers - FETCH_FIRST : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t l = nlayers; l-- > first;) {
            unsigned probes = l + FETCH_WHOLE >= nlayers ? layers[l].probes : 1;
            for (unsigned j = 0; j < probes; j++)
                __builtin_prefetch(line_of(&layers[l], probe(items[i].x, j)));
        }
}

static void lines_ask(const struct filter *layers, size_t nlayers,
                      const struct hashed *items, size_t n, uint8_t *maybe) {
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t l = nlayers; l-- > 0 && !found;)
            found = layer_has(&layers[l], items[i].x);
        maybe[i] = found;
    }
}

/* Every line is looked at before it is written to: a line that has the bits
 * stays clean, for the caches and for a snapshot that shares its page. */
static bool lines_add(struct filter *f, struct hashed item) {
    bool changed = false;
    for (unsigned j = 0; j < f->probes; j++) {
        uint64_t x_j = probe(item.x, j);
        unsigned char *line = line_of(f, x_j);
        uint64_t pattern = pattern_of(x_j);
        if (line_has(line, pattern, f->sectors)) continue;
        line_set(line, pattern, f->sectors);
        changed = true;
    }
    return changed;
}

/* The part of what is left of the error that layer number i may spend. Searched
 * for with numbers, at 1e-2 and expansion 2: the first layer takes 11.04 bits an
 * item, as much as RedisBloom's; one to five growths stay within 10 % of its
 * figures; the tenth is 12 % below them, 100 grown to 10^7 items 33 %. The first
 * share can't be smaller, and those in the middle can't all be larger. A tail of
 * 2/i leaves something for every layer, however many there are. */
static double share(uint32_t i) {
    static const double first[] = {.644, .36, .37, .33, .25, .17, .17, .18, .19, .2, .21};
    return i < sizeof first / sizeof *first ? first[i] : 2.0 / i;
}

static void lines_complete(struct chain_spec *spec) {
    (void)spec;
}

static enum bloom_status lines_plan(const struct chain *c, uint64_t capacity,
                                    struct filter *out) {
    double error = c->error;
    for (uint32_t i = 0; i < c->nlayers; i++)
        error -= c->layers[i].model;
    if (c->expansion != 0) error *= share(c->nlayers);

    struct geometry g;
    enum bloom_status status = sizing_geometry(capacity, error, &g);
    /* A ledger with nothing left is not the user's bad number. */
    if (status == BLOOM_BAD_ERROR_RATE && c->nlayers > 0) return BLOOM_RATE_TOO_SMALL;
    if (status < 0) return status;

    *out = (struct filter){
        .bytes = g.lines * LINE_BYTES,
        .capacity = capacity,
        .error = error,
        .model = sizing_error(&g, capacity),
        .probes = (uint16_t)g.probes,
        .sectors = (uint16_t)g.sectors,
    };
    return BLOOM_OK;
}

static const char *lines_chain_flaw(const struct chain *c) {
    if (c->variant != 0 || c->parameter != 0 || c->secret2.k0 != 0 || c->secret2.k1 != 0)
        return "it has a field set that its kind doesn't know";
    return NULL;
}

static const char *lines_flaw(const struct filter *f) {
    if (!(f->model >= 0 && f->model < 1)) return "the model error of a layer is no rate";
    if (f->bytes % LINE_BYTES != 0) return "a layer is not whole lines";
    if (f->bytes / LINE_BYTES > SIZING_LINES_MAX) return "a layer has too many lines";
    if (f->probes < 1 || f->probes > PROBES_MAX)
        return "a layer has a bad number of probes";
    if (f->sectors != 2 && f->sectors != 4 && f->sectors != 8)
        return "a layer has a bad number of sectors";
    return NULL;
}

const struct kind kind_lines = {
    .name = "lines",
    .id = 1,
    .layers_max = CHAIN_LONG + 64,
    .expansion_max = CHAIN_EXPANSION_MAX,
    .doubles_from = CHAIN_LONG,
    .complete = lines_complete,
    .plan = lines_plan,
    .chain_flaw = lines_chain_flaw,
    .flaw = lines_flaw,
    .hash = lines_hash,
    .prefetch = lines_prefetch,
    .ask = lines_ask,
    .add = lines_add,
};
