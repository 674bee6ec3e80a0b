/* SPDX-License-Identifier: BSD-3-Clause */
/* refill.h - the loader: a child process that reads the table and sends it to a new
 * generation of the parts that need one. What it can't do is vouch: COMMIT is the feed's.
 *
 *     feed                              loader
 *      |  refill_start() ---- fork ----->|
 *      |<--------------- started --------|   START of each part: takes adds from now on
 *      |  go ---------------------------->|   the feed sends them
 *      |                                 |   waits until the transactions under way have ended
 *      |                                 |   reads the table in chunks by key; LOAD
 *      |<--------------- progress n m ---|   CHECK
 *      |<--------------- part 0 token n -|
 *      |<--------------- loaded ---------|   and ends
 *
 * A row that was visible before "go" is read by the loader; one that becomes visible after
 * it comes in the stream after it. If the feed dies, its loader does; a rebuild is left
 * behind, whose place the next one takes. */
#ifndef FEED_REFILL_H
#define FEED_REFILL_H

#include <sys/types.h>

#include "sink.h"

struct refill {
    const struct feed_config *config;
    pid_t pid;      /* 0: no loader is at work */
    int from, to;   /* pipes */
    bool *wanted;   /* parts */
    char line[512]; /* what of the next one has come */
    size_t length;
    uint64_t read, rows; /* progress */
};

/* What the loader says; PART and LOADED come after STARTED. */
struct refill_news {
    enum refill_word {
        REFILL_NOTHING,
        REFILL_STARTED,
        REFILL_PART,   /* part, token, count */
        REFILL_LOADED, /* it has ended well */
        REFILL_FAILED  /* it has ended: why */
    } word;
    uint32_t part;
    char token[20];
    uint64_t count;
    char why[512];
};

bool refill_start(struct refill *r, const struct sink *s, const bool *wanted,
                  struct failure *f);
void refill_go(struct refill *r);
void refill_stop(struct refill *r); /* the loader undoes what it began */

/* Without waiting. */
void refill_receive(struct refill *r, struct refill_news *out);
int refill_fd(const struct refill *r);

#endif
