/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - what `bulwark plan` says, before it is text or JSON. */
#ifndef CLIENT_PLAN_H
#define CLIENT_PLAN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fail.h"
#include "cost.h"

#define PLAN_RATES  6
#define PLAN_SIZES  3
#define PLAN_HASHES 8

struct plan {
    uint64_t items;
    double error;
    const char *items_text, *error_text; /* as they were written */
    uint64_t memory;                     /* that all may take; 0: the rate was given */
    char rate[16];                       /* ... which it allows */

    struct cost grows, fixed; /* the native kind, that may grow, and that may not */
    struct cost kinds[KINDS]; /* each kind, grown if it can; the native one is among them */

    /* The textbook's filter with the bits of its bound, or of the memory: with the best
     * number of hashes, and with up to one more. */
    struct cost textbook, hashes[PLAN_HASHES];

    struct {
        double error;
        struct cost cost;
    } rates[PLAN_RATES];

    /* More items came: in the filter that has grown, in the one that may not, and in one
     * that was made for so many. */
    struct {
        uint64_t items;
        struct cost grown, over, right;
    } sizes[PLAN_SIZES];

    /* What is to be made: so many keys of that capacity. */
    uint32_t parts; /* 0: one key, and not in parts */
    uint64_t capacity;
    struct cost key; /* each, full */
    bool nonscaling; /* it can't grow and keep its rate, or its memory */
};

/* plan_memory.c: chooses the smallest error rate, within a hundredth, at which filters of
 * the native kind that don't grow fit into p->memory. False if none do. */
bool plan_fit(struct plan *p, struct failure *f);

void plan_write(const struct plan *p, FILE *out);      /* plan_write.c */
void plan_write_json(const struct plan *p, FILE *out); /* plan_json.c */

#endif
