/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - the first half of the play: one of the three ways, read and then attacked. */
#ifndef RUN_H
#define RUN_H

#include <stdio.h>

#include "watch.h"

/* How large the play is. */
struct scale {
    size_t rows, hot_rows; /* in the table; of those, the ones most reads are for */
    size_t memory_limit;   /* of the server, bytes */
    double quiet, attack;  /* seconds */
    unsigned reads, attacks, writes; /* a second; attacks 0: what the database can bear */
    double rebuild;                  /* seconds of the second half */
};

/* A tenth more than there are: what comes until the next rebuild. A filter that grows has
 * room for twice as much, and takes the memory for it from the cache. */
static inline size_t shield_capacity(const struct scale *scale) {
    return scale->rows + scale->rows / 10;
}

struct run {
    struct seen seen;
    double fill_seconds; /* SHIELDED: how long the first fill took */
    double filter_bytes;
};

/* A request_fn whose context is a struct offer: the same requests for each way. */
struct offer {
    const struct scale *scale;
    const struct rows *rows;
};

/* How many requests a second for nothing the database can just answer here, with
 * everything on this machine: an attack of that size is what it can't stand. */
unsigned run_measure_database(const struct scale *scale);

/* Starts a server, fills it as the way wants it and plays. The server stays: the caller
 * stops it. */
struct run run_play(enum way way, const struct offer *offer, FILE *csv);

extern const char *const way_names[];

#endif
