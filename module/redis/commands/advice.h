/* SPDX-License-Identifier: BSD-3-Clause */
/* advice.h - what to reserve instead, for a filter that has grown or is over capacity. */
#ifndef BULWARK_ADVICE_H
#define BULWARK_ADVICE_H

#include <stdbool.h>

#include "core/chain.h"

#define ADVICE_MAX 128

/* A line for BF.INFO FULL: "reserve 12400000: saves 21 MB and 11 look-ups". False if one
 * layer for what is in the chain, with a little air, gains nothing. A single layer that is
 * not over capacity gets no advice: its size was chosen. */
bool advice_write(const struct chain *c, char line[ADVICE_MAX]);

/* The number, rounded up to what people like to read: 123456 to 124000. */
uint64_t advice_round(uint64_t n);

#endif
