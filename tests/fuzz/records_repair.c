/* SPDX-License-Identifier: BSD-3-Clause */
#include "records_repair.h"

#include "bytes.h"

/* The sequence as its records say it is, up to where the walk has come. */
static struct shape now;
static bool has_header;
static enum records_for now_for;

/* ---- repair ---- */

/* One repair in 64 is left out. */
static int lazy(struct dice *d) {
    return roll_below(d, 64) == 0;
}

static void must_be(uint8_t *at, unsigned bytes, uint64_t value, struct dice *d) {
    if (!lazy(d)) put_number(at, bytes, value);
}

static void must_be_rate(uint8_t *at, struct dice *d) {
    double v = load_f64(at);
    if (!(v > 0 && v < 1) && !lazy(d)) store_f64(at, 0.01);
}

static void repair_lines(uint8_t *at, struct dice *d) {
    uint64_t probes = load_u16(at + L_PROBES), sectors = load_u16(at + L_VARIANT);
    uint64_t bytes = load_u64(at + L_BYTES);
    if (probes < 1 || probes > 4) must_be(at + L_PROBES, 2, 1 + probes % 4, d);
    if (sectors != 2 && sectors != 4 && sectors != 8) must_be(at + L_VARIANT, 2, 8, d);
    if (bytes < 64 || bytes > 16384 || bytes % 64 != 0)
        must_be(at + L_BYTES, 8, 64 * (1 + bytes % 16), d);
    must_be_rate(at + L_PARAMETER, d);
}

static void repair_layer(uint8_t *at, struct dice *d) {
    uint64_t capacity = load_u64(at + L_CAPACITY);
    must_be(at + L_RESERVED, 4, 0, d);
    if (capacity < 1 || capacity > UINT64_C(1) << 60) must_be(at + L_CAPACITY, 8, 100, d);
    if (load_u64(at + L_ITEMS) > UINT64_C(1) << 48) must_be(at + L_ITEMS, 8, 0, d);
    must_be_rate(at + L_ERROR, d);
}

static void must_be_lines(uint8_t *at, struct dice *d) {
    must_be(at + C_KIND, 1, 1, d);
    must_be(at + C_VARIANT, 1, 0, d);
    must_be(at + C_ENCODING, 1, 0, d);
}

static void repair_fields(uint8_t *at, struct dice *d) {
    must_be(at + C_RESERVED, 1, 0, d);
    must_be(at + C_SECOND, 8, 0, d);
    must_be(at + C_SECOND + 8, 8, 0, d);
    must_be(at + C_PARAMETER, 8, 0, d);
    must_be(at + C_RESERVED2, 4, 0, d);
    if (load_u32(at + C_EXPANSION) > 32768) must_be(at + C_EXPANSION, 4, 2, d);
    must_be_rate(at + C_ERROR, d);
}

/* The room for layers ends at the record's. */
static void repair_chain(struct record *r, size_t start, bool born, bool last,
                         struct dice *d) {
    uint8_t *at = r->bytes + start;
    bool single = is_single(at);
    if (!single) must_be_lines(at, d);
    repair_fields(at, d);

    uint64_t layers = load_u32(at + C_LAYERS), total = 0;
    uint64_t room = (r->length - start - CHAIN) / LAYER;
    if (room == 0 && r->length + LAYER <= RECORD_MAX && !lazy(d)) {
        make_layer(at + CHAIN, d);
        r->length = start + CHAIN + LAYER;
        room = 1;
    }
    uint64_t wanted = single || !last ? room > 0 : room;
    if ((layers < 1 || layers > (single ? 1 : room)) && !lazy(d))
        store_u32(at + C_LAYERS, (uint32_t)(layers = wanted));
    if (load_u32(at + C_EXPANSION) == 0 && layers > 1) must_be(at + C_EXPANSION, 4, 2, d);

    for (size_t l = start + CHAIN; l < record_chain_end(r, start); l += LAYER) {
        repair_layer(r->bytes + l, d);
        if (!single) repair_lines(r->bytes + l, d);
        if (single && !lazy(d)) fit_single(at);
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
    must_be(at, 8, load_u64((const uint8_t *)HEADER_MAGIC), d);
    must_be(at + H_VERSION, 2, 1, d);
    must_be(at + H_RESERVED, 1, 0, d);
    if (record_chains(r, chains) < 2 || now_for == FOR_CLIENTS)
        must_be(at + H_CHAINS, 2, 1, d);
    bool two = load_u16(at + H_CHAINS) == 2;
    must_be(at + H_FLAGS, 4, two ? 0 : load_u32(at + H_FLAGS) & 1, d);
    if (two && load_u64(at + H_TOKEN) == 0)
        must_be(at + H_TOKEN, 8, 1 + roll_below(d, 9), d);
    if (now_for == FOR_CLIENTS) make_plain(at, d);

    repair_chain(r, FIXED, load_u32(at + H_FLAGS) & 1, !two, d);
    unsigned n = record_chains(r, chains);
    if (n == 2) repair_chain(r, chains[1], false, true, d);
    n = record_chains(r, chains);
    if (load_u32(at + H_SECTIONS) == 0 && !lazy(d)) r->length = chains[n];
}

static void repair_chunk(struct record *r, struct dice *d) {
    uint8_t *at = r->bytes;
    const struct shape_chain *c = shape_to_complete(&now);
    must_be(at, 8, load_u64((const uint8_t *)CHUNK_MAGIC), d);
    must_be(at + K_IDENTITY, 8, c->identity, d);
    must_be(at + K_LAYERS, 4, c->layers, d);
    must_be(at + K_RESERVED, 4, 0, d);
    if (load_u64(at + K_OFFSET) > c->there || roll_below(d, 2))
        must_be(at + K_OFFSET, 8, c->there, d);
    uint64_t offset = load_u64(at + K_OFFSET), left = c->total - offset;
    if (offset > c->there) return; /* One that is wrong on purpose. */
    if (load_u64(at + K_ZEROS) > left) must_be(at + K_ZEROS, 8, roll_below(d, left + 1), d);
    uint64_t room = shape_room_in_layer(c, offset + load_u64(at + K_ZEROS));
    if (r->length - CHUNK > room && !lazy(d)) r->length = CHUNK + (size_t)room;
}

static void repair_growth(struct record *r, struct dice *d) {
    uint8_t *at = r->bytes;
    const struct shape_chain *c = &now.chains[now.nchains == 2 ? roll_below(d, 2) : 0];
    must_be(at, 8, load_u64((const uint8_t *)GROWTH_MAGIC), d);
    must_be(at + G_IDENTITY, 8, c->identity, d);
    must_be(at + G_NUMBER, 4, c->layers, d);
    must_be(at + G_CHAIN, 4, 0, d);
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
    now = (struct shape){.nchains = record_chains(r, at)};
    for (unsigned i = 0; i < now.nchains; i++) {
        struct shape_chain *c = &now.chains[i];
        c->identity = load_u64(r->bytes + at[i] + C_IDENTITY);
        for (size_t l = at[i] + CHAIN; l < record_chain_end(r, at[i]); l += LAYER)
            shape_add_layer(c, load_u64(r->bytes + l + L_BYTES));
        if (load_u32(r->bytes + H_FLAGS) & 1) c->there = c->total;
    }
}

static void see_chunk(const struct record *r) {
    struct shape_chain *c = shape_to_complete(&now);
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
        shape_add_layer(c, bytes);
        c->there += bytes;
        return;
    }
}

bool records_walk(struct record *const *records, size_t n, enum records_for purpose,
                  struct dice *d, struct shape *shape) {
    now_for = purpose;
    has_header = false;
    now = (struct shape){.nchains = 1};
    for (size_t i = 0; i < n; i++) {
        struct record *r = records[i];
        switch (record_type_of(r)) {
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
    *shape = now;
    return has_header;
}
