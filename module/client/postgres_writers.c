/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres_writers.c - waits for writers that were at work when a rebuild began.
 *
 *     writer    BEGIN   add   INSERT ............................ COMMIT
 *     rebuild                        START   mark ... settled? no ... settled: read
 *
 * An add before START is in the old generation only, and a row that is not committed is in no
 * snapshot: whoever read at once would miss it. Transaction ids are given in order, so all
 * that were under way at mark() have ended when the oldest id under way is not below the next
 * one of that moment. Ids are the cluster's: writers of its other databases are waited for,
 * too, and prepared transactions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "postgres.h"

/* What has no id yet has written nothing yet. */
static bool ask_id(struct postgres *p, const char *which, uint64_t *out,
                   struct failure *f) {
    bool old = PQserverVersion(p->connection) < 130000;
    char *sql =
        old ? postgres_text("SELECT txid_snapshot_%s(txid_current_snapshot())", which)
            : postgres_text("SELECT pg_snapshot_%s(pg_current_snapshot())", which);
    char *value = NULL;
    do
        value = postgres_value(p, sql, f);
    while (!value && postgres_again(p, f));
    if (value) *out = strtoull(value, NULL, 10);
    p->give_up = 0;
    free(sql);
    free(value);
    return value != NULL;
}

bool postgres_mark(struct source *s, struct failure *f) {
    struct postgres *p = (struct postgres *)s;
    return ask_id(p, "xmax", &p->mark, f);
}

/* Each transaction with an id holds a lock on it, which everybody may see. */
static const char oldest[] =
    "SELECT l.pid, a.application_name, a.state,"
    " (extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, p.prepared)) * "
    "1000)::bigint,"
    " p.gid, p.owner, coalesce(a.datname, p.database)"
    " FROM pg_catalog.pg_locks l"
    " LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
    " LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction = l.transactionid"
    " WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted"
    " ORDER BY age(l.transactionid) DESC LIMIT 1";

enum { PID, PROGRAM, STATE, AGE, PREPARED, OWNER, DATABASE };

static const char *age_of(PGresult *row, char *out) {
    if (PQgetisnull(row, 0, AGE)) return "a time that this user may not see";
    return numbers_show_time(out, strtoll(PQgetvalue(row, 0, AGE), NULL, 10));
}

static void describe(PGresult *row, char *out, size_t room) {
    char age[NUMBERS_TEXT];
    if (PQntuples(row) == 0)
        snprintf(out, room, "a transaction of PostgreSQL began before the rebuild");
    else if (!PQgetisnull(row, 0, PREPARED))
        snprintf(
            out, room,
            "the prepared transaction '%s' of %s in the database %s has been open for %s: "
            "COMMIT PREPARED or ROLLBACK PREPARED ends it",
            PQgetvalue(row, 0, PREPARED), PQgetvalue(row, 0, OWNER),
            PQgetvalue(row, 0, DATABASE), age_of(row, age));
    else
        snprintf(
            out, room,
            "a transaction of PostgreSQL's process %s (%s, %s, database %s) has been open "
            "for %s",
            PQgetvalue(row, 0, PID), PQgetvalue(row, 0, PROGRAM), PQgetvalue(row, 0, STATE),
            PQgetvalue(row, 0, DATABASE), age_of(row, age));
}

bool postgres_settled(struct source *s, char *waits, size_t room, struct failure *f) {
    struct postgres *p = (struct postgres *)s;
    uint64_t oldest_id;
    *waits = '\0';
    if (!ask_id(p, "xmin", &oldest_id, f)) return false;
    if (oldest_id >= p->mark) return true;
    PGresult *row = postgres_ask(p, oldest, 0, NULL, f);
    if (!row && !p->lost) return false;
    describe(row, waits, room);
    PQclear(row);
    return true;
}
