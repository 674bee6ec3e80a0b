/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.c - see pause.h. */
#include "pause.h"

#include "base/interrupt.h"

void pause_begin(struct pause *p, int64_t most) {
    if (p->ms > most) p->ms = most;
    p->ends = interrupt_clock() + p->ms;
    p->ms *= 2;
}

bool pause_is_over(const struct pause *p) {
    return interrupt_clock() >= p->ends;
}
