/* SPDX-License-Identifier: BSD-3-Clause */
/* form_items.h - how many items the bytes of another library's filter tell of. */
#ifndef CLIENT_FORM_ITEMS_H
#define CLIENT_FORM_ITEMS_H

#include <stdint.h>

#include "options/settings.h"
#include "whole_file.h"

/* Of the kind that the settings name, with what they say beside the bytes. 0: there are
 * none, or the bytes are no filter of that kind, or don't tell. */
uint64_t form_items(const struct settings *s, const struct whole_file *data);

#endif
