/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_fuzz.c - any bytes at all, given to the readers of the stored format.
 *
 *     input:  memory u8 | records (records.h)
 *
 * memory < 64: the allocator refuses after that number of requests. The records go to one
 * filter, as a server would take them in: a header makes it, with one chain or two,
 * chunks fill them, growths lengthen them; each record is also shown to the readers and
 * to the chain that it is not for. Whatever comes:
 *
 *   - what a reader accepts has no flaw, and is written again byte by byte
 *   - what it refuses has changed nothing
 *   - a filter is complete only if all its bytes came
 *   - no standing denies anything once it was restored, or read in an earlier era
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
    struct filter *f;      /* NULL before the first header */
    uint64_t came[2];      /* bytes from the start of the arrays that have come */
    bool member[2][ITEMS]; /* was accepted */
    unsigned next;         /* item to be added */
} now;

/* Of the last input. */
static struct {
    uint32_t layers[2];
    uint64_t missing;
} at_the_end;

/* NULL: there is none. */
static struct chain *chain_of(const struct filter *f, unsigned which) {
    return which == 0 ? f->live : f->next;
}

/* ---- items ---- */

static struct item item_number(unsigned n) {
    static unsigned char bytes[ITEMS][16];
    memset(bytes[n], (int)n, sizeof bytes[n]);
    return (struct item){bytes[n], n};
}

/* As a server does: nothing is added to a filter that is still being loaded. */
static void add_one(struct chain *c, unsigned n, bool *member) {
    struct item item = item_number(n);
    struct layer before = c->layers[c->nlayers - 1];
    uint64_t items = chain_items(c);
    uint8_t added = 9;
    bool over = n % 2;
    size_t done = chain_add(c, &item, 1, &added, over ? CHAIN_EXCEED : CHAIN_STOP);

    const struct layer *last = &c->layers[c->nlayers - 1];
    if (done == 0) MUST(!over && before.items >= before.capacity);
    if (done == 0) return;
    MUST(done == 1 && added <= 1);
    MUST(chain_items(c) >= items);
    MUST(last->items == before.items + added || last->items == before.items);
    MUST(!(added && *member));
    *member = true;
}

static void add_some(void) {
    for (int i = 0; i < 3; i++, now.next = (now.next + 1) % ITEMS)
        for (unsigned which = 0; which < 2; which++) {
            struct chain *c = chain_of(now.f, which);
            if (c && !chain_is_partial(c))
                add_one(c, now.next, &now.member[which][now.next]);
        }
}

static void members_must_be_there(const struct chain *c, unsigned which) {
    struct item items[ITEMS];
    uint8_t maybe[ITEMS];
    for (unsigned i = 0; i < ITEMS; i++)
        items[i] = item_number(i);
    chain_ask(c, items, ITEMS, maybe);
    for (unsigned i = 0; i < ITEMS; i++)
        MUST(maybe[i] == 1 || (maybe[i] == 0 && !now.member[which][i]));
}

/* ---- what a standing says ---- */

static bool denies(const struct filter *f) {
    const struct circumstances here = {.bypass = false};
    return shield_denies(
        shield_unknown(&f->standing, chain_is_partial(f->live), &here, (struct moment){0}));
}

/* However long a lease it says it has. */
static bool says_absent(const struct standing *s, struct era era) {
    const struct circumstances here = {.era = era};
    return shield_unknown(s, false, &here, (struct moment){0}) == CAUSE_NONE;
}

static void must_be_in_doubt(const struct filter *f) {
    const struct era era = {3, 5, 7}, restarted = {4, 5, 7}, promoted = {3, 6, 7};
    struct standing s = f->standing;
    shield_arrive(&s, (struct moment){0}, era);
    MUST(!says_absent(&s, restarted) && !says_absent(&s, promoted));
    MUST(!f->next ||
         shield_resume(&s, true, s.rebuild_token,
                       &(struct circumstances){.era = restarted}) == BLOOM_INTERRUPTED);
    s.doubt = shield_doubt(&s, f->next, restarted);
    MUST(!says_absent(&s, era));
    s.doubt = f->standing.doubt;
    shield_dumped(&s, f->next);
    MUST(!says_absent(&s, era));
    MUST(!f->next ||
         shield_resume(&s, true, s.rebuild_token, &(struct circumstances){.era = era}) ==
             BLOOM_INTERRUPTED);
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

static unsigned char *header_of(const struct filter *f, enum codec_form form) {
    unsigned char *out = malloc(codec_header_length(f, form));
    if (!out) abort();
    codec_write_header(f, form, out);
    return out;
}

static void fill(struct chain *c, uint64_t follows) {
    unsigned char chunk[CHUNK];
    uint64_t next;
    const char *why;
    if (follows == 0) return;
    put_chunk_head(chunk, c->identity, c->nlayers, 0, follows);
    MUST(codec_read_chunk(c, chunk, sizeof chunk, &next, &(bool){false}, &why) == BLOOM_OK);
    MUST(next == follows);
}

/* Gives a filter that was just read its bytes, all zero. NULL: no memory. */
static struct filter *filled(struct filter *f, const uint64_t follows[2]) {
    if (filter_take_arrays(f) < 0) return filter_free(f), NULL;
    fill(f->live, follows[0]);
    if (f->next) fill(f->next, follows[1]);
    return f;
}

/* The header that was accepted is written again as it was, but for the sections
 * that a reader ignores. */
static void must_be_written_alike(const struct filter *f, const uint8_t *header) {
    enum codec_form form = load_u32(header + H_FLAGS) & 1 ? CODEC_BORN : CODEC_STORED;
    unsigned char *again = header_of(f, form);
    store_u32(again + H_SECTIONS, load_u32(header + H_SECTIONS));
    MUST(memcmp(again, header, codec_header_length(f, form)) == 0);
    free(again);
}

static void must_be_equal(const struct filter *a, const struct filter *b,
                          enum codec_form form) {
    unsigned char *x = header_of(a, form), *y = header_of(b, form);
    MUST(codec_header_length(a, form) == codec_header_length(b, form));
    MUST(memcmp(x, y, codec_header_length(a, form)) == 0);
    must_be_unchanged(a->live, picture_of(b->live));
    if (form == CODEC_STORED && a->next) must_be_unchanged(a->next, picture_of(b->next));
    free(x);
    free(y);
}

static void send_chunks(const struct chain *from, struct chain *to, uint64_t follows,
                        size_t room) {
    uint64_t offset = 0, next;
    size_t length;
    const char *why;
    unsigned char *chunk = malloc(room);
    if (!chunk) abort();
    while ((length = codec_write_chunk(from, offset, chunk, room, &offset)) > 0) {
        MUST(length <= room && codec_chunk_end(chunk, length) == offset);
        MUST(codec_read_chunk(to, chunk, length, &next, &(bool){false}, &why) == BLOOM_OK);
        MUST(next == offset);
    }
    MUST(offset == follows);
    free(chunk);
}

/* All of the filter through the writers and the readers, in chunks of `room`. */
static void must_travel(const struct filter *f, enum codec_form form, size_t room) {
    uint64_t follows[2];
    const char *why;
    struct filter *there = NULL;
    unsigned char *header = header_of(f, form);
    enum bloom_status status = codec_read_header(header, codec_header_length(f, form),
                                                 &fuzz_memory, &there, follows, &why);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (there) MUST(!there->next == !(form == CODEC_STORED && f->next));
    if (there) MUST(filter_is_plain(there) || form == CODEC_STORED);
    if (there && filter_take_arrays(there) == BLOOM_OK) {
        send_chunks(f->live, there->live, follows[0], room);
        if (there->next) send_chunks(f->next, there->next, follows[1], room);
        must_be_equal(f, there, form);
        members_must_be_there(there->live, 0);
        if (there->next) members_must_be_there(there->next, 1);
    }
    filter_free(there);
    free(header);
}

/* ---- the three readers ---- */

static void give_header(const uint8_t *bytes, size_t length) {
    struct filter *f;
    uint64_t follows[2] = {7, 7};
    const char *why = NULL;
    enum bloom_status status =
        codec_read_header(bytes, length, &fuzz_memory, &f, follows, &why);
    MUST(status == BLOOM_OK || status == BLOOM_CORRUPT || status == BLOOM_NO_MEMORY);
    MUST((f != NULL) == (status == BLOOM_OK));
    if (!f) MUST(why != NULL);
    if (!f) return;

    bool born = load_u32(bytes + H_FLAGS) & 1;
    MUST(codec_record_type(bytes, length) == CODEC_HEADER);
    MUST((f->next != NULL) == (load_u16(bytes + H_CHAINS) == 2));
    MUST(!f->next || (f->standing.rebuild_token != 0 && !born));
    for (unsigned i = 0; i < 2; i++) {
        const struct chain *c = chain_of(f, i);
        if (!c) MUST(follows[i] == 0);
        if (!c) continue;
        MUST(chain_flaw(c) == NULL);
        MUST(c->missing == (born ? 0 : chain_bytes(c)));
        MUST(follows[i] <= c->missing);
    }
    if (!born) MUST(!denies(f));
    must_be_in_doubt(f);
    f = filled(f, follows);
    if (!f) return;
    must_be_written_alike(f, bytes);
    if (now.f) {
        filter_free(f);
        return;
    }
    /* The chunks of the input are to find it empty. */
    for (unsigned i = 0; i < 2; i++) {
        struct chain *c = chain_of(f, i);
        if (c && !born) c->missing = chain_bytes(c);
        now.came[i] = born && c ? chain_bytes(c) : 0;
    }
    now.f = f;
}

static void give_chunk(unsigned which, const uint8_t *bytes, size_t length) {
    struct chain *c = chain_of(now.f, which);
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
    MUST(load_u64(bytes + K_IDENTITY) == c->identity &&
         load_u32(bytes + K_LAYERS) == c->nlayers);
    MUST(next == codec_chunk_end(bytes, length) && next <= chain_bytes(c));
    MUST(load_u64(bytes + K_OFFSET) <= now.came[which]);
    if (next > now.came[which]) now.came[which] = next;
}

static void give_growth(unsigned which, const uint8_t *bytes, size_t length) {
    struct chain *c = chain_of(now.f, which);
    struct picture before = picture_of(c);
    struct layer plan;
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
    if (now.came[which] == chain_bytes(c) - plan.bytes) now.came[which] += plan.bytes;
    free(before.bits);
}

static void give(struct feed record) {
    give_header(record.at, record.left);
    if (!now.f) return;
    for (unsigned i = 0; i < 2; i++) {
        if (!chain_of(now.f, i)) continue;
        give_chunk(i, record.at, record.left);
        give_growth(i, record.at, record.left);
    }
    add_some();
    for (unsigned i = 0; i < 2; i++) {
        const struct chain *c = chain_of(now.f, i);
        if (!c) continue;
        MUST(chain_flaw(c) == NULL);
        MUST(chain_bytes(c) - c->missing <= now.came[i]);
        members_must_be_there(c, i);
    }
}

/* The next generation takes over, as at a COMMIT. */
static void swap_chains(void) {
    struct chain *next = now.f->next, *old = filter_swap(now.f);
    MUST(now.f->live == next && !now.f->next);
    members_must_be_there(old, 0);
    chain_free(old);
    members_must_be_there(now.f->live, 1);
}

static void look_at_the_end(size_t room) {
    for (unsigned i = 0; i < 2; i++) {
        const struct chain *c = chain_of(now.f, i);
        if (!c) continue;
        at_the_end.layers[i] = c->nlayers;
        at_the_end.missing += c->missing;
        struct chain *copy = chain_copy(c);
        if (copy) members_must_be_there(copy, i);
        chain_free(copy);
    }
    uint64_t bytes = chain_bytes(now.f->live);
    if (now.f->next) bytes += chain_bytes(now.f->next);
    if (bytes <= SMALL) {
        must_travel(now.f, CODEC_STORED, room);
        must_travel(now.f, CODEC_MOVED, room);
    }
    if (now.f->next) swap_chains();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct feed in = {bytes, length};
    uint64_t requests = feed_number(&in, 1);
    size_t room = CODEC_CHUNK_HEADER + 1 + 97 * (length % 50);
    memset(&now, 0, sizeof now);
    memset(&at_the_end, 0, sizeof at_the_end);
    fuzz_memory_never_refuse();
    if (requests < 64) fuzz_memory_refuse_after(requests);

    while (in.left > 0)
        give(records_next(&in));
    if (now.f) look_at_the_end(room);
    filter_free(now.f);
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
static size_t whole_filter(struct dice *d, uint32_t layers, enum records_for purpose,
                           size_t room, int growths) {
    uint8_t record[RECORD_MAX];
    struct shape shape;
    seed[0] = 255;
    size_t n = record_header(record, d, layers, purpose, &shape);
    size_t length = records_append(seed, 1, sizeof seed, record, n);
    while (!shape_is_whole(&shape)) {
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
        emit(name, seed,
             whole_filter(&d, 1 + i % 4, FOR_CLIENTS, 64 + 200 * (i % 3), (int)(i % 3)));
    }
    for (unsigned i = 0; i < 8; i++) {
        size_t length = whole_filter(&d, 2, FOR_CLIENTS, 512, 1);
        seed[0] = (uint8_t)i;
        snprintf(name, sizeof name, "no-memory-after-%u", i);
        emit(name, seed, length);
    }
    emit("many-layers", seed, whole_filter(&d, 100, FOR_CLIENTS, 1000, 1));
    for (unsigned i = 0; i < 24; i++) {
        size_t length =
            whole_filter(&d, 1 + i % 4, FOR_STORAGE, 64 + 200 * (i % 3), (int)(i % 3));
        if (i >= 16) seed[0] = (uint8_t)(i - 16);
        snprintf(name, sizeof name, "standing-%02u", i);
        emit(name, seed, length);
    }
}

/* When the format changes and records/format.h does not, everything is refused, and
 * nothing would be tested any more. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    struct dice d = {4};
    unsigned rebuilds = 0;
    for (int i = 0; i < 100; i++) {
        size_t length = whole_filter(&d, 3, FOR_USE, 512, 2);
        LLVMFuzzerTestOneInput(seed, length);
        MUST(at_the_end.layers[0] >= 1 && at_the_end.missing == 0);
        rebuilds += at_the_end.layers[1] > 0;
    }
    MUST(rebuilds > 10);
    return 0;
}
