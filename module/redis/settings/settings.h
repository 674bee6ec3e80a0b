/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - what can be set, and how it is set here. settings_table.h says by which
 * names. */
#ifndef BULWARK_SETTINGS_H
#define BULWARK_SETTINGS_H

#include "core/kind.h"
#include "server.h"

enum missing_key { MISSING_ABSENT, MISSING_MAYBE, MISSING_ERROR };

struct settings {
    double error_rate;          /* bf-error-rate: of filters made without one */
    long long initial_size;     /* bf-initial-size: capacity, likewise */
    long long expansion_factor; /* bf-expansion-factor, likewise; 0: never grows */
    const struct kind *kind;    /* bf-kind, likewise */
    long long
        max_filter_bytes; /* bf-max-filter-bytes: of one generation; 0: the server's */
    long long max_lag;    /* bf-max-lag: seconds that a replica may be behind; 0: any */
    enum missing_key missing_key; /* bf-missing-key: what EXISTS says without a filter */
    bool bypass;                  /* bf-bypass: nothing is denied here */
    uint16_t trust; /* bf-trust: doubts that the operator answers for, and TRUST_REPLICA */
};

extern struct settings settings;

/* The kind of that name, in any case, or NULL. */
const struct kind *settings_kind(RedisModuleString *name);

#endif
