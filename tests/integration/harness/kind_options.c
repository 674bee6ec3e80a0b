/* SPDX-License-Identifier: BSD-3-Clause */

/* kind_options.c - options by chance; see kind_options.h. */

#include "kind_options.h"

#include "check.h"
#include "encode.h"

#include <inttypes.h>
#include <stdio.h>

static size_t variants_of(const struct kind_form *form) {
    size_t n = 0;
    while (form->variants && form->variants[n])
        n++;
    return n;
}

static void put_form_options(char *at, size_t room, const struct kind_form *form) {
    int n = 0;
    size_t variants = variants_of(form);
    if (variants > 0 && random_below(2))
        n += snprintf(at + n, room - (size_t)n, " VARIANT %s",
                      form->variants[random_below(variants)]);
    if (form->needs & FORM_SEED && random_below(2))
        n += snprintf(at + n, room - (size_t)n, " SEED %" PRIu64, random_u64());
    if (random_below(2))
        snprintf(at + n, room - (size_t)n, " ENCODE %s",
                 encoding_names[random_below(ENCODINGS)]);
}

const char *kind_options(const struct kind *kind) {
    static char text[128];
    int n = snprintf(text, sizeof text, "KIND %s", kind->name);
    if (kind->form)
        put_form_options(text + n, sizeof text - (size_t)n, kind->form);
    else if (random_below(2))
        snprintf(text + n, sizeof text - (size_t)n, " EXPANSION %d", (int)random_below(5));
    return text;
}
