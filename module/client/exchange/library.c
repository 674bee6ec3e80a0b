/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - see library.h. */
#include "library.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct kind *library_kind(const char *name) {
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->form && strcasecmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

const char *library_names(char out[LIBRARY_NAMES], const char *between) {
    size_t at = 0;
    *out = '\0';
    for (size_t i = 0; i < KINDS && at < LIBRARY_NAMES; i++) {
        if (!kinds[i]->form) continue;
        at += (size_t)snprintf(out + at, LIBRARY_NAMES - at, "%s%s", at ? between : "",
                               kinds[i]->name);
    }
    return out;
}

const char *library_example(void) {
    const struct kind *example = NULL;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->form && !(kinds[i]->form->needs | kinds[i]->form->takes))
            example = kinds[i];
    return example ? example->name : "KIND";
}
