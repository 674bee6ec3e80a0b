/* SPDX-License-Identifier: BSD-3-Clause */
#include "kind.h"

#define KIND_LISTED(name) &kind_##name,
const struct kind *const kinds[KINDS] = {KIND_ROWS(KIND_LISTED)};

const struct kind *kind_by_id(unsigned id) {
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}
