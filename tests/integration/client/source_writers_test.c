/* SPDX-License-Identifier: BSD-3-Clause */

/* source_writers_test.c - bulwark fill --pg beside writers whose transactions are open, and
 * what rights and which server it takes. */

#include "fill.h"

#include "database.h"
#include "files.h"
#include "harness.h"
#include "items.h"

/* ---- writers ---- */

static struct database *with_table(void) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, 9) AS id");
    return d;
}

/* One that has inserted 77, and hasn't committed. */
static int open_writer(struct database *d) {
    int writer = database_connect(d);
    database_say(writer, "SET application_name = 'shop';"
                         "BEGIN; INSERT INTO t VALUES (77)");
    return writer;
}

TEST(a_writer_s_open_transaction_is_waited_for_and_named) {
    struct server *s = server_shared();
    struct database *d = with_table();
    int writer = open_writer(d);
    const char *process = database_say(writer, "SELECT pg_backend_pid()");
    struct program *p = fill_start(s, "--pg", d->conninfo, "--table", "t");
    WAIT_UNTIL(text_matches(
        program_errors(p),
        text_of("waiting for a transaction in the database postgres, since 20*: process %s "
                "(shop), state idle in transaction\n",
                process)));
    CHECK(program_is_running(p));
    database_say(writer, "COMMIT");
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(client(s), "[maybe, maybe, absent]", "BF.MCHECK", "k", "9", "77", "10");
}

/* Only those that were at work before are waited for: on a busy database there are always
 * some. */
TEST(a_transaction_that_begins_later_is_not_waited_for) {
    struct server *s = server_shared();
    struct database *d = with_table();
    int writer = open_writer(d), later = database_connect(d);
    struct program *p = fill_start(s, "--pg", d->conninfo, "--table", "t");
    WAIT_UNTIL(strstr(program_errors(p), "waiting for"));
    database_say(later, "BEGIN; INSERT INTO t VALUES (78)");
    database_say(writer, "ROLLBACK");
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(client(s), "[maybe, absent, absent]", "BF.MCHECK", "k", "9", "77", "78");
}

/* It adds before START, and begins its transaction while the fill settles. */
TEST(a_transaction_that_begins_while_the_fill_settles_is_waited_for) {
    struct server *s = server_shared();
    struct database *d = with_table();
    struct program *p =
        fill_start(s, "--pg", d->conninfo, "--table", "t", "--settle", "2s");
    WAIT_UNTIL(is_rebuilding(client(s), "k"));
    int writer = open_writer(d);
    WAIT_UNTIL(strstr(program_errors(p), "waiting for a transaction in the database"));
    database_say(writer, "COMMIT");
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(client(s), "maybe", "BF.CHECK", "k", "77");
}

TEST(a_transaction_that_stays_open_stops_the_fill) {
    struct server *s = server_shared();
    struct database *d = with_table();
    make_old(client(s));
    open_writer(d);
    expect_unfilled(s, EXIT_SOURCE,
                    "waiting for a transaction in the database postgres*end it, or wait "
                    "longer with --stale*",
                    "--pg", d->conninfo, "--table", "t", "--stale", "1s");
}

TEST(a_prepared_transaction_is_waited_for_and_named) {
    struct server *s = server_shared();
    struct database *d = database_start(.config = "max_prepared_transactions = 2");
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, 9) AS id");
    database_run(d, "BEGIN; INSERT INTO t VALUES (77); PREPARE TRANSACTION 'order\x1b 12'");
    struct program *p = fill_start(s, "--pg", d->conninfo, "--table", "t");
    WAIT_UNTIL(strstr(program_errors(p),
                      "waiting for the prepared transaction 'order? 12' of "
                      "postgres in the database postgres, since 20"));
    database_run(d, "COMMIT PREPARED 'order\x1b 12'");
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(client(s), "maybe", "BF.CHECK", "k", "77");
}

/* The ids that were taken before it died come once more, and are lower than the mark. */
TEST(a_crash_of_the_database_ends_the_wait_for_its_writers) {
    struct server *s = server_shared();
    struct database *d = database_start();
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, 9) AS id");
    open_writer(d);
    for (int i = 0; i < 20; i++)
        database_run(d, "SELECT txid_current()");
    struct program *p = fill_start(s, "--pg", d->conninfo, "--table", "t");
    WAIT_UNTIL(strstr(program_errors(p), "waiting for"));
    database_kill(d);
    database_start_again(d);
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(client(s), "[maybe, absent]", "BF.MCHECK", "k", "9", "77");
}

/* ---- rights ---- */

TEST(a_role_without_the_right_to_read_all_rows_is_refused) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    database_run(d, "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;"
                    "CREATE TABLE closed AS SELECT 1 AS id;"
                    "CREATE TABLE few AS SELECT generate_series(1, 9) AS id;"
                    "ALTER TABLE few ENABLE ROW LEVEL SECURITY;"
                    "CREATE POLICY low ON few USING (id < 5);"
                    "GRANT SELECT ON few TO reader");
    const char *reader = text_of("%s user=reader", d->conninfo);
    expect_unfilled(s, EXIT_SOURCE,
                    "PostgreSQL refuses the table closed: permission denied for table*",
                    "--pg", reader, "--table", "closed");
    expect_unfilled(s, EXIT_SOURCE,
                    "PostgreSQL refuses the table few: query would be affected by "
                    "row-level security policy*",
                    "--pg", reader, "--table", "few");
    expect_unfilled(s, EXIT_SOURCE, "PostgreSQL refuses the query: *row-level security*",
                    "--pg", reader, "--query", "SELECT id FROM few");
    database_run(d, "ALTER ROLE reader BYPASSRLS");
    expect_filled(s, "--pg", reader, "--table", "few");
    check_holds(client(s), "k", 1, 10);
}

TEST(a_role_with_few_rights_waits_for_writers_whom_it_may_not_see) {
    struct server *s = server_shared();
    struct database *d = with_table();
    database_run(
        d, "DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN; GRANT SELECT ON t TO poor");
    int writer = open_writer(d);
    const char *process = database_say(writer, "SELECT pg_backend_pid()");
    struct program *p =
        fill_start(s, "--pg", text_of("%s user=poor", d->conninfo), "--table", "t");
    WAIT_UNTIL(strstr(program_errors(p), text_of("process %s", process)));
    database_say(writer, "COMMIT");
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(client(s), "maybe", "BF.CHECK", "k", "77");
}

/* ---- servers ---- */

TEST(a_standby_is_refused_unless_that_is_said) {
    struct server *s = server_shared();
    struct database *d = database_start(.standby = true);
    make_old(client(s));
    expect_unfilled(s, EXIT_SOURCE, "this PostgreSQL is a standby*--standby*", "--pg",
                    d->conninfo, "--query", "VALUES (1)");
    expect_filled(s, "--pg", d->conninfo, "--query", "VALUES (1)", "--standby");
    expect(client(s), "[maybe, absent]", "BF.MCHECK", "k", "1", "2");
}

/* What libpq says of a text that it doesn't understand holds a part of that text. */
TEST(a_connection_that_fails_is_told_without_the_password) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    const char *hba = text_of("%s/data/pg_hba.conf", d->directory);
    const struct file trusting = file_read(hba);
    const struct {
        int code;
        const char *conninfo, *pattern;
    } cases[] = {
        {EXIT_SOURCE, "host=/nowhere password=hunter2",
         "no connection to PostgreSQL:*/nowhere*"},
        {EXIT_SOURCE, "postgresql://anna:hunter2@localhost:1/shop",
         "no connection to PostgreSQL:*"},
        {EXIT_SOURCE, text_of("%s dbname=nowhere", d->conninfo),
         "no connection*\"nowhere\" does not exist*"},
        {EXIT_SOURCE, text_of("%s user=nobody", d->conninfo),
         "no connection*\"nobody\" does not exist*"},
        {EXIT_SOURCE, text_of("%s user=locked password=hunter2", d->conninfo),
         "no connection*password authentication failed*"},
        {EXIT_SOURCE, text_of("%s user=locked", d->conninfo),
         "PostgreSQL wants a password*PGPASSFILE*"},
        {EXIT_USAGE, "host=db password=hunter2 hunter2", "--pg is no connection string*"},
        {EXIT_USAGE, "host=db password='hunter2", "--pg is no connection string*"},
        {EXIT_USAGE, "host=db pasword=hunter2", "--pg is no connection string*"},
        {EXIT_USAGE, "postgresql://anna:hunter2%zz@db/shop",
         "--pg is no connection string*"},
    };
    database_run(d,
                 "DROP ROLE IF EXISTS locked; CREATE ROLE locked LOGIN PASSWORD 'other'");
    const char *text = text_of("local all locked scram-sha-256\n%s", trusting.bytes);
    file_write(hba, text, strlen(text));
    database_run(d, "SELECT pg_reload_conf()");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("case %zu", i);
        struct outcome got = fill(s, "--pg", cases[i].conninfo, "--table", "t");
        CHECK(!strstr(got.err, "hunter2"));
        expect_unfilled(s, cases[i].code, cases[i].pattern, "--pg", cases[i].conninfo,
                        "--table", "t");
    }
}

TEST(options_of_databases_that_contradict_each_other_are_refused) {
    static const struct {
        const char *pattern;
        const char *arguments[5];
    } cases[] = {
        {"--pg wants --table TABLE or --query SQL*", {NULL}},
        {"--query and --table are two sources*", {"--table", "t", "--query", "SELECT 1"}},
        {"--csv, --header and --null are for --from*", {"--table", "t", "--null"}},
        {"--csv, --header and --null are for --from*", {"--table", "t", "--csv", "1"}},
        {"--column is for --table*", {"--query", "SELECT 1", "--column", "sku"}},
    };
    struct server *s = server_shared();
    make_old(client(s));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *a = cases[i].arguments;
        test_case("case %zu", i);
        expect_unfilled(s, EXIT_USAGE, cases[i].pattern, "--pg", "host=/nowhere", a[0],
                        a[1], a[2], a[3]);
    }
}
