/* SPDX-License-Identifier: BSD-3-Clause */

/* kind_options.h - what can be said of a new filter besides its kind. */

#ifndef KIND_OPTIONS_H
#define KIND_OPTIONS_H

#include "kind.h"

/* KIND, and by chance EXPANSION, VARIANT, SEED and ENCODE, as far as the kind takes them,
 * as words of a line. Numbers can be items of it. Valid until the next call. */
const char *kind_options(const struct kind *kind);

#endif
