/* SPDX-License-Identifier: BSD-3-Clause */
#include "diary.h"

void diary_next_came(struct filter *f) {
    struct diary *d = diary_of(f);
    d->grow_again[1] = 0;
    d->fed_at = 0;
}

void diary_swapped(struct filter *f) {
    struct diary *d = diary_of(f);
    d->grow_again[0] = d->grow_again[1];
    d->grow_again[1] = 0;
    d->told_full = false;
}
