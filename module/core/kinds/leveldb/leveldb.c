/* SPDX-License-Identifier: BSD-3-Clause */
/* leveldb.c - the filters of LevelDB's tables, and of its ports to Go, bit for bit.
 *
 *     h        a hash of 32 bits: LevelDB's own, under the seed bc9f1d34
 *     d        h, turned to the right by 17 bits
 *     place i  ((h + i*d) mod 2^32) mod bits                          (i from 0 on)
 *
 *     bits an item   b = ceil(-ln(error) / ln2^2)
 *     bits           capacity * b, 64 or more, in whole bytes
 *     hashes         b * .69, from 1 to 30
 *
 *     form     the array, then one byte: the number of hashes
 *
 * A number of hashes over 30 is kept for later versions of LevelDB, and 0 asks for nothing:
 * such a filter says "maybe" to everything.
 *
 * The hash is public, and it is all that is left of an item. All places follow from it by
 * multiplying, so items share more of them than chance would have it: a full filter of 10
 * bits an item errs at .0092 with 10,000 items, and at .0139 with 800,000.
 *
 * The fields in this kind: a chain's variant is 1 if the hash takes an item's last one to
 * three bytes as signed, as LevelDB up to 1.17 does on most machines. */
#include "bytes.h"
#include "kinds/flat.h"
#include "kinds/single.h"
#include "real.h"

/* The sizes depend on exactly these digits. */
#define HASHES_A_BIT .69
#define LN2          .69314718056

#define HASHES_MAX 30
#define BITS_MIN   64
#define BITS_MAX   (UINT64_C(1) << 32) /* from here on its ports differ */

enum variant { UNSIGNED, SIGNED };
static const char *const variants[] = {"unsigned", "signed", NULL};

/* ---- places ---- */

#define MUL UINT32_C(0xc6a4a793)

/* The last bytes of an item, lowest first. A signed one below 0 takes from those above. */
static uint32_t rest_of(const unsigned char *at, size_t n, bool is_signed) {
    uint32_t sum = 0;
    while (n-- > 0) {
        uint32_t byte = at[n];
        if (is_signed && byte >= 0x80) byte |= UINT32_C(0xffffff00);
        sum += byte << (8 * n);
    }
    return sum;
}

static uint32_t hash_of(struct item item, bool is_signed) {
    const unsigned char *at = item.bytes;
    uint32_t h = UINT32_C(0xbc9f1d34) ^ (uint32_t)item.length * MUL;
    for (size_t words = item.length / 4; words > 0; words--, at += 4) {
        h = (h + load_u32(at)) * MUL;
        h ^= h >> 16;
    }
    if (item.length % 4 > 0) {
        h = (h + rest_of(at, item.length % 4, is_signed)) * MUL;
        h ^= h >> 24;
    }
    return h;
}

FLAT_INLINE uint64_t place(const struct layer *layer, struct hashed item, unsigned i) {
    return (uint32_t)(item.x + i * item.step) % (uint32_t)(8 * layer->bytes);
}

static struct hashed leveldb_of_32_bits(uint32_t h) {
    return (struct hashed){h, h >> 17 | h << 15};
}

static void leveldb_hash(const struct chain *c, const struct item *items, size_t n,
                         struct hashed *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = leveldb_of_32_bits(hash_of(items[i], c->variant == SIGNED));
}

static void leveldb_prefetch(const struct layer *layers, size_t nlayers,
                             const struct hashed *items, size_t n) {
    flat_prefetch(layers, nlayers, items, n, place);
}

static bool says_maybe_to_all(const struct layer *layer) {
    return layer->probes > HASHES_MAX;
}

static void leveldb_ask(const struct layer *layers, size_t nlayers,
                        const struct hashed *items, size_t n, uint8_t *maybe) {
    if (says_maybe_to_all(layers))
        memset(maybe, 1, n);
    else
        flat_ask(layers, nlayers, items, n, maybe, place);
}

static bool leveldb_add(struct layer *layer, struct hashed item) {
    return !says_maybe_to_all(layer) && flat_add(layer, item, place);
}

/* ---- sizes ---- */

/* The smallest whole number that isn't below v. */
static uint64_t round_up(double v) {
    uint64_t whole = (uint64_t)v;
    return whole + ((double)whole < v);
}

static enum bloom_status leveldb_plan(const struct chain *c, uint64_t capacity,
                                      struct layer *out) {
    uint64_t bits_per_item = round_up(-real_log(c->error) / (LN2 * LN2));
    double hashes = (double)bits_per_item * HASHES_A_BIT;
    uint64_t bits = capacity * bits_per_item;
    if (bits < BITS_MIN) bits = BITS_MIN;
    *out = (struct layer){
        .bytes = (bits + 7) / 8,
        .capacity = capacity,
        .error = c->error,
        .probes = hashes < 1            ? 1
                  : hashes > HASHES_MAX ? HASHES_MAX
                                        : (uint16_t)hashes,
        .variant = c->variant,
    };
    return 8 * out->bytes < BITS_MAX ? BLOOM_OK : BLOOM_TOO_BIG;
}

/* ---- what can be ---- */

static const char *leveldb_flaw(const struct layer *layer) {
    if (layer->bytes >= BITS_MAX / 8) return "it has too many bits";
    if (layer->probes > UINT8_MAX) return "it has a bad number of hashes";
    if (layer->variant > SIGNED) return "its variant is unknown";
    if (layer->parameter != 0) return "it has a field set that its kind doesn't know";
    return NULL;
}

/* ---- its own form ---- */

static const char *read_form(const struct form *in, struct chain_spec *spec,
                             struct layer *plan) {
    if (in->length < 2) return "it is shorter than two bytes";
    spec->variant = in->variant;
    plan->variant = in->variant;
    plan->bytes = in->length - 1;
    plan->probes = in->bytes[in->length - 1];
    return NULL;
}

static void write_ends(const struct chain *c, unsigned char *head, unsigned char *tail) {
    (void)head;
    *tail = (unsigned char)c->layers[0].probes;
}

static const struct kind_form form = {
    .takes = FORM_VARIANT,
    .variants = variants,
    .read = read_form,
    .tail = 1,
    .write_ends = write_ends,
};

const struct kind kind_leveldb = {
    .name = "leveldb",
    .id = 4,
    .exceeds = true,
    .layers_max = SINGLE_LAYERS_MAX,
    .complete = single_complete,
    .plan = leveldb_plan,
    .chain_flaw = single_flaw,
    .flaw = leveldb_flaw,
    .hash = leveldb_hash,
    .prefetch = leveldb_prefetch,
    .ask = leveldb_ask,
    .add = leveldb_add,
    .of_32_bits = leveldb_of_32_bits,
    .layer_facts = single_facts,
    .form = &form,
};
