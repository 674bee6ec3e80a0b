/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"

#include <math.h>

#include "bytes.h"

/* Where things are: the page at the top of codec.h, once more and on purpose. A
 * change of the format that codec.c makes alone shows here. */
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
    C_RESERVED = 2,
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
    L_SECTORS = 2,
    L_RESERVED = 4,
    L_BYTES = 8,
    L_CAPACITY = 16,
    L_ITEMS = 24,
    L_ERROR = 32,
    L_MODEL = 40,
    LAYER = 48,

    K_IDENTITY = 8,
    K_LAYERS = 16,
    K_RESERVED = 20,
    K_OFFSET = 24,
    K_ZEROS = 32,
    CHUNK = 40,

    G_IDENTITY = 8,
    G_NUMBER = 16,
    G_RESERVED = 20,
    G_LAYER = 24,
    GROWTH = 72
};

struct field {
    unsigned short at;
    unsigned char bytes;
};

static const struct field fixed_fields[] = {
    {0, 8},          {H_VERSION, 2},  {H_CHAINS, 2}, {H_FLAGS, 4},
    {H_STATE, 1},    {H_RESERVED, 1}, {H_DOUBT, 2},  {H_SECTIONS, 4},
    {H_LEASE, 8},    {H_VOUCHED, 8},  {H_TOKEN, 8},  {H_START, 8},
    {H_RECEIVED, 8}, {H_CHAINS, 2},   {H_STATE, 1},  {H_TOKEN, 8}};
static const struct field chain_fields[] = {
    {C_KIND, 1},      {C_VARIANT, 1}, {C_RESERVED, 2}, {C_EXPANSION, 4},
    {C_IDENTITY, 8},  {C_SECRET, 8},  {C_SECOND, 8},   {C_ERROR, 8},
    {C_PARAMETER, 8}, {C_FOLLOWS, 8}, {C_LAYERS, 4},   {C_RESERVED2, 4}};
static const struct field layer_fields[] = {{L_PROBES, 2}, {L_SECTORS, 2},  {L_RESERVED, 4},
                                            {L_BYTES, 8},  {L_CAPACITY, 8}, {L_ITEMS, 8},
                                            {L_ERROR, 8},  {L_MODEL, 8}};
static const struct field chunk_fields[] = {{0, 8},          {K_IDENTITY, 8}, {K_LAYERS, 4},
                                            {K_RESERVED, 4}, {K_OFFSET, 8},   {K_ZEROS, 8}};
static const struct field growth_fields[] = {
    {0, 8}, {G_IDENTITY, 8}, {G_NUMBER, 4}, {G_RESERVED, 4}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

static const double rates[] = {0,    -0.0,     1,      -1,       0.5,       0.01,
                               1e-6, 1e-18,    1e-300, 5e-324,   0.9999999, 1.0000001,
                               2.0,  INFINITY, NAN,    -INFINITY};

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

static void add_layer(struct shape_chain *s, uint64_t bytes) {
    s->total += bytes;
    if (s->layers < SHAPE_LAYERS) s->ends[s->layers] = s->total;
    s->layers++;
}

/* How many bytes there are from the offset on in one layer. */
static uint64_t room_in_layer(const struct shape_chain *s, uint64_t offset) {
    for (uint32_t i = 0; i < s->layers && i < SHAPE_LAYERS; i++)
        if (offset < s->ends[i]) return s->ends[i] - offset;
    return 0;
}

static struct shape_chain *chain_to_complete(struct shape *s) {
    struct shape_chain *live = &s->chains[0];
    return s->nchains == 2 && live->there >= live->total ? &s->chains[1] : live;
}

bool shape_is_whole(const struct shape *s) {
    for (unsigned i = 0; i < s->nchains; i++)
        if (s->chains[i].there < s->chains[i].total) return false;
    return true;
}

static void start(uint8_t *out, size_t length, unsigned char type) {
    memset(out, 0, length);
    memcpy(out, "BULWARK", 7);
    out[7] = type;
}

static void make_layer(uint8_t *out, struct dice *d) {
    static const uint16_t sectors[] = {2, 4, 8};
    store_u16(out + L_PROBES, (uint16_t)(1 + roll_below(d, 4)));
    store_u16(out + L_SECTORS, sectors[roll_below(d, 3)]);
    store_u64(out + L_BYTES, 64 * (1 + roll_below(d, roll_below(d, 4) ? 8 : 60)));
    store_u64(out + L_CAPACITY, 1 + roll_below(d, 300));
    store_u64(out + L_ITEMS, roll_below(d, 2) ? 0 : roll_below(d, 400));
    store_f64(out + L_ERROR, 0.1 / (double)(1 + roll_below(d, 1000)));
    store_f64(out + L_MODEL, 0.1 / (double)(1 + roll_below(d, 1000)));
}

/* One chain's record; returns its length. */
static size_t make_chain(uint8_t *out, struct dice *d, uint32_t layers,
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
        add_layer(shape, load_u64(layer + L_BYTES));
    }
    store_u64(out + C_FOLLOWS, shape->total);
    return CHAIN + layers * LAYER;
}

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
    if (roll_below(d, 4) == 0) store_u64(out + H_LEASE, whole[roll_below(d, COUNT(whole))]);
    store_u64(out + H_VOUCHED, whole[roll_below(d, COUNT(whole))]);
    if (roll_below(d, 2)) store_u64(out + H_TOKEN, roll(d));
    store_u64(out + H_START, whole[roll_below(d, COUNT(whole))]);
    store_u64(out + H_RECEIVED, whole[roll_below(d, COUNT(whole))]);
}

size_t record_header(uint8_t out[RECORD_MAX], struct dice *d, uint32_t layers,
                     enum records_for purpose, struct shape *shape) {
    *shape = (struct shape){.nchains = 1};
    start(out, FIXED, 0x81);
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

/* `left` bytes are to come; some of them as zeros. Offset and zeros are written. */
static uint64_t choose_zeros(uint8_t *chunk, struct dice *d, uint64_t left) {
    uint64_t zeros = roll_below(d, 2) ? 0 : roll_below(d, left + 1);
    store_u64(chunk + K_ZEROS, zeros);
    return zeros;
}

size_t record_chunk(uint8_t out[RECORD_MAX], struct dice *d, size_t room,
                    struct shape *shape) {
    struct shape_chain *c = chain_to_complete(shape);
    uint64_t left = c->total - c->there;
    start(out, CHUNK, 0x82);
    store_u64(out + K_IDENTITY, c->identity);
    store_u32(out + K_LAYERS, c->layers);
    store_u64(out + K_OFFSET, c->there);
    uint64_t zeros = choose_zeros(out, d, left);
    uint64_t bytes = room_in_layer(c, c->there + zeros);
    if (bytes > room) bytes = room;
    if (bytes > RECORD_MAX - CHUNK) bytes = RECORD_MAX - CHUNK;
    for (uint64_t i = 0; i < bytes; i++)
        out[CHUNK + i] = (uint8_t)(roll(d) & roll(d));
    c->there += zeros + bytes;
    return CHUNK + (size_t)bytes;
}

size_t record_growth(uint8_t out[RECORD_MAX], struct dice *d, struct shape *shape) {
    struct shape_chain *c = &shape->chains[shape->nchains == 2 ? roll_below(d, 2) : 0];
    start(out, GROWTH, 0x83);
    store_u64(out + G_IDENTITY, c->identity);
    store_u32(out + G_NUMBER, c->layers);
    make_layer(out + G_LAYER, d);
    store_u64(out + G_LAYER + L_ITEMS, 0);
    add_layer(c, load_u64(out + G_LAYER + L_BYTES));
    c->there += load_u64(out + G_LAYER + L_BYTES);
    return GROWTH;
}

/* ---- what a mutation works on: a sequence taken apart ---- */

#define RECORDS 64

struct record {
    uint8_t bytes[RECORD_MAX];
    size_t length;
};

static struct record store[RECORDS];
static struct record *records[RECORDS]; /* in order; the unused ones at the end */
static size_t nrecords;

/* The sequence as its records say it is. */
static struct shape now;
static bool has_header;
static enum records_for now_for;

static void take_apart(const uint8_t *data, size_t length) {
    struct feed in = {data, length};
    for (size_t i = 0; i < RECORDS; i++)
        records[i] = &store[i];
    for (nrecords = 0; in.left > 0 && nrecords < RECORDS; nrecords++) {
        struct feed r = records_next(&in);
        struct record *to = records[nrecords];
        to->length = r.left < RECORD_MAX ? r.left : RECORD_MAX;
        if (to->length > 0) memcpy(to->bytes, r.at, to->length);
    }
}

static size_t put_together(uint8_t *data, size_t max) {
    size_t length = 0;
    for (size_t i = 0; i < nrecords; i++)
        length = records_append(data, length, max, records[i]->bytes, records[i]->length);
    return length;
}

enum type { OTHER, HEADER_RECORD, CHUNK_RECORD, GROWTH_RECORD };

/* By the eighth byte alone: a broken magic gets repaired. */
static enum type type_of(const struct record *r) {
    if (r->length < 8) return OTHER;
    if (r->bytes[7] == 0x81 && r->length >= FIXED + CHAIN) return HEADER_RECORD;
    if (r->bytes[7] == 0x82 && r->length >= CHUNK) return CHUNK_RECORD;
    if (r->bytes[7] == 0x83 && r->length >= GROWTH) return GROWTH_RECORD;
    return OTHER;
}

/* ---- repair ---- */

/* One repair in 64 is left out. */
static int lazy(struct dice *d) {
    return roll_below(d, 64) == 0;
}

static void must_be(uint8_t *at, unsigned bytes, uint64_t value, struct dice *d) {
    if (lazy(d)) return;
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void must_be_rate(uint8_t *at, struct dice *d) {
    double v = load_f64(at);
    if (!(v > 0 && v < 1) && !lazy(d)) store_f64(at, 0.01);
}

static void repair_layer(uint8_t *at, struct dice *d) {
    uint64_t probes = load_u16(at + L_PROBES), sectors = load_u16(at + L_SECTORS);
    uint64_t bytes = load_u64(at + L_BYTES), capacity = load_u64(at + L_CAPACITY);
    if (probes < 1 || probes > 4) must_be(at + L_PROBES, 2, 1 + probes % 4, d);
    if (sectors != 2 && sectors != 4 && sectors != 8) must_be(at + L_SECTORS, 2, 8, d);
    must_be(at + L_RESERVED, 4, 0, d);
    if (bytes < 64 || bytes > 16384 || bytes % 64 != 0)
        must_be(at + L_BYTES, 8, 64 * (1 + bytes % 16), d);
    if (capacity < 1 || capacity > UINT64_C(1) << 60) must_be(at + L_CAPACITY, 8, 100, d);
    if (load_u64(at + L_ITEMS) > UINT64_C(1) << 48) must_be(at + L_ITEMS, 8, 0, d);
    must_be_rate(at + L_ERROR, d);
    must_be_rate(at + L_MODEL, d);
}

/* The end of the chain record there, if the number of its layers is believed. */
static size_t chain_end(const struct record *r, size_t at) {
    uint64_t layers = load_u32(r->bytes + at + C_LAYERS);
    uint64_t room = (r->length - at - CHAIN) / LAYER;
    return at + CHAIN + (size_t)(layers < room ? layers : room) * LAYER;
}

/* Where the chain records are, if their number is believed; the end of the last one
 * comes after them. Returns how many there are. */
static unsigned find_chains(const struct record *r, size_t at[3]) {
    at[0] = FIXED;
    at[1] = chain_end(r, FIXED);
    if (load_u16(r->bytes + H_CHAINS) != 2 || r->length - at[1] < CHAIN) return 1;
    at[2] = chain_end(r, at[1]);
    return 2;
}

/* The room for layers ends at the record's. */
static void repair_chain(struct record *r, size_t start, bool born, bool last,
                         struct dice *d) {
    uint8_t *at = r->bytes + start;
    must_be(at + C_KIND, 1, 1, d);
    must_be(at + C_VARIANT, 1, 0, d);
    must_be(at + C_RESERVED, 2, 0, d);
    must_be(at + C_SECOND, 8, 0, d);
    must_be(at + C_SECOND + 8, 8, 0, d);
    must_be(at + C_PARAMETER, 8, 0, d);
    must_be(at + C_RESERVED2, 4, 0, d);
    if (load_u32(at + C_EXPANSION) > 32768) must_be(at + C_EXPANSION, 4, 2, d);
    must_be_rate(at + C_ERROR, d);

    uint64_t layers = load_u32(at + C_LAYERS), total = 0;
    uint64_t room = (r->length - start - CHAIN) / LAYER;
    if (room == 0 && r->length + LAYER <= RECORD_MAX && !lazy(d)) {
        make_layer(at + CHAIN, d);
        r->length = start + CHAIN + LAYER;
        room = 1;
    }
    if ((layers < 1 || layers > room) && !lazy(d))
        store_u32(at + C_LAYERS, (uint32_t)(layers = last || room == 0 ? room : 1));
    if (load_u32(at + C_EXPANSION) == 0 && layers > 1) must_be(at + C_EXPANSION, 4, 2, d);

    for (size_t l = start + CHAIN; l < chain_end(r, start); l += LAYER) {
        repair_layer(r->bytes + l, d);
        if (born) must_be(r->bytes + l + L_ITEMS, 8, 0, d);
        total += load_u64(r->bytes + l + L_BYTES);
    }
    if (born)
        must_be(at + C_FOLLOWS, 8, 0, d);
    else if (load_u64(at + C_FOLLOWS) > total)
        must_be(at + C_FOLLOWS, 8, total, d);
}

/* Clients bring plain filters only. */
static void make_plain(uint8_t *at, struct dice *d) {
    must_be(at + H_STATE, 1, 0, d);
    must_be(at + H_DOUBT, 2, 0, d);
    for (unsigned field = H_LEASE; field < FIXED; field += 8)
        must_be(at + field, 8, 0, d);
}

static void repair_header(struct record *r, struct dice *d) {
    uint8_t *at = r->bytes;
    size_t chains[3];
    must_be(at, 8, load_u64((const unsigned char *)"BULWARK\x81"), d);
    must_be(at + H_VERSION, 2, 1, d);
    must_be(at + H_RESERVED, 1, 0, d);
    if (find_chains(r, chains) < 2 || now_for == FOR_CLIENTS)
        must_be(at + H_CHAINS, 2, 1, d);
    bool two = load_u16(at + H_CHAINS) == 2;
    must_be(at + H_FLAGS, 4, two ? 0 : load_u32(at + H_FLAGS) & 1, d);
    if (two && load_u64(at + H_TOKEN) == 0)
        must_be(at + H_TOKEN, 8, 1 + roll_below(d, 9), d);
    if (now_for == FOR_CLIENTS) make_plain(at, d);

    repair_chain(r, FIXED, load_u32(at + H_FLAGS) & 1, !two, d);
    unsigned n = find_chains(r, chains);
    if (n == 2) repair_chain(r, chains[1], false, true, d);
    n = find_chains(r, chains);
    if (load_u32(at + H_SECTIONS) == 0 && !lazy(d)) r->length = chains[n];
}

static void repair_chunk(struct record *r, struct dice *d) {
    uint8_t *at = r->bytes;
    const struct shape_chain *c = chain_to_complete(&now);
    must_be(at, 8, load_u64((const unsigned char *)"BULWARK\x82"), d);
    must_be(at + K_IDENTITY, 8, c->identity, d);
    must_be(at + K_LAYERS, 4, c->layers, d);
    must_be(at + K_RESERVED, 4, 0, d);
    if (load_u64(at + K_OFFSET) > c->there || roll_below(d, 2))
        must_be(at + K_OFFSET, 8, c->there, d);
    uint64_t offset = load_u64(at + K_OFFSET), left = c->total - offset;
    if (offset > c->there) return; /* One that is wrong on purpose. */
    if (load_u64(at + K_ZEROS) > left) must_be(at + K_ZEROS, 8, roll_below(d, left + 1), d);
    uint64_t room = room_in_layer(c, offset + load_u64(at + K_ZEROS));
    if (r->length - CHUNK > room && !lazy(d)) r->length = CHUNK + (size_t)room;
}

static void repair_growth(struct record *r, struct dice *d) {
    uint8_t *at = r->bytes;
    const struct shape_chain *c = &now.chains[now.nchains == 2 ? roll_below(d, 2) : 0];
    must_be(at, 8, load_u64((const unsigned char *)"BULWARK\x83"), d);
    must_be(at + G_IDENTITY, 8, c->identity, d);
    must_be(at + G_NUMBER, 4, c->layers, d);
    must_be(at + G_RESERVED, 4, 0, d);
    repair_layer(at + G_LAYER, d);
    must_be(at + G_LAYER + L_ITEMS, 8, 0, d);
    if (!lazy(d)) r->length = GROWTH;
}

/* ---- what the records up to here come to ---- */

/* Only the first header makes a filter; the later ones find the key taken. */
static void see_header(const struct record *r) {
    if (has_header) return;
    size_t at[3];
    has_header = true;
    now = (struct shape){.nchains = find_chains(r, at)};
    for (unsigned i = 0; i < now.nchains; i++) {
        struct shape_chain *c = &now.chains[i];
        c->identity = load_u64(r->bytes + at[i] + C_IDENTITY);
        for (size_t l = at[i] + CHAIN; l < chain_end(r, at[i]); l += LAYER)
            add_layer(c, load_u64(r->bytes + l + L_BYTES));
        if (load_u32(r->bytes + H_FLAGS) & 1) c->there = c->total;
    }
}

static void see_chunk(const struct record *r) {
    struct shape_chain *c = chain_to_complete(&now);
    uint64_t end =
        load_u64(r->bytes + K_OFFSET) + load_u64(r->bytes + K_ZEROS) + (r->length - CHUNK);
    if (end > c->there && end <= c->total) c->there = end;
}

static void see_growth(const struct record *r) {
    uint64_t bytes = load_u64(r->bytes + G_LAYER + L_BYTES);
    for (unsigned i = 0; i < now.nchains; i++) {
        struct shape_chain *c = &now.chains[i];
        if (load_u64(r->bytes + G_IDENTITY) != c->identity || c->there < c->total ||
            load_u32(r->bytes + G_NUMBER) != c->layers)
            continue;
        add_layer(c, bytes);
        c->there += bytes;
        return;
    }
}

/* Looks at the first n records, and repairs them if dice are given. */
static void walk(size_t n, struct dice *d) {
    has_header = false;
    now = (struct shape){.nchains = 1};
    for (size_t i = 0; i < n; i++) {
        struct record *r = records[i];
        switch (type_of(r)) {
        case HEADER_RECORD:
            if (d) repair_header(r, d);
            see_header(r);
            break;
        case CHUNK_RECORD:
            if (d) repair_chunk(r, d);
            see_chunk(r);
            break;
        case GROWTH_RECORD:
            if (d) repair_growth(r, d);
            see_growth(r);
            break;
        case OTHER:
            break;
        }
    }
}

/* ---- mutations ---- */

static void hurt(uint8_t *record, struct field f, struct dice *d) {
    uint64_t v = roll_below(d, 4) ? whole[roll_below(d, COUNT(whole))] : roll(d);
    if (f.bytes == 8 && roll_below(d, 3) == 0)
        store_f64(record + f.at, rates[roll_below(d, COUNT(rates))]);
    else if (roll_below(d, 4) == 0)
        record[f.at + roll_below(d, f.bytes)] ^= (uint8_t)(1u << roll_below(d, 8));
    else
        for (unsigned i = 0; i < f.bytes; i++)
            record[f.at + i] = (uint8_t)(v >> (8 * i));
}

static void hurt_chain(struct record *r, size_t at, struct dice *d) {
    size_t n = (chain_end(r, at) - at - CHAIN) / LAYER;
    if (n == 0 || roll_below(d, 2)) {
        hurt(r->bytes + at, chain_fields[roll_below(d, COUNT(chain_fields))], d);
        return;
    }
    uint8_t *layer = r->bytes + at + CHAIN + roll_below(d, n) * LAYER;
    hurt(layer, layer_fields[roll_below(d, COUNT(layer_fields))], d);
}

static void hurt_header(struct record *r, struct dice *d) {
    size_t at[3];
    unsigned n = find_chains(r, at);
    if (roll_below(d, 3))
        hurt_chain(r, at[roll_below(d, n)], d);
    else
        hurt(r->bytes, fixed_fields[roll_below(d, COUNT(fixed_fields))], d);
}

static void hurt_field(struct record *r, struct dice *d) {
    switch (type_of(r)) {
    case HEADER_RECORD:
        hurt_header(r, d);
        break;
    case CHUNK_RECORD:
        hurt(r->bytes, chunk_fields[roll_below(d, COUNT(chunk_fields))], d);
        break;
    case GROWTH_RECORD:
        if (roll_below(d, 2))
            hurt(r->bytes, growth_fields[roll_below(d, COUNT(growth_fields))], d);
        else
            hurt(r->bytes + G_LAYER, layer_fields[roll_below(d, COUNT(layer_fields))], d);
        break;
    case OTHER:
        break;
    }
}

/* Appends a section to a header, and counts it. */
static void add_section(struct record *r, struct dice *d) {
    size_t n = roll_below(d, 40);
    if (type_of(r) != HEADER_RECORD || r->length + 8 + n > RECORD_MAX) return;
    uint8_t *at = r->bytes + r->length;
    store_u32(at, (uint32_t)(roll(d) >> (roll_below(d, 8) ? 33 : 32)));
    store_u32(at + 4, (uint32_t)n);
    memset(at + 8, 0x55, n);
    r->length += 8 + n;
    store_u32(r->bytes + H_SECTIONS, load_u32(r->bytes + H_SECTIONS) + 1);
}

/* A header gets a second chain, or loses it. */
static void change_chains(struct record *r, struct dice *d) {
    size_t at[3];
    struct shape_chain ignored;
    if (type_of(r) != HEADER_RECORD) return;
    if (find_chains(r, at) == 2) {
        r->length = at[1];
        store_u16(r->bytes + H_CHAINS, 1);
    } else if (at[1] + CHAIN + 3 * LAYER <= RECORD_MAX) {
        r->length = at[1] + make_chain(r->bytes + at[1], d, 3, &ignored);
        store_u16(r->bytes + H_CHAINS, 2);
    }
    store_u32(r->bytes + H_SECTIONS, 0);
}

/* An unused record takes the place, and the others move up. */
static struct record *make_room(size_t at) {
    struct record *r = records[nrecords++];
    memmove(&records[at + 1], &records[at], (nrecords - 1 - at) * sizeof *records);
    return records[at] = r;
}

static void insert_record(struct dice *d) {
    if (nrecords == RECORDS) return;
    size_t at = roll_below(d, nrecords + 1);
    walk(at, NULL);
    struct record *r = make_room(at);
    struct shape shape = now;
    switch (has_header ? roll_below(d, 8) : 0) {
    case 0:
        r->length = record_header(r->bytes, d, roll_below(d, 8) ? 3 : 20, now_for, &shape);
        break;
    case 1:
    case 2:
        r->length = record_growth(r->bytes, d, &shape);
        break;
    default:
        if (shape_is_whole(&shape)) chain_to_complete(&shape)->there = 0;
        r->length = record_chunk(r->bytes, d, roll_below(d, 2) ? 64 : 1024, &shape);
    }
}

static void remove_record(size_t at) {
    struct record *r = records[at];
    nrecords--;
    memmove(&records[at], &records[at + 1], (nrecords - at) * sizeof *records);
    records[nrecords] = r;
}

static void repeat_record(const struct record *from, struct dice *d) {
    if (nrecords == RECORDS) return;
    struct record *r = make_room(roll_below(d, nrecords + 1));
    memcpy(r->bytes, from->bytes, from->length);
    r->length = from->length;
}

static void mutate_once(struct dice *d) {
    if (nrecords == 0) {
        insert_record(d);
        return;
    }
    size_t i = roll_below(d, nrecords);
    struct record *r = records[i];
    switch (roll_below(d, 13)) {
    case 0:
    case 1:
        r->length = LLVMFuzzerMutate(r->bytes, r->length, RECORD_MAX);
        break;
    case 2:
    case 3:
        insert_record(d);
        break;
    case 4:
        remove_record(i);
        break;
    case 5:
        repeat_record(r, d);
        break;
    case 6:
        add_section(r, d);
        break;
    case 7:
        change_chains(r, d);
        break;
    case 8:
        if (r->length > 0) r->length = roll_below(d, r->length);
        break;
    default:
        hurt_field(r, d);
    }
}

/* Takes out what is no record, and what a stored filter doesn't have: growths, and
 * headers but the first. */
static void tidy(enum records_for purpose) {
    bool header = false;
    for (size_t i = nrecords; i-- > 0;)
        if (type_of(records[i]) == OTHER) remove_record(i);
    for (size_t i = 0; purpose == FOR_STORAGE && i < nrecords;) {
        if (type_of(records[i]) != (header ? CHUNK_RECORD : HEADER_RECORD)) {
            remove_record(i);
            continue;
        }
        header = true;
        i++;
    }
}

/* What has not come comes as zeros, so that whole filters are frequent. */
static void complete(struct dice *d) {
    while (nrecords < RECORDS && !shape_is_whole(&now)) {
        struct shape_chain *c = chain_to_complete(&now);
        struct record *r = records[nrecords++];
        struct shape rest = now;
        r->length = record_chunk(r->bytes, d, 0, &rest);
        store_u64(r->bytes + K_ZEROS, c->total - c->there);
        c->there = c->total;
    }
}

size_t records_mutate(uint8_t *data, size_t length, size_t max, enum records_for purpose,
                      struct dice *d) {
    take_apart(data, length);
    now_for = purpose;
    for (uint64_t n = 1 + roll_below(d, 3); n > 0; n--)
        mutate_once(d);
    if (roll_below(d, 4) > 0) {
        if (roll_below(d, 16) > 0) tidy(purpose);
        walk(nrecords, d);
        if (roll_below(d, 4) > 0) complete(d);
    }
    return put_together(data, max);
}
