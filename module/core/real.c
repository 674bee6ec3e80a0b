/* SPDX-License-Identifier: BSD-3-Clause */
#include "real.h"

#define DOUBLE_MAX 0x1.fffffffffffffp1023

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

/* x = m * 2^e with m in [1/sqrt 2, sqrt 2); log m = 2 artanh((m-1)/(m+1)). Computed in
 * twins, so that the final rounding is right to the last bit for all but one number in many
 * millions: RedisBloom stores logarithms, and its filters must come out the same here. */
double real_log(double x) {
    static const struct twin ln2 = {REAL_LN2, 2.319046813846299558e-17}, two = {2, 0};
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
