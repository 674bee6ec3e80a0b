/* SPDX-License-Identifier: BSD-3-Clause */
#include "kind.h"

#include <string.h>

static const struct kind *const kinds[] = {
    &kind_lines,
    &kind_redisbloom,
    &kind_valkeybloom,
};

#define KINDS (sizeof kinds / sizeof *kinds)

const struct kind *kind_by_id(unsigned id) {
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}

const struct kind *kind_by_name(const char *name) {
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}
