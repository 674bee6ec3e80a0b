/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.h - what takes questions and answers: is a part what this feed has kept, vouching
 * for it anew, committing a new generation. Connections of its own, which block for a
 * second at most. */
#ifndef FEED_DESK_H
#define FEED_DESK_H

#include "sink.h"

enum desk_verdict {
    DESK_OURS, /* goes on from *from */
    DESK_LOST, /* *why says why: only a rebuild helps */
    DESK_AWAY  /* nobody could be asked: f */
};

/* Reads the part's state, and looks at its filter. */
enum desk_verdict desk_look(struct sink *s, struct sink_part *p, uint64_t *from,
                            struct failure *f);

/* Vouches without XX, if the part still is what was looked at, and its state what was
 * acknowledged last. False: it isn't, or nobody answers. `beat` says from which clock. */
bool desk_vouch(struct sink *s, struct sink_part *p, uint64_t beat, struct failure *f);

/* COMMIT of the part's token, and its state with the new generation. */
bool desk_commit(struct sink *s, struct sink_part *p, uint64_t beat, struct failure *f);

#endif
