/* SPDX-License-Identifier: BSD-3-Clause */
/* textbook.h - the flat Bloom filter of the textbooks, to compare with: M bits in one
 * array, N items, k probes anywhere in it. */
#ifndef TEXTBOOK_H
#define TEXTBOOK_H

#include <math.h>

/* M/N at the best k, which needn't be whole. */
static inline double textbook_bits_per_item(double error) {
    return -log(error) / (log(2) * log(2));
}

#endif
