/* SPDX-License-Identifier: BSD-3-Clause */
/* real.h - functions of real numbers with the same results on every machine.
 *
 * Sizes are computed from them, and two machines that are asked the same question must give
 * the same answer to the last bit. The math library differs from machine to machine. So
 * only + - * / and comparisons of IEEE doubles are used, compiled without contraction. */
#ifndef BLOOM_REAL_H
#define BLOOM_REAL_H

#include <stdint.h>

/* 1, as on s390x, evaluates floats as doubles. That is fine: there are no floats here. */
#if defined __FAST_MATH__ || (__FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 1)
#error "sizes must come out alike on every machine: plain IEEE doubles are needed"
#endif

#define REAL_LN2 0.693147180559945309417

/* Natural logarithm, correctly rounded except for about one in many million inputs.
 * Returns 0 if x has no finite logarithm. */
double real_log(double x);

/* base^exponent by squaring, rounded at every step.
 * In line: sizing a layer takes thousands. */
static inline double real_power(double base, uint64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

#endif
