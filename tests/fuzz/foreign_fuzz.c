/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign_fuzz.c - any bytes at all, given to the readers of RedisBloom's and
 * valkey-bloom's forms.
 *
 *     input:  form u8 | memory u8 | rest
 *     form 0  a chunk header: length u16, bytes; then chunks: step u16, twist u8, bytes
 *     form 1  the data of BF.LOAD
 *     form 2  the fields of an "MBbloom--" value, 8 bytes each
 *     form 3  the fields of a "bloomfltr" value: 5 of 8 bytes; then for each layer its
 *             capacity u64, its items u64, its record's length u16 and its record
 *
 * memory < 64: the allocator refuses after that number of requests. Whatever comes:
 *
 *   - what a reader accepts has no flaw, and reads the same when it is written again
 *   - what it refuses leaves nothing, and gives a reason
 *   - a chain denies nothing that was added to it, whatever its numbers are
 *   - its error can be estimated, and is a rate
 *   - all memory comes back */
#include <stdbool.h>

#include "bloom.h"
#include "kinds/redisbloom/redisbloom_codec.h"
#include "kinds/valkeybloom/valkeybloom_codec.h"
#include "bytes.h"
#include "fuzz.h"
#include "fuzz_memory.h"

/* Larger chains get no arrays: that takes time, and shows no more. */
#define SMALL 65536

#define ITEMS 24

enum reader { HEADER, LOAD, FIELDS, RECORDS, READERS };

/* ---- what must hold of every chain ---- */

static struct item item_number(unsigned n) {
    static unsigned char bytes[ITEMS][16];
    memset(bytes[n], (int)n, sizeof bytes[n]);
    return (struct item){bytes[n], n % 16};
}

static void must_hold_items(struct chain *c) {
    struct item items[ITEMS];
    uint8_t maybe[ITEMS], added;
    for (unsigned i = 0; i < ITEMS; i++) {
        items[i] = item_number(i);
        MUST(chain_add(c, &items[i], 1, &added, CHAIN_EXCEED) == 1 && added <= 1);
    }
    chain_ask(c, items, ITEMS, maybe);
    for (unsigned i = 0; i < ITEMS; i++)
        MUST(maybe[i] == 1);
}

static void must_have_an_estimate(const struct chain *c) {
    struct estimate e = estimate_chain(c);
    MUST(e.error >= 0 && e.error <= 1);
    MUST(e.fill > 0 && e.fill <= 1);
    MUST(e.looked_at > 0 && e.looked_at <= ESTIMATE_CHAIN_BYTES);
}

/* It may grow, and what it grows by has no flaw. */
static void must_grow_well(struct chain *c) {
    struct layer plan;
    if (chain_plan(c, 0, &plan) < 0 || plan.bytes > SMALL) return;
    enum bloom_status status = chain_grow(c, &plan);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    MUST(chain_flaw(c) == NULL);
}

static void must_be_equal(const struct chain *a, const struct chain *b) {
    size_t length = redisbloom_header_length(a);
    unsigned char *x = malloc(length), *y = malloc(length);
    MUST(x && y && redisbloom_header_length(b) == length);
    redisbloom_write_header(a, x);
    redisbloom_write_header(b, y);
    MUST(memcmp(x, y, length) == 0);
    free(x);
    free(y);
}

static void header_must_come_back(const struct chain *c) {
    size_t length = redisbloom_header_length(c);
    unsigned char *header = malloc(length);
    const char *why;
    struct chain *again;
    if (!header) abort();
    redisbloom_write_header(c, header);
    enum bloom_status status =
        redisbloom_read_header(header, length, &fuzz_memory, &again, &why);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (again) must_be_equal(c, again);
    if (again) MUST(again->missing == chain_bytes(c) && again->error == c->error);
    chain_free(again);
    free(header);
}

static void data_must_come_back(const struct chain *c) {
    size_t length = (size_t)valkeybloom_load_length(c);
    unsigned char *data = malloc(length), *twice = malloc(length);
    const char *why;
    struct chain *again;
    if (!data || !twice) abort();
    valkeybloom_write_load(c, data);
    enum bloom_status status =
        valkeybloom_read_load(data, length, &fuzz_memory, &again, &why);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (again && chain_take_arrays(again) == BLOOM_OK) {
        valkeybloom_read_bits(again, data);
        valkeybloom_write_load(again, twice);
        MUST(memcmp(data, twice, length) == 0);
    }
    chain_free(again);
    free(data);
    free(twice);
}

/* A chain that a reader accepted, with its arrays if they are small. Frees it. */
static void look_at(struct chain *c, bool has_arrays) {
    MUST(chain_flaw(c) == NULL);
    if (chain_bytes(c) <= SMALL && (has_arrays || chain_take_arrays(c) == BLOOM_OK)) {
        must_hold_items(c);
        MUST(chain_flaw(c) == NULL);
        if (c->kind == &kind_redisbloom) header_must_come_back(c);
        if (c->kind == &kind_valkeybloom) data_must_come_back(c);
        if (!chain_is_partial(c)) must_grow_well(c);
        must_hold_items(c);
        must_have_an_estimate(c);
    }
    chain_free(c);
}

static bool must_be_sound(enum bloom_status status, const struct chain *c,
                          const char *why) {
    MUST(status == BLOOM_OK || status == BLOOM_CORRUPT || status == BLOOM_NO_MEMORY);
    if (status == BLOOM_CORRUPT) MUST(why != NULL);
    MUST((c != NULL) == (status == BLOOM_OK));
    return status == BLOOM_OK;
}

/* ---- the forms ---- */

static void give_chunks(struct chain *c, struct feed *in) {
    uint64_t total = chain_bytes(c);
    while (in->left > 0) {
        struct feed bytes;
        uint64_t step = feed_number(in, 2), twist = feed_number(in, 1);
        uint64_t present = total - c->missing;
        bytes = feed_part(in, step % 2048);
        uint64_t iterator = present + bytes.left + 1;
        if (twist < 16) iterator = iterator + twist - 8;
        if (twist == 255) iterator = feed_number(in, 8);
        uint64_t missing = c->missing;
        bool changed;
        const char *why = NULL;
        enum bloom_status status =
            redisbloom_read_chunk(c, iterator, bytes.at, bytes.left, &changed, &why);
        MUST(status == BLOOM_OK || (status == BLOOM_CORRUPT && why));
        MUST(status == BLOOM_OK ? c->missing <= missing : c->missing == missing);
    }
}

static void give_header(struct feed in) {
    struct feed header = feed_part(&in, feed_number(&in, 2));
    struct chain *c;
    const char *why = NULL;
    enum bloom_status status =
        redisbloom_read_header(header.at, header.left, &fuzz_memory, &c, &why);
    if (!must_be_sound(status, c, why)) return;
    MUST(c->missing == chain_bytes(c));
    bool has_arrays = chain_bytes(c) <= SMALL && chain_take_arrays(c) == BLOOM_OK;
    if (has_arrays) give_chunks(c, &in);
    look_at(c, has_arrays);
}

static void give_load(struct feed in) {
    struct chain *c;
    const char *why = NULL;
    enum bloom_status status =
        valkeybloom_read_load(in.at, in.left, &fuzz_memory, &c, &why);
    if (!must_be_sound(status, c, why)) return;
    MUST(chain_bytes(c) < in.left);
    bool has_arrays = chain_take_arrays(c) == BLOOM_OK;
    if (has_arrays) valkeybloom_read_bits(c, in.at);
    look_at(c, has_arrays);
}

static double feed_double(struct feed *in) {
    unsigned char bytes[8];
    store_u64(bytes, feed_number(in, 8));
    return load_f64(bytes);
}

/* As type_redisbloom.c reads them. */
static void give_fields(struct feed in) {
    struct redisbloom_head head;
    struct chain *c;
    const char *why = NULL;
    head.items = feed_number(&in, 8);
    head.links = feed_number(&in, 8);
    head.options = feed_number(&in, 8);
    head.growth = feed_number(&in, 8);
    enum bloom_status status = redisbloom_start(&head, &fuzz_memory, &c, &why);
    if (!must_be_sound(status, c, why)) return;
    for (uint64_t i = 0; i < head.links && status >= 0; i++) {
        struct redisbloom_link link;
        link.capacity = feed_number(&in, 8);
        link.error = feed_double(&in);
        link.hashes = feed_number(&in, 8);
        link.bits_per_item = feed_double(&in);
        link.bits = feed_number(&in, 8);
        link.n2 = feed_number(&in, 8);
        link.bytes = feed_number(&in, 8);
        link.items = feed_number(&in, 8);
        status = redisbloom_add_link(c, &link, &why);
    }
    if (status >= 0) status = redisbloom_finish(c, &head, &why);
    if (status < 0) MUST(status == BLOOM_CORRUPT && why != NULL);
    if (status < 0)
        chain_free(c);
    else
        look_at(c, false);
}

/* As type_valkeybloom.c reads them. */
static void give_records(struct feed in) {
    struct valkeybloom_head head;
    struct chain *c;
    const char *why = NULL;
    head.layers = feed_number(&in, 8);
    head.expansion = feed_number(&in, 8);
    head.error = feed_double(&in);
    head.tightening = feed_double(&in);
    head.random = feed_number(&in, 8);
    enum bloom_status status = valkeybloom_start(&head, &fuzz_memory, &c, &why);
    if (!must_be_sound(status, c, why)) return;
    for (uint64_t i = 0; i < head.layers && status >= 0; i++) {
        struct valkeybloom_layer stored;
        stored.capacity = feed_number(&in, 8);
        stored.items = feed_number(&in, 8);
        struct feed record = feed_part(&in, feed_number(&in, 2));
        stored.record = record.at;
        stored.length = record.left;
        status = valkeybloom_add_layer(c, &stored, &why);
    }
    if (status >= 0) status = valkeybloom_finish(c, &why);
    if (status < 0) MUST(status == BLOOM_CORRUPT && why != NULL);
    if (status < 0)
        chain_free(c);
    else
        look_at(c, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct feed in = {bytes, length};
    enum reader form = (enum reader)(feed_number(&in, 1) % READERS);
    uint64_t requests = feed_number(&in, 1);
    fuzz_memory_never_refuse();
    if (requests < 64) fuzz_memory_refuse_after(requests);

    if (form == HEADER) give_header(in);
    if (form == LOAD) give_load(in);
    if (form == FIELDS) give_fields(in);
    if (form == RECORDS) give_records(in);
    MUST(fuzz_memory_out() == 0);
    return 0;
}

/* ---- mutation: numbers that hurt, where numbers are ---- */

static const uint64_t hurtful[] = {
    0,
    1,
    2,
    5,
    7,
    8,
    13,
    62,
    63,
    64,
    255,
    256,
    1100,
    1101,
    65535,
    65536,
    65544,
    UINT32_MAX,
    UINT64_C(1) << 32,
    UINT64_C(1) << 48,
    UINT64_C(1) << 59,
    UINT64_C(1) << 61,
    UINT64_C(1) << 62,
    UINT64_C(1) << 63,
    UINT64_MAX,
    UINT64_MAX - 7,
    UINT64_C(0x7ff8000000000000), /* no number */
    UINT64_C(0x7ff0000000000000), /* infinity */
    UINT64_C(0xfff0000000000000),
    UINT64_C(0x3ff0000000000000), /* 1 */
    UINT64_C(0x3fe0000000000000), /* 0.5 */
    UINT64_C(0x3fefffffffffffff), /* just under 1 */
    UINT64_C(0xbf847ae147ae147b), /* -0.01 */
    1 /* as a double: the smallest */,
};

/* The numbers of the packed forms are anywhere: any place will do, but multiples of the
 * fields' sizes from the parts' starts are likelier. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    struct dice d = {seed};
    if (size < 4 || roll_below(&d, 6) == 0) {
        size = LLVMFuzzerMutate(data, size, max);
    } else {
        static const unsigned widths[] = {1, 4, 8, 8};
        static const size_t starts[] = {2, 3, 4, 24, 32};
        unsigned width = widths[roll_below(&d, 4)];
        size_t start = starts[roll_below(&d, 5)];
        size_t at = start + roll_below(&d, 24) * (roll_below(&d, 2) ? 4 : 8);
        uint64_t number = hurtful[roll_below(&d, sizeof hurtful / sizeof *hurtful)];
        if (roll_below(&d, 3) == 0) at = roll_below(&d, size);
        if (roll_below(&d, 4) == 0 && at < size) number = data[at] + roll_below(&d, 9) - 4;
        for (unsigned i = 0; i < width && at + i < size; i++)
            data[at + i] = (uint8_t)(number >> (8 * i));
    }
    if (size > 1) data[1] = roll_below(&d, 16) ? 255 : (uint8_t)roll_below(&d, 8);
    return size;
}

/* ---- seeds ---- */

static uint8_t seed[65536];
static size_t filled;

static void put(const void *bytes, size_t n) {
    memcpy(seed + filled, bytes, n);
    filled += n;
}

static void put_number(uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        seed[filled++] = (uint8_t)(number >> (8 * i));
}

static void put_double(double v) {
    unsigned char bytes[8];
    store_f64(bytes, v);
    put(bytes, 8);
}

static struct chain *chain_of(const struct kind *kind, uint32_t expansion,
                              unsigned layers) {
    struct chain_spec spec = {
        .kind = kind, .error = 0.02, .expansion = expansion, .asked_expansion = expansion};
    struct chain *c;
    struct layer plan;
    spec.secret2.k1 = kind == &kind_valkeybloom;
    kind->complete(&spec);
    if (chain_new(&spec, &fuzz_memory, &c) < 0) abort();
    for (unsigned i = 0; i < layers; i++)
        if (chain_plan(c, 10, &plan) < 0 || chain_grow(c, &plan) < 0) abort();
    for (unsigned i = 0; i < layers; i++)
        memset(c->layers[i].bits, 0x5A, (size_t)c->layers[i].bytes);
    for (unsigned i = 0; i + 1 < layers; i++)
        c->layers[i].items = c->layers[i].capacity;
    return c;
}

static void put_header(const struct chain *c, size_t step) {
    size_t length = redisbloom_header_length(c);
    put_number(length, 2);
    redisbloom_write_header(c, seed + filled);
    filled += length;
    uint64_t left;
    const unsigned char *piece;
    for (uint64_t at = 0; (piece = chain_piece(c, at, &left)) != NULL;) {
        if (left > step) left = step;
        put_number(left, 2);
        put_number(100, 1);
        put(piece, (size_t)left);
        at += left;
    }
}

static void put_fields(const struct chain *c) {
    struct redisbloom_head head = redisbloom_head_of(c);
    put_number(head.items, 8);
    put_number(head.links, 8);
    put_number(head.options, 8);
    put_number(head.growth, 8);
    for (uint32_t i = 0; i < c->nlayers; i++) {
        struct redisbloom_link link = redisbloom_link_of(&c->layers[i]);
        put_number(link.capacity, 8);
        put_double(link.error);
        put_number(link.hashes, 8);
        put_double(link.bits_per_item);
        put_number(link.bits, 8);
        put_number(link.n2, 8);
        put_number(link.bytes, 8);
        put_number(link.items, 8);
    }
}

static void put_records(const struct chain *c) {
    struct valkeybloom_head head = valkeybloom_head_of(c);
    put_number(head.layers, 8);
    put_number(head.expansion, 8);
    put_double(head.error);
    put_double(head.tightening);
    put_number(head.random, 8);
    for (uint32_t i = 0; i < c->nlayers; i++) {
        put_number(c->layers[i].capacity, 8);
        put_number(c->layers[i].items, 8);
        put_number(VALKEYBLOOM_RECORD_HEADER + c->layers[i].bytes, 2);
        valkeybloom_write_record_header(c, i, seed + filled);
        filled += VALKEYBLOOM_RECORD_HEADER;
        put(c->layers[i].bits, (size_t)c->layers[i].bytes);
    }
}

void fuzz_seeds(fuzz_emit *emit) {
    char name[64];
    emit("empty", seed, 0);
    for (unsigned form = 0; form < READERS; form++)
        for (unsigned layers = 1; layers <= 3; layers++) {
            bool theirs = form == HEADER || form == FIELDS;
            struct chain *c = chain_of(theirs ? &kind_redisbloom : &kind_valkeybloom,
                                       layers > 1 ? 2 : 0, layers);
            filled = 0;
            put_number(form, 1);
            put_number(255, 1);
            if (form == HEADER) put_header(c, 7 * layers);
            if (form == LOAD) valkeybloom_write_load(c, seed + filled);
            if (form == LOAD) filled += (size_t)valkeybloom_load_length(c);
            if (form == FIELDS) put_fields(c);
            if (form == RECORDS) put_records(c);
            chain_free(c);
            snprintf(name, sizeof name, "form-%u-of-%u-layers", form, layers);
            emit(name, seed, filled);
        }
}
