/* SPDX-License-Identifier: BSD-3-Clause */
/* config.h - the settings of the module: three tables in config.c.
 *
 * Every setting can be given as an argument when the module is loaded. Where
 * the server knows settings of modules (7.0), it can also be read and changed
 * at run time with CONFIG, and then the argument is its default. */
#ifndef BULWARK_CONFIG_H
#define BULWARK_CONFIG_H

#include "core/kind.h"
#include "server.h"

enum missing_key { MISSING_ABSENT, MISSING_MAYBE, MISSING_ERROR };

struct settings {
    double error_rate;          /* bf-error-rate: of filters made without one */
    long long initial_size;     /* bf-initial-size: capacity, likewise */
    long long expansion_factor; /* bf-expansion-factor, likewise; 0: never grows */
    const struct kind *kind;    /* bf-kind, likewise */
    long long
        max_filter_bytes; /* bf-max-filter-bytes: of one generation; 0: what the server has */
    long long max_lag;    /* bf-max-lag: seconds that a replica may be behind; 0: any */
    enum missing_key missing_key; /* bf-missing-key: what EXISTS says without a filter */
    bool bypass;                  /* bf-bypass: nothing is denied here */
    uint16_t trust; /* bf-trust: doubts that the operator answers for, and TRUST_REPLICA */
};

extern struct settings settings;

/* Reads the arguments and registers the settings. REDISMODULE_ERR, and a line in
 * the log, if an argument is wrong. */
int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* The kind of that name, in any case, or NULL. */
const struct kind *config_kind(RedisModuleString *name);

#endif
