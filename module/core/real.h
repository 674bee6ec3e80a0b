/* SPDX-License-Identifier: BSD-3-Clause */
/* real.h - functions of real numbers that come out alike on every machine.
 *
 * Sizes follow from them, and two machines that are asked the same question have to give
 * the same answer to the last bit: a libm is another one on each. So only + - * / and
 * comparisons of IEEE doubles are used, compiled without contraction. */
#ifndef BLOOM_REAL_H
#define BLOOM_REAL_H

#include <stdint.h>

/* 1, as on s390x, makes doubles of floats, which there are none of here. */
#if defined __FAST_MATH__ || (__FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 1)
#error "sizes must come out alike on every machine: plain IEEE doubles are needed"
#endif

/* Natural logarithm, correctly rounded as good as always. What has no finite one gets 0. */
double real_log(double x);

/* base^exponent by squaring, rounded at every step. */
double real_power(double base, uint64_t exponent);

#endif
