/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h - what a call can say.
 *
 * Answers are >= 0 and refusals are < 0, so that a caller that only asks "did it work?"
 * tests the sign. A refused call changed nothing. One place, redis/commands/reply.c,
 * chooses the words that a user reads for them. The core's own texts are the names of kinds
 * and of facts (kind.h), and the reasons of its validator (chain.h) and its readers
 * (reader.h). */
#ifndef BLOOM_STATUS_H
#define BLOOM_STATUS_H

enum bloom_status {
    BLOOM_OK = 0,

    /* The core's. */
    BLOOM_NO_MEMORY = -1,       /* the allocator returned NULL */
    BLOOM_TOO_BIG = -2,         /* the sizes asked for do not fit in 64 bits */
    BLOOM_BAD_ERROR_RATE = -3,  /* not a number between 0 and 1 */
    BLOOM_BAD_CAPACITY = -4,    /* not in [1, CHAIN_CAPACITY_MAX] */
    BLOOM_RATE_TOO_SMALL = -5,  /* the kind has no filter that errs so seldom */
    BLOOM_CORRUPT = -6,         /* bytes that no version of this code wrote */
    BLOOM_FULL = -7,            /* at capacity, and it never grows */
    BLOOM_PARTIAL = -8,         /* not all of it has been loaded */
    BLOOM_NO_REBUILD = -9,      /* none is under way, or another one is */
    BLOOM_INTERRUPTED = -10,    /* what was sent to the rebuild may be lost */
    BLOOM_RATE_TOO_LARGE = -11, /* the kind has no filter that errs so often */

    /* The server's side (redis/); the core never returns these. They have the same type, so
     * that a refusal passes through one variable and the compiler reports any value without
     * words, from either half. */
    BLOOM_OVER_LIMIT = -100,  /* larger than a filter may be */
    BLOOM_SERVER_FULL = -101, /* the server has no memory left to give */
    BLOOM_EXISTS = -102,
    BLOOM_NOT_FOUND = -103,
    BLOOM_CHANGED = -104, /* an iterator past its end: the dump began with another filter */
    BLOOM_EMPTY = -105,   /* it has no items, so it can't be vouched for */
    BLOOM_REBUILDING = -106, /* one is under way already */
};

#endif
