/* SPDX-License-Identifier: BSD-3-Clause */

/* announce_test.c - what a statement tells before it ends, and how long it waits: the SQL
 * that `feed sql` makes for guarantee = announce, in a real PostgreSQL. */

#include "database.h"
#include "feeds.h"
#include "files.h"
#include "harness.h"
#include "workspace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define DATABASE_OPTIONS .version = 17, .config = "wal_level = logical\n"

/* -------------------------------------------------------------------------
 * A table that is announced
 * ---------------------------------------------------------------------- */

/* The configuration's path. The filter's server is asked by the feed only. */
static const char *config_of(struct database *d, const char *item, const char *lines) {
    char *directory = workspace_new_directory();
    const char *path = text_of("%s/feed.conf", directory);
    const char *text = text_of("database = %s\nfilter = k\ntable = t\nitem = %s\n"
                               "guarantee = announce\nslot = s\n%s",
                               d->conninfo, item, lines);
    test_defer(free, directory);
    file_write(path, text, strlen(text));
    return path;
}

static void install(struct database *d, const char *config) {
    struct outcome sql = program_run("feed", "sql", config);
    if (sql.code != 0) FAIL("feed sql: %s", sql.err);
    database_run(d, "%s", sql.out);
}

static void make_slot(struct database *d) {
    database_run(d, "SELECT pg_create_logical_replication_slot('s', 'pgoutput')");
}

/* A database with the table, announced for a slot that nobody has ever followed. A
 * statement waits for it until it has been idle for a lease: for that long, once. */
static struct database *announced(const char *columns, const char *item) {
    struct database *d = database_start(DATABASE_OPTIONS);
    database_run(d, "CREATE TABLE t (%s)", columns);
    install(d, config_of(d, item, "server = 127.0.0.1:1\nlease = 1s\n"));
    make_slot(d);
    return d;
}

/* -------------------------------------------------------------------------
 * What the slot has
 * ---------------------------------------------------------------------- */

/* The items of a message: "items 1:a,2:bc," is "a|bc|". */
static void add_items(FILE *out, const char *at, const char *end) {
    if (end - at < 6 || memcmp(at, "items ", 6) != 0) return;
    for (at += 6; at < end;) {
        char *item;
        long length = strtol(at, &item, 10);
        CHECK(*item == ':' && item + length + 2 <= end && item[length + 1] == ',');
        fwrite(item + 1, 1, (size_t)length, out);
        putc('|', out);
        at = item + length + 2;
    }
}

static unsigned long number_at(const char *at, size_t bytes) {
    unsigned long n = 0;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)at[i];
    return n;
}

/* A row as pgoutput writes it: its first columns, for "<%s:%s>"; a NULL makes none. */
static void add_row(FILE *out, const char *at, unsigned columns) {
    char *text = NULL;
    size_t length;
    bool whole = true;
    FILE *item = open_memstream(&text, &length);
    for (unsigned i = 0; i < columns; i++) {
        putc(i ? ':' : '<', item);
        whole = whole && *at == 't';
        if (*at++ != 't') continue;
        unsigned long n = number_at(at, 4);
        fwrite(at + 4, 1, n, item);
        at += 4 + n;
    }
    fclose(item);
    if (whole) fprintf(out, "%s>|", text);
    free(text);
}

struct heard {
    char *announced, *streamed; /* items, with | behind each */
    unsigned messages;
};

static unsigned digit_of(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static char *bytes_of(const char *hex, size_t *length) {
    *length = strcspn(hex, "\n") / 2;
    char *bytes = calloc(*length + 1, 1);
    if (!bytes) FAIL("no memory");
    for (size_t i = 0; i < *length; i++)
        bytes[i] = (char)(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
    return bytes;
}

static void hear(const char *hex, unsigned columns, FILE *announced, FILE *streamed,
                 struct heard *h) {
    size_t length;
    char *bytes = bytes_of(hex, &length);
    if (*bytes == 'M') {
        const char *content = bytes + 10 + strlen(bytes + 10) + 1 + 4;
        add_items(announced, content, bytes + length);
        h->messages++;
    }
    if (*bytes == 'I') add_row(streamed, bytes + 8, columns);
    free(bytes);
}

/* Everything since the last call, and forgets it: rows, too, if they have columns. The slot
 * has been used then, and is waited for again. */
static struct heard listen_to(struct database *d, unsigned columns) {
    struct heard h = {.messages = 0};
    size_t size;
    FILE *announced = open_memstream(&h.announced, &size);
    FILE *streamed = open_memstream(&h.streamed, &size);
    const char *all = database_run(
        d,
        "SELECT encode(data, 'hex') FROM pg_logical_slot_get_binary_changes('s', NULL,"
        " NULL, 'proto_version', '1', 'publication_names', 's', 'messages', 'true')"
        " WHERE chr(get_byte(data, 0)) = ANY (ARRAY['M', '%s'])",
        columns ? "I" : "M");
    for (const char *line = all; *line; line += strspn(line, "\n")) {
        hear(line, columns, announced, streamed, &h);
        line += strcspn(line, "\n");
    }
    fclose(announced);
    fclose(streamed);
    test_defer(free, h.announced);
    test_defer(free, h.streamed);
    return h;
}

static const char *said(struct database *d) {
    return listen_to(d, 0).announced;
}

/* -------------------------------------------------------------------------
 * Items
 * ---------------------------------------------------------------------- */

TEST_OF_OTHERS(items_are_announced_bit_for_bit_as_their_rows_are_streamed) {
    static const char *const rows[][3] = {
        {"int", "-2147483648", "<-2147483648:x>|"},
        {"bigint", "9223372036854775807", "<9223372036854775807:x>|"},
        {"numeric", "1e20 / 8 + 0.10", "<12500000000000000000.10:x>|"},
        {"text", "'a,b:3:c|'", "<a,b:3:c|:x>|"},
        {"text", "'\xc3\xa4 \xf0\x9f\x8d\x92'", "<\xc3\xa4 \xf0\x9f\x8d\x92:x>|"},
        {"text", "E'\\\\ %s \\n'", "<\\ %s \n:x>|"},
        {"text", "''", "<:x>|"},
        {"varchar(3)", "'abc'", "<abc:x>|"},
        {"char(4)", "'ab'", "<ab  :x>|"},
        {"uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
         "<a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11:x>|"},
        {"boolean", "true", "<t:x>|"},
        {"mood", "'so so'", "<so so:x>|"},
        {"int", "NULL", ""},
    };
    struct database *d = database_start(DATABASE_OPTIONS);
    char wanted[1024] = "";
    database_run(d, "CREATE TYPE mood AS ENUM ('so so')");

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        database_run(d,
                     "DROP TABLE IF EXISTS t;"
                     "CREATE TABLE t (\"A a\" %s, b text, n serial PRIMARY KEY)",
                     rows[i][0]);
        install(d, config_of(d, "<{A a}:{b}>", "server = 127.0.0.1:1\nlease = 1s\n"));
        if (i == 0) make_slot(d);
        database_run(d, "INSERT INTO t VALUES (%s, 'x')", rows[i][1]);
        strcat(wanted, rows[i][2]);
    }

    struct heard h = listen_to(d, 2);
    CHECK_STR(h.streamed, wanted);
    CHECK_STR(h.announced, wanted);
}

TEST_OF_OTHERS(what_stands_between_the_columns_is_announced_as_it_is) {
    struct database *d = announced("id int PRIMARY KEY", "%s'\\ $bulwark$ {{{id}}}%%");
    database_run(d, "INSERT INTO t VALUES (1)");
    database_run(d, "SET standard_conforming_strings = off; INSERT INTO t VALUES (2)");
    CHECK_STR(said(d), "%s'\\ $bulwark$ {1}%%|%s'\\ $bulwark$ {2}%%|");
}

TEST_OF_OTHERS(a_database_that_is_not_utf8_announces_utf8) {
    struct database *d = database_start(DATABASE_OPTIONS, .encoding = "LATIN1");
    database_run(d, "CREATE TABLE t (id text PRIMARY KEY)");
    install(d, config_of(d, "{id}", "server = 127.0.0.1:1\nlease = 1s\n"));
    make_slot(d);
    database_run(d, "INSERT INTO t VALUES (chr(228))");
    CHECK_STR(said(d), "\xc3\xa4|");
}

TEST_OF_OTHERS(a_writers_settings_change_no_item) {
    struct database *d = announced("id date PRIMARY KEY", "{id}");
    database_run(d, "SET DateStyle = German; INSERT INTO t VALUES ('31.12.2026')");
    CHECK_STR(said(d), "2026-12-31|");
}

TEST_OF_OTHERS(a_hundred_thousand_rows_are_announced_in_messages_of_a_page) {
    struct database *d = announced("id int PRIMARY KEY", "user:{id}");
    database_run(d, "INSERT INTO t SELECT generate_series(1, 100000)");

    struct heard h = listen_to(d, 0);
    const char *item = h.announced;
    for (int i = 1; i <= 100000; i++) {
        char wanted[32];
        int length = snprintf(wanted, sizeof(wanted), "user:%d|", i);
        CHECK_MEM(item, (size_t)length, wanted, (size_t)length);
        item += length;
    }
    CHECK_STR(item, "");
    CHECK(h.messages > 100 && h.messages < 300);
}

/* -------------------------------------------------------------------------
 * Statements
 * ---------------------------------------------------------------------- */

TEST_OF_OTHERS(every_kind_of_statement_announces_the_items_that_it_makes) {
    static const char *const statements[][2] = {
        {"INSERT INTO t VALUES (1), (2)", "1|2|"},
        {"INSERT INTO t SELECT generate_series(3, 4)", "3|4|"},
        {"COPY t (id) FROM PROGRAM 'echo 40'", "40|"},
        {"WITH w AS (INSERT INTO t VALUES (5) RETURNING id) SELECT id FROM w", "5|"},
        {"INSERT INTO t VALUES (5), (6) ON CONFLICT DO NOTHING", "6|"},
        {"INSERT INTO t VALUES (6), (7) ON CONFLICT (id) DO UPDATE SET id = 8", "8|7|"},
        {"UPDATE t SET id = id + 90 WHERE id < 3", "91|92|"},
        {"MERGE INTO t USING (VALUES (3), (9)) AS v (i) ON id = i"
         " WHEN MATCHED THEN UPDATE SET id = 10 WHEN NOT MATCHED THEN INSERT VALUES (i)",
         "10|9|"},
        {"INSERT INTO seen VALUES (11)", "11|"},
        {"SELECT makes(12)", "12|"},
        {"BEGIN; INSERT INTO t VALUES (13); ROLLBACK", "13|"},
        {"UPDATE t SET v = 'new'", ""},
        {"UPDATE t SET id = id", ""},
        {"INSERT INTO t SELECT 1 WHERE false", ""},
        {"DELETE FROM t WHERE id = 91", ""},
    };
    struct database *d = announced("id int PRIMARY KEY, v text", "{id}");
    database_run(d, "CREATE VIEW seen AS SELECT id FROM t;"
                    "CREATE FUNCTION makes(i int) RETURNS void LANGUAGE sql AS"
                    " 'INSERT INTO t VALUES (i)'");

    char wanted[1024] = "";
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
        database_run(d, "%s", statements[i][0]);
        database_run(d, "SELECT pg_logical_emit_message(false, '', 'items 1:;,', true)");
        strcat(strcat(wanted, statements[i][1]), ";|");
    }
    CHECK_STR(said(d), wanted);
}

TEST_OF_OTHERS(what_a_foreign_key_or_another_trigger_changes_is_announced) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    database_run(d, "CREATE TABLE parent (id int PRIMARY KEY);"
                    "INSERT INTO parent VALUES (1); INSERT INTO t VALUES (1);"
                    "ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES parent"
                    " ON UPDATE CASCADE");
    said(d);
    database_run(d, "UPDATE parent SET id = 2");
    CHECK_STR(said(d), "2|");

    database_run(d, "ALTER TABLE t DROP CONSTRAINT t_id_fkey;"
                    "CREATE FUNCTION adds() RETURNS trigger LANGUAGE plpgsql AS"
                    " 'BEGIN NEW.id := NEW.id + 10; RETURN NEW; END';"
                    "CREATE TRIGGER adds BEFORE INSERT ON t FOR EACH ROW"
                    " EXECUTE FUNCTION adds();"
                    "INSERT INTO t VALUES (3)");
    CHECK_STR(said(d), "13|");
}

TEST_OF_OTHERS(a_partition_that_is_written_by_its_own_name_announces) {
    struct database *d = database_start(DATABASE_OPTIONS);
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id);"
                    "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (100);"
                    "CREATE TABLE high PARTITION OF t FOR VALUES FROM (100) TO (200)");
    install(d, config_of(d, "{id}", "server = 127.0.0.1:1\nlease = 1s\n"));
    make_slot(d);
    database_run(d, "INSERT INTO t VALUES (1), (101)");
    database_run(d, "INSERT INTO low VALUES (2)");
    database_run(d, "UPDATE t SET id = 150 WHERE id = 1");
    CHECK_STR(said(d), "1|101|2|150|");
}

/* The manual has the list. */
TEST_OF_OTHERS(what_the_trigger_cannot_see_is_what_the_manual_says) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    database_run(d, "SET session_replication_role = replica; INSERT INTO t VALUES (1)");
    database_run(d, "ALTER TABLE t DISABLE TRIGGER USER; INSERT INTO t VALUES (2);"
                    "ALTER TABLE t ENABLE TRIGGER USER");
    CHECK_STR(said(d), "");
    database_run(d, "INSERT INTO t VALUES (3)");
    CHECK_STR(said(d), "3|");
}

TEST_OF_OTHERS(another_column_is_announced_once_the_sql_has_run_again) {
    struct database *d = announced("id int PRIMARY KEY, mail text", "{id}");
    install(d, config_of(d, "{mail}", "server = 127.0.0.1:1\nlease = 1s\n"));
    database_run(d, "INSERT INTO t VALUES (1, 'a@b')");
    CHECK_STR(said(d), "a@b|");
}

/* -------------------------------------------------------------------------
 * Rights
 * ---------------------------------------------------------------------- */

TEST_OF_OTHERS(a_writer_needs_no_more_rights_than_before) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    database_run(d, "CREATE ROLE app; GRANT INSERT ON t TO app");
    database_run(d, "SET ROLE app; INSERT INTO t VALUES (1)");
    CHECK_STR(said(d), "1|");
    CHECK_STR(database_run(d,
                           "SELECT has_function_privilege('app', 'bulwark.s()', "
                           "'execute'), has_schema_privilege('app', 'bulwark', 'usage')"),
              "f");
}

TEST_OF_OTHERS(the_triggers_owner_sees_how_far_the_feed_is_and_nothing_else) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    CHECK_STR(database_run(d, "SELECT r.rolname || rolcanlogin::text || rolsuper::text ||"
                              " rolreplication::text FROM pg_proc p JOIN pg_roles r"
                              " ON r.oid = proowner WHERE p.oid = 'bulwark.s'::regproc"),
              "bulwark_announcefalsefalsefalse");
    CHECK_STR(database_run(d, "SELECT string_agg(g.rolname, ' ') FROM pg_auth_members m"
                              " JOIN pg_roles g ON g.oid = roleid"
                              " WHERE member = 'bulwark_announce'::regrole"),
              "pg_read_all_stats");
    CHECK_STR(database_run(d, "SELECT has_table_privilege('bulwark_announce', 't',"
                              " 'select, insert, update, delete')"),
              "f");
}

TEST_OF_OTHERS(lag_takes_away_what_announce_has_made) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    const char *config = config_of(d, "{id}", "server = 127.0.0.1:1\n");
    struct file text = file_read(config);
    memcpy(strstr(text.bytes, "announce"), "lag     ", 8);
    file_write(config, text.bytes, text.length);
    install(d, config);
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_trigger WHERE tgrelid = "
                              "'t'::regclass"),
              "0");
}

TEST_OF_OTHERS(a_postgresql_before_17_is_refused_by_the_sql) {
    struct database *d = database_start(.config = "wal_level = logical\n");
    if (d->version >= 17) SKIP("PostgreSQL here is %d", d->version);
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    struct outcome sql =
        program_run("feed", "sql", config_of(d, "{id}", "server = 127.0.0.1:1\n"));
    int session = database_connect(d);
    CHECK(database_try(session, "%s", sql.out) == NULL);
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_trigger WHERE tgrelid = "
                              "'t'::regclass"),
              "0");
}

/* -------------------------------------------------------------------------
 * Waiting
 * ---------------------------------------------------------------------- */

static double takes(struct database *d, const char *sql) {
    int session = database_connect(d);
    double began = seconds_now();
    database_say(session, "%s", sql);
    return seconds_now() - began;
}

/* A slow machine makes a statement longer; not all of them. */
static double shortest(struct database *d, const char *sql) {
    double least = takes(d, sql);
    for (int i = 0; i < 4 && least > 0.5; i++) {
        double next = takes(d, sql);
        if (next < least) least = next;
    }
    return least;
}

static bool is_idle_for(struct database *d, const char *time) {
    return *database_run(d,
                         "SELECT inactive_since < now() - interval '%s'"
                         " FROM pg_replication_slots",
                         time) == 't';
}

#define WRITE "INSERT INTO t SELECT coalesce(max(id), 0) + 1 FROM t"

TEST_OF_OTHERS(a_statement_waits_a_lease_for_a_slot_that_is_missing) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    database_run(d, "SELECT pg_drop_replication_slot('s')");
    CHECK(takes(d, WRITE) >= 1);
    CHECK(takes(d, WRITE) >= 1);
}

TEST_OF_OTHERS(a_slot_that_nobody_has_followed_for_a_lease_is_not_waited_for) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    WAIT_UNTIL(is_idle_for(d, "1.1s"));
    CHECK(shortest(d, WRITE) < 0.5);
}

TEST_OF_OTHERS(an_empty_statement_waits_for_nothing) {
    struct database *d = announced("id int PRIMARY KEY", "{id}");
    database_run(d, "SELECT pg_drop_replication_slot('s')");
    CHECK(shortest(d, "INSERT INTO t SELECT 1 WHERE false") < 0.5);
    CHECK(shortest(d, "UPDATE t SET id = id") < 0.5);
}

struct writer {
    struct database *database;
    int session;
    const char *sql;
    char *answer; /* NULL: refused */
    pthread_t thread;
    atomic_bool has_ended;
};

static void *write_now(void *what) {
    struct writer *w = what;
    w->answer = database_try(w->session, "%s", w->sql);
    w->has_ended = true;
    return NULL;
}

static bool is_waiting(struct database *d) {
    return *database_run(d, "SELECT count(*) FROM pg_stat_activity"
                            " WHERE wait_event = 'PgSleep'") == '1';
}

/* A statement that waits, on a thread of its own. */
static void start_writer(struct writer *w, struct database *d, const char *sql) {
    *w = (struct writer){.database = d, .session = database_connect(d), .sql = sql};
    if (pthread_create(&w->thread, NULL, write_now, w) != 0) FAIL("no thread");
    WAIT_UNTIL(is_waiting(d));
}

static bool end_writer(struct writer *w) {
    pthread_join(w->thread, NULL);
    bool good = w->answer != NULL;
    free(w->answer);
    return good;
}

static struct database *announced_for_an_hour(void) {
    struct database *d = database_start(DATABASE_OPTIONS);
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    install(d, config_of(d, "{id}", "server = 127.0.0.1:1\nlease = 1h\n"));
    return d;
}

TEST_OF_OTHERS(a_statement_that_is_cancelled_while_it_waits_has_made_no_row) {
    struct database *d = announced_for_an_hour();
    struct writer w;
    start_writer(&w, d, "INSERT INTO t VALUES (1)");
    CHECK_STR(database_run(d, "SELECT count(*) FROM t"), "0");
    database_run(d, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
                    " WHERE wait_event = 'PgSleep'");
    CHECK(!end_writer(&w));
    CHECK_STR(database_run(d, "SELECT count(*) FROM t"), "0");
}

TEST_OF_OTHERS(a_time_out_ends_a_statement_that_waits) {
    struct database *d = announced_for_an_hour();
    int session = database_connect(d);
    database_say(session, "SET statement_timeout = '100ms'");
    CHECK(database_try(session, "INSERT INTO t VALUES (1)") == NULL);
    CHECK_STR(database_run(d, "SELECT count(*) FROM t"), "0");
}

TEST_OF_OTHERS(a_crash_while_a_statement_waits_leaves_no_row) {
    struct database *d = announced_for_an_hour();
    struct writer w;
    start_writer(&w, d, "INSERT INTO t VALUES (1)");
    database_kill(d);
    CHECK(!end_writer(&w));
    database_start_again(d);
    CHECK_STR(database_run(d, "SELECT count(*) FROM t"), "0");
}

/* -------------------------------------------------------------------------
 * With a feed
 * ---------------------------------------------------------------------- */

#define LONG "error = 0.001\ncapacity = 100k\nlease = 10m\n"

struct followed {
    struct database *database;
    struct server *server;
    redisContext *c; /* to it */
    const char *config;
    struct program *feed;
};

static bool denies(struct followed *t, const char *item) {
    return strcmp(call_text(t->c, "BF.CHECK", "k", item), "absent") == 0;
}

static void start_feed(struct followed *t) {
    t->feed = program_start("feed", "run", t->config);
    WAIT_UNTIL(denies(t, "never") && feed_has_noted(t->c, "k"));
}

/* Its lease is longer than any WAIT_UNTIL. */
static struct followed follow(void) {
    struct followed t = {.database = database_start(DATABASE_OPTIONS),
                         .server = server_shared()};
    t.c = client(t.server);
    database_run(t.database, "CREATE TABLE t (id int PRIMARY KEY)");
    t.config = config_of(t.database, "{id}",
                         text_of("server = 127.0.0.1:%d\n" LONG, t.server->port));
    install(t.database, t.config);
    start_feed(&t);
    return t;
}

TEST(an_item_is_in_the_filter_while_nobody_can_see_its_row) {
    struct followed t = follow();
    int session = database_connect(t.database);
    database_say(session, "BEGIN; INSERT INTO t VALUES (7)");
    CHECK(!denies(&t, "7"));
    CHECK_STR(database_run(t.database, "SELECT count(*) FROM t"), "0");
    database_say(session, "ROLLBACK");
    CHECK(!denies(&t, "7") && denies(&t, "8"));
}

TEST(a_statement_waits_for_a_feed_that_is_stopped_until_it_goes_on) {
    struct followed t = follow();
    struct writer w;
    program_signal(t.feed, SIGSTOP);
    start_writer(&w, t.database, "INSERT INTO t VALUES (7)");
    CHECK(denies(&t, "7"));
    CHECK_STR(database_run(t.database, "SELECT count(*) FROM t"), "0");
    program_signal(t.feed, SIGCONT);
    CHECK(end_writer(&w));
    CHECK(!denies(&t, "7"));
}

/* pg_stat_replication shows such a transaction the walsenders that were there before. */
TEST(a_transaction_that_is_older_than_the_feed_sees_it) {
    struct followed t = follow();
    int session = database_connect(t.database);
    database_say(session, "SET statement_timeout = '60s'; BEGIN;"
                          "SELECT count(*) FROM pg_stat_replication");
    program_signal(t.feed, SIGKILL);
    program_wait(t.feed);
    start_feed(&t);
    database_say(session, "INSERT INTO t VALUES (7)");
    CHECK(!denies(&t, "7"));
}
