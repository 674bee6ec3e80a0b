/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.h - a filter's side of a feed: items on their way to the keys of the filter, how far
 * each key has come, and vouching.
 *
 *     stream --> sink_add() --> | open batch of part 0 | ... | of part P-1 |
 *     sink_commit(lsn)                 |  a group of commands              (group.h)
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
 * A part that is LOST or BEHIND takes no items. One that is FOLLOWING is vouched for at
 * each beat (heart.h), if it is ready and in no doubt; if it is not, it is REPLAYING, too.
 * One that is REPLAYING is vouched for at the first beat that comes after the stream began
 * again, if its state still is what was stored last (desk.h): that is in no file and on no
 * replica that lacks an add which was acknowledged before. So is one that was FILLING, as
 * long as the generation before may be believed, if that comes back.
 *
 * True of each part, and what all rests on:
 *   - its state in the server never says more than what is in the filter: an LSN is stored
 *     when all adds before it have been acknowledged (state.h)
 *   - adds go only over the connection that it was looked at over; so a server that starts
 *     anew, from an older file, gets none before its state has been read
 *   - it is vouched for with the clock of the server that is told so. */
#ifndef FEED_SINK_H
#define FEED_SINK_H

#include <poll.h>

#include "config.h"
#include "line.h"
#include "pause.h"
#include "state.h"
#include "view.h"

enum sink_stage { SINK_LOST, SINK_BEHIND, SINK_REPLAYING, SINK_FILLING, SINK_FOLLOWING };

/* A beat that has come back, for a part: it may be vouched for until clock + lease when all
 * groups up to `after` are acknowledged, and everything up to lsn is then in it. */
struct sink_beat {
    uint64_t number; /* 0: none */
    uint64_t after, lsn;
    int64_t clock; /* Unix ms, of the part's server */
};

struct sink_part {
    char *key, *state_key;
    enum sink_stage stage;
    char why[256]; /* it isn't FOLLOWING */

    struct state state;          /* what may be stored: lsn is acknowledged */
    char stored[STATE_TEXT_MAX]; /* what the server has; "": nothing */
    uint64_t stored_lsn;         /* that says */
    bool not_stored;             /* the server has refused it since, and took adds */
    uint64_t sent_lsn;           /* all up to here has been sent */

    struct resp open; /* items that are not sent yet */
    size_t open_items;
    uint64_t groups_sent, groups_done;
    struct line *line; /* it was looked at over this one; NULL: it wasn't */

    struct sink_beat beat, next_beat;
    int64_t said_until; /* clock: until then somebody may still say absent */
    int64_t
        vouched_until; /* clock: as the server has told; 0: it hasn't, or not any more */
    int64_t
        others_until; /* clock: until then a generation before may, which may come back */

    char token[20]; /* a new generation that is to be committed; "": none */
    uint64_t token_count, token_beat; /* with a beat newer than that */
    unsigned refusals;                /* of COMMIT */
    uint64_t room;                    /* for items; 0: there is none left, it has grown */

    bool looking, found; /* BEHIND: is being looked at; is ours, waits for the stream */
    uint64_t kept;       /* BEHIND: whoever comes back has at least this */
    struct pause pause;  /* BEHIND: before it is looked at again */
};

/* Why a part is LOST, too. */
#define SINK_VIEW_CHANGED                                                                  \
    "the table, or what the publication has of it, was changed since it was filled"

struct sink {
    const struct feed_config *config;
    struct settings settings; /* the configuration's; nobody is waited for for long */
    struct nodes *nodes;
    struct sink_part *part;
    uint32_t nparts;
    struct line **line; /* one a node, in the nodes' order */
    size_t nlines;
    int64_t refreshed_at;    /* who has which key */
    int64_t desk_until;      /* clock: in this turn */
    struct failure unmapped; /* nobody could say so; "": somebody could */

    uint64_t system; /* the database that items come from; 0: not known yet */
    uint32_t timeline;
    struct view view;      /* how the stream sees the table */
    uint64_t seen;         /* the newest beat that may vouch: sink_seen() */
    uint64_t confirmed;    /* the slot's: nothing older can come again */
    uint64_t position;     /* all commits up to here have been given */
    uint64_t under_way;    /* what is given belongs to the commit that stands here */
    uint64_t applied;      /* ... and acknowledged; only grows */
    uint64_t old;          /* ... for so long that no server can lose it: see keep.h */
    uint64_t deleted;      /* rows, since the filter was filled */
    uint64_t read_after;   /* they count anew from the next beat after this one; 0: no */
    bool refill_is_wanted; /* somebody has asked: see refill/anew.c */
    bool is_read;          /* the table is, for a fill that hasn't ended, or may be soon */
    bool is_full;          /* a batch is, and waits for the desk, in this turn */
    bool wants_beat;       /* at once: a part waits for one that can be vouched with */
    bool not_stored;       /* a server refuses states: why */
    char why_not_stored[256];

    uint64_t items, vouched, trouble; /* counters, for metrics */
};

/* All parts are BEHIND. */
struct sink *sink_open(const struct feed_config *c, struct failure *f);
void sink_close(struct sink *s);

/* ---- the database ---- */

/* Which one it is, and how far its slot is. Parts of another, and those that would miss
 * what the slot has forgotten, are BEHIND. True: it is another than before, and no place in
 * the WAL that is known means anything in its. */
bool sink_database_is(struct sink *s, uint64_t system, uint32_t timeline,
                      uint64_t confirmed);

/* Nothing can have come from behind the end of the WAL, unless the database was put back,
 * say to a snapshot of its disk, which is the same system and timeline. Then all parts are
 * LOST: one that can't be looked at now may be found when the WAL is long enough again.
 * True: no place that is known means anything, as above. */
bool sink_wal_ends(struct sink *s, uint64_t end);

/* How the stream sees the table. If that is another view than before, all parts are to be
 * filled anew; if rows may not come, once they do. */
void sink_view_is(struct sink *s, const struct view *view);

/* After this beat was sent, the view was still that one, and rows may come: the beat, and
 * those before it, may vouch. */
void sink_seen(struct sink *s, uint64_t beat);

/* True: all that can be looked at now has been, and the stream should begin at *lsn; `anew`
 * is whether one that is there already has to. */
bool sink_start(const struct sink *s, uint64_t *lsn, bool *anew);

/* The slot is ours: nobody else vouches from now on. */
void sink_has_slot(struct sink *s);

/* The stream begins at lsn. */
void sink_restart(struct sink *s, uint64_t lsn);

/* What was found may have changed since: it is looked at again. */
void sink_look_again(struct sink *s);

/* All parts are LOST. */
void sink_lose(struct sink *s, const char *why);

/* ---- what comes from the stream ---- */

/* What follows belongs to a commit, or is a message, that stands at lsn. */
void sink_begin(struct sink *s, uint64_t lsn);
void sink_add(struct sink *s, const char *item, size_t length);
void sink_commit(struct sink *s, uint64_t lsn); /* all before it has been given */
void sink_flush(struct sink *s);                /* sends what there is, however little */
bool sink_has_room(const struct sink *s);

/* ---- vouching ---- */

/* Asks the clocks; true when the answers are there. */
void sink_ask_clocks(struct sink *s);
bool sink_clocks_are_there(const struct sink *s);
void sink_beat_sent(struct sink *s, uint64_t beat);
void sink_beat_back(struct sink *s, uint64_t beat);

/* A new generation of these parts has been begun: those that are LOST are FILLING, and take
 * items from here on. `beat` is the newest that was sent. */
void sink_fill_begins(struct sink *s, const bool *begun, uint64_t beat);

/* The loader has read all there is: commit with a beat that is newer than this one. */
void sink_fill_ends(struct sink *s, uint32_t part, const char *token, uint64_t count,
                    uint64_t beat);

/* Deletes what loaders have written down, if the server is there. */
bool sink_forget_fill(struct sink *s);

/* ---- the work ---- */

size_t sink_polled(struct sink *s, struct pollfd *out, size_t room);
void sink_receive(struct sink *s); /* reads what has come */
void sink_send(struct sink *s);    /* looks, vouches, writes */

/* What PostgreSQL is told: up to where writers need not wait, and what is still needed. */
uint64_t sink_applied(struct sink *s);
uint64_t sink_needed(const struct sink *s); /* UINT64_MAX: nothing */

/* Parts that need older WAL than this are LOST. */
void sink_let_go(struct sink *s, uint64_t lsn);

uint32_t sink_count(const struct sink *s, enum sink_stage stage);
uint64_t sink_items(const struct sink *s); /* that are in the filter */

#endif
