/* SPDX-License-Identifier: BSD-3-Clause */
/* netstring.c - see netstring.h. */
#include "netstring.h"

/* More than a message has; its digits can't overflow. */
#define LENGTH_MAX ((size_t)1 << 30)

bool netstring_next(const char **at, const char *end, const char **text, size_t *length) {
    const char *c = *at;
    size_t n = 0;
    for (; c < end && *c >= '0' && *c <= '9' && n < LENGTH_MAX; c++)
        n = n * 10 + (size_t)(*c - '0');
    if (c == *at || c == end || *c++ != ':') return false;
    if ((size_t)(end - c) <= n || c[n] != ',') return false;
    *text = c;
    *length = n;
    *at = c + n + 1;
    return true;
}
