/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizing.h"

#include <stdbool.h>
#include <stddef.h>

#include "real.h"

/* Below this share of the sum a term can't change a double. */
#define NEGLIGIBLE 1e-17

/* From this load on every bit of a line is set, as far as a double can tell. */
#define ALL_SET 1e5

/* The Poisson weights are summed outwards from the largest one, relative to it:
 * exp(-load) is not needed and can't underflow. */
double sizing_line_error(unsigned sectors, double load) {
    if (load > ALL_SET) return 1;
    double clear = 1 - sectors / 512.0; /* one touch leaves a given bit clear */
    uint64_t mode = (uint64_t)load;
    double clear_at_mode = real_power(clear, mode);
    double weights = 1, sum = real_power(1 - clear_at_mode, sectors);

    double weight = 1, still_clear = clear_at_mode;
    for (uint64_t j = mode + 1; weight > NEGLIGIBLE * sum; j++) {
        weight *= load / (double)j;
        still_clear *= clear;
        weights += weight;
        sum += weight * real_power(1 - still_clear, sectors);
        if (weight == 0) break;
    }
    weight = 1;
    still_clear = clear_at_mode;
    for (uint64_t j = mode; j > 0 && weight > NEGLIGIBLE * weights; j--) {
        weight *= (double)j / load;
        still_clear /= clear;
        weights += weight;
        sum += weight * real_power(1 - still_clear, sectors);
    }
    return sum / weights;
}

static double hash_floor(uint64_t items) {
    return (double)items * 0x1p-64;
}

double sizing_error(const struct geometry *g, uint64_t items) {
    double load = (double)g->probes * (double)items / (double)g->lines;
    return real_power(sizing_line_error(g->sectors, load), g->probes) + hash_floor(items);
}

/* How likely something is that happens at least once in so many tries, each with that
 * chance. By doubling, without 1 - chance: that would round a small chance away. */
static double at_least_once(double chance, uint64_t tries) {
    double sum = 0;
    for (; tries > 0; tries >>= 1) {
        if (tries & 1) sum += chance * (1 - sum);
        chance += chance * (1 - chance);
    }
    return sum;
}

double sizing_flat_error(uint64_t bits, unsigned hashes, uint64_t items) {
    double by_an_item = at_least_once(1 / (double)bits, hashes);
    return real_power(at_least_once(by_an_item, items), hashes);
}

/* The load is bisected, not the number of lines: that would start with all items in one
 * line. 1024 is above any load that an error below 1 allows; 1e-3 is far below what the
 * smallest rate needs. */
double sizing_load(unsigned probes, unsigned sectors, double error) {
    double low = 1e-3, high = 1024;
    while (high - low > 1e-13 * low) {
        double middle = low + (high - low) / 2;
        if (real_power(sizing_line_error(sectors, middle), probes) <= error)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Never above SIZING_LINES_MAX: for so many items the hash has no such error. */
static uint64_t count_lines(uint64_t items, double error, const struct geometry *g) {
    double load = sizing_load(g->probes, g->sectors, error - hash_floor(items));
    double lines = (double)g->probes * (double)items / load;
    uint64_t whole = (uint64_t)lines;
    return whole + ((double)whole < lines);
}

/* Where one more line an item begins to save 4 to 5 % of memory. */
static const struct {
    double at_least;
    unsigned probes, sectors;
} families[] = {
    {2e-2, 1, 4}, {2e-3, 1, 8}, {4e-4, 2, 4}, {7e-7, 2, 8}, {7e-10, 3, 8}, {0, 4, 8},
};

enum bloom_status sizing_geometry(uint64_t items, double error, struct geometry *out) {
    if (!(error > 0 && error < 1)) return BLOOM_BAD_ERROR_RATE;
    if (items == 0) return BLOOM_BAD_CAPACITY;
    if (error < 4 * hash_floor(items)) return BLOOM_RATE_TOO_SMALL;

    size_t row = 0;
    while (error < families[row].at_least)
        row++;
    struct geometry g = {families[row].probes, families[row].sectors, 0};
    g.lines = count_lines(items, error, &g);

    /* Two bits an item pay from about 0.2 on. */
    if (error >= 0.1) {
        struct geometry two = {1, 2, 0};
        two.lines = count_lines(items, error, &two);
        if (two.lines < g.lines) g = two;
    }

    *out = g;
    return BLOOM_OK;
}
