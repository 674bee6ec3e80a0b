/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizing.h"

#include <stdbool.h>
#include <stddef.h>

#define LN2 0.693147180559945309417

/* ln 2 in two parts, the first short enough to be multiplied without rounding. */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW  1.90821492927058770002e-10

#define DOUBLE_MAX 0x1.fffffffffffffp1023

/* 1, as on s390x, makes doubles of floats, which there are none of here. */
#if defined __FAST_MATH__ || (__FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 1)
#error "sizes must come out alike on every machine: plain IEEE doubles are needed"
#endif

/* Below this share of the sum a term can't change a double. */
#define NEGLIGIBLE 1e-17

/* From this load on every bit of a line is set, as far as a double can tell. */
#define ALL_SET 1e5

double sizing_power(double base, uint64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* The Poisson weights are summed outwards from the largest one, relative to it:
 * exp(-load) is not needed and can't underflow. */
double sizing_line_error(unsigned sectors, double load) {
    if (load > ALL_SET) return 1;
    double clear = 1 - sectors / 512.0; /* one touch leaves a given bit clear */
    uint64_t mode = (uint64_t)load;
    double clear_at_mode = sizing_power(clear, mode);
    double weights = 1, sum = sizing_power(1 - clear_at_mode, sectors);

    double weight = 1, still_clear = clear_at_mode;
    for (uint64_t j = mode + 1; weight > NEGLIGIBLE * sum; j++) {
        weight *= load / (double)j;
        still_clear *= clear;
        weights += weight;
        sum += weight * sizing_power(1 - still_clear, sectors);
        if (weight == 0) break;
    }
    weight = 1;
    still_clear = clear_at_mode;
    for (uint64_t j = mode; j > 0 && weight > NEGLIGIBLE * weights; j--) {
        weight *= (double)j / load;
        still_clear /= clear;
        weights += weight;
        sum += weight * sizing_power(1 - still_clear, sectors);
    }
    return sum / weights;
}

static double hash_floor(uint64_t items) {
    return (double)items * 0x1p-64;
}

double sizing_error(const struct geometry *g, uint64_t items) {
    double load = (double)g->probes * (double)items / (double)g->lines;
    return sizing_power(sizing_line_error(g->sectors, load), g->probes) + hash_floor(items);
}

/* The load is bisected, not the number of lines: that would start with all
 * items in one line. 1024 is past any load that a rate below 1 allows to pay
 * for, 1e-3 is far below what the smallest rate needs. */
double sizing_load(unsigned probes, unsigned sectors, double error) {
    double low = 1e-3, high = 1024;
    while (high - low > 1e-13 * low) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        if (sizing_power(sizing_line_error(sectors, middle), probes) <= error)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool count_lines(uint64_t items, double error, struct geometry *g) {
    double load = sizing_load(g->probes, g->sectors, error - hash_floor(items));
    double lines = (double)g->probes * (double)items / load;
    if (!(lines < (double)SIZING_LINES_MAX)) return false;

    g->lines = (uint64_t)lines;
    if ((double)g->lines < lines || g->lines == 0) g->lines++;
    return true;
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
    if (!count_lines(items, error, &g)) return BLOOM_TOO_BIG;

    /* Two bits an item pay from about 0.2 on. */
    struct geometry two = {1, 2, 0};
    if (error >= 0.1 && count_lines(items, error, &two) && two.lines < g.lines) g = two;

    *out = g;
    return BLOOM_OK;
}

double sizing_textbook_bits_per_item(double error) {
    return -sizing_log(error) / (LN2 * LN2);
}

double sizing_textbook_error(double bits_per_item, unsigned probes) {
    return sizing_power(1 - sizing_exp(-(double)probes / bits_per_item), probes);
}

/* A number as the sum of two doubles, for about 100 bits. */
struct twin {
    double high, low;
};

static struct twin twin_of_sum(double a, double b) {
    double sum = a + b, part = sum - a;
    return (struct twin){sum, (a - (sum - part)) + (b - part)};
}

/* Cuts a double in two halves of 26 bits, whose products are exact. */
static struct twin halves(double v) {
    double high = v * 134217729; /* 2^27 + 1 */
    high -= high - v;
    return (struct twin){high, v - high};
}

static struct twin twin_of_product(double a, double b) {
    struct twin x = halves(a), y = halves(b);
    double product = a * b, rest = x.high * y.high - product;
    rest += x.high * y.low + x.low * y.high;
    return (struct twin){product, rest + x.low * y.low};
}

static struct twin twin_sum(struct twin a, struct twin b) {
    struct twin sum = twin_of_sum(a.high, b.high);
    return twin_of_sum(sum.high, sum.low + a.low + b.low);
}

static struct twin twin_product(struct twin a, struct twin b) {
    struct twin product = twin_of_product(a.high, b.high);
    return twin_of_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static struct twin twin_ratio(struct twin a, struct twin b) {
    double first = a.high / b.high;
    struct twin used = twin_product((struct twin){first, 0}, b);
    double rest = (a.high - used.high) - used.low + a.low;
    return twin_of_sum(first, rest / b.high);
}

/* x = m * 2^e with m in [1/sqrt 2, sqrt 2); log m = 2 artanh((m-1)/(m+1)). In twins,
 * so that what is rounded in the end is right to the last bit but for one number in
 * many millions: RedisBloom stores logarithms, and its filters are to come out alike. */
double sizing_log(double x) {
    static const struct twin ln2 = {LN2, 2.319046813846299558e-17}, two = {2, 0};
    int exponent = 0;
    if (!(x > 0 && x <= DOUBLE_MAX)) return 0;
    for (; x >= 1.4142135623730951; exponent++)
        x /= 2;
    for (; x < 0.7071067811865476; exponent--)
        x *= 2;

    struct twin t = twin_ratio((struct twin){x - 1, 0}, twin_of_sum(x, 1));
    struct twin square = twin_product(t, t), sum = {0, 0};
    for (int i = 43; i > 0; i -= 2) { /* t < 0.172: t^44 is below 2^-110 */
        struct twin term = twin_ratio((struct twin){1, 0}, (struct twin){i, 0});
        sum = twin_sum(twin_product(sum, square), term);
    }
    sum = twin_product(twin_product(two, t), sum);
    return twin_sum(twin_product((struct twin){exponent, 0}, ln2), sum).high;
}

/* x = e * ln 2 + r with |r| <= ln 2 / 2, and Taylor's series for r. */
double sizing_exp(double x) {
    if (x != x) return x;
    if (x < -745) return 0; /* below the smallest double */
    if (x > 709) x = 709;   /* stay finite */
    int exponent = (int)(x / LN2 + (x < 0 ? -0.5 : 0.5));
    double r = (x - exponent * LN2_HIGH) - exponent * LN2_LOW, result = 1;
    for (int i = 18; i > 0; i--)
        result = 1 + result * r / i;
    for (; exponent > 0; exponent--)
        result *= 2;
    for (; exponent < 0; exponent++)
        result /= 2;
    return result;
}
