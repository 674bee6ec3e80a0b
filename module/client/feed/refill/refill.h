/* SPDX-License-Identifier: BSD-3-Clause */
/* refill.h - the loader: a child process that reads the table and sends it to a new
 * generation of the parts that need one. What it can't do is vouch: COMMIT is the feed's.
 *
 *     feed                              loader
 *      |  refill_start() ---- fork ----->|
 *      |<--------------- start 0 --------|   START of each part: takes adds from now on
 *      |<--------------- started --------|
 *      |  go ---------------------------->|   the feed sends them
 *      |                                 |   waits until transactions under way have ended
 *      |<--------------- progress n m ---|   reads the table in chunks by key; LOAD
 *      |<--------------- part 0 token n -|   CHECK
 *      |<--------------- loaded ---------|   and ends
 *
 * If the server loses rebuilds meanwhile, or the table turns out to be much larger than it
 * was thought to be, all of this comes again, for those parts: start, started, go.
 *
 * Why nothing is missed: a row that is visible when the transactions that were under way
 * after START have ended, is read. A transaction that ends later is in the stream later,
 * and its items are added after START: the server puts them into the new generation, too.
 *
 * The loader does nothing at its end. Killed, or with its feed, it leaves its rebuilds
 * behind, and a string beside the first part's key that says how far they are: record.h.
 * The next loader goes on with those rebuilds that the server still has, behind the last
 * key whose items were all acknowledged. This is right as long as no change was left out
 * meanwhile, which the feed has to say:
 *
 *     REFILL_ANEW     changes were left out (the part was lost): the rebuild is undone, and
 *                     another is begun
 *     REFILL_GO_ON    none were: the part has been given all of the stream, or is given it
 *                     again from where it was
 *     REFILL_LEFT     the same, but the part is only filled if a rebuild of it was left */
#ifndef FEED_REFILL_H
#define FEED_REFILL_H

#include <sys/types.h>

#include "feed/config.h"

enum refill_wish { REFILL_NOT, REFILL_LEFT, REFILL_GO_ON, REFILL_ANEW };

/* No news for so long is the end of a loader: ms. A table may be locked for a while. */
#define REFILL_SILENT_MS 600000

#define REFILL_LINE_MAX 640

struct refill {
    pid_t pid;                  /* 0: no loader is at work */
    int from, to;               /* pipes */
    char line[REFILL_LINE_MAX]; /* what of the next one has come */
    size_t length;
    int64_t heard_at;    /* clock */
    bool told;           /* LOADED or FAILED has come */
    uint64_t read, rows; /* progress */
};

/* What the loader says. */
struct refill_news {
    enum refill_word {
        REFILL_NOTHING,
        REFILL_START,   /* part: what was left out before is made up for from here on */
        REFILL_STARTED, /* refill_go() is waited for */
        REFILL_PART,    /* part, token, count: to be committed, unless it was lost since */
        REFILL_LOADED,  /* it has ended well */
        REFILL_FAILED   /* it has ended: why */
    } word;
    uint32_t part;
    char token[20];
    uint64_t count;
    char why[512];
};

/* One wish for each part. */
bool refill_start(struct refill *r, const struct feed_config *c,
                  const enum refill_wish *wishes, struct failure *f);
void refill_go(struct refill *r);
void refill_stop(struct refill *r); /* at once; what it began stays for the next one */

/* Without waiting. */
void refill_receive(struct refill *r, struct refill_news *out);
int refill_fd(const struct refill *r); /* -1: no loader is at work */

#endif
