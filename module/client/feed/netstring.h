/* SPDX-License-Identifier: BSD-3-Clause */
/* netstring.h - texts one behind the other, of any bytes: "6:user:1,6:user:2,". So the
 * trigger of `announce` sends items. */
#ifndef FEED_NETSTRING_H
#define FEED_NETSTRING_H

#include <stdbool.h>
#include <stddef.h>

/* The next one, which lies between *at and end; *at is behind it then. False: there is
 * none, or none that is whole. */
bool netstring_next(const char **at, const char *end, const char **text, size_t *length);

#endif
