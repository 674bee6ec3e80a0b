/* SPDX-License-Identifier: BSD-3-Clause */
/* config_keys.h - every key of a feed's configuration, with its default. Help and the
 * manual page are printed from the same table. */
#ifndef FEED_CONFIG_KEYS_H
#define FEED_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct config_key {
    const char *name;
    const char *argument; /* as help shows it */
    enum config_type {
        CONFIG_TEXT,
        CONFIG_TEMPLATE, /* a text that may have any bytes */
        CONFIG_COUNT,
        CONFIG_RATE, /* kept as text: "0.001" must arrive as it was written */
        CONFIG_TIME,
        CONFIG_YES, /* yes or no */
    } type;
    size_t field;        /* in struct feed_config */
    bool must;           /* be there */
    const char *initial; /* as it would be written; NULL: 0, or none */
    const char *help;    /* a sentence without its dot */
};

/* Ends with a name of NULL. */
extern const struct config_key config_keys[];

#endif
