/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.c - see keep.h. */
#include "keep.h"

/* A mark each 64th of the time is fine enough. */
void keep_note(struct keep *k, int64_t now, uint64_t applied) {
    size_t last = (k->first + k->n - 1) % KEEP_MARKS;
    if (k->n > 0 && now - k->mark[last].at < k->ms / KEEP_MARKS + 1) return;
    keep_old(k, now);
    if (k->n == KEEP_MARKS) return; /* room comes before the next one is due */
    last = (k->first + k->n++) % KEEP_MARKS;
    k->mark[last].at = now;
    k->mark[last].lsn = applied;
}

uint64_t keep_old(struct keep *k, int64_t now) {
    while (k->n > 0 && now - k->mark[k->first].at >= k->ms) {
        k->old = k->mark[k->first].lsn;
        k->first = (k->first + 1) % KEEP_MARKS;
        k->n--;
    }
    return k->old;
}
