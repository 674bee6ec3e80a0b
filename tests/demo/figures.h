/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.h - what is counted, and how long readers wait.
 *
 * Each thread has a tally that only it writes; a thread that shows figures adds the tallies
 * up while they change. The figures of any stretch of time are the difference of two
 * sums. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "waits.h"

enum count {
    READS,        /* of normal users, answered or given up */
    READ_HITS,    /* ... answered by the cache */
    ATTACKS,      /* requests for what does not exist */
    QUERIES,      /* that reached the database, of either */
    ABSENT,       /* "absent": the database was not asked */
    MAYBE,        /* the database was asked since the filter said so */
    UNKNOWN,      /* ... since nobody vouches for the filter */
    GIVEN_UP,     /* reads whose user had gone before they were taken up */
    ATTACKS_LOST, /* requests of the attack that came to the same end */
    REFUSED,      /* "absent", "not found": a real row, there all the time */
    ASKED_REAL,   /* questions about a row that was there all the time */
    ASKED_RECENT, /* ... and was inserted while the traffic went on */
    VERIFIED,     /* "absent" that was looked up in the database after all */
    FOUND_AFTER,  /* ... and the row was there, and had been */
    COUNTS
};

struct tally {
    atomic_ulong counts[COUNTS];
    atomic_uint waits[WAIT_STEPS]; /* of READS */
};

struct sum {
    uint64_t counts[COUNTS];
    uint64_t waits[WAIT_STEPS];
};

void tally_count(struct tally *t, enum count what);
void tally_wait(struct tally *t, double seconds);

void sum_add(struct sum *s, const struct tally *t);
struct sum sum_minus(const struct sum *later, const struct sum *earlier);

/* The wait that a share of the reads did not exceed, in seconds; 0 if there were none. */
double sum_quantile(const struct sum *s, double share);

/* Seconds since some moment in the past. */
double seconds(void);

#endif
