/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h - connections to PostgreSQL on which no wait is endless: a line that passes no
 * bytes any more, and isn't closed, ends them after a while, too. */
#ifndef FEED_SESSION_H
#define FEED_SESSION_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* How long connecting, to all hosts together, or an answer that is waited for, may take;
 * without what the resolver takes, which libpq waits for. */
#define SESSION_MS 5000

/* `replication`: as a walsender, for the stream. The password's file is read anew. NULL
 * after a failure: EXIT_REFUSED if PostgreSQL was reached, and wants another password. */
PGconn *session_open(const struct feed_config *c, bool replication, struct failure *f);

/* The answer to one statement, waited for. NULL after a failure; *state (five letters,
 * unless NULL) is then PostgreSQL's code, or empty. */
PGresult *session_ask(PGconn *connection, const char *sql, char state[6],
                      struct failure *f);

/* The same, for a statement that takes its time. */
PGresult *session_ask_within(PGconn *connection, const char *sql, int64_t ms, char state[6],
                             struct failure *f);

/* Fills the failure with what libpq says of the connection, after `what`. */
bool session_fail(const PGconn *connection, const char *what, struct failure *f);

#endif
