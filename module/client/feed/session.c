/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - see session.h. */
#include "session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/password.h"
#include "sql_text.h"

#define SET(name, value) "SET " name " = " value ";"

bool session_fail(const PGconn *connection, const char *what, struct failure *f) {
    char words[512];
    const char *said = PQerrorMessage(connection);
    size_t n = strcspn(said, "\n");
    if (n >= sizeof(words)) n = sizeof(words) - 1;
    memcpy(words, said, n);
    words[n] = '\0';
    return fail(f, EXIT_SOURCE, "%s: %s", what, n ? words : "no answer");
}

/* False: the time is up, or a signal came. */
static bool wait_for(const PGconn *connection, bool to_write, int64_t until) {
    struct pollfd p = {.fd = PQsocket(connection),
                       .events = to_write ? POLLIN | POLLOUT : POLLIN};
    while (!interrupt_came()) {
        int64_t left = until - interrupt_clock();
        if (left <= 0) return false;
        if (poll(&p, 1, (int)(left < 100 ? left : 100)) > 0) return true;
    }
    return false;
}

static bool complete(PGconn *connection, int64_t until) {
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    while (step != PGRES_POLLING_OK && step != PGRES_POLLING_FAILED) {
        if (!wait_for(connection, step == PGRES_POLLING_WRITING, until)) return false;
        step = PQconnectPoll(connection);
    }
    return step == PGRES_POLLING_OK;
}

/* ---- hosts ---- */

/* As libpq has them: each a list, with commas, or NULL. */
static const char *const places[] = {"host", "hostaddr", "port"};

#define PLACES (sizeof(places) / sizeof(*places))

static const char *option(const PQconninfoOption *all, const char *name) {
    for (const PQconninfoOption *o = all; o && o->keyword; o++)
        if (strcmp(o->keyword, name) == 0) return o->val && *o->val ? o->val : NULL;
    return NULL;
}

static size_t count(const char *list) {
    size_t n = list != NULL;
    for (; list && *list; list++)
        n += *list == ',';
    return n;
}

/* One of a list, which is freed; what is there once is for all. */
static char *one_of(const char *list, size_t i) {
    if (!list) return NULL;
    for (; i > 0 && strchr(list, ','); i--)
        list = strchr(list, ',') + 1;
    return fail_strndup(list, strcspn(list, ","));
}

/* ---- connecting ---- */

struct target {
    const char *conninfo,
        *password; /* NULL: none is needed, or conninfo tells where it is */
    bool replication;
    char *at[PLACES]; /* one host */
};

static bool set_texts(PGconn *connection, struct failure *f) {
    static const char settings[] =
        SQL_TEXT_SETTINGS(SET) SET("standard_conforming_strings", "on");
    PGresult *r = session_ask(connection, settings, NULL, f);
    PQclear(r);
    return r != NULL;
}

/* What the operator gives overrides what stands before it; not what stands behind. A
 * server that is gone without a word is noticed in some seconds. */
static PGconn *begin(const struct target *to) {
    const char *const names[] = {"client_encoding",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "fallback_application_name",
                                 "password",
                                 "dbname",
                                 "target_session_attrs",
                                 places[0],
                                 places[1],
                                 places[2],
                                 to->replication ? "replication" : NULL,
                                 NULL};
    const char *const values[] = {"UTF8",
                                  "5",
                                  "2",
                                  "3",
                                  "bulwark feed",
                                  to->password,
                                  to->conninfo,
                                  "read-write",
                                  to->at[0],
                                  to->at[1],
                                  to->at[2],
                                  to->replication ? "database" : NULL,
                                  NULL};
    return PQconnectStartParams(names, values, 1);
}

/* libpq doesn't tell the code of what a server says before somebody is in: but whether it
 * wanted a password. */
static void fail_open(const PGconn *connection, struct failure *f) {
    if (PQconnectionNeedsPassword(connection)) {
        fail(f, EXIT_REFUSED,
             "PostgreSQL wants a password: put it into a file that database-password-file "
             "names, or into ~/.pgpass");
        return;
    }
    session_fail(connection, "no connection to PostgreSQL", f);
    if (PQconnectionUsedPassword(connection)) f->code = EXIT_REFUSED;
}

static PGconn *open_one(const struct target *to, int64_t ms, struct failure *f) {
    int64_t until = interrupt_clock() + ms;
    PGconn *connection = begin(to);
    bool open =
        connection && PQstatus(connection) != CONNECTION_BAD && complete(connection, until);
    if (open && set_texts(connection, f)) return connection;
    if (!open) fail_open(connection, f);
    PQfinish(connection);
    return NULL;
}

/* libpq goes on to the next host only when one has said no; so each is given its time. */
static PGconn *open_any(struct target *to, struct failure *f) {
    PQconninfoOption *all = PQconninfoParse(to->conninfo, NULL);
    size_t hosts = count(option(all, "host")), addresses = count(option(all, "hostaddr"));
    PGconn *connection = NULL;
    if (addresses > hosts) hosts = addresses;
    if (hosts == 0) hosts = 1;
    for (size_t i = 0; i < hosts && !connection && !interrupt_came(); i++) {
        for (size_t j = 0; j < PLACES; j++)
            to->at[j] = one_of(option(all, places[j]), i);
        connection = open_one(to, SESSION_MS / (int64_t)hosts, f);
        for (size_t j = 0; j < PLACES; j++)
            free(to->at[j]);
    }
    PQconninfoFree(all);
    return connection;
}

PGconn *session_open(const struct feed_config *c, bool replication, struct failure *f) {
    const char *path = c->settings.pg_pass_file;
    char *password = path ? password_read(path, f) : NULL;
    if (path && !password) return NULL;
    struct target to = {
        .conninfo = c->database, .password = password, .replication = replication};
    PGconn *connection = open_any(&to, f);
    free(password);
    return connection;
}

/* ---- asking ---- */

/* False: the answer doesn't come. True, and NULL: there is none any more. */
static bool receive(PGconn *connection, int64_t until, PGresult **out) {
    *out = NULL;
    PQflush(connection);
    while (PQisBusy(connection))
        if (!wait_for(connection, false, until) || !PQconsumeInput(connection))
            return false;
    *out = PQgetResult(connection);
    return true;
}

/* Behind the answers of one statement. */
static bool pass_over(PGconn *connection, int64_t until) {
    for (PGresult *next; receive(connection, until, &next); PQclear(next))
        if (!next) return true;
    return false;
}

/* Behind the answer of a COPY there is no end of answers yet. */
PGresult *session_ask_within(PGconn *connection, const char *sql, int64_t ms, char state[6],
                             struct failure *f) {
    int64_t until = interrupt_clock() + ms;
    PGresult *r = NULL;
    if (state) state[0] = '\0';
    if (PQsendQuery(connection, sql)) receive(connection, until, &r);
    ExecStatusType is = PQresultStatus(r);
    if (is == PGRES_COPY_BOTH) return r;
    if (r && !pass_over(connection, until)) {
        PQclear(r);
        fail(f, EXIT_SOURCE, "PostgreSQL doesn't answer");
        return NULL;
    }
    if (is == PGRES_TUPLES_OK || is == PGRES_COMMAND_OK) return r;
    const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    if (state && code) memcpy(state, code, 6);
    if (message)
        fail(f, EXIT_SOURCE, "PostgreSQL refuses: %s", message);
    else
        session_fail(connection, "PostgreSQL doesn't answer", f);
    PQclear(r);
    return NULL;
}

PGresult *session_ask(PGconn *connection, const char *sql, char state[6],
                      struct failure *f) {
    return session_ask_within(connection, sql, SESSION_MS, state, f);
}
