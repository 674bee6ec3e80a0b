/* SPDX-License-Identifier: BSD-3-Clause */
/* database.c - see database.h. */
#include "database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"

/* Flushed at once, and in front of no commit that somebody can see. From 17 on a message
 * may do without a transaction of its own. Nobody waits for standbys. What looks behind it
 * is a transaction of its own. */
static const char beat_17[] =
    "BEGIN; SELECT pg_catalog.pg_logical_emit_message(false, '%s', '%s', true);"
    " COMMIT; %s";
static const char beat_14[] =
    "BEGIN; SELECT pg_catalog.pg_logical_emit_message(true, '%s', '%s');"
    " COMMIT; %s";

static const char slot_facts[] =
    "SELECT active, coalesce(wal_status = 'lost', false) OR restart_lsn IS NULL,"
    " coalesce(confirmed_flush_lsn, '0/0'), coalesce(restart_lsn, '0/0'),"
    " pg_current_wal_lsn()"
    " FROM (VALUES (1)) AS one LEFT JOIN pg_catalog.pg_replication_slots"
    " ON slot_name = '%s' AND slot_type = 'logical' AND database = current_database()";

void database_close(struct database *d) {
    PQfinish(d->connection);
    d->connection = NULL;
    d->work = DATABASE_IDLE;
}

static bool tell(struct database *d, const char *sql, struct failure *f) {
    PGresult *r = session_ask(d->connection, sql, NULL, f);
    PQclear(r);
    return r != NULL;
}

bool database_open(struct database *d, struct failure *f) {
    database_close(d);
    d->connection = session_open(d->config, false, f);
    if (!d->connection) return false;
    d->version = PQserverVersion(d->connection);
    if (!tell(d, "SET synchronous_commit = local", f)) return false;
    return PQsetnonblocking(d->connection, 1) == 0;
}

static const char holds[] = "SELECT pg_catalog.pg_try_advisory_lock%s("
                            "pg_catalog.hashtextextended('%s', 0))";

bool database_hold(struct database *d, bool alone, struct failure *f) {
    char sql[sizeof(holds) + sizeof(d->config->prefix) + sizeof("_shared")];
    snprintf(sql, sizeof(sql), holds, alone ? "" : "_shared", d->config->prefix);
    PGresult *r = session_ask(d->connection, sql, NULL, f);
    bool held = r && *PQgetvalue(r, 0, 0) == 't';
    if (r && !held)
        fail(f, EXIT_BUSY,
             alone ? "a feed is running, and has the slot %s: stop it first"
                   : "the slot %s is being dropped",
             d->config->slot);
    PQclear(r);
    return held;
}

/* ---- the slot ---- */

static uint64_t lsn_at(const PGresult *r, int column) {
    uint64_t lsn = 0;
    lsn_read(PQgetvalue(r, 0, column), &lsn);
    return lsn;
}

bool database_slot(struct database *d, struct slot *out, struct failure *f) {
    char sql[sizeof(slot_facts) + STATE_NAME_MAX];
    snprintf(sql, sizeof(sql), slot_facts, d->config->slot);
    PGresult *r = session_ask(d->connection, sql, NULL, f);
    if (!r) database_close(d); /* It may be busy with the answer for ever. */
    if (!r) return false;
    *out = (struct slot){.exists = !PQgetisnull(r, 0, 0),
                         .active = *PQgetvalue(r, 0, 0) == 't',
                         .confirmed = lsn_at(r, 2),
                         .restart = lsn_at(r, 3),
                         .now = lsn_at(r, 4)};
    out->lost = out->exists && *PQgetvalue(r, 0, 1) == 't';
    PQclear(r);
    return true;
}

bool database_drop_slot(struct database *d, struct failure *f) {
    char sql[256];
    snprintf(sql, sizeof(sql), "SELECT pg_catalog.pg_drop_replication_slot('%s')",
             d->config->slot);
    return tell(d, sql, f);
}

/* ---- the table ---- */

/* A change is seen in the catalogues a moment before PostgreSQL's caches hear of it, and
 * what a publication has of a table comes from these: a new number may come with what was
 * true of the old one. So what is new is looked at in full for some time. */
#define ALIKE_ENOUGH 20

static char *view_of(struct database *d, struct failure *f) {
    uint64_t known = d->alike < ALIKE_ENOUGH ? 0 : d->view.number;
    char *sql = view_sql(d->connection, d->config, known);
    if (!sql) session_fail(d->connection, "a name is no text there", f);
    return sql;
}

static void take_view(struct database *d, const PGresult *r) {
    uint64_t before = d->view.number;
    if (PQntuples(r) != 1 || PQnfields(r) != VIEW_COLUMNS) return;
    view_read(r, d->config, &d->view);
    d->alike = d->view.number == before ? d->alike + 1 : 0;
    d->looked = true;
}

bool database_look(struct database *d, struct failure *f) {
    char *sql = view_of(d, f);
    PGresult *r = sql ? session_ask(d->connection, sql, NULL, f) : NULL;
    if (r) take_view(d, r);
    if (!r) database_close(d); /* as above */
    PQclear(r);
    free(sql);
    return r != NULL;
}

/* ---- what isn't waited for ---- */

static bool begin(struct database *d, int sent, int work, struct failure *f) {
    if (!sent || PQflush(d->connection) < 0)
        return session_fail(d->connection, "PostgreSQL takes no statement", f);
    d->work = work;
    d->asked_at = interrupt_clock();
    return true;
}

bool database_make_slot(struct database *d, struct failure *f) {
    char sql[256];
    snprintf(sql, sizeof(sql),
             "SELECT pg_catalog.pg_create_logical_replication_slot('%s', 'pgoutput')",
             d->config->slot);
    return begin(d, PQsendQuery(d->connection, sql), DATABASE_MAKES_SLOT, f);
}

/* Neither the slot's name nor a beat has a quote in it. */
bool database_beat(struct database *d, const char *text, struct failure *f) {
    char *view = view_of(d, f);
    if (!view) return false;
    char *sql =
        fail_text(d->version >= 170000 ? beat_17 : beat_14, d->config->prefix, text, view);
    d->looked = false;
    bool sent = begin(d, PQsendQuery(d->connection, sql), DATABASE_BEATS, f);
    free(sql);
    free(view);
    return sent;
}

int database_fd(const struct database *d) {
    return d->connection ? PQsocket(d->connection) : -1;
}

bool database_receive(struct database *d, struct failure *f) {
    if (PQflush(d->connection) < 0 || !PQconsumeInput(d->connection))
        return session_fail(d->connection, "the connection to PostgreSQL broke", f);
    if (d->work == DATABASE_IDLE) return true;
    while (!PQisBusy(d->connection)) {
        PGresult *r = PQgetResult(d->connection);
        bool refused = r && PQresultStatus(r) != PGRES_TUPLES_OK &&
                       PQresultStatus(r) != PGRES_COMMAND_OK;
        if (r && !refused && d->work == DATABASE_BEATS) take_view(d, r);
        PQclear(r);
        if (refused) return session_fail(d->connection, "PostgreSQL refuses", f);
        if (r) continue;
        d->work = DATABASE_IDLE;
        return true;
    }
    if (d->work == DATABASE_MAKES_SLOT || interrupt_clock() - d->asked_at < SESSION_MS)
        return true;
    return fail(f, EXIT_SOURCE, "PostgreSQL doesn't answer");
}
