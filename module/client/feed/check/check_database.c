/* SPDX-License-Identifier: BSD-3-Clause */
/* check_database.c - PostgreSQL itself: see check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "base/interrupt.h"
#include "print/numbers.h"
#include "feed/session.h"
#include "feed/sql_text.h"

#define OLDEST       140000
#define HAS_ANNOUNCE 170000

/* Of so many answers the fastest counts: how far away it is, not how busy. */
#define ROUNDS 5

/* Of a lease: three beats go out, and one has to be back. */
#define ROUND_SHARE 10

static const char facts[] =
    "SELECT current_setting('server_version') AS version, current_user AS role,"
    " current_setting('wal_level') AS wal_level,"
    " current_setting('server_encoding') AS encoding,"
    " current_setting('max_wal_senders')::int AS senders,"
    " (SELECT count(*) FROM pg_catalog.pg_stat_replication) AS senders_used,"
    " current_setting('max_replication_slots')::int AS slots,"
    " (SELECT count(*) FROM pg_catalog.pg_replication_slots"
    "  WHERE slot_name <> current_setting('bulwark.slot')) AS slots_used,"
    " (SELECT setting::bigint FROM pg_catalog.pg_settings"
    "  WHERE name = 'max_slot_wal_keep_size') AS kept_mb,"
    " (SELECT rolreplication OR rolsuper FROM pg_catalog.pg_roles"
    "  WHERE rolname = current_user) AS replication";

/* ---- connecting ---- */

/* For the questions that follow: nothing is quoted into them. */
static bool tell_names(struct check *k) {
    const struct feed_config *c = k->config;
    char *columns = sql_columns(c);
    const struct {
        const char *name, *value;
    } names[] = {{"slot", c->slot},
                 {"publication", c->publication},
                 {"schema", c->schema},
                 {"relation", c->relation},
                 {"item", columns}};
    bool good = true;
    for (size_t i = 0; good && i < sizeof(names) / sizeof(*names); i++) {
        char *value = sql_literal(names[i].value), *sql = NULL;
        PGresult *r = NULL;
        if (asprintf(&sql, "SET bulwark.%s = %s", names[i].name, value) >= 0)
            r = check_ask(k, sql);
        good = r != NULL;
        PQclear(r);
        free(value);
        free(sql);
    }
    free(columns);
    return good;
}

static bool connect_to(struct check *k) {
    struct failure f;
    k->connection = session_open(k->config, false, &f);
    if (!k->connection) {
        check_say(k, CHECK_ERROR, "%s", f.text);
        return false;
    }
    k->version = PQserverVersion(k->connection);
    PQclear(check_ask(k, "SET default_transaction_read_only = on"));
    return tell_names(k);
}

static void leave(struct check *k) {
    PQfinish(k->connection);
    k->connection = NULL;
}

/* ---- what it is ---- */

static bool check_version(struct check *k) {
    const char *version = PQparameterStatus(k->connection, "server_version");
    if (k->version < OLDEST) {
        check_say(k, CHECK_ERROR,
                  "PostgreSQL %s: the feed needs 14 or later, whose changes carry messages",
                  version);
        return false;
    }
    if (k->config->announce && k->version < HAS_ANNOUNCE)
        check_say(k, CHECK_ERROR,
                  "PostgreSQL %s: guarantee = announce needs 17 or later; lag does not",
                  version);
    check_say(k, CHECK_OK, "PostgreSQL %s, which takes writes", version);
    return true;
}

static void check_wal(struct check *k, const PGresult *r) {
    const char *level = check_text(r, "wal_level");
    if (strcmp(level, "logical") == 0)
        check_say(k, CHECK_OK, "wal_level is logical");
    else
        check_say(
            k, CHECK_ERROR,
            "wal_level is %s: set wal_level = logical in postgresql.conf, and restart "
            "PostgreSQL",
            level);
}

/* The stream is in UTF-8. There a value may be any bytes, and one that is none ends it. */
static void check_encoding(struct check *k, const PGresult *r) {
    if (strcmp(check_text(r, "encoding"), "SQL_ASCII") == 0)
        check_say(k, CHECK_ERROR,
                  "the database's encoding is SQL_ASCII: one value that is no UTF-8 stops "
                  "the feed for good. Move the table to a database of another encoding");
}

static void check_room(struct check *k, const PGresult *r, const char *setting,
                       const char *most, const char *used) {
    long long limit = check_number(r, most), taken = check_number(r, used);
    if (taken < limit)
        check_say(k, CHECK_OK, "%s is %lld, and %lld are taken", setting, limit, taken);
    else
        check_say(k, CHECK_ERROR,
                  "%s is %lld, and all are taken: raise it in postgresql.conf, and restart "
                  "PostgreSQL",
                  setting, limit);
}

/* A feed that runs gives way at max-slot-wal; for one that doesn't, only this helps. */
static void check_kept_wal(struct check *k, const PGresult *r) {
    long long kept = check_number(r, "kept_mb");
    uint64_t wanted = k->config->max_slot_wal;
    char a[NUMBERS_TEXT], b[NUMBERS_TEXT];
    if (kept < 0)
        check_say(k, CHECK_WARNING,
                  "max_slot_wal_keep_size has no limit: while no feed runs, its slot keeps "
                  "WAL until the disk is full. Set one, above max-slot-wal (%s)",
                  numbers_show_count(a, wanted));
    else if ((uint64_t)kept << 20 <= wanted)
        check_say(k, CHECK_WARNING,
                  "max_slot_wal_keep_size is %s: the slot is lost before max-slot-wal (%s) "
                  "is reached, and all is filled anew",
                  numbers_show_bytes(a, (uint64_t)kept << 20),
                  numbers_show_count(b, wanted));
    else
        check_say(k, CHECK_OK, "max_slot_wal_keep_size is %s",
                  numbers_show_bytes(a, (uint64_t)kept << 20));
}

/* What counts is whether it may stream: some hosts grant that by a role of their own. */
static void check_streaming(struct check *k, const PGresult *r) {
    struct failure f;
    PGconn *stream = session_open(k->config, true, &f);
    PGresult *system = stream ? session_ask(stream, "IDENTIFY_SYSTEM", NULL, &f) : NULL;
    if (system)
        check_say(k, CHECK_OK, "the role %s may stream changes", check_text(r, "role"));
    else
        check_say(k, CHECK_ERROR, "the role %s can't stream changes: %s%s",
                  check_text(r, "role"), f.text,
                  check_true(r, "replication")
                      ? ""
                      : ". It lacks REPLICATION: see bulwark feed sql");
    PQclear(system);
    PQfinish(stream);
}

static void check_distance(struct check *k) {
    int64_t best = INT64_MAX;
    char a[NUMBERS_TEXT], b[NUMBERS_TEXT];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t began = interrupt_clock();
        PQclear(check_ask(k, "SELECT 1"));
        if (interrupt_clock() - began < best) best = interrupt_clock() - began;
    }
    if (best * ROUND_SHARE > k->config->lease)
        check_say(k, CHECK_WARNING,
                  "PostgreSQL is %s away, and a lease is %s: a longer lease, or the filter "
                  "will often be unknown",
                  numbers_show_time(a, best), numbers_show_time(b, k->config->lease));
}

void check_database(struct check *k) {
    if (!connect_to(k) || !check_version(k)) {
        leave(k);
        return;
    }
    PGresult *r = check_ask(k, facts);
    if (r) {
        check_wal(k, r);
        check_encoding(k, r);
        check_room(k, r, "max_replication_slots", "slots", "slots_used");
        check_room(k, r, "max_wal_senders", "senders", "senders_used");
        check_kept_wal(k, r);
        check_streaming(k, r);
        check_distance(k);
    }
    PQclear(r);
}
