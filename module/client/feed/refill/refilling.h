/* SPDX-License-Identifier: BSD-3-Clause */
/* refilling.h - when a feed starts a loader, and what the loader's news mean for the sink.
 *
 *     parts are LOST, or FILLING and nobody fills them ---+
 *     the feed has just been started ---------------------+--> refill_start()
 *     it is time for all parts (schedule.h) --------------+        |
 *                                                                  v
 *     start, started  --> sink_fill_begins(): LOST -> FILLING, and go
 *     part            --> sink_fill_ends(): COMMIT with the next beat, sent at once
 *     failed          --> again after a while, from where it was */
#ifndef FEED_REFILLING_H
#define FEED_REFILLING_H

#include "feed/heart.h"
#include "feed/pause.h"
#include "refill.h"
#include "feed/sink.h"

struct refilling {
    const struct feed_config *config;
    struct sink *sink;
    struct heart *heart;

    struct refill loader;
    enum refill_wish *wishes; /* of the loader that is at work, or was */
    bool *begun;              /* parts whose START came in this handshake */
    bool fresh;               /* what an earlier feed left hasn't been looked for */
    bool all;                 /* all parts are wanted, not only those that need it */
    bool went;                /* the loader was told to */
    uint32_t handed_over;     /* parts, by this loader */
    bool took_up;             /* not all parts were begun by it */
    bool wrote_down;          /* there is a record that no loader needs after COMMIT */
    struct pause pause;       /* before the next loader */
    int64_t started_at, took; /* ms; the last fill of all parts */
    uint64_t ended, failed;   /* loaders */
};

void refilling_begin(struct refilling *r, const struct feed_config *c, struct sink *s,
                     struct heart *h);
void refilling_end(struct refilling *r);

/* Hears the loader; starts one if need be, while rows come by the stream. */
void refilling_turn(struct refilling *r, bool rows_come);

#endif
