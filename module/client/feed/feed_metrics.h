/* SPDX-License-Identifier: BSD-3-Clause */
/* feed_metrics.h - how a feed does, for Prometheus: the loop tells it, a thread of its own
 * serves it, also while the loop waits for somebody.
 *
 *     loop -- feed_metrics_update() --> | the numbers | --> thread: GET /metrics
 *
 * Times are of interrupt_clock(): what is shown of them is as of the moment of the scrape,
 * so that a loop that hangs shows. */
#ifndef FEED_METRICS_H
#define FEED_METRICS_H

#include "config.h"
#include "sink.h"

#define SINK_STAGES (SINK_FOLLOWING + 1)

struct feed_numbers {
    bool database;                       /* its changes are streamed at this moment */
    uint32_t servers, servers_reachable; /* of the filter: connections that there are */

    uint64_t lag;    /* bytes of WAL that aren't acknowledged by the filter's servers */
    uint64_t held;   /* bytes of WAL that the slot keeps PostgreSQL from removing */
    int64_t seen_at; /* everything visible then has been streamed; 0: never */
    int64_t vouched_until; /* the least of all parts; 0: one isn't vouched for */
    uint32_t parts[SINK_STAGES];

    uint64_t beats, beats_back;
    uint64_t adds;            /* items that were sent */
    uint64_t deleted;         /* rows, since the filter was filled */
    uint64_t vouched;         /* times that a part was */
    uint64_t trouble;         /* times that a part stopped following */
    uint64_t streams;         /* times that the stream was begun */
    uint64_t fills, failures; /* loaders that ended well, and the others */

    bool filling;
    uint64_t filled, to_fill; /* rows; an estimate */
};

/* Serves the numbers at the configuration's address until the program ends; without one, it
 * does nothing. Before it, signals are watched for. */
bool feed_metrics_serve(const struct feed_config *c, struct failure *f);

/* Those of the sink, when the stream has come so far. */
void feed_metrics_count(struct feed_numbers *n, const struct sink *s, uint64_t received);

/* Copies them. */
void feed_metrics_update(const struct feed_numbers *n);

#endif
