/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.h - the time between two tries, twice as long after each that was in vain. */
#ifndef FEED_PAUSE_H
#define FEED_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct pause {
    int64_t ends; /* clock; 0: there was none */
    int64_t ms;   /* how long the next one is */
};

/* Begins one, of no more than so many ms. */
void pause_begin(struct pause *p, int64_t most);
bool pause_is_over(const struct pause *p);

#endif
