/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - the database's changes, from a replication slot: a connection that speaks
 * PostgreSQL's replication protocol, and never blocks once it streams.
 *
 *     stream_begin(lsn)      START_REPLICATION: all commits behind lsn
 *       stream_next()        STREAM_CHANGE: a message of pgoutput.h
 *                            STREAM_EMPTY: none is buffered; poll(stream_fd())
 *                            STREAM_ENDED: why is in the failure; begin again
 *       stream_report()      what has been done with them: the slot forgets up to
 *                            `flushed`, writers wait until `applied`
 *     stream_end() */
#ifndef FEED_STREAM_H
#define FEED_STREAM_H

#include <libpq-fe.h>

#include "config.h"
#include "pgoutput.h"

struct stream {
    const struct feed_config *config;
    PGconn *connection; /* NULL: none */
    char *row;          /* the last message */
    uint64_t received;  /* the WAL up to here has been seen */
    uint64_t flushed;   /* the last place of which the slot was told */
    bool wants_reply;   /* the server asks whether we are there */
    int64_t heard_at;   /* clock: something came */

    uint64_t system; /* IDENTIFY_SYSTEM */
    uint32_t timeline;
};

/* Connects, and learns which database system it is. */
bool stream_connect(struct stream *s, struct failure *f);

/* EXIT_BUSY: another feed has the slot. */
bool stream_begin(struct stream *s, uint64_t lsn, struct failure *f);
void stream_end(struct stream *s);

enum stream_answer { STREAM_CHANGE, STREAM_EMPTY, STREAM_ENDED };
enum stream_answer stream_next(struct stream *s, struct pgoutput *out, struct failure *f);
int stream_fd(const struct stream *s);

/* Takes what has come. False: nothing had. */
bool stream_receive(struct stream *s);

bool stream_report(struct stream *s, uint64_t flushed, uint64_t applied, struct failure *f);

#endif
