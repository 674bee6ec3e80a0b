/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate_test.c - the error estimated from the bits is the one that strangers meet.
 *
 * Layers made by hand have estimates that can be computed on paper. For filled ones the
 * truth is found in two ways, as in rate_test.c: all bits are counted, by other code than
 * the estimate's, and strangers are asked for. Secrets and items are the same in every
 * run, so that what passes once always does. */
#include "estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "kinds/redisbloom/redisbloom.h"
#include "random.h"
#include "sizing.h"
#include "textbook.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct chain_spec fixed_spec(const struct kind *kind, double error,
                                    uint32_t expansion, uint64_t *state) {
    struct chain_spec spec = {
        .kind = kind, .error = error, .expansion = expansion, .asked_expansion = expansion};
    if (kind != &kind_redisbloom)
        spec.secret = (struct secret){random_next(state), random_next(state)};
    if (kind == &kind_valkeybloom)
        spec.secret2 = (struct secret){random_next(state), random_next(state)};
    kind->complete(&spec);
    return spec;
}

static struct chain *made(const struct kind *kind, double error, uint32_t expansion,
                          uint64_t capacity) {
    uint64_t state = 1;
    struct chain_spec spec = fixed_spec(kind, error, expansion, &state);
    return chain_made(counting_memory(), &spec, capacity);
}

/* ---- by hand ---- */

static struct estimate counted(const struct kind *kind, const struct layer *layer) {
    return estimate_layer(kind, layer, UINT64_MAX);
}

static struct layer lines_of(unsigned char *bits, uint64_t bytes, uint16_t probes,
                             uint16_t sectors) {
    return (struct layer){
        .bits = bits, .bytes = bytes, .probes = probes, .variant = sectors};
}

TEST(a_line_passes_by_the_ones_in_each_of_its_sectors) {
    unsigned char line[LINE_BYTES];
    for (unsigned w = 0; w < 8; w++) /* w + 1 bits in word w */
        store_u64(line + 8 * w, (UINT64_C(1) << (w + 1)) - 1);

    struct layer eighths = lines_of(line, sizeof line, 1, 8);
    struct estimate e = counted(&kind_lines, &eighths);
    CHECK_NEAR(e.error, 40320 * 0x1p-48, 1e-25); /* 1*2*...*8 of 64^8 */
    CHECK_NEAR(e.fill, 36 / 512.0, 0);
    CHECK_UINT(e.bits, 512);

    struct layer quarters = lines_of(line, sizeof line, 1, 4);
    CHECK_NEAR(counted(&kind_lines, &quarters).error, 3 * 7 * 11 * 15 * 0x1p-28, 1e-17);

    struct layer halves = lines_of(line, sizeof line, 1, 2);
    CHECK_NEAR(counted(&kind_lines, &halves).error, 10 * 26 * 0x1p-16, 1e-14);
}

TEST(a_layer_of_lines_passes_as_its_lines_do_on_average_once_for_each_probe) {
    unsigned char lines[4 * LINE_BYTES] = {0};
    memset(lines + LINE_BYTES, 0xff, LINE_BYTES);

    for (uint16_t probes = 1; probes <= 4; probes++) {
        struct layer layer = lines_of(lines, sizeof lines, probes, 8);
        CHECK_NEAR(counted(&kind_lines, &layer).error, pow(0.25, probes), 0);
    }
}

TEST(a_line_with_an_empty_sector_passes_nobody) {
    unsigned char line[LINE_BYTES];
    memset(line, 0xff, sizeof line);
    memset(line + 24, 0, 8);

    struct layer layer = lines_of(line, sizeof line, 1, 8);
    CHECK(counted(&kind_lines, &layer).error == 0);
}

TEST(a_foreign_layer_passes_by_its_share_of_ones_once_for_each_probe) {
    unsigned char bytes[11] = {0xff, 0x01, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x9};

    for (size_t k = 0; k < COUNT(kinds); k++) {
        if (!kinds[k]->foreign) continue;
        struct layer layer = {.bits = bytes, .bytes = 11, .probes = 3};
        struct estimate e = counted(kinds[k], &layer);
        CHECK_NEAR(e.fill, 15 / 88.0, 0);
        CHECK_NEAR(e.error, pow(15 / 88.0, 3), 1e-18);
        CHECK_UINT(e.bits, 88);

        layer.bytes = 1;
        CHECK_NEAR(counted(kinds[k], &layer).error, 1, 0);
    }
}

/* Filters of before 2.2 have powers of two: n2 is kept in `sectors`. */
TEST(of_an_old_foreign_layer_only_the_bits_below_its_power_of_two_count) {
    unsigned char bytes[8] = {0x0d, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        uint16_t n2;
        double fill;
    } table[] = {{1, 1 / 2.0},   {2, 3 / 4.0},   {3, 3 / 8.0},
                 {4, 11 / 16.0}, {5, 19 / 32.0}, {6, 51 / 64.0}};

    for (size_t i = 0; i < COUNT(table); i++) {
        test_case("n2 %u", table[i].n2);
        struct layer layer = {
            .bits = bytes, .bytes = 8, .probes = 2, .variant = table[i].n2};
        struct estimate e = counted(&kind_redisbloom, &layer);
        CHECK_NEAR(e.fill, table[i].fill, 0);
        CHECK_NEAR(e.error, table[i].fill * table[i].fill, 0);
        CHECK_UINT(e.bits, UINT64_C(1) << table[i].n2);
    }
}

/* 1000 items fill a layer that is counted, 10^6 one that is sampled. */
TEST(an_empty_chain_errs_never_and_a_chain_of_ones_always) {
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (uint64_t capacity = 1; capacity <= 1000000; capacity *= 1000) {
            test_case("%s, capacity %llu", kinds[k]->name, (unsigned long long)capacity);
            struct chain *c = made(kinds[k], 0.01, 2, capacity);
            struct estimate e = estimate_chain(c);
            CHECK(e.error == 0 && e.fill == 0);

            memset(c->layers[0].bits, 0xff, (size_t)c->layers[0].bytes);
            e = estimate_chain(c);
            CHECK(e.error == 1 && e.fill == 1);

            if (kinds[k]->exceeds) continue;
            chain_must_grow(c); /* the new layer is empty, and adds none */
            e = estimate_chain(c);
            CHECK(e.error == 1 && e.fill > 0 && e.fill < 1);
        }
}

TEST(a_chain_without_layers_errs_never) {
    struct chain_spec spec = random_spec(0.01, 2);
    struct chain *c;
    CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);

    struct estimate e = estimate_chain(c);
    chain_free(c);
    CHECK(e.error == 0 && e.fill == 0 && e.bits == 0 && e.looked_at == 0);
}

/* A chain of foreign layers of one word each, with this number of ones and probes. */
#define WORDS 3
struct words {
    struct chain chain;
    struct layer layers[WORDS];
    unsigned char bits[WORDS][8];
};

static void words_make(struct words *w, const uint64_t bits[WORDS], uint16_t probes) {
    *w = (struct words){
        .chain = {.kind = &kind_valkeybloom, .nlayers = WORDS, .layers = w->layers}};
    for (unsigned i = 0; i < WORDS; i++) {
        store_u64(w->bits[i], bits[i]);
        w->layers[i] = (struct layer){.bits = w->bits[i], .bytes = 8, .probes = probes};
    }
}

TEST(a_chain_passes_whom_one_of_its_layers_passes) {
    struct words w;
    words_make(&w, (uint64_t[]){0xffffffff, 0xffff, 0xff}, 2); /* 1/2, 1/4, 1/8 */

    struct estimate e = estimate_chain(&w.chain);
    CHECK_NEAR(e.error, 1 - (1 - 1 / 4.0) * (1 - 1 / 16.0) * (1 - 1 / 64.0), 1e-15);
    CHECK_NEAR(e.fill, 56 / 192.0, 1e-15);
    CHECK_UINT(e.bits, 192);
    CHECK_UINT(e.looked_at, 24);
}

TEST(the_smallest_errors_of_layers_add_up_without_loss) {
    struct words w;
    words_make(&w, (uint64_t[]){1, 1, 1}, 20); /* 64^-20 is 2^-120 */

    CHECK_NEAR(estimate_chain(&w.chain).error * 0x1p120, 3, 1e-12);
}

TEST(nothing_but_the_bits_counts) {
    for (size_t k = 0; k < COUNT(kinds); k++) {
        if (kinds[k]->exceeds) continue;
        struct chain *c = made(kinds[k], 0.01, 2, 1000);
        chain_fill(c, 0, 3500);
        CHECK(c->nlayers > 1);
        struct estimate before = estimate_chain(c);

        for (uint32_t i = 0; i < c->nlayers; i++)
            c->layers[i].items = i % 2 ? CHAIN_ITEMS_MAX : 0;
        c->missing = 100;
        struct estimate after = estimate_chain(c);
        CHECK(after.error == before.error && after.fill == before.fill);
    }
}

/* ---- what is looked at ---- */

/* A chain of layers that share one array. */
static struct chain *chain_of_equal_layers(const struct kind *kind, uint32_t nlayers,
                                           unsigned char *bits, uint64_t bytes) {
    struct chain *c = calloc(1, sizeof *c);
    struct layer *layers = calloc(nlayers, sizeof *layers);
    if (!c || !layers) abort();
    test_defer(free, c);
    test_defer(free, layers);
    *c = (struct chain){.kind = kind, .nlayers = nlayers, .layers = layers};
    uint16_t sectors = kind == &kind_lines ? 8 : 0;
    for (uint32_t i = 0; i < nlayers; i++)
        layers[i] = lines_of(bits, bytes, 1, sectors);
    return c;
}

static unsigned char *zeros(uint64_t bytes) {
    unsigned char *bits = calloc(1, (size_t)bytes);
    if (!bits) abort();
    test_defer(free, bits);
    return bits;
}

TEST(every_layer_of_the_longest_chains_can_have_a_line_looked_at) {
    for (size_t k = 0; k < COUNT(kinds); k++)
        CHECK(kinds[k]->layers_max * UINT64_C(64) <= ESTIMATE_CHAIN_BYTES);
}

TEST(however_many_and_large_the_layers_are_so_many_bytes_are_looked_at_and_no_more) {
    static const uint64_t sizes[] = {64, 4096, 65536, 65600, 1 << 20};
    unsigned char *bits = zeros(1 << 20);

    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (uint32_t n = 1; n <= kinds[k]->layers_max; n += 1 + n / 3) {
                if (kinds[k]->exceeds) continue;
                struct chain *c = chain_of_equal_layers(kinds[k], n, bits, sizes[s]);
                struct estimate e = estimate_chain(c);
                uint64_t looked_at = e.looked_at;

                test_case("%s, %u layers of %llu bytes: %llu looked at", kinds[k]->name, n,
                          (unsigned long long)sizes[s], (unsigned long long)looked_at);
                CHECK(e.fill == 0); /* no share of nothing */
                CHECK(looked_at <= ESTIMATE_CHAIN_BYTES);
                CHECK(looked_at <= n * ESTIMATE_LAYER_BYTES);
                CHECK(looked_at >= 64 * n);
                if (n <= 16 && sizes[s] <= ESTIMATE_LAYER_BYTES)
                    CHECK_UINT(looked_at, n * sizes[s]);
                if (n >= 16 && sizes[s] > ESTIMATE_LAYER_BYTES)
                    CHECK(looked_at > ESTIMATE_CHAIN_BYTES / 2);
            }
}

TEST(what_small_old_layers_leave_goes_to_the_large_ones_after_them) {
    unsigned char *bits = zeros(1 << 20);
    struct chain *c = chain_of_equal_layers(&kind_lines, 35, bits, 1 << 20);
    for (uint32_t i = 0; i < 20; i++)
        c->layers[i].bytes = 64;

    CHECK_UINT(estimate_chain(c).looked_at, 20 * 64 + 15 * ESTIMATE_LAYER_BYTES);
}

/* The address sanitizer sees the first byte behind the array. */
TEST(nothing_is_read_outside_of_a_layer) {
    static const uint64_t some[] = {64, 65, 1000, 4096, 4097, 12345, 65536};
    for (uint64_t bytes = 1; bytes < 300000; bytes += 1 + bytes / 5)
        for (size_t i = 0; i < COUNT(some); i++) {
            unsigned char *bits = malloc((size_t)bytes);
            if (!bits) abort();
            memset(bits, 0xff, (size_t)bytes);
            struct layer layer = {.bits = bits, .bytes = bytes, .probes = 7};
            struct estimate e = estimate_layer(&kind_valkeybloom, &layer, some[i]);
            free(bits);

            test_case("%llu of %llu bytes", (unsigned long long)some[i],
                      (unsigned long long)bytes);
            CHECK(e.fill == 1 && e.error == 1);
            CHECK(e.looked_at <= some[i] && e.looked_at > 0);
            if (bytes <= some[i]) CHECK_UINT(e.looked_at, bytes);
        }
}

/* A part of the array that is set has its part in the estimate, wherever it is. */
TEST(a_sample_is_spread_over_the_whole_layer) {
    uint64_t bytes = UINT64_C(4) << 20, part = bytes / 8;
    unsigned char *bits = zeros(bytes);
    for (uint64_t at = 0; at < bytes; at += part) {
        memset(bits + at, 0xff, (size_t)part);
        struct layer layer = lines_of(bits, bytes, 1, 8);
        CHECK_NEAR(estimate_layer(&kind_lines, &layer, ESTIMATE_LAYER_BYTES).fill, 1 / 8.0,
                   0);
        memset(bits + at, 0, (size_t)part);
    }
}

/* ---- filled ---- */

/* The error of a layer by all its bits, and how much a sample of one line (or bit)
 * deviates, as a part of it. */
struct truth {
    double error, deviation;
};

static double line_passes(const unsigned char *line, unsigned sectors) {
    unsigned set[8] = {0};
    for (unsigned bit = 0; bit < 512; bit++)
        set[bit / (512 / sectors)] += line[bit / 8] >> (bit % 8) & 1;
    double pass = 1;
    for (unsigned q = 0; q < sectors; q++)
        pass *= set[q] * sectors / 512.0;
    return pass;
}

static struct truth truth_of(double sum, double squares, double n, unsigned probes) {
    double mean = sum / n, variance = squares / n - mean * mean;
    return (struct truth){pow(mean, probes),
                          mean > 0 ? probes * sqrt(fmax(variance, 0)) / mean : 0};
}

static struct truth truth_of_lines(const struct layer *layer) {
    double sum = 0, squares = 0;
    for (uint64_t at = 0; at < layer->bytes; at += LINE_BYTES) {
        double pass = line_passes(layer->bits + at, layer->variant);
        sum += pass;
        squares += pass * pass;
    }
    return truth_of(sum, squares, (double)(layer->bytes / LINE_BYTES), layer->probes);
}

static struct truth truth_of_bits(const struct layer *layer) {
    double set = 0;
    for (uint64_t i = 0; i < layer->bytes; i++)
        set += __builtin_popcount(layer->bits[i]);
    return truth_of(set, set, 8.0 * (double)layer->bytes, layer->probes);
}

/* Of a sample of a layer, as a part of the error: 0 if all of it is counted. */
static double sampling_noise(const struct chain *c, struct truth truth) {
    double samples = ESTIMATE_LAYER_BYTES / LINE_BYTES;
    if (c->kind->foreign) samples = 8 * ESTIMATE_LAYER_BYTES;
    return c->layers[0].bytes <= ESTIMATE_LAYER_BYTES ? 0 : truth.deviation / sqrt(samples);
}

static struct truth truth_of_layer(const struct chain *c) {
    return c->kind->foreign ? truth_of_bits(c->layers) : truth_of_lines(c->layers);
}

/* Errors among this number of strangers. Members' numbers are below 2^32. */
static double errors_seen(const struct chain *c, uint64_t first, uint64_t strangers) {
    struct batch b;
    uint8_t maybe[BATCH_MAX];
    uint64_t seen = 0;
    for (uint64_t done = 0; done < strangers; done += BATCH_MAX) {
        batch_of(&b, (UINT64_C(1) << 32) + first + done, BATCH_MAX);
        chain_ask(c, b.items, BATCH_MAX, maybe);
        for (size_t i = 0; i < BATCH_MAX; i++)
            seen += maybe[i];
    }
    return (double)seen;
}

/* Adds over capacity where there is no room. */
static void fill_over(struct chain *c, uint64_t first, uint64_t end) {
    struct batch b;
    uint8_t added[BATCH_MAX];
    while (first < end) {
        size_t n = end - first < BATCH_MAX ? (size_t)(end - first) : BATCH_MAX;
        batch_of(&b, first, n);
        chain_add(c, b.items, n, added, CHAIN_EXCEED);
        first += n;
    }
}

static double model_error(const struct layer *layer, const struct kind *kind,
                          uint64_t items) {
    struct geometry g = {layer->probes, layer->variant, layer->bytes / LINE_BYTES};
    if (!kind->foreign) return sizing_error(&g, items);
    return sizing_flat_error(8 * layer->bytes, layer->probes, items);
}

/* Foreign kinds make all places of two hashes. A stranger whose hashes come out as a
 * member's, counted from either end, passes at once: 2n/bits^2. With those who share all
 * places but a few it is three times that where half of the bits are set. The estimate
 * leaves this out. */
static double twins(const struct chain *c, uint64_t items) {
    double bits = 8.0 * (double)c->layers[0].bytes;
    return c->kind->foreign ? 6.0 * (double)items / (bits * bits) : 0;
}

struct setup {
    const struct kind *kind;
    double error;
    uint64_t capacity;
    unsigned secrets; /* kind redisbloom has none: sets of items */
};

/* At a percentage of the capacity; means over the secrets. */
#define LOADS 4
static const unsigned loads[LOADS] = {10, 50, 100, 200};
struct row {
    double estimated, measured, model;
    double twins;          /* at most: strangers with a member's hashes, in foreign kinds */
    double errors;         /* strangers that were taken for members */
    double chance;         /* the deviation that `measured` has by chance */
    double sampling;       /* and `estimated`, if it is of a sample */
    double worst_sampling; /* the most that one was off, in its deviations */
};

static uint64_t strangers_for(double error, uint64_t most) {
    double wanted = 1000 / error;
    return wanted < (double)most ? (uint64_t)wanted : most;
}

static void measure_at(struct row *row, const struct setup *s, struct chain *c,
                       uint64_t first, uint64_t items, uint64_t most) {
    double model = model_error(c->layers, c->kind, items);
    double strangers = (double)(strangers_for(model, most) / BATCH_MAX + 1) * BATCH_MAX;
    double errors = errors_seen(c, first, (uint64_t)strangers);
    double estimated = estimate_chain(c).error, n = s->secrets;
    struct truth truth = truth_of_layer(c);
    double sampling = sampling_noise(c, truth) * truth.error;
    double off = fabs(estimated - truth.error);

    row->model += model / n;
    row->estimated += estimated / n;
    row->measured += errors / strangers / n;
    row->errors += errors;
    row->twins += twins(c, items) / n;
    row->chance = hypot(row->chance, sqrt(truth.error / strangers) / n);
    row->sampling = hypot(row->sampling, sampling / n);
    if (sampling > 0) row->worst_sampling = fmax(row->worst_sampling, off / sampling);
    if (sampling == 0) CHECK_NEAR(estimated, truth.error, 1e-12 * truth.error);
}

static void measure(const struct setup *s, uint64_t most, struct row rows[LOADS]) {
    uint64_t state = s->capacity + (uint64_t)(1 / s->error);
    memset(rows, 0, LOADS * sizeof *rows);
    for (unsigned i = 0; i < s->secrets; i++) {
        struct chain_spec spec = fixed_spec(s->kind, s->error, 0, &state);
        struct chain *c = chain_made(counting_memory(), &spec, s->capacity);
        uint64_t first = i * 4 * s->capacity, done = 0;
        for (unsigned l = 0; l < LOADS; l++) {
            uint64_t items = s->capacity * loads[l] / 100;
            fill_over(c, first + done, first + items);
            done = items;
            measure_at(&rows[l], s, c, first, items, most);
        }
    }
}

static void name_case(const struct setup *s, unsigned load) {
    test_case("%s, error %g, capacity %llu, %u %% full", s->kind->name, s->error,
              (unsigned long long)s->capacity, load);
}

/* 5 deviations would be passed once in 10^6 times by chance. Where not one error is
 * expected one may be seen. `one` is what a single error is in the mean. */
static void must_be_right(const struct setup *s, const struct row rows[LOADS],
                          uint64_t most) {
    for (unsigned l = 0; l < LOADS; l++) {
        const struct row *r = &rows[l];
        name_case(s, loads[l]);
        double one = 1 / (double)most / s->secrets;
        double noise = hypot(hypot(r->chance, r->sampling), sqrt(r->twins * one));
        CHECK_NEAR(r->measured, r->estimated, 5 * noise + r->twins + one);
        CHECK_NEAR(r->worst_sampling, 0, 5);
    }
}

static const struct setup setups[] = {
    {&kind_lines, 0.1, 0, 0},       {&kind_lines, 0.01, 0, 0},
    {&kind_lines, 0.001, 0, 0},     {&kind_lines, 1e-5, 0, 0},
    {&kind_redisbloom, 0.01, 0, 0}, {&kind_valkeybloom, 0.01, 0, 0},
};

static void quick(uint64_t capacity, unsigned secrets, uint64_t most) {
    struct row rows[LOADS];
    for (size_t i = 0; i < COUNT(setups); i++) {
        struct setup s = setups[i];
        s.capacity = capacity;
        s.secrets = secrets;
        measure(&s, most, rows);
        must_be_right(&s, rows, most);
    }
}

TEST(what_a_counted_filter_is_said_to_err_is_what_strangers_see) {
    quick(100, 20, 20000);
    quick(10000, 4, 50000);
}

TEST(what_a_sampled_filter_is_said_to_err_is_what_strangers_see) {
    quick(200000, 2, 50000);
}

TEST(what_a_grown_chain_is_said_to_err_is_what_strangers_see) {
    for (size_t k = 0; k < COUNT(kinds); k++) {
        if (kinds[k]->exceeds) continue;
        test_case("%s", kinds[k]->name);
        struct chain *c = made(kinds[k], 0.01, 2, 1000);
        chain_fill(c, 0, 20000);
        CHECK(c->nlayers >= 5);

        double estimated = estimate_chain(c).error, strangers = 400 * BATCH_MAX;
        double chance = sqrt(estimated / strangers);
        CHECK_NEAR(errors_seen(c, 0, (uint64_t)strangers) / strangers, estimated,
                   5 * chance);
    }
}

/* Both kinds err more than their bits tell: by how much depends on the sizes. */
TEST(a_filter_of_small_hashes_is_said_to_err_as_strangers_see) {
    static const struct {
        const struct kind *kind;
        double error, seen; /* the least that these sizes are known to err at */
        uint64_t items;
    } table[] = {{&kind_leveldb, .01, .0140, 100000},
                 {&kind_leveldb, .05, .0550, 777777},
                 {&kind_leveldb, .001, .0024, 777777},
                 {&kind_crc32, .001, .0025, 5000000}};
    for (size_t i = 0; i < COUNT(table); i++) {
        test_case("%s, %g", table[i].kind->name, table[i].error);
        struct chain *c = made(table[i].kind, table[i].error, 0, table[i].items);
        fill_over(c, 0, table[i].items);
        double strangers = 4000 * BATCH_MAX, estimated = estimate_chain(c).error;
        double seen = errors_seen(c, 0, (uint64_t)strangers) / strangers;
        double chance = sqrt(estimated / ESTIMATE_ASKED) + sqrt(estimated / strangers);
        CHECK(seen > table[i].seen);
        CHECK_NEAR(estimated, seen, 3 * chance);
    }
}

static uint64_t lookups;

static void count_lookups(const struct layer *layers, size_t nlayers,
                          const struct hashed *items, size_t n, uint8_t *maybe) {
    lookups += n * layers->probes;
    kind_crc32.ask(layers, nlayers, items, n, maybe);
}

TEST(however_many_probes_a_layer_has_so_many_places_are_asked_for_and_no_more) {
    static const uint16_t probes[] = {1, 64, 65, 1000, UINT16_MAX};
    unsigned char ones[LINE_BYTES];
    struct kind kind = kind_crc32;
    kind.ask = count_lookups;
    memset(ones, 0xff, sizeof ones);
    for (size_t i = 0; i < COUNT(probes); i++) {
        struct layer layer = {
            .bits = ones, .bytes = LINE_BYTES, .parameter = 512, .probes = probes[i]};
        lookups = 0;
        test_case("%u probes", probes[i]);
        CHECK(estimate_layer(&kind, &layer, LINE_BYTES).error == 1);
        CHECK(lookups > 0 && lookups <= ESTIMATE_LOOKUPS);
    }
}

/* ---- the long version ---- */

/* 1000 errors in each of ten filters know the mean to 1 %. */
TEST(estimated_and_measured_errors_as_a_table) {
    uint64_t most = 10000000;
    if (!getenv("LONG")) SKIP("takes minutes: LONG=1 runs it");

    printf("%-12s %6s %5s | %10s %10s %10s | %8s %8s %8s\n", "10^6 items", "asked", "full",
           "estimated", "measured", "model", "errors", "chance", "sampling");
    for (size_t i = 0; i < COUNT(setups); i++) {
        struct row rows[LOADS];
        struct setup s = setups[i];
        s.capacity = 1000000;
        s.secrets = 10;
        test_time_limit(3600);
        measure(&s, most, rows);
        for (unsigned l = 0; l < LOADS; l++) {
            const struct row *r = &rows[l];
            printf("%-12s %6g %4u%% | %10.3e %10.3e %10.3e | %8.0f %7.1f%% %7.1f%%\n",
                   s.kind->name, s.error, loads[l], r->estimated, r->measured, r->model,
                   r->errors, 100 * r->chance / r->estimated,
                   100 * r->sampling * sqrt(s.secrets) / r->estimated);
        }
        fflush(stdout);
        must_be_right(&s, rows, most);
    }
}
