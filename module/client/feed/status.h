/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h - what feed status has found, on both sides. */
#ifndef FEED_STATUS_H
#define FEED_STATUS_H

#include <stdio.h>

#include "database.h"

/* From bad to good: parts are shown by it, the worst first. */
enum found { UNREACHED, NO_FILTER, NOT_KEPT, FILLING, ALARMED, UNKNOWN, FOLLOWING, FOUND };

struct part_status {
    const char *key;
    enum found found;
    char why[160]; /* it isn't FOLLOWING; or empty */
    struct state state;
    uint64_t items;
    int64_t lease_left; /* ms */
};

struct status {
    const struct feed_config *config;
    struct slot slot;
    struct failure database; /* EXIT_DONE: it was asked */
    struct failure server;   /* EXIT_DONE: it was asked, too */
    struct part_status *part;
    uint32_t nparts;
};

/* status_show.c: for people, and for programs. */
void status_show(const struct status *s);
void status_write_json(const struct status *s, FILE *out);

#endif
