/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.h - vouching for a part anew, and committing a new generation of it: what is asked
 * and answered in turn, over connections of its own, which block for a second at most.
 *
 *     WATCH key state; GET state; BF.INFO key FULL; TIME
 *     MULTI; BF.READY key PXAT ms; SET state; EXEC       if it is as it was looked at
 *            BF.INSERT of a marker                 before it, if the filter is empty */
#ifndef FEED_DESK_H
#define FEED_DESK_H

#include "sink.h"

/* How long connecting, all answers to a group, or a question who has which key may take. */
#define DESK_MS 1000

/* Vouches without XX, with the clock of the part's beat, if the part still is what was
 * looked at, and its state what was stored last. False: it isn't, or nobody answers, or,
 * for both, EXIT_BUSY: the beat came so late that its lease is over. */
bool desk_vouch(struct sink *s, struct sink_part *p, struct failure *f);

/* COMMIT of the part's token, and its state with the new generation. */
bool desk_commit(struct sink *s, struct sink_part *p, struct failure *f);

#endif
