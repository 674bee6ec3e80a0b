/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres_session.c - a connection to PostgreSQL, and questions: see postgres.h.
 *
 * One statement at a time goes by the extended protocol, which takes no second one: what an
 * operator's text may do is what a single statement in a read-only transaction can. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/password.h"
#include "postgres.h"
#include "print/progress.h"
#include "print/text.h"

/* How long it may be silent before it is asked whether it is there. */
#define LEAST_MS 1000

/* ---- failures ---- */

/* PostgreSQL's words on one line: a space for each run of spaces, tabs and newlines. */
static char *one_line(const char *words, char *out, size_t room) {
    size_t n = 0;
    while (*words && n + 2 < room) {
        size_t space = strspn(words, " \t\n");
        words += space;
        if (space && *words) out[n++] = ' ';
        if (*words) out[n++] = *words++;
    }
    out[n] = '\0';
    return out;
}

/* Classes 08 (connection) and 57P (shut down, starts, crashed), and a standby's
 * conflict. */
static bool tells_of_loss(const char *state) {
    return strncmp(state, "08", 2) == 0 || strncmp(state, "57P", 3) == 0 ||
           strcmp(state, "40001") == 0;
}

static bool fail_connection(struct postgres *p, struct failure *f) {
    char words[512];
    one_line(PQerrorMessage(p->connection), words, sizeof(words));
    p->lost = true;
    if (PQconnectionNeedsPassword(p->connection))
        return fail(f, EXIT_SOURCE,
                    "PostgreSQL wants a password: put it into ~/.pgpass, or a file that "
                    "PGPASSFILE names");
    return fail(f, EXIT_SOURCE, "no connection to PostgreSQL: %s", words);
}

bool postgres_fail(struct postgres *p, PGresult *said, struct failure *f) {
    const char *state = PQresultErrorField(said, PG_DIAG_SQLSTATE);
    const char *hint = PQresultErrorField(said, PG_DIAG_MESSAGE_HINT);
    const char *message = PQresultErrorField(said, PG_DIAG_MESSAGE_PRIMARY);
    char words[512], advice[256];
    p->lost = false;
    if (!state || PQstatus(p->connection) == CONNECTION_BAD) fail_connection(p, f);
    if (message)
        fail(f, EXIT_SOURCE, "PostgreSQL refuses %s: %s%s%s", p->source.name,
             one_line(message, words, sizeof(words)), hint ? ". It advises: " : "",
             hint ? one_line(hint, advice, sizeof(advice)) : "");
    if (state && tells_of_loss(state)) p->lost = true;
    PQclear(said);
    return false;
}

/* ---- connecting ---- */

/* What the operator gives overrides what stands before it. A server that is gone without a
 * word is noticed in a minute. */
static PGconn *connect_once(const struct settings *s, const char *password) {
    const char *const names[] = {"client_encoding",
                                 "connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "fallback_application_name",
                                 "password",
                                 "dbname",
                                 NULL};
    const char *const values[] = {"UTF8",    "10",     "30",  "10", "3",
                                  "bulwark", password, s->pg, NULL};
    return PQconnectdbParams(names, values, 1);
}

/* Whoever may not come in is answered, too. */
static bool answers_somebody(const struct postgres *p) {
    const char *const names[] = {"dbname", "connect_timeout", NULL};
    const char *const values[] = {p->settings->pg, "2", NULL};
    PGPing said = PQpingParams(names, values, 1);
    return said == PQPING_OK || said == PQPING_REJECT;
}

bool postgres_is_there(struct postgres *p, struct failure *f) {
    int64_t patience = p->settings->timeout > LEAST_MS ? p->settings->timeout : LEAST_MS;
    if (interrupt_clock() - p->heard < patience) return true;
    p->lost = !answers_somebody(p);
    p->heard = interrupt_clock();
    return !p->lost || fail(f, EXIT_SOURCE, "PostgreSQL does not answer");
}

/* A view may say something, too. */
static void show_notice(void *ignored, const char *words) {
    char text[512];
    (void)ignored;
    text_tame(one_line(words, text, sizeof(text)), false);
    fprintf(stderr, "PostgreSQL says: %s\n", text);
}

/* In these a backslash may be half of a character. */
static bool has_safe_encoding(PGconn *connection) {
    static const char *const unsafe[] = {"BIG5",           "GB18030", "GBK", "JOHAB",
                                         "SHIFT_JIS_2004", "SJIS",    "UHC"};
    const char *name = PQparameterStatus(connection, "client_encoding");
    for (size_t i = 0; name && i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
        if (strcmp(name, unsafe[i]) == 0) return false;
    return true;
}

static bool fits(struct postgres *p, struct failure *f) {
    if (PQserverVersion(p->connection) < 100000)
        return fail(f, EXIT_SOURCE,
                    "PostgreSQL %s is too old: 10 is the oldest that is read",
                    PQparameterStatus(p->connection, "server_version"));
    if (!has_safe_encoding(p->connection))
        return fail(f, EXIT_SOURCE,
                    "PostgreSQL can't be read in the encoding %s: leave "
                    "client_encoding out of --pg, for UTF8",
                    PQparameterStatus(p->connection, "client_encoding"));
    if (p->settings->standby) return true;
    char *standby = postgres_value(p, "SELECT pg_is_in_recovery()", f);
    bool refused = standby && strcmp(standby, "t") == 0;
    if (refused)
        fail(f, EXIT_SOURCE,
             "this PostgreSQL is a standby: rows that the primary has committed "
             "may not have arrived, and the filter would deny them. Read from the primary, "
             "or "
             "give --standby");
    bool fits = standby && !refused;
    free(standby);
    return fits;
}

/* The words of libpq about a text that it doesn't understand hold a part of that text, and
 * this may be a password. One that is neither list nor URI names a database. */
static bool is_understood(const char *conninfo, struct failure *f) {
    PQconninfoOption *options = NULL;
    char *words = NULL;
    if (!strchr(conninfo, '=') && !strstr(conninfo, "://")) return true;
    options = PQconninfoParse(conninfo, &words);
    PQconninfoFree(options);
    PQfreemem(words);
    return options
               ? true
               : fail(f, EXIT_USAGE,
                      "--pg is no connection string: 'host=db dbname=shop', a value with "
                      "spaces in single quotes; or postgresql://user@db/shop, with %%40 "
                      "for an @ in a name or a password");
}

/* PQcancel() waits for a server that hangs, without end. */
void postgres_hang_up(struct postgres *p) {
    char words[256];
    if (PQtransactionStatus(p->connection) == PQTRANS_ACTIVE && answers_somebody(p)) {
        PGcancel *handle = PQgetCancel(p->connection);
        if (handle) PQcancel(handle, words, sizeof(words));
        PQfreeCancel(handle);
    }
    PQfinish(p->connection);
    p->connection = NULL;
    p->copying = false;
}

bool postgres_connect(struct postgres *p, struct failure *f) {
    postgres_hang_up(p);
    if (!is_understood(p->settings->pg, f)) return false;
    const char *path = p->settings->pg_pass_file;
    char *password = path ? password_read(path, f) : NULL;
    if (path && !password) return false;
    p->connection = connect_once(p->settings, password);
    free(password);
    if (PQstatus(p->connection) != CONNECTION_OK) return fail_connection(p, f);
    PQsetNoticeProcessor(p->connection, show_notice, NULL);
    p->lost = false;
    return fits(p, f);
}

bool postgres_again(struct postgres *p, struct failure *f) {
    int64_t pause = 100;
    if (!p->lost) return false;
    if (!p->give_up) {
        p->give_up = interrupt_clock() + p->settings->timeout;
        progress_say("%s: connecting again", f->text);
    }
    while (interrupt_clock() < p->give_up) {
        if (!interrupt_sleep(pause, f)) return false;
        if (postgres_connect(p, f)) return true;
        if (!p->lost) return false;
        pause = pause < 2000 ? pause * 2 : 2000;
    }
    return false;
}

/* ---- questions ---- */

bool postgres_wait(struct postgres *p, struct failure *f) {
    p->heard = interrupt_clock();
    while (PQisBusy(p->connection)) {
        struct pollfd wait = {.fd = PQsocket(p->connection), .events = POLLIN};
        if (poll(&wait, 1, 100) > 0) p->heard = interrupt_clock();
        if (interrupt_came()) {
            p->lost = false;
            return interrupt_fail(f);
        }
        if (!PQconsumeInput(p->connection)) return fail_connection(p, f);
        if (!postgres_is_there(p, f)) return false;
    }
    return true;
}

/* The answer, and behind it the end of answers; but a COPY's rows come first. */
static PGresult *receive(struct postgres *p, struct failure *f) {
    PGresult *answer = NULL, *another;
    while (postgres_wait(p, f)) {
        another = PQgetResult(p->connection);
        if (!another) break;
        PQclear(answer);
        answer = another;
        ExecStatusType is = PQresultStatus(answer);
        if (is == PGRES_COPY_OUT) return answer;
        if (is == PGRES_COMMAND_OK || is == PGRES_TUPLES_OK) continue;
        postgres_fail(p, answer, f);
        return NULL;
    }
    return answer;
}

PGresult *postgres_ask(struct postgres *p, const char *sql, int n,
                       const char *const values[], struct failure *f) {
    if (!PQsendQueryParams(p->connection, sql, n, NULL, values, NULL, NULL, 0)) {
        fail_connection(p, f);
        return NULL;
    }
    return receive(p, f);
}

char *postgres_value(struct postgres *p, const char *sql, struct failure *f) {
    PGresult *answer = postgres_ask(p, sql, 0, NULL, f);
    if (!answer) return NULL;
    const char *value = PQntuples(answer) > 0 ? PQgetvalue(answer, 0, 0) : "";
    char *copy = fail_strndup(value, strlen(value));
    PQclear(answer);
    return copy;
}

/* Several statements, of our own. */
static bool tell(struct postgres *p, const char *sql, struct failure *f) {
    if (!PQsendQuery(p->connection, sql)) return fail_connection(p, f);
    PGresult *answer = receive(p, f);
    PQclear(answer);
    return answer != NULL;
}

bool postgres_begin_reading(struct postgres *p, const char *more, struct failure *f) {
    bool has_limit = PQserverVersion(p->connection) >= 170000;
    char *sql = fail_text(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL row_security = off;"
        "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = "
        "0;"
        "%s%s%s",
        has_limit ? "SET LOCAL transaction_timeout = 0;" : "", p->sets, more);
    bool done = tell(p, sql, f);
    free(sql);
    return done;
}

bool postgres_end_reading(struct postgres *p, struct failure *f) {
    return tell(p, "COMMIT", f);
}
