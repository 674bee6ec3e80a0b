/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bytes.h"
#include "records_parts.h"
#include "records_repair.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- a sequence taken apart ---- */

#define RECORDS 64

static struct record store[RECORDS];
static struct record *records[RECORDS]; /* in order; the unused ones at the end */
static size_t nrecords;

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

/* ---- fields, and what hurts there ---- */

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
    {C_KIND, 1},      {C_VARIANT, 1}, {C_ENCODING, 2}, {C_EXPANSION, 4},
    {C_IDENTITY, 8},  {C_SECRET, 8},  {C_SECOND, 8},   {C_ERROR, 8},
    {C_PARAMETER, 8}, {C_FOLLOWS, 8}, {C_LAYERS, 4},   {C_RESERVED2, 4}};
static const struct field layer_fields[] = {{L_PROBES, 2}, {L_VARIANT, 2},  {L_RESERVED, 4},
                                            {L_BYTES, 8},  {L_CAPACITY, 8}, {L_ITEMS, 8},
                                            {L_ERROR, 8},  {L_PARAMETER, 8}};
static const struct field chunk_fields[] = {{0, 8},          {K_IDENTITY, 8}, {K_LAYERS, 4},
                                            {K_RESERVED, 4}, {K_OFFSET, 8},   {K_ZEROS, 8}};
static const struct field growth_fields[] = {
    {0, 8}, {G_IDENTITY, 8}, {G_NUMBER, 4}, {G_CHAIN, 4}};

static const double rates[] = {0,    -0.0,     1,      -1,       0.5,       0.01,
                               1e-6, 1e-18,    1e-300, 5e-324,   0.9999999, 1.0000001,
                               2.0,  INFINITY, NAN,    -INFINITY};

static void hurt(uint8_t *record, struct field f, struct dice *d) {
    uint64_t v = roll_below(d, 4) ? number_that_hurts(d) : roll(d);
    if (f.bytes == 8 && roll_below(d, 3) == 0)
        store_f64(record + f.at, rates[roll_below(d, COUNT(rates))]);
    else if (roll_below(d, 4) == 0)
        record[f.at + roll_below(d, f.bytes)] ^= (uint8_t)(1u << roll_below(d, 8));
    else
        put_number(record + f.at, f.bytes, v);
}

static void hurt_chain(struct record *r, size_t at, struct dice *d) {
    size_t n = (record_chain_end(r, at) - at - CHAIN) / LAYER;
    if (n == 0 || roll_below(d, 2)) {
        hurt(r->bytes + at, chain_fields[roll_below(d, COUNT(chain_fields))], d);
        return;
    }
    uint8_t *layer = r->bytes + at + CHAIN + roll_below(d, n) * LAYER;
    hurt(layer, layer_fields[roll_below(d, COUNT(layer_fields))], d);
}

static void hurt_header(struct record *r, struct dice *d) {
    size_t at[3];
    unsigned n = record_chains(r, at);
    if (roll_below(d, 3))
        hurt_chain(r, at[roll_below(d, n)], d);
    else
        hurt(r->bytes, fixed_fields[roll_below(d, COUNT(fixed_fields))], d);
}

static void hurt_field(struct record *r, struct dice *d) {
    switch (record_type_of(r)) {
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
    if (record_type_of(r) != HEADER_RECORD || r->length + 8 + n > RECORD_MAX) return;
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
    if (record_type_of(r) != HEADER_RECORD) return;
    if (record_chains(r, at) == 2) {
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

static void insert_record(enum records_for purpose, struct dice *d) {
    if (nrecords == RECORDS) return;
    size_t at = roll_below(d, nrecords + 1);
    struct shape shape;
    bool has_header = records_walk(records, at, purpose, NULL, &shape);
    struct record *r = make_room(at);
    switch (has_header ? roll_below(d, 8) : 0) {
    case 0:
        r->length = record_header(r->bytes, d, roll_below(d, 8) ? 3 : 20, purpose, &shape);
        break;
    case 1:
    case 2:
        r->length = record_growth(r->bytes, d, &shape);
        break;
    default:
        if (shape_is_whole(&shape)) shape_to_complete(&shape)->there = 0;
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

static void mutate_once(enum records_for purpose, struct dice *d) {
    if (nrecords == 0) {
        insert_record(purpose, d);
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
        insert_record(purpose, d);
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
        if (record_type_of(records[i]) == OTHER) remove_record(i);
    for (size_t i = 0; purpose == FOR_STORAGE && i < nrecords;) {
        if (record_type_of(records[i]) != (header ? CHUNK_RECORD : HEADER_RECORD)) {
            remove_record(i);
            continue;
        }
        header = true;
        i++;
    }
}

/* What has not come comes as zeros, so that whole filters are frequent. */
static void complete(struct shape *shape, struct dice *d) {
    while (nrecords < RECORDS && !shape_is_whole(shape)) {
        struct shape_chain *c = shape_to_complete(shape);
        struct record *r = records[nrecords++];
        struct shape rest = *shape;
        r->length = record_chunk(r->bytes, d, 0, &rest);
        store_u64(r->bytes + K_ZEROS, c->total - c->there);
        c->there = c->total;
    }
}

size_t records_mutate(uint8_t *data, size_t length, size_t max, enum records_for purpose,
                      struct dice *d) {
    take_apart(data, length);
    for (uint64_t n = 1 + roll_below(d, 3); n > 0; n--)
        mutate_once(purpose, d);
    if (roll_below(d, 4) > 0) {
        if (roll_below(d, 16) > 0) tidy(purpose);
        struct shape shape;
        records_walk(records, nrecords, purpose, d, &shape);
        if (roll_below(d, 4) > 0) complete(&shape, d);
    }
    return put_together(data, max);
}
