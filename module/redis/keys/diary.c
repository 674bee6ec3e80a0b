/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/diary.h"

#include "clock.h"

void diary_next_came(struct filter *f) {
    struct diary *d = diary_of(f);
    d->grow_again[1] = 0;
    d->fed_at = 0;
    d->rebuild_heard = clock_steady_ms();
    d->may_be_empty = false;
}

void diary_swapped(struct filter *f) {
    struct diary *d = diary_of(f);
    d->grow_again[0] = d->grow_again[1];
    d->grow_again[1] = 0;
    d->told_full = false;
}
