/* SPDX-License-Identifier: BSD-3-Clause */
/* advice.h - what to reserve instead, for a filter that has grown or is over capacity. */
#ifndef BULWARK_ADVICE_H
#define BULWARK_ADVICE_H

#include <stdbool.h>

#include "core/chain.h"

#define ADVICE_MAX 128

/* Writes a line for BF.INFO FULL: "reserve 12400000: saves 20 MiB and 11 look-ups". False
 * if a single layer for the items in the chain, plus some reserve, would gain nothing. A
 * single layer that is not over capacity gets no advice: its size was chosen. */
bool advice_write(const struct chain *c, char line[ADVICE_MAX]);

/* Rounds a number up to three digits: 123456 to 124000. */
uint64_t advice_round(uint64_t n);

#endif
