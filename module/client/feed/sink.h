/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.h - a filter's side of a feed: items on their way to the keys of the filter, how far
 * each key has come, and vouching.
 *
 *     stream --> sink_add() --> | open batch of part 0 | ... | of part P-1 |
 *     sink_commit(lsn)                 |  a group: MULTI, BF.INSERT, SET state, BF.CARD, EXEC
 *                                      v
 *                            line of the node that has the key           (line.h)
 *
 * PostgreSQL's slot is the only buffer. Whatever goes wrong with a part (an error, a broken
 * connection, a slot that moves, a restart), nothing is sent again: the part is BEHIND, is
 * looked at, and the stream begins again where the part's state says.
 *
 *     LOST ------- start of a refill ------> FILLING ---- COMMIT ----+
 *      ^ ^                                      |                    v
 *      | +------------- trouble ----------------+   +--------> FOLLOWING <--+
 *      |                                            |              |        |
 *      +-- look: not ours, or too old -- BEHIND <---+--- trouble --+        |
 *                                          |        |                       |
 *                                          +-- look: ours --> REPLAYING ----+
 *                                                          vouched anew
 *
 * A part that is LOST or BEHIND takes no items. One that is FOLLOWING is vouched for at each
 * beat (heart.h), if it is ready and in no doubt; one that is REPLAYING, at the first beat
 * that was sent after the stream began again, if it still is what was looked at (desk.h). */
#ifndef FEED_SINK_H
#define FEED_SINK_H

#include <poll.h>

#include "config.h"
#include "line.h"
#include "state.h"

enum sink_stage { SINK_LOST, SINK_BEHIND, SINK_REPLAYING, SINK_FILLING, SINK_FOLLOWING };

struct sink_part {
    char *key, *state_key;
    enum sink_stage stage;
    char why[256]; /* it isn't FOLLOWING */

    struct state state; /* as last acknowledged */
    uint64_t sent_lsn;  /* as last sent */

    struct resp open; /* items that are not sent yet */
    size_t open_items;
    uint64_t groups_sent, groups_done;
    struct line *line; /* where groups are on their way; NULL: none are */

    uint64_t beat;       /* to be vouched for, once groups_done is... */
    uint64_t beat_after; /* ...this; beat 0: nothing to vouch for */
    int64_t said_until;  /* clock: until then somebody may still say absent */

    char token[20]; /* a new generation that is to be committed; "": none */
    uint64_t token_count, token_beat; /* with a beat newer than that */
    unsigned refusals;                /* of COMMIT */

    int64_t retry_at, pause; /* BEHIND: when it is looked at again */
};

/* More than any table has: TRUNCATE. */
#define SINK_ALL_DELETED (UINT64_C(1) << 60)

struct sink {
    const struct feed_config *config;
    struct nodes *nodes;
    struct sink_part *part;
    uint32_t nparts;
    struct line **line; /* one a node, in the nodes' order */
    size_t nlines;

    uint64_t system; /* the database that items come from */
    uint32_t timeline;
    uint64_t confirmed; /* the slot's: nothing older can come again */
    uint64_t position;  /* all commits up to here have been given */
    uint64_t applied;   /* ... and acknowledged; only grows */
    uint64_t deleted;   /* rows, since the stream began this time */

    uint64_t items, vouched, trouble; /* counters, for metrics */
};

/* All parts are BEHIND. */
struct sink *sink_open(const struct feed_config *c, struct failure *f);
void sink_close(struct sink *s);

/* ---- what comes from the stream ---- */

void sink_add(struct sink *s, const char *item, size_t length);
void sink_commit(struct sink *s, uint64_t lsn); /* all before it has been given */
void sink_flush(struct sink *s);                /* sends what there is, however little */
bool sink_has_room(const struct sink *s);

/* The stream begins again at lsn. */
void sink_restart(struct sink *s, uint64_t lsn);

/* ---- vouching ---- */

/* Asks the clocks; true when the answers are there. */
void sink_ask_clocks(struct sink *s);
bool sink_clocks_are_there(const struct sink *s);
void sink_beat_sent(struct sink *s, uint64_t beat);
void sink_beat_back(struct sink *s, uint64_t beat);

/* The loader has read all there is: commit with the next beat that is sent. */
void sink_fill_begins(struct sink *s, uint32_t part);
void sink_fill_ends(struct sink *s, uint32_t part, const char *token, uint64_t count,
                    uint64_t beat);

/* ---- the work ---- */

/* Looks at parts that are BEHIND, if it is time. True: the stream must begin again, at
 * *lsn. */
bool sink_look(struct sink *s, uint64_t *lsn);

size_t sink_polled(struct sink *s, struct pollfd *out, size_t room);
void sink_turn(struct sink *s); /* reads, writes, vouches */

/* What PostgreSQL is told: up to where writers need not wait, and what is still needed. */
uint64_t sink_applied(struct sink *s);
uint64_t sink_needed(const struct sink *s); /* UINT64_MAX: nothing */

uint32_t sink_count(const struct sink *s, enum sink_stage stage);

#endif
