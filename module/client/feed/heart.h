/* SPDX-License-Identifier: BSD-3-Clause */
/* heart.h - beats that travel through the database, and what may be vouched for when one
 * comes back.
 *
 *     feed                    filter's server        PostgreSQL
 *      |-- TIME --------------->|                       |
 *      |<------------------ T(n)|                       |
 *      |-- beat n ------------------------------------->|   into the WAL, behind every
 *      |                        |                       |   commit that anybody can see
 *      |<=== rows, rows, ... beat n ====================|   in the stream
 *      |-- adds --------------->|                       |
 *      |<--------------------ok |                       |
 *      |-- READY PXAT T(n) + lease XX                   |
 *
 * A row that became visible before beat n was sent comes before it in the stream, so it is
 * in what is vouched for. One that becomes visible later, at t, may be refused until
 * T(n) + lease; T(n) was read before the beat was sent, so that is before t + lease.
 * Neither needs clocks that agree, and a READY that comes late does no harm.
 *
 * Pure: times come from the caller, in ms of a clock that only goes forward. */
#ifndef FEED_HEART_H
#define FEED_HEART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beats on their way at a time. When a newer one is back, older ones don't count. */
#define HEART_BEATS 4

/* Three in a lease: it is renewed although one gets lost. */
#define HEART_PER_LEASE 3

#define HEART_TEXT 64

struct heart {
    int64_t lease;
    uint64_t run;        /* random: a beat of an earlier run means nothing */
    uint64_t sent, back; /* the newest of each; 0: none yet. sent - back <= HEART_BEATS */
    int64_t sent_at;     /* the newest */
    int64_t seen_at;     /* the newest that is back was sent then; 0: none is */
    int64_t times[HEART_BEATS];
    bool hurries; /* the next one is due at once */
};

void heart_begin(struct heart *h, int64_t lease, uint64_t run);

/* When the next beat is to be sent. */
int64_t heart_due(const struct heart *h);

/* The next beat: its number, and its text for the database. */
uint64_t heart_send(struct heart *h, int64_t now, char text[HEART_TEXT]);

/* What came in the stream: the number of a beat of this run that is newer than the last,
 * or 0. */
uint64_t heart_receive(struct heart *h, const char *text, size_t length);

/* Somebody waits for the next one: it is due at once, unless too many are on their way. */
void heart_hurry(struct heart *h);

/* All that are on their way are lost: the stream begins again, and wants one at once. */
void heart_forget(struct heart *h);

#endif
