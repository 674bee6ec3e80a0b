/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_test.c - the native kind, one layer at a time: which bits an item has, and who
 * touches them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bytes.h"
#include "chains.h"
#include "check.h"
#include "model.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Every probe count with every sector count. */
static const struct {
    uint16_t probes, sectors;
} shapes[] = {{1, 2}, {1, 4}, {1, 8}, {2, 2}, {2, 4}, {2, 8},
              {3, 2}, {3, 4}, {3, 8}, {4, 2}, {4, 4}, {4, 8}};

static void free_bits(void *bits) {
    free(bits);
}

/* A layer of this number of lines, all zero, freed when the test ends. */
static struct layer layer_of(size_t shape, uint64_t lines) {
    struct layer layer = {
        .bytes = lines * 64,
        .capacity = 1000,
        .error = 0.01,
        .parameter = 0.01,
        .probes = shapes[shape].probes,
        .variant = shapes[shape].sectors,
    };
    layer.bits = calloc(1, (size_t)layer.bytes);
    CHECK(layer.bits != NULL);
    test_defer(free_bits, layer.bits);
    test_case("(%u,%u), %llu lines", layer.probes, layer.variant,
              (unsigned long long)lines);
    return layer;
}

static bool add(struct layer *layer, uint64_t x) {
    return kind_lines.add(layer, (struct hashed){.x = x});
}

static bool ask(const struct layer *layer, uint64_t x) {
    struct hashed item = {.x = x};
    uint8_t maybe;
    kind_lines.ask(layer, 1, &item, 1, &maybe);
    return maybe;
}

static unsigned count_bits(const unsigned char *bytes, uint64_t n) {
    unsigned count = 0;
    for (uint64_t i = 0; i < n; i++)
        count += (unsigned)__builtin_popcount(bytes[i]);
    return count;
}

/* ---- which bits ---- */

TEST(an_item_is_its_siphash) {
    struct chain c = {.secret = {random_u64(), random_u64()}};
    struct batch b;
    struct hashed hashed[100];
    batch_of(&b, 0, 100);
    kind_lines.hash(&c, b.items, 100, hashed);
    for (size_t i = 0; i < 100; i++)
        CHECK_UINT(hashed[i].x, siphash13(&c.secret, b.items[i].bytes, b.items[i].length));
}

static unsigned count_touched(const struct layer *layer) {
    unsigned touched = 0;
    for (uint64_t line = 0; line < layer->bytes / 64; line++)
        touched += count_bits(layer->bits + line * 64, 64) > 0;
    return touched;
}

static void sectors_must_have_one_bit(const struct layer *layer,
                                      const unsigned char *line) {
    if (count_bits(line, 64) == 0) return;
    for (unsigned q = 0, sector = 64u / layer->variant; q < layer->variant; q++)
        CHECK_UINT(count_bits(line + q * sector, sector), 1);
}

TEST(an_item_sets_one_bit_in_each_sector_of_its_lines) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 100);
        for (int trial = 0; trial < 100; trial++) {
            memset(layer.bits, 0, (size_t)layer.bytes);
            add(&layer, random_u64());
            CHECK(count_bits(layer.bits, layer.bytes) <= layer.probes * layer.variant);

            if (count_touched(&layer) < layer.probes)
                continue; /* two of its lines are the same */
            for (uint64_t line = 0; line < 100; line++)
                sectors_must_have_one_bit(&layer, layer.bits + line * 64);
        }
    }
}

/* A place for each probe and sector, computed by the other implementation. */
TEST(the_bits_are_where_the_description_says) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 1 + random_below(300));
        struct layer wanted = layer_of(shape, layer.bytes / 64);
        for (int i = 0; i < 300; i++) {
            uint64_t x = random_u64(), places[PLACES_MAX];
            unsigned n = places_of(&layer, x, places);
            CHECK_UINT(n, layer.probes * layer.variant);

            add(&layer, x);
            for (unsigned p = 0; p < n; p++)
                wanted.bits[places[p] / 8] |= (unsigned char)(1 << places[p] % 8);
        }
        CHECK_MEM(layer.bits, (size_t)layer.bytes, wanted.bits, (size_t)wanted.bytes);
    }
}

TEST(the_lowest_and_the_highest_hash_stay_inside) {
    static const uint64_t hashes[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    for (size_t shape = 0; shape < COUNT(shapes); shape++)
        for (uint64_t lines = 1; lines < 70; lines += 17) {
            struct layer layer =
                layer_of(shape, lines); /* the sanitizer watches its ends */
            for (size_t i = 0; i < COUNT(hashes); i++) {
                add(&layer, hashes[i]);
                CHECK(ask(&layer, hashes[i]));
            }
        }
    struct layer layer = layer_of(0, 1000);
    add(&layer, UINT64_MAX);
    CHECK(count_bits(layer.bits + 999 * 64, 64) == 2);
    add(&layer, 0);
    CHECK(count_bits(layer.bits, 64) == 2);
}

/* ---- answers ---- */

TEST(an_added_item_is_never_denied) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 40);
        uint64_t items[2000];
        for (size_t i = 0; i < COUNT(items); i++)
            add(&layer, items[i] = random_u64());
        for (size_t i = 0; i < COUNT(items); i++)
            CHECK(ask(&layer, items[i]));
    }
}

TEST(an_add_says_what_a_question_would_have_said) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 20);
        unsigned there_already = 0;
        for (int i = 0; i < 3000; i++) {
            uint64_t x = random_u64();
            bool maybe = ask(&layer, x);
            CHECK(add(&layer, x) == !maybe);
            there_already += maybe;
        }
        CHECK(there_already > 0); /* full enough for both answers to have come */
    }
}

TEST(an_empty_layer_denies_everything) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 3);
        for (int i = 0; i < 1000; i++)
            CHECK(!ask(&layer, random_u64()));
    }
}

TEST(a_block_is_answered_from_all_layers) {
    struct layer layers[12];
    struct hashed items[12], strangers[64];
    for (size_t i = 0; i < 12; i++) {
        layers[i] = layer_of(i, 1000);
        items[i].x = random_u64();
        add(&layers[i], items[i].x);
    }
    uint8_t maybe[64];
    kind_lines.prefetch(layers, 12, items, 12);
    kind_lines.ask(layers, 12, items, 12, maybe);
    for (size_t i = 0; i < 12; i++)
        CHECK_INT(maybe[i], 1);

    for (size_t i = 0; i < 64; i++)
        strangers[i].x = random_u64();
    kind_lines.ask(layers, 12, strangers, 64, maybe);
    for (size_t i = 0; i < 64; i++)
        CHECK_INT(maybe[i], 0); /* by chance once in a million runs */
}

TEST(arrays_at_odd_addresses_hold_the_same_bits) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 50), odd = layer_of(shape, 51);
        odd.bytes = layer.bytes;
        odd.bits += 1 + random_below(63);
        for (int i = 0; i < 500; i++) {
            uint64_t x = random_u64();
            CHECK(add(&layer, x) == add(&odd, x));
            CHECK(ask(&odd, x));
        }
        CHECK_MEM(odd.bits, (size_t)odd.bytes, layer.bits, (size_t)layer.bytes);
    }
}

/* ---- who writes ---- */

/* The array is made read-only: a store, even of what is there, would end the process.
 * That is what keeps pages shared with a child that is saving them. */
TEST(adding_what_is_there_stores_nothing) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 64); /* one page */
        unsigned char *page = mmap(NULL, (size_t)layer.bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(page != MAP_FAILED);
        layer.bits = page;
        uint64_t items[500];
        for (size_t i = 0; i < COUNT(items); i++)
            add(&layer, items[i] = random_u64());

        CHECK_INT(mprotect(page, (size_t)layer.bytes, PROT_READ), 0);
        for (size_t i = 0; i < COUNT(items); i++)
            CHECK(!add(&layer, items[i]));
        munmap(page, (size_t)layer.bytes);
    }
}

TEST(a_question_stores_nothing) {
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct layer layer = layer_of(shape, 64);
        unsigned char *page =
            mmap(NULL, (size_t)layer.bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(page != MAP_FAILED);
        layer.bits = page;
        for (int i = 0; i < 100; i++) {
            struct hashed item = {.x = random_u64()};
            kind_lines.prefetch(&layer, 1, &item, 1);
            CHECK(!ask(&layer, item.x));
        }
        munmap(page, (size_t)layer.bytes);
    }
}

/* Of an item with several lines only those that lack a bit are written to. A layer of
 * two pages, and a hash whose two lines are in different ones. */
TEST(lines_that_have_the_bits_stay_clean) {
    struct layer layer = {.bytes = 8192, .probes = 2, .variant = 8};
    unsigned char *pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    layer.bits = pages;
    uint64_t x = 0, places[PLACES_MAX];
    do
        places_of(&layer, ++x, places);
    while (places[0] / 32768 == places[8] / 32768);
    add(&layer, x);

    pages[places[15] / 8] = 0; /* the second line lacks a bit */
    CHECK_INT(mprotect(pages + places[0] / 32768 * 4096, 4096, PROT_READ), 0);
    CHECK(add(&layer, x));
    CHECK(ask(&layer, x));
    munmap(pages, 8192);
}

/* ---- what a layer may be ---- */

TEST(every_flaw_of_a_layer_has_a_name) {
    static const struct {
        const char *name;
        uint64_t bytes;
        uint16_t probes, sectors;
        const char *flaw;
    } table[] = {
        {"smallest", 64, 1, 2, NULL},
        {"largest", UINT64_C(1) << 62, 4, 8, NULL},
        {"half a line", 32, 1, 8, "a layer is not whole lines"},
        {"a line and a byte", 65, 1, 8, "a layer is not whole lines"},
        {"one line too many", (UINT64_C(1) << 62) + 64, 1, 8, "a layer has too many lines"},
        {"2^64 - 64 bytes", UINT64_MAX - 63, 1, 8, "a layer has too many lines"},
        {"no probe", 64, 0, 8, "a layer has a bad number of probes"},
        {"five probes", 64, 5, 8, "a layer has a bad number of probes"},
        {"most probes", 64, 65535, 8, "a layer has a bad number of probes"},
        {"no sector", 64, 1, 0, "a layer has a bad number of sectors"},
        {"one sector", 64, 1, 1, "a layer has a bad number of sectors"},
        {"three sectors", 64, 1, 3, "a layer has a bad number of sectors"},
        {"16 sectors", 64, 1, 16, "a layer has a bad number of sectors"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct layer layer = {
            .bytes = table[i].bytes,
            .probes = table[i].probes,
            .variant = table[i].sectors,
        };
        test_case("%s", table[i].name);
        CHECK_STR(kind_lines.flaw(&layer), table[i].flaw);
    }
}
