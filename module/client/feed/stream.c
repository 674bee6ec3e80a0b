/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - see stream.h. */
#include "stream.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "session.h"
#include "sql_text.h"

/* PostgreSQL counts microseconds from 2000-01-01. */
#define EPOCH_SECONDS 946684800

#define HEAD_XLOG      25 /* 'w', start, end, clock */
#define HEAD_KEEPALIVE 18 /* 'k', end, clock, reply */
#define REPORT_BYTES   34 /* 'r', received, flushed, applied, clock, reply */

/* From then on we ask whether the server is there. */
#define QUIET_MS 1000

/* PostgreSQL gives up a feed that says nothing for so long; it reports each second. */
#define SENDER_MS_MIN 10000
#define SENDER_LEASES 3

/* ---- numbers ---- */

static uint64_t read_number(const char *bytes) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | (unsigned char)bytes[i];
    return n;
}

static void write_number(char *out, uint64_t n) {
    for (int i = 7; i >= 0; i--, n >>= 8)
        out[i] = (char)(n & 0xff);
}

static uint64_t clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)(t.tv_sec - EPOCH_SECONDS) * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- connecting ---- */

static bool identify(struct stream *s, struct failure *f) {
    PGresult *r = session_ask(s->connection, "IDENTIFY_SYSTEM", NULL, f);
    if (!r) return false;
    s->system = strtoull(PQgetvalue(r, 0, 0), NULL, 10);
    s->timeline = (uint32_t)strtoul(PQgetvalue(r, 0, 1), NULL, 10);
    PQclear(r);
    return true;
}

/* While the slot is taken by a feed that hangs, each statement of `announce` waits for a
 * lease, and no other feed takes over. PostgreSQL's own time-out, a minute, is long. */
static bool ask_to_be_ended(struct stream *s, struct failure *f) {
    char sql[64];
    long long ms = SENDER_LEASES * s->config->lease;
    snprintf(sql, sizeof(sql), "SET wal_sender_timeout = %lld",
             ms > SENDER_MS_MIN ? ms : SENDER_MS_MIN);
    PGresult *r = session_ask(s->connection, sql, NULL, f);
    PQclear(r);
    return r != NULL;
}

/* Beats are messages. */
static bool sends_messages(const struct stream *s, struct failure *f) {
    int version = PQserverVersion(s->connection);
    return version >= 140000 ||
           fail(f, EXIT_SOURCE, "the feed needs PostgreSQL 14 or later, and this is %d",
                version / 10000);
}

bool stream_connect(struct stream *s, struct failure *f) {
    stream_end(s);
    s->connection = session_open(s->config, true, f);
    return s->connection && sends_messages(s, f) && identify(s, f) && ask_to_be_ended(s, f);
}

void stream_end(struct stream *s) {
    PQfreemem(s->row);
    s->row = NULL;
    PQfinish(s->connection);
    s->connection = NULL;
}

/* publication_names is a text, in which names stand as in SQL. */
static char *start_at(const struct feed_config *c, uint64_t lsn) {
    char at[LSN_TEXT], *name = sql_name(c->publication), *names = sql_literal(name);
    char *sql = fail_text("START_REPLICATION SLOT \"%s\" LOGICAL %s (proto_version '1', "
                          "publication_names %s, messages 'true')",
                          c->slot, lsn_show(at, lsn), names);
    free(names);
    free(name);
    return sql;
}

bool stream_begin(struct stream *s, uint64_t lsn, struct failure *f) {
    char state[6], *sql = start_at(s->config, lsn);
    PGresult *r = session_ask(s->connection, sql, state, f);
    free(sql);
    s->received = lsn;
    s->flushed = 0;
    s->wants_reply = false;
    s->heard_at = interrupt_clock();
    PQclear(r);
    if (r) return PQsetnonblocking(s->connection, 1) == 0;
    if (strcmp(state, "55006") == 0) f->code = EXIT_BUSY; /* object_in_use */
    return false;
}

/* ---- streaming ---- */

int stream_fd(const struct stream *s) {
    return s->connection ? PQsocket(s->connection) : -1;
}

/* A connection that is lost is noticed by stream_next(). */
bool stream_receive(struct stream *s) {
    struct pollfd p = {.fd = PQsocket(s->connection), .events = POLLIN};
    bool more = poll(&p, 1, 0) > 0;
    PQconsumeInput(s->connection);
    PQflush(s->connection);
    return more;
}

static enum stream_answer ended(struct stream *s, struct failure *f) {
    PGresult *r = PQgetResult(s->connection);
    PQclear(r);
    session_fail(s->connection, "the stream from PostgreSQL has ended", f);
    return STREAM_ENDED;
}

static void note_received(struct stream *s, uint64_t lsn) {
    if (lsn > s->received) s->received = lsn;
}

/* True: it is a change, and *out has it. */
static bool take(struct stream *s, int length, struct pgoutput *out, bool *good) {
    *good = true;
    if (s->row[0] == 'k' && length >= HEAD_KEEPALIVE) {
        note_received(s, read_number(s->row + 1));
        s->wants_reply = s->wants_reply || s->row[17];
        return false;
    }
    *good = s->row[0] == 'w' && length >= HEAD_XLOG &&
            pgoutput_read(s->row + HEAD_XLOG, (size_t)(length - HEAD_XLOG), out);
    if (*good) note_received(s, read_number(s->row + 1));
    return *good;
}

enum stream_answer stream_next(struct stream *s, struct pgoutput *out, struct failure *f) {
    for (bool good = true;;) {
        PQfreemem(s->row);
        s->row = NULL;
        int length = PQgetCopyData(s->connection, &s->row, 1);
        if (length == 0 && PQstatus(s->connection) == CONNECTION_OK) return STREAM_EMPTY;
        if (length == 0) return ended(s, f);
        if (length < 0) return ended(s, f);
        s->heard_at = interrupt_clock();
        if (take(s, length, out, &good)) return STREAM_CHANGE;
        if (!good) {
            fail(f, EXIT_SOURCE, "PostgreSQL sends what this version can't read");
            return STREAM_ENDED;
        }
    }
}

/* The last byte asks for an answer. */
static bool put_report(struct stream *s, uint64_t flushed, uint64_t applied) {
    char report[REPORT_BYTES] = "r";
    uint64_t written = s->received > applied ? s->received : applied;
    write_number(report + 1, written);
    write_number(report + 9, flushed);
    write_number(report + 17, applied);
    write_number(report + 25, clock_now());
    report[33] = interrupt_clock() - s->heard_at >= QUIET_MS;
    return PQputCopyData(s->connection, report, sizeof(report)) == 1;
}

/* A PostgreSQL that is shut down waits until all is flushed, as it heard last, or, if it
 * heard of no place, until all is received. The slot keeps the place all the same. */
bool stream_report(struct stream *s, uint64_t flushed, uint64_t applied,
                   struct failure *f) {
    bool further = flushed > s->flushed;
    if (further) s->flushed = flushed;
    s->wants_reply = false;
    if ((!further || put_report(s, flushed, applied)) && put_report(s, 0, applied) &&
        PQflush(s->connection) >= 0)
        return true;
    return session_fail(s->connection, "PostgreSQL takes no report", f);
}
