/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_fuzz.c - any bytes at all, given to the readers of the stored format.
 *
 *     input:  memory u8 | records (records.h)
 *
 * memory < 64: the allocator refuses after so many requests. The records go to one
 * filter, as a server would take them in: a header makes it, chunks fill it, growths
 * lengthen it; each record is also shown to the readers it is not for. Whatever comes:
 *
 *   - what a reader accepts has no flaw, and is written again byte by byte
 *   - what it refuses has changed nothing
 *   - a filter is complete only if all its bytes came
 *   - an item that was added is never denied from then on
 *   - all memory comes back */
#include <stdbool.h>

#include "bloom.h"
#include "bytes.h"
#include "fuzz.h"
#include "fuzz_memory.h"
#include "records.h"

/* Filters larger than this are not copied or compared: that takes time, and shows no
 * more. */
#define SMALL 65536

#define ITEMS 16

static struct {
    struct value *v;    /* NULL before the first header */
    uint64_t came;      /* bytes from the start of the arrays that have come */
    bool member[ITEMS]; /* was accepted */
    unsigned next;      /* item to be added */
} now;

static struct chain at_the_end; /* of the last input: its numbers only */

/* ---- items ---- */

static struct item item_number(unsigned n) {
    static unsigned char bytes[ITEMS][16];
    memset(bytes[n], (int)n, sizeof bytes[n]);
    return (struct item){bytes[n], n};
}

/* As a server does: nothing is added to a filter that is still being loaded. */
static void add_some(void) {
    struct chain *c = now.v->live;
    if (c->missing > 0) return;
    for (int i = 0; i < 3; i++, now.next = (now.next + 1) % ITEMS) {
        struct item item = item_number(now.next);
        struct filter before = c->layers[c->nlayers - 1];
        uint64_t items = chain_items(c);
        uint8_t added = 9;
        bool over = now.next % 2;
        size_t done = chain_add(c, &item, 1, &added, over ? CHAIN_EXCEED : CHAIN_STOP);

        const struct filter *last = &c->layers[c->nlayers - 1];
        if (done == 0) MUST(!over && before.items >= before.capacity);
        if (done == 0) continue;
        MUST(done == 1 && added <= 1);
        MUST(chain_items(c) >= items);
        MUST(last->items == before.items + added || last->items == before.items);
        MUST(!(added && now.member[now.next]));
        now.member[now.next] = true;
    }
}

static void members_must_be_there(const struct chain *c) {
    struct item items[ITEMS];
    uint8_t maybe[ITEMS];
    for (unsigned i = 0; i < ITEMS; i++)
        items[i] = item_number(i);
    chain_ask(c, items, ITEMS, maybe);
    for (unsigned i = 0; i < ITEMS; i++)
        MUST(maybe[i] == 1 || (maybe[i] == 0 && !now.member[i]));
}

/* ---- comparing ---- */

struct picture {
    uint64_t missing, items;
    uint32_t layers;
    unsigned char *bits; /* NULL if there are too many */
};

static struct picture picture_of(const struct chain *c) {
    struct picture p = {c->missing, chain_items(c), c->nlayers, NULL};
    uint64_t length, at = 0;
    if (chain_bytes(c) > SMALL) return p;
    p.bits = malloc((size_t)chain_bytes(c));
    if (!p.bits) abort();
    for (const unsigned char *piece; (piece = chain_piece(c, at, &length)); at += length)
        memcpy(p.bits + at, piece, (size_t)length);
    MUST(at == chain_bytes(c));
    return p;
}

/* Frees what it compares with. */
static bool is_unchanged(const struct chain *c, struct picture before) {
    struct picture after = picture_of(c);
    bool same = after.missing == before.missing && after.items == before.items &&
                after.layers == before.layers;
    if (same && before.bits)
        same = memcmp(after.bits, before.bits, (size_t)chain_bytes(c)) == 0;
    free(after.bits);
    free(before.bits);
    return same;
}

static void must_be_unchanged(const struct chain *c, struct picture before) {
    MUST(is_unchanged(c, before));
}

/* ---- there and back ---- */

static unsigned char *header_of(const struct value *v, enum codec_form form) {
    unsigned char *out = malloc(codec_header_length(v, CODEC_STORED));
    if (!out) abort();
    codec_write_header(v, form, out);
    return out;
}

/* Gives a filter that was just read its bytes, all zero. NULL: no memory. */
static struct value *filled(struct value *v, uint64_t follows[2]) {
    unsigned char chunk[CODEC_CHUNK_HEADER] = "BULWARK\x82";
    uint64_t next;
    const char *why;
    if (chain_take_arrays(v->live) < 0) return value_free(v), NULL;
    if (follows == 0) return v;
    store_u64(chunk + 8, v->live->identity);
    store_u32(chunk + 16, v->live->nlayers);
    store_u64(chunk + 32, follows);
    MUST(codec_read_chunk(v->live, chunk, sizeof chunk, &next, &(bool){false}, &why) ==
         BLOOM_OK);
    MUST(next == follows);
    return v;
}

/* The header that was accepted is written again as it was, but for sections, of which
 * a reader takes no notice. */
static void must_be_written_alike(const struct value *v, const uint8_t *header) {
    bool born = load_u32(header + 12) & 1;
    size_t length = codec_header_length(v, CODEC_STORED);
    unsigned char *again = header_of(v, born ? CODEC_BORN : CODEC_STORED);
    store_u32(again + 20, load_u32(header + 20));
    MUST(memcmp(again, header, length) == 0);
    free(again);
}

static void must_be_equal(const struct value *a, const struct value *b) {
    unsigned char *x = header_of(a, CODEC_STORED), *y = header_of(b, CODEC_STORED);
    struct picture bits = picture_of(b->live);
    MUST(codec_header_length(a, CODEC_STORED) == codec_header_length(b));
    MUST(memcmp(x, y, codec_header_length(a, CODEC_STORED)) == 0);
    must_be_unchanged(a->live, bits);
    free(x);
    free(y);
}

/* All of the filter through the writers and the readers, in chunks of `room`. */
static void must_travel(const struct value *v, size_t room) {
    uint64_t follows[2], offset = 0, next;
    const char *why;
    struct value *there = NULL;
    unsigned char *header = header_of(v, CODEC_STORED), *chunk = malloc(room);
    if (!chunk) abort();
    enum bloom_status status = codec_read_header(
        header, codec_header_length(v, CODEC_STORED), &fuzz_memory, &there, follows, &why);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (there && chain_take_arrays(there->live) == BLOOM_OK) {
        size_t length;
        while ((length = codec_write_chunk(v->live, offset, chunk, room, &offset)) > 0) {
            MUST(length <= room && codec_chunk_end(chunk, length) == offset);
            MUST(codec_read_chunk(there->live, chunk, length, &next, &(bool){false},
                                  &why) == BLOOM_OK);
            MUST(next == offset);
        }
        MUST(offset == follows);
        must_be_equal(v, there);
        members_must_be_there(there->live);
    }
    value_free(there);
    free(chunk);
    free(header);
}

/* ---- the three readers ---- */

static void give_header(const uint8_t *bytes, size_t length) {
    struct value *v;
    uint64_t follows[2] = 0;
    const char *why = NULL;
    enum bloom_status status =
        codec_read_header(bytes, length, &fuzz_memory, &v, follows, &why);
    MUST(status == BLOOM_OK || status == BLOOM_CORRUPT || status == BLOOM_NO_MEMORY);
    MUST((v != NULL) == (status == BLOOM_OK));
    if (!v) MUST(why != NULL);
    if (!v) return;

    bool born = load_u32(bytes + 12) & 1;
    MUST(codec_record_type(bytes, length) == CODEC_HEADER);
    MUST(chain_flaw(v->live) == NULL);
    MUST(v->live->missing == (born ? 0 : chain_bytes(v->live)));
    MUST(follows <= v->live->missing);
    if (!born || v->standing.state != STATE_PLAIN) MUST(!denies(v));
    v = filled(v, follows);
    if (!v) return;
    must_be_written_alike(v, bytes);
    if (now.v) {
        value_free(v);
        return;
    }
    /* The chunks of the input are to find it empty. */
    if (!born) v->live->missing = chain_bytes(v->live);
    now.v = v;
    now.came = born ? chain_bytes(v->live) : 0;
}

static void give_chunk(const uint8_t *bytes, size_t length) {
    struct chain *c = now.v->live;
    struct picture before = picture_of(c);
    uint64_t next = 0;
    bool changed = false, compared = before.bits != NULL;
    const char *why = NULL;
    enum bloom_status status = codec_read_chunk(c, bytes, length, &next, &changed, &why);
    MUST(status == BLOOM_OK || status == BLOOM_CORRUPT);
    bool same = is_unchanged(c, before);
    if (status < 0) {
        MUST(why != NULL && same);
        return;
    }
    if (compared) MUST(changed == !same);
    MUST(codec_record_type(bytes, length) == CODEC_CHUNK);
    MUST(next == codec_chunk_end(bytes, length) && next <= chain_bytes(c));
    MUST(load_u64(bytes + 24) <= now.came);
    if (next > now.came) now.came = next;
}

static void give_growth(const uint8_t *bytes, size_t length) {
    struct chain *c = now.v->live;
    struct picture before = picture_of(c);
    struct filter plan;
    const char *why = NULL;
    enum bloom_status status = codec_read_growth(c, CODEC_LIVE, bytes, length, &plan, &why);
    MUST(status == BLOOM_OK || (status == BLOOM_CORRUPT && why));
    if (status == BLOOM_OK) {
        status = chain_grow(c, &plan);
        MUST(status == BLOOM_OK || status == BLOOM_CORRUPT || status == BLOOM_NO_MEMORY);
    }
    if (status < 0) {
        must_be_unchanged(c, before);
        return;
    }
    unsigned char again[CODEC_GROWTH_LENGTH];
    codec_write_growth(c, CODEC_LIVE, again);
    MUST(memcmp(again, bytes, sizeof again) == 0);
    /* A new layer holds nothing and is complete; it makes no earlier byte come. */
    if (now.came == chain_bytes(c) - plan.bytes) now.came += plan.bytes;
    free(before.bits);
}

static void give(struct feed record) {
    give_header(record.at, record.left);
    if (!now.v) return;
    give_chunk(record.at, record.left);
    give_growth(record.at, record.left);

    const struct chain *c = now.v->live;
    MUST(chain_flaw(c) == NULL);
    MUST(chain_bytes(c) - c->missing <= now.came);
    add_some();
    members_must_be_there(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct feed in = {bytes, length};
    uint64_t requests = feed_number(&in, 1);
    size_t room = CODEC_CHUNK_HEADER + 1 + 97 * (length % 50);
    memset(&now, 0, sizeof now);
    fuzz_memory_never_refuse();
    if (requests < 64) fuzz_memory_refuse_after(requests);

    while (in.left > 0)
        give(records_next(&in));
    at_the_end = (struct chain){.nlayers = 0};
    if (now.v) {
        at_the_end = *now.v->live;
        struct chain *copy = chain_copy(now.v->live);
        if (copy) members_must_be_there(copy);
        chain_free(copy);
        if (chain_bytes(now.v->live) <= SMALL) must_travel(now.v, room);
    }
    value_free(now.v);
    MUST(fuzz_memory_out() == 0);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    struct dice d = {seed};
    if (size == 0) data[0] = 255, size = 1;
    if (roll_below(&d, 8) == 0)
        data[0] = roll_below(&d, 2) ? (uint8_t)roll_below(&d, 24) : 255;
    return 1 + records_mutate(data + 1, size - 1, max - 1, FOR_USE, &d);
}

/* ---- seeds ---- */

static uint8_t seed[65536];

/* A header and all its chunks, then some growths. */
static size_t whole_filter(struct dice *d, uint32_t layers, size_t room, int growths) {
    uint8_t record[RECORD_MAX];
    struct shape shape;
    seed[0] = 255;
    size_t n = record_header(record, d, layers, &shape);
    size_t length = records_append(seed, 1, sizeof seed, record, n);
    while (shape.there < shape.total) {
        n = record_chunk(record, d, room, &shape);
        length = records_append(seed, length, sizeof seed, record, n);
    }
    for (; growths > 0; growths--) {
        n = record_growth(record, d, &shape);
        length = records_append(seed, length, sizeof seed, record, n);
    }
    return length;
}

void fuzz_seeds(fuzz_emit *emit) {
    struct dice d = {1};
    char name[64];
    emit("empty", seed, 0);
    for (unsigned i = 0; i < 24; i++) {
        snprintf(name, sizeof name, "filter-%02u", i);
        emit(name, seed, whole_filter(&d, 1 + i % 4, 64 + 200 * (i % 3), (int)(i % 3)));
    }
    for (unsigned i = 0; i < 8; i++) {
        size_t length = whole_filter(&d, 2, 512, 1);
        seed[0] = (uint8_t)i;
        snprintf(name, sizeof name, "no-memory-after-%u", i);
        emit(name, seed, length);
    }
    emit("many-layers", seed, whole_filter(&d, 100, 1000, 1));
}

/* When the format changes and records.c does not, everything is refused, and nothing
 * would be tested any more. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    struct dice d = {4};
    for (int i = 0; i < 100; i++) {
        size_t length = whole_filter(&d, 3, 512, 2);
        LLVMFuzzerTestOneInput(seed, length);
        MUST(at_the_end.nlayers >= 1 && at_the_end.missing == 0);
    }
    return 0;
}
