/* SPDX-License-Identifier: BSD-3-Clause */
/* database.h - the feed's ordinary connection: it makes the slot, sends beats into the WAL,
 * and looks at how the stream sees the table. The slot and beats aren't waited for: one
 * request is on its way at a time. */
#ifndef FEED_DATABASE_H
#define FEED_DATABASE_H

#include "config.h"
#include "session.h"
#include "view.h"

struct database {
    const struct feed_config *config;
    PGconn *connection; /* NULL: none */
    int version;        /* 150018 */
    enum { DATABASE_IDLE, DATABASE_BEATS, DATABASE_MAKES_SLOT } work;
    int64_t asked_at; /* clock: since then */
    struct view view; /* as it was found last */
    unsigned alike;   /* looks since then that found the same */
    bool looked;      /* it was found after the last beat */
};

struct slot {
    bool exists, active, lost;        /* lost: PostgreSQL has removed WAL that it needs */
    uint64_t confirmed, restart, now; /* places in the WAL */
};

bool database_open(struct database *d, struct failure *f);
void database_close(struct database *d);

/* Feeds of the slot that run, or wait for it, hold it together, also while it has no
 * stream; `alone` holds it against all of them. Until the connection is closed. */
bool database_hold(struct database *d, bool alone, struct failure *f);

bool database_slot(struct database *d, struct slot *out, struct failure *f);

/* Begins to make it: PostgreSQL waits for the end of all transactions under way. */
bool database_make_slot(struct database *d, struct failure *f);
bool database_drop_slot(struct database *d, struct failure *f);

/* How the stream sees the table, at this moment. */
bool database_look(struct database *d, struct failure *f);

/* Sends the text, and looks then. */
bool database_beat(struct database *d, const char *text, struct failure *f);

int database_fd(const struct database *d);

/* Takes the answer, if it is there. False: it is a refusal, or a beat took too long, or the
 * connection is gone. */
bool database_receive(struct database *d, struct failure *f);

#endif
