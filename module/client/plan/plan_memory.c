/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_memory.c - the error rate that fits into given memory. */
#include <math.h>
#include <stdlib.h>

#include "print/numbers.h"
#include "plan.h"

/* Rates are tried a hundredth apart. */
#define STEP 1.01

/* No filter keeps less: its hash has 64 bits. */
#define SMALLEST 1e-19

static bool fits(const struct plan *p, double error) {
    struct cost key = cost_full(&(struct cost_wish){&kind_lines, p->capacity, error, 0});
    return key.status >= 0 && key.bytes <= p->memory / (p->parts ? p->parts : 1);
}

/* From the textbook's bound upwards, which is below any filter of the kind; not by halving,
 * since memory jumps where an item gets one more line. The rate that is tried is the one
 * that is written. */
bool plan_fit(struct plan *p, struct failure *f) {
    char memory[NUMBERS_TEXT];
    double bits = 8 * (double)p->memory / (double)p->items;
    double rate = fmax(exp(-bits * log(2) * log(2)), SMALLEST);
    for (bool any = fits(p, 0.999); any && rate < 1; rate *= STEP) {
        snprintf(p->rate, sizeof(p->rate), "%.3g", rate);
        p->error = strtod(p->rate, NULL);
        if (fits(p, p->error)) return true;
    }
    return fail(f, EXIT_USAGE, "%s is too little for %s items, whatever the error rate",
                numbers_show_bytes(memory, p->memory), p->items_text);
}
