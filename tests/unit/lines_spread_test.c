/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_spread_test.c - the native kind spreads items evenly over all lines and all bits,
 * however many there are. */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "chains.h"
#include "check.h"
#include "model.h"

/* Chi-square of counts that should all be the same has a mean of n - 1 and a variance of
 * 2 (n - 1). Its cube root is close to normal (Wilson and Hilferty 1931), so this is how
 * many deviations it is off. A uniform choice is off by more than 6 once in 10^9. */
static double deviations_from_uniform(const unsigned *counts, size_t n) {
    double sum = 0, chi = 0, freedom = (double)n - 1;
    for (size_t i = 0; i < n; i++)
        sum += counts[i];
    for (size_t i = 0; i < n; i++) {
        double off = counts[i] - sum / (double)n;
        chi += off * off / (sum / (double)n);
    }
    double spread = 2 / (9 * freedom);
    return (cbrt(chi / freedom) - (1 - spread)) / sqrt(spread);
}

#define LINES 61 /* a prime: no shift or mask makes it by accident */
#define ITEMS 10000

struct counts {
    unsigned line[LINES];
    unsigned bit[512];
};

/* Adds numbered items to an empty layer one at a time, and counts where bits appear. */
static void count_places(struct layer *layer, struct counts *c) {
    struct chain secret = {.secret = {random_u64(), random_u64()}};
    for (uint64_t i = 0; i < ITEMS; i++) {
        unsigned char room[ITEM_ROOM];
        struct item item = item_number(i, room);
        struct hashed hashed;
        kind_lines.hash(&secret, &item, 1, &hashed);
        memset(layer->bits, 0, (size_t)layer->bytes);
        kind_lines.add(layer, hashed);
        for (uint64_t byte = 0; byte < layer->bytes; byte++)
            for (unsigned char left = layer->bits[byte]; left;
                 left &= (unsigned char)(left - 1)) {
                c->line[byte / 64]++;
                c->bit[byte % 64 * 8 + (unsigned)__builtin_ctz(left)]++;
            }
    }
}

/* Numbered items are as far from random as items get: the hash has to do it all. In each
 * line an item sets all its sectors, so a line's count is s times its items. */
TEST(lines_and_bits_are_chosen_evenly) {
    for (uint16_t sectors = 2; sectors <= 8; sectors = (uint16_t)(2 * sectors))
        for (uint16_t probes = 1; probes <= 2; probes++) {
            unsigned char bits[LINES * 64];
            struct layer layer = {
                .bits = bits, .bytes = sizeof bits, .probes = probes, .variant = sectors};
            struct counts c = {{0}, {0}};
            count_places(&layer, &c);
            for (size_t i = 0; i < LINES; i++)
                c.line[i] /= sectors;

            test_case("(%u,%u)", probes, sectors);
            CHECK_NEAR(deviations_from_uniform(c.line, LINES), 0, 6);
            CHECK_NEAR(deviations_from_uniform(c.bit, 512), 0, 6);
        }
}

/* The bit in one sector must not tell the bit in the next, nor the line the bits: else
 * strangers find sets of bits together more often than the sizing reckons. (Asked of the
 * model: lines_test.c proves that its places are the kind's.) */
TEST(line_and_sectors_are_chosen_independently) {
    struct layer layer = {.bytes = 64 * 32, .probes = 1, .variant = 8};
    unsigned neighbours[7][64] = {{0}}, with_line[8][64] = {{0}};
    for (int i = 0; i < 200000; i++) {
        uint64_t places[PLACES_MAX];
        places_of(&layer, random_u64(), places);
        for (unsigned q = 0; q < 8; q++) {
            unsigned here = places[q] % 64 / 8, line = (unsigned)(places[0] / 512 / 4);
            with_line[q][line * 8 + here]++;
            if (q < 7) neighbours[q][here * 8 + places[q + 1] % 64 / 8]++;
        }
    }
    for (unsigned q = 0; q < 8; q++) {
        test_case("sector %u", q);
        CHECK_NEAR(deviations_from_uniform(with_line[q], 64), 0, 6);
        if (q < 7) CHECK_NEAR(deviations_from_uniform(neighbours[q], 64), 0, 6);
    }
}

/* ---- more lines than 32 bits can count ---- */

/* Address space without memory behind it: the largest that this machine gives. */
static unsigned char *vast_array(uint64_t *bytes) {
    for (*bytes = UINT64_C(300) << 30; *bytes > UINT64_C(1) << 30; *bytes /= 2) {
        void *at = mmap(NULL, (size_t)*bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) continue;
        madvise(at, (size_t)*bytes, MADV_NOHUGEPAGE); /* a few KiB for an item, not MiB */
        return at;
    }
    SKIP("no address space");
}

static struct layer vast;

static void unmap_vast(void *unused) {
    (void)unused;
    munmap(vast.bits, (size_t)vast.bytes);
}

static void all_bits_must_be_set(const struct layer *layer, uint64_t x) {
    uint64_t places[PLACES_MAX];
    unsigned n = places_of(layer, x, places);
    for (unsigned p = 0; p < n; p++)
        CHECK(bit_is_set(layer->bits, places[p]));
}

#define VAST_ITEMS 1000

TEST(an_index_has_more_than_32_bits) {
    vast = (struct layer){.probes = 2, .variant = 8};
    vast.bits = vast_array(&vast.bytes);
    test_defer(unmap_vast, NULL);

    unsigned sixteenths[16] = {0}, beyond_32_bits = 0;
    for (int i = 0; i < VAST_ITEMS; i++) {
        struct hashed item = {.x = random_u64()};
        uint64_t line = (uint64_t)((unsigned __int128)item.x * (vast.bytes / 64) >> 64);
        sixteenths[line / (vast.bytes / 1024)]++;
        beyond_32_bits += line > UINT32_MAX;

        kind_lines.prefetch(&vast, 1, &item, 1);
        CHECK(kind_lines.add(&vast, item)); /* nobody else is near */
        CHECK(!kind_lines.add(&vast, item));
        all_bits_must_be_set(&vast, item.x);
    }
    CHECK_NEAR(deviations_from_uniform(sixteenths, 16), 0, 6);
    if (vast.bytes / 64 <= UINT32_MAX) SKIP("only 2^%.0f bytes", log2((double)vast.bytes));
    CHECK(beyond_32_bits > 50); /* 12.7 % of 1000: 127, deviation 10.5 */
}
