/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres_writers.c - waits for writers that were at work when a rebuild began.
 *
 *     writer    BEGIN   add   INSERT ............................ COMMIT
 *     rebuild                        START   mark ... settled? no ... settled: read
 *
 * An add before START is in the old generation only, and a row that is not committed is in
 * no snapshot: whoever read at once would miss it. Transaction ids are given in order, so
 * mark() takes one itself; all that were under way have ended when the oldest that is under
 * way is not below it. (A snapshot's xmax would not do: it is one past the newest that has
 * *ended*, and those above it don't count as under way.) Ids are the cluster's: writers of
 * its other databases are waited for, too, and prepared transactions. A standby can't give
 * an id: there it is xmax, as far as it goes.
 *
 * A server that crashes forgets ids that nothing was written under, such as the mark, and
 * gives them once more: after it was away, the mark is taken anew. */
#include <stdio.h>
#include <stdlib.h>

#include "postgres.h"
#include "print/text.h"

static const char take_id[] =
    "SELECT CASE WHEN pg_catalog.pg_is_in_recovery()"
    " THEN pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())"
    " ELSE pg_catalog.txid_current() END";
static const char oldest_id[] =
    "SELECT pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())";

static bool ask_id(struct postgres *p, const char *sql, uint64_t *out, struct failure *f) {
    char *value = postgres_value(p, sql, f);
    if (value) *out = strtoull(value, NULL, 10);
    free(value);
    return value != NULL;
}

bool postgres_mark(struct source *s, struct failure *f) {
    struct postgres *p = (struct postgres *)s;
    bool marked;
    do /* the rest of a pass before this one is left unread */
        marked = (!p->copying || postgres_connect(p, f)) && ask_id(p, take_id, &p->mark, f);
    while (!marked && postgres_again(p, f));
    p->give_up = 0;
    return marked;
}

/* Each transaction with an id holds a lock on it, which everybody may see. */
static const char oldest[] =
    "SELECT l.pid, a.application_name, a.state,"
    " to_char(coalesce(a.xact_start, p.prepared), 'YYYY-MM-DD HH24:MI:SS'),"
    " p.gid, p.owner, coalesce(a.datname, p.database)"
    " FROM pg_catalog.pg_locks l"
    " LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
    " LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction = l.transactionid"
    " WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted"
    " ORDER BY age(l.transactionid) DESC LIMIT 1";

enum { PID, PROGRAM, STATE, SINCE, PREPARED, OWNER, DATABASE };

/* Not how old it is: the sentence stays the same while it is waited for. */
static void describe(PGresult *row, char *out, size_t room) {
    const char *at[DATABASE + 1];
    for (int i = 0; i <= DATABASE && PQntuples(row) > 0; i++)
        at[i] = PQgetisnull(row, 0, i) ? "unknown to this user" : PQgetvalue(row, 0, i);
    if (PQntuples(row) == 0)
        snprintf(out, room, "waiting for a transaction that began before the rebuild");
    else if (!PQgetisnull(row, 0, PREPARED))
        snprintf(
            out, room,
            "waiting for the prepared transaction '%s' of %s in the database %s, since %s: "
            "COMMIT PREPARED or ROLLBACK PREPARED ends it",
            at[PREPARED], at[OWNER], at[DATABASE], at[SINCE]);
    else
        snprintf(out, room,
                 "waiting for a transaction in the database %s, since %s: process %s (%s), "
                 "state "
                 "%s",
                 at[DATABASE], at[SINCE], at[PID], at[PROGRAM], at[STATE]);
    text_tame(out, false); /* whoever is at work chooses some of the words */
}

bool postgres_settled(struct source *s, char *waits, size_t room, struct failure *f) {
    struct postgres *p = (struct postgres *)s;
    uint64_t id;
    *waits = '\0';
    while (!ask_id(p, oldest_id, &id, f))
        if (!postgres_again(p, f) || !postgres_mark(s, f)) return false;
    if (id >= p->mark) return true;
    PGresult *row = postgres_ask(p, oldest, 0, NULL, f);
    if (!row && !p->lost) return false;
    describe(row, waits, room);
    PQclear(row);
    return true;
}
