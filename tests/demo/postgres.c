/* SPDX-License-Identifier: BSD-3-Clause */
#include "postgres.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"

#define START_TRIES  600 /* of 50 ms */
#define RESULTS_TEXT 0   /* libpq's word for it */

struct database {
    PGconn *connection;
    PGresult *result; /* what the last answer points into */
    const char *ids[BATCH_ROWS], *names[BATCH_ROWS];
    size_t lengths[BATCH_ROWS];
};

/* SIGQUIT: end at once, there is nothing to be saved. */
static struct child server = {.stop_signal = SIGQUIT};
static char directory[128], log_file[160], programs[256];
static const char *fetched = "build/deps/postgres"; /* where its programs are */
static bool is_followed;

/* ---- the server ---- */

/* Where the user that it runs as may not go (a build below /root), it runs a copy. */
static void find_programs(void) {
    char program[320], copy[128];
    char *here = realpath(fetched, NULL);
    if (!here) die("no %s: deps/get.sh fetches it", fetched);
    snprintf(programs, sizeof programs, "%s", here);
    free(here);
    snprintf(program, sizeof program, "%s/bin/initdb", programs);
    if (child_run((const char *[]){program, "--version", NULL}, log_file, true)) return;

    snprintf(copy, sizeof copy, "%s/postgres", workspace());
    if (!child_run((const char *[]){"cp", "-RL", programs, copy, NULL}, log_file, false) ||
        !child_run((const char *[]){"chmod", "-R", "a+rX", copy, NULL}, log_file, false))
        die_with_log(log_file, "can't copy PostgreSQL");
    snprintf(programs, sizeof programs, "%s", copy);
}

static void make_data_directory(void) {
    char program[320], data[160];
    snprintf(program, sizeof program, "%s/bin/initdb", programs);
    snprintf(data, sizeof data, "%s/data", directory);
    const char *const argv[] = {program, "-D",   data,    "-U",
                                "shop",  "-A",   "trust", "--locale=C",
                                "-E",    "UTF8", "-N",    "--no-instructions",
                                NULL};
    if (!child_run(argv, log_file, true)) die_with_log(log_file, "initdb failed");
}

/* Room for the table in its memory, and nothing that runs by itself in between: the
 * play shall be the same each time. */
static void run_server(void) {
    char program[320], data[160], sockets[192];
    snprintf(program, sizeof program, "%s/bin/postgres", programs);
    snprintf(data, sizeof data, "%s/data", directory);
    snprintf(sockets, sizeof sockets, "unix_socket_directories=%s", directory);
    const char *const argv[] = {program,
                                "-D",
                                data,
                                "-c",
                                sockets,
                                "-c",
                                "listen_addresses=",
                                "-c",
                                "fsync=off",
                                "-c",
                                "synchronous_commit=off",
                                "-c",
                                "full_page_writes=off",
                                "-c",
                                is_followed ? "wal_level=logical" : "wal_level=minimal",
                                "-c",
                                is_followed ? "max_wal_senders=2" : "max_wal_senders=0",
                                "-c",
                                "shared_buffers=256MB",
                                "-c",
                                "maintenance_work_mem=128MB",
                                "-c",
                                "autovacuum=off",
                                "-c",
                                "jit=off",
                                "-c",
                                "synchronize_seqscans=off",
                                NULL};
    child_start(&server, argv, log_file, true);
}

static PGconn *connect_once(void) {
    const char *const names[] = {"host", "user", "dbname", NULL};
    const char *const values[] = {directory, "shop", "postgres", NULL};
    return PQconnectdbParams(names, values, 0);
}

static void wait_until_up(void) {
    for (int i = 0; i < START_TRIES && child_is_running(&server); i++) {
        PGconn *c = connect_once();
        bool up = PQstatus(c) == CONNECTION_OK;
        PQfinish(c);
        if (up) return;
        usleep(50000);
    }
    die_with_log(log_file, "PostgreSQL does not come up");
}

/* ---- connections ---- */

/* What came back, which the next call frees. */
static PGresult *answered(struct database *db, PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die("PostgreSQL: %s", PQerrorMessage(db->connection));
    PQclear(db->result);
    return db->result = result;
}

static PGresult *run(struct database *db, const char *sql) {
    return answered(db, PQexec(db->connection, sql));
}

static PGresult *run_prepared(struct database *db, const char *name, int64_t id) {
    char text[24];
    const char *values[] = {text};
    snprintf(text, sizeof text, "%" PRId64, id);
    return answered(
        db, PQexecPrepared(db->connection, name, 1, values, NULL, NULL, RESULTS_TEXT));
}

/* Notices are for people at psql. */
static void say_nothing(void *unused, const char *notice) {
    (void)unused;
    (void)notice;
}

/* Before there is a table. */
static struct database *open_plain(void) {
    struct database *db = calloc(1, sizeof *db);
    if (!db) die("no memory");
    db->connection = connect_once();
    if (PQstatus(db->connection) != CONNECTION_OK)
        die("PostgreSQL: %s", PQerrorMessage(db->connection));
    PQsetNoticeProcessor(db->connection, say_nothing, NULL);
    return db;
}

static void prepare(struct database *db, const char *name, const char *sql) {
    answered(db, PQprepare(db->connection, name, sql, 1, NULL));
}

struct database *database_open(void) {
    struct database *db = open_plain();
    prepare(db, "find", "SELECT name FROM items WHERE id = $1");
    prepare(db, "insert", "INSERT INTO items VALUES ($1, 'a row inserted under way')");
    prepare(db, "delete", "DELETE FROM items WHERE id = $1");
    return db;
}

void database_close(struct database *db) {
    PQclear(db->result);
    PQfinish(db->connection);
    free(db);
}

void postgres_start(size_t rows) {
    char sql[512];
    snprintf(directory, sizeof directory, "%s/database", workspace());
    snprintf(log_file, sizeof log_file, "%s/postgres.log", workspace());
    if (mkdir(directory, 0700) != 0) die("can't make %s", directory);
    give_to_unprivileged(directory);
    find_programs();
    make_data_directory();
    run_server();
    wait_until_up();

    struct database *db = open_plain();
    snprintf(sql, sizeof sql,
             "CREATE TABLE items AS"
             " SELECT hashint8extended(n, 1) & 9223372036854775807 AS id,"
             " 'item ' || n || ': ' || md5(n::text) || md5((-n)::text) AS name"
             " FROM generate_series(1, %zu) n",
             rows);
    run(db, sql);
    run(db, "ALTER TABLE items ADD PRIMARY KEY (id)");
    run(db, "VACUUM ANALYZE items");
    run(db, "CHECKPOINT");
    database_close(db);
}

void postgres_start_for_feed(size_t rows) {
    fetched = "build/deps/postgres-17";
    is_followed = true;
    postgres_start(rows);
}

const char *postgres_conninfo(void) {
    static char text[200];
    snprintf(text, sizeof text, "host=%s user=shop dbname=postgres", directory);
    return text;
}

void postgres_run(const char *sql) {
    struct database *db = open_plain();
    run(db, sql);
    database_close(db);
}

void postgres_stop(void) {
    child_stop(&server);
}

/* ---- questions ---- */

const char *database_find(struct database *db, int64_t id) {
    PGresult *r = run_prepared(db, "find", id);
    return PQntuples(r) ? PQgetvalue(r, 0, 0) : NULL;
}

void database_insert(struct database *db, int64_t id) {
    run_prepared(db, "insert", id);
}

void database_delete(struct database *db, int64_t id) {
    run_prepared(db, "delete", id);
}

size_t database_count(struct database *db) {
    return strtoull(PQgetvalue(run(db, "SELECT count(*) FROM items"), 0, 0), NULL, 10);
}

const char *database_version(struct database *db) {
    return PQparameterStatus(db->connection, "server_version");
}

void database_snapshot(struct database *db, enum columns columns) {
    static const char *const queries[] = {
        [IDS] = "SELECT id FROM items",
        [IDS_AND_NAMES] = "SELECT id, name FROM items",
        [SOME_IDS] = "SELECT id FROM items ORDER BY random() LIMIT 1000",
    };
    char sql[128];
    run(db, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    snprintf(sql, sizeof sql, "DECLARE all_rows CURSOR FOR %s", queries[columns]);
    run(db, sql); /* the first query of the transaction: its snapshot */
}

bool database_next(struct database *db, struct batch *b) {
    char sql[64];
    snprintf(sql, sizeof sql, "FETCH %d FROM all_rows", BATCH_ROWS);
    PGresult *r = run(db, sql);
    bool named = PQnfields(r) > 1;
    b->n = (size_t)PQntuples(r);
    b->ids = db->ids;
    b->names = named ? db->names : NULL;
    b->lengths = db->lengths;
    for (size_t i = 0; i < b->n; i++) {
        db->ids[i] = PQgetvalue(r, (int)i, 0);
        db->lengths[i] = (size_t)PQgetlength(r, (int)i, 0);
        if (named) db->names[i] = PQgetvalue(r, (int)i, 1);
    }
    return b->n > 0;
}

void database_end_snapshot(struct database *db) {
    run(db, "COMMIT");
}
