/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - the settings and their values here. settings_table.h has their names. */
#ifndef BULWARK_SETTINGS_H
#define BULWARK_SETTINGS_H

#include "core/kind.h"
#include "server.h"

enum missing_key { MISSING_ABSENT, MISSING_MAYBE, MISSING_ERROR };

struct settings {
    double error_rate;          /* bf-error-rate: for filters made without one */
    long long initial_size;     /* bf-initial-size: the capacity of such filters */
    long long expansion_factor; /* bf-expansion-factor: of such filters; 0: never grow */
    const struct kind *kind;    /* bf-kind: the kind of such filters */
    long long
        max_filter_bytes; /* bf-max-filter-bytes: of one generation; 0: server's limit */
    long long max_lag; /* bf-max-lag: seconds that a replica may be behind; 0: no limit */
    enum missing_key missing_key; /* bf-missing-key: what EXISTS says without a filter */
    bool bypass;                  /* bf-bypass: nothing is denied here */
    uint16_t trust; /* bf-trust: doubts that the operator answers for, and TRUST_REPLICA */
};

extern struct settings settings;

/* The kind of that name, in any case, or NULL. */
const struct kind *settings_kind(RedisModuleString *name);

#endif
