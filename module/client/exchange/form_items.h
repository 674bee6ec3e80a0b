/* SPDX-License-Identifier: BSD-3-Clause */
/* form_items.h - how many items the bytes of another library's filter tell of. */
#ifndef CLIENT_FORM_ITEMS_H
#define CLIENT_FORM_ITEMS_H

#include <stdint.h>

#include "base/fail.h"
#include "options/settings.h"
#include "whole_file.h"

/* False if what the settings say beside the bytes, and what any bytes of their kind say,
 * won't be enough to count. */
bool form_items_prepare(const struct settings *s, struct failure *f);

/* After that. *out is 0 if none of the bits is set. False for bytes that are no filter of
 * the kind, or whose bits tell no number. */
bool form_items(const struct settings *s, const struct whole_file *data, uint64_t *out,
                struct failure *f);

#endif
