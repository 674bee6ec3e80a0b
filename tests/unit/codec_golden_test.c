/* SPDX-License-Identifier: BSD-3-Clause */
/* codec_golden_test.c - the bytes of today, kept in tests/golden/: what any version has
 * written every later one reads and writes the same.
 *
 * A file holds records, each after its length (u32, little-endian). It is made once, by
 * `GOLDEN=write make unit TEST=golden`, which never writes over one that is there, and is
 * never edited: a test that fails has found a format that changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "codec.h"
#include "dumps.h"
#include "encode.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- files ---- */

#define GOLDEN_MAX 65536

struct golden {
    char path[256];
    unsigned char bytes[GOLDEN_MAX]; /* what it should be */
    size_t length;
};

/* Tests run in the project's root. */
static void start(struct golden *g, const char *name) {
    snprintf(g->path, sizeof g->path, "tests/golden/%s.bin", name);
    g->length = 0;
}

static void append(struct golden *g, const void *bytes, size_t length) {
    CHECK(length + 4 <= GOLDEN_MAX - g->length);
    store_u32(g->bytes + g->length, (uint32_t)length);
    memcpy(g->bytes + g->length + 4, bytes, length);
    g->length += 4 + length;
}

/* The record after `at`, which moves on; false at the end. */
static bool next_record(const struct golden *g, size_t *at, struct block *r) {
    if (*at == g->length) return false;
    CHECK(g->length - *at >= 4);
    size_t length = load_u32(g->bytes + *at);
    CHECK(g->length - *at - 4 >= length);
    *r = block_of(g->bytes + *at + 4, length);
    block_defer(*r);
    *at += 4 + length;
    return true;
}

static void write_missing(const struct golden *g) {
    FILE *layer = fopen(g->path, "wxb");
    if (!layer && errno == EEXIST) return;
    if (!layer) FAIL("%s: %s", g->path, strerror(errno));
    bool written = fwrite(g->bytes, 1, g->length, layer) == g->length;
    if (fclose(layer) != 0 || !written) FAIL("%s: %s", g->path, strerror(errno));
}

static void read_golden(struct golden *g) {
    FILE *layer = fopen(g->path, "rb");
    if (!layer) FAIL("%s: %s (GOLDEN=write makes it)", g->path, strerror(errno));
    g->length = fread(g->bytes, 1, GOLDEN_MAX, layer);
    fclose(layer);
}

/* What was made must be what is kept. */
static void must_be_golden(struct golden *made) {
    const char *how = getenv("GOLDEN");
    if (how && strcmp(how, "write") == 0) write_missing(made);
    static struct golden kept;
    memcpy(kept.path, made->path, sizeof kept.path);
    read_golden(&kept);
    test_case("%s", kept.path);
    CHECK_MEM(made->bytes, made->length, kept.bytes, kept.length);
}

/* ---- bits ---- */

static const struct secret secret = {UINT64_C(0x0123456789ABCDEF),
                                     UINT64_C(0xFEDCBA9876543210)};

/* Five lines of each shape, with ten items in them. */
TEST(golden_bits_of_every_shape_of_line) {
    static struct golden g;
    start(&g, "lines");
    struct chain c = {.secret = secret};
    for (uint16_t probes = 1; probes <= 4; probes++)
        for (uint16_t sectors = 2; sectors <= 8; sectors = (uint16_t)(2 * sectors)) {
            unsigned char bits[5 * 64] = {0};
            struct layer layer = {
                .bits = bits, .bytes = sizeof bits, .probes = probes, .variant = sectors};
            for (uint64_t i = 0; i < 10; i++) {
                unsigned char room[ITEM_ROOM];
                struct item item = item_number(i, room);
                struct hashed hashed;
                kind_lines.hash(&c, &item, 1, &hashed);
                kind_lines.add(&layer, hashed);
            }
            append(&g, bits, sizeof bits);
        }
    must_be_golden(&g);
}

/* ---- filters ---- */

static const struct recipe {
    const char *name;
    enum codec_form form;
    double error;
    uint32_t expansion;
    uint64_t capacity, items;
    uint64_t missing; /* bytes that have not come */
    struct standing standing;
    uint64_t next; /* items in the next chain of its rebuild; 0: there is none */
} recipes[] = {
    {"nonscaling", CODEC_STORED, 1e-6, 0, 100, 90, 0, {0}, 0},
    {"grown", CODEC_STORED, 0.01, 2, 50, 500, 0, {0}, 0},
    {"loose", CODEC_STORED, 0.4, 1, 300, 700, 0, {0}, 0},
    {"born", CODEC_BORN, 0.001, 4, 1000, 0, 0, {0}, 0},
    {"moved", CODEC_MOVED, 1e-9, 2, 20, 60, 0, {.state = 3, .doubt = 1}, 0},
    {"partial", CODEC_STORED, 0.01, 2, 50, 150, 100, {0}, 0},
    {"later_state",
     CODEC_STORED,
     0.01,
     2,
     50,
     10,
     0,
     {.state = 201,
      .doubt = 0x8001,
      .lease = INT64_C(1893456000000),
      .vouched_at = INT64_C(1767225600000),
      .rebuild_token = UINT64_C(0xA1B2C3D4E5F60718),
      .rebuild_start = -5,
      .rebuild_received = 77},
     0},
    {"ready",
     CODEC_STORED,
     0.001,
     2,
     100,
     150,
     0,
     {.state = STATE_READY,
      .doubt = DOUBT_RESTART | DOUBT_RESTORE,
      .lease = INT64_C(1893456000000),
      .vouched_at = INT64_C(1767225600000)},
     0},
    {"lease",
     CODEC_STORED,
     0.001,
     2,
     100,
     150,
     0,
     {.state = STATE_READY,
      .doubt = DOUBT_LEASE,
      .lease = INT64_C(1767225630000),
      .vouched_at = INT64_C(1767225600000)},
     0},
    {"rebuild",
     CODEC_STORED,
     0.01,
     2,
     50,
     120,
     0,
     {.state = STATE_READY,
      .doubt = DOUBT_FAILOVER | DOUBT_RESTART << DOUBT_REBUILD_SHIFT,
      .vouched_at = INT64_C(1767225600000),
      .rebuild_token = UINT64_C(0x0F1E2D3C4B5A6978),
      .rebuild_start = INT64_C(1767229200000),
      .rebuild_received = 90},
     200},
};

/* Another generation, with another secret and other sizes. */
static struct chain *cook_next(uint64_t items) {
    struct chain_spec spec = {
        .kind = &kind_lines,
        .secret = {secret.k1, secret.k0},
        .identity = UINT64_C(0x99AABBCCDDEEFF00),
        .error = 0.001,
        .expansion = 4,
    };
    struct chain *c;
    struct layer plan;
    CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
    CHECK_INT(chain_plan(c, 60, &plan), BLOOM_OK);
    CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
    chain_fill(c, 0, items);
    return c;
}

static struct filter *cook(const struct recipe *r) {
    struct chain_spec spec = {
        .kind = &kind_lines,
        .secret = secret,
        .identity = UINT64_C(0x1122334455667788),
        .error = r->error,
        .expansion = r->expansion,
    };
    struct filter *f = value_made(counting_memory(), &spec, r->capacity);
    chain_fill(f->live, 0, r->items);
    f->live->missing = r->missing;
    f->standing = r->standing;
    if (r->next > 0) f->next = cook_next(r->next);
    return f;
}

/* Chunks of at most 1000 bytes, so that larger filters have several. */
static void write_chunks(const struct chain *c, struct golden *g) {
    unsigned char buffer[1000];
    for (uint64_t offset = 0;;) {
        size_t length = codec_write_chunk(c, offset, buffer, sizeof buffer, &offset);
        if (length == 0) return;
        append(g, buffer, length);
    }
}

static void write_records(const struct filter *f, enum codec_form form, struct golden *g) {
    struct block header = header_of(f, form);
    append(g, header.bytes, header.length);
    if (form == CODEC_BORN) return;
    write_chunks(f->live, g);
    if (f->next) write_chunks(f->next, g);
}

TEST(golden_filters_are_written_as_ever) {
    for (size_t i = 0; i < COUNT(recipes); i++) {
        static struct golden g;
        start(&g, recipes[i].name);
        write_records(cook(&recipes[i]), recipes[i].form, &g);
        must_be_golden(&g);
    }
}

static struct filter *read_records(struct golden *g) {
    size_t at = 0;
    struct block r;
    uint64_t follows[2], read[2] = {0, 0};
    CHECK(next_record(g, &at, &r));
    struct filter *f = value_read(r, follows);
    while (next_record(g, &at, &r)) {
        bool of_next = f->next && read[0] == follows[0];
        read[of_next] = chunk_must_be_read(of_next ? f->next : f->live, r);
    }
    CHECK_UINT(read[0], follows[0]);
    CHECK_UINT(read[1], follows[1]);
    return f;
}

TEST(golden_filters_are_read_as_ever) {
    for (size_t i = 0; i < COUNT(recipes); i++) {
        const struct recipe *r = &recipes[i];
        static struct golden g, again;
        start(&g, r->name);
        read_golden(&g);
        test_case("%s", g.path);
        struct filter *f = read_records(&g);

        CHECK(f->live->error == r->error);
        CHECK_UINT(f->live->expansion, r->expansion);
        CHECK_UINT(f->live->layers[0].capacity, r->capacity);
        CHECK_UINT(f->live->missing, r->missing);
        if (r->missing == 0) chain_must_hold(f->live, 0, r->items);
        CHECK(!f->next == (r->next == 0));
        if (f->next) chain_must_hold(f->next, 0, r->next);
        bool plain = r->standing.state == STATE_PLAIN || r->form == CODEC_MOVED;
        CHECK(denies(f) == (plain && r->missing == 0));

        again.length = 0;
        write_records(f, r->form, &again);
        CHECK_MEM(again.bytes, again.length, g.bytes, g.length);
    }
}

TEST(a_golden_growth_record_is_written_as_ever) {
    static struct golden g;
    start(&g, "growth");
    struct filter *f = cook(&recipes[1]);
    unsigned char growth[CODEC_GROWTH_LENGTH];
    codec_write_growth(f->live, CODEC_LIVE, growth);
    append(&g, growth, sizeof growth);
    must_be_golden(&g);
}

TEST(a_golden_record_of_counts_is_written_and_read_as_ever) {
    static struct golden g;
    start(&g, "counts");
    struct filter *f = cook(&recipes[1]), *other = cook(&recipes[1]);
    struct block counts = block_of(g.bytes, codec_counts_length(f->live));
    block_defer(counts);
    codec_write_counts(f->live, counts.bytes);
    append(&g, counts.bytes, counts.length);
    must_be_golden(&g);

    const char *why;
    for (uint32_t i = 0; i < other->live->nlayers; i++)
        other->live->layers[i].items = 0;
    CHECK_INT(codec_read_counts(other->live, counts.bytes, counts.length, &why), BLOOM_OK);
    for (uint32_t i = 0; i < other->live->nlayers; i++)
        CHECK_UINT(other->live->layers[i].items, f->live->layers[i].items);
}

/* ---- filters of other libraries ---- */

static const struct {
    const char *name;
    const struct kind *kind;
    uint8_t variant, encoding;
    uint64_t seed;
} libraries[] = {
    {"leveldb", &kind_leveldb, 1, ENCODING_RAW, 0},
    {"clickhouse", &kind_clickhouse, 0, ENCODING_UTF16, UINT64_C(0xFEDCBA9876543210)},
    {"guava", &kind_guava, 1, ENCODING_INT64, 0},
    {"crc32", &kind_crc32, 0, ENCODING_INT32, 0},
};

static struct filter *cook_librarys(size_t i) {
    struct chain_spec spec = {
        .kind = libraries[i].kind,
        .secret = {.k0 = libraries[i].seed},
        .identity = UINT64_C(0x1122334455667788),
        .error = 0.01,
        .variant = libraries[i].variant,
        .encoding = libraries[i].encoding,
    };
    spec.kind->complete(&spec);
    struct filter *f = value_made(counting_memory(), &spec, 50);
    chain_fill(f->live, 0, 50);
    return f;
}

TEST(golden_filters_of_other_libraries_are_written_and_read_as_ever) {
    for (size_t i = 0; i < COUNT(libraries); i++) {
        static struct golden g;
        start(&g, libraries[i].name);
        write_records(cook_librarys(i), CODEC_STORED, &g);
        must_be_golden(&g);

        const struct chain *c = read_records(&g)->live;
        CHECK(c->kind == libraries[i].kind);
        CHECK_UINT(c->variant, libraries[i].variant);
        CHECK_UINT(c->encoding, libraries[i].encoding);
        CHECK_UINT(c->secret.k0, libraries[i].seed);
        chain_must_hold(c, 0, 50);
    }
}
