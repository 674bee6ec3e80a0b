/* SPDX-License-Identifier: BSD-3-Clause */
/* item.h - what a source's value becomes, and which values are mistakes.
 *
 *     --item 'user:{}'     before | value | after     "user:" 42 ""
 *
 * An empty value, or one with a control character (a newline, a tab, a NUL, a CR of a file
 * from Windows), is taken for a mistake unless --binary is given. A value over
 * ITEM_BYTES_MAX is one unless the template has any_length. Mistakes are counted; the first
 * ten are shown. */
#ifndef CLIENT_ITEM_H
#define CLIENT_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "options/settings.h"
#include "source.h"

#define ITEM_BYTES_MAX (64u << 10)

struct item_template {
    const char *before, *after;
    size_t before_length, after_length;
    bool binary, any_length;
    uint64_t bad; /* how many mistakes were met */
};

bool item_prepare(const struct settings *s, struct item_template *out, struct failure *f);

/* False for a mistake, which is counted and, if it is among the first ten, shown. */
bool item_good(struct item_template *t, const struct source_item *value);

#endif
