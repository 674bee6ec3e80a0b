/* SPDX-License-Identifier: BSD-3-Clause */
/* fewer.c - see fewer.h. */
#include "fewer.h"

bool fewer_allowed(const struct parts *parts, uint64_t items, const char *source,
                   const struct settings *s, struct failure *f) {
    uint64_t had = 0;
    for (uint32_t i = 0; i < parts->n; i++)
        had += parts->part[i].had;
    if (s->fewer || items == 0 || 2 * items >= had) return true;
    return fail(f, EXIT_SOURCE,
                "%.300s has %llu item%s, and %.300s %llu: if that is right, give --fewer",
                source, (unsigned long long)items, items == 1 ? "" : "s", s->operands[0],
                (unsigned long long)had);
}
