/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - the kinds of filters that another library builds: those whose bytes can be
 * imported. */
#ifndef CLIENT_LIBRARY_H
#define CLIENT_LIBRARY_H

#include <stddef.h>

#include "kind.h"

/* NULL: there is no such kind, or no library builds it. */
const struct kind *library_kind(const char *name);

/* All their names. */
#define LIBRARY_NAMES 160
const char *library_names(char out[LIBRARY_NAMES], const char *between);

/* One whose bytes need no option beside them, for examples. */
const char *library_example(void);

#endif
