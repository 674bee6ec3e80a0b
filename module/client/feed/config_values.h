/* SPDX-License-Identifier: BSD-3-Clause */
/* config_values.h - what the texts of a configuration mean. */
#ifndef FEED_CONFIG_VALUES_H
#define FEED_CONFIG_VALUES_H

#include "config.h"

/* Makes of a key's text what the feed works with; false, with a sentence, if it makes no
 * sense. All keys have their texts already. */
bool config_value(const char *key, struct feed_config *c, struct failure *f);

#endif
