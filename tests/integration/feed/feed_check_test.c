/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_check_test.c - bulwark feed check: it finds what is wrong, says what to do, and
 * changes nothing. */

#include "config_file.h"
#include "files.h"
#include "harness.h"

/* A feed of the table t by its id, as a role that its SQL need not have made. */
static const char *config_of(struct database *d, const char *lines) {
    database_run(d, "DO $$BEGIN CREATE ROLE feeder LOGIN REPLICATION;"
                    " EXCEPTION WHEN duplicate_object THEN NULL; END$$");
    return config_file(text_of("database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = "
                               "t\nitem = user:{id}\n%s",
                               config_conninfo(d, "feeder"), server_shared()->port, lines));
}

/* A line of the report; '*' in it stands for anything. */
static bool has_line(const char *report, const char *pattern) {
    const char *star = strchr(pattern, '*');
    size_t head = star ? (size_t)(star - pattern) : strlen(pattern);
    for (const char *line = report; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        if (length < head || strncmp(line, pattern, head) != 0) continue;
        if (star ? memmem(line, length, star + 1, strlen(star + 1)) != NULL
                 : length == head)
            return true;
    }
    return false;
}

static void expect_line(struct outcome got, const char *pattern) {
    if (!has_line(got.out, pattern)) FAIL("no line is like\n%s\nin\n%s", pattern, got.out);
}

static void expect_error(const char *config, const char *pattern) {
    struct outcome got = program_run("feed", "check", config);
    expect_line(got, text_of("error    %s", pattern));
    CHECK_INT(got.code, 1);
}

/* One cause is told once. */
static void expect_only_error(const char *config, const char *pattern) {
    struct outcome got = program_run("feed", "check", config);
    const char *first = strstr(got.out, "\nerror ");
    expect_line(got, text_of("error    %s", pattern));
    CHECK(first && !strstr(first + 1, "\nerror "));
    CHECK_INT(got.code, 1);
}

static void expect_warning(const char *config, const char *pattern) {
    struct outcome got = program_run("feed", "check", config);
    expect_line(got, text_of("warning  %s", pattern));
    CHECK(!strstr(got.out, "error "));
    CHECK_INT(got.code, 0);
}

/* ---- all is well ---- */

static struct database *good_table(void) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY, note text);"
                    "INSERT INTO t SELECT generate_series(1, 30)");
    return d;
}

TEST(a_feed_that_can_run_has_no_errors) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);

    struct outcome got = program_run("feed", "check", config);
    expect_line(got, "ok       PostgreSQL *, which takes writes");
    expect_line(got, "ok       wal_level is logical");
    expect_line(got, "ok       the role feeder may stream changes");
    expect_line(got, "ok       t has a replica identity");
    expect_line(got, "ok       the column id (integer) can be read");
    expect_line(got, "ok       the publication bulwark_k has the table");
    expect_line(got, "ok       there is no slot bulwark_k yet: run makes it");
    expect_line(got, "ok       there is no filter k yet: run makes it");
    expect_line(got, "ok       the server at 127.0.0.1:* has Bulwark ");
    expect_line(got, "ok       the server's user may do what the feed does");
    CHECK(!strstr(got.out, "error "));
    CHECK_STR(got.err, "");
    CHECK_INT(got.code, 0);
}

TEST(ten_rows_are_shown_as_items) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    struct outcome got = program_run("feed", "check", config);
    CHECK(strstr(got.out, "           user:1\n           user:2\n"));
    CHECK(strstr(got.out, "           user:10\n"));
    CHECK(!strstr(got.out, "user:11\n"));
}

TEST(nothing_is_changed) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    redisContext *c = client(server_shared());
    call(c, "BF.RESERVE", "k", "0.01", "100", "READY");
    call(c, "SET", "k:feed", "something");
    const char *lsn = database_run(d, "SELECT pg_current_wal_insert_lsn()");
    const char *dump = call_text(c, "BF.INFO", "k", "STATE");

    program_run("feed", "check", config);
    CHECK_STR(call_text(c, "BF.INFO", "k", "STATE"), dump);
    CHECK_INT(call_int(c, "BF.CARD", "k"), 0);
    CHECK_STR(call_text(c, "GET", "k:feed"), "\"something\"");
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_replication_slots"), "0");
    CHECK_STR(
        database_run(d, "SELECT pg_current_wal_insert_lsn() - '%s'::pg_lsn < 1000", lsn),
        "t");
}

/* ---- PostgreSQL ---- */

TEST(a_database_that_is_away_is_an_error_and_the_server_is_looked_at_all_the_same) {
    const char *config = config_file(text_of(
        "database = host=/nonexistent user=f\nserver = 127.0.0.1:%d\nfilter = k\ntable = "
        "t\nitem = {id}\n",
        server_shared()->port));
    struct outcome got = program_run("feed", "check", config);
    expect_line(got, "error    no connection to PostgreSQL: *");
    expect_line(got, "ok       the server at 127.0.0.1:* has Bulwark ");
    CHECK_STR(got.err, "bulwark: 1 error: the feed can't run\n");
    CHECK_INT(got.code, 1);
}

TEST(settings_that_forbid_a_feed_are_errors) {
    struct database *d = database_start(.config = "wal_level = replica\n"
                                                  "max_replication_slots = 0\n"
                                                  "max_wal_senders = 0\n");
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    struct outcome got = program_run("feed", "check", config);
    expect_line(got, "error    wal_level is replica: set wal_level = logical*");
    expect_line(got, "error    max_replication_slots is 0, and all are taken*");
    expect_line(got, "error    max_wal_senders is 0, and all are taken*");
    expect_line(got, "error    the role feeder can't stream changes*");
}

TEST(a_database_whose_values_may_be_any_bytes_is_refused) {
    struct database *d =
        database_start(.encoding = "SQL_ASCII", .config = "wal_level = logical\n");
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    expect_error(config, "the database's encoding is SQL_ASCII*");
}

TEST(a_standby_is_refused) {
    struct database *d = database_start(.standby = true, .config = "wal_level = logical\n");
    const char *config = config_file(text_of(
        "database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = t\nitem = {id}\n",
        d->conninfo, server_shared()->port));
    expect_error(config, "no connection to PostgreSQL: *read-only");
}

TEST(a_slot_without_a_limit_is_a_warning) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    expect_warning(config, "max_slot_wal_keep_size has no limit: *");
}

TEST(a_role_without_rights_is_told_which) {
    struct database *d = good_table();
    config_run_sql(d, config_of(d, ""));
    database_run(d, "DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN;"
                    "REVOKE ALL ON SCHEMA public FROM public");
    const char *config = config_file(text_of(
        "database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = t\nitem = {id}\n",
        config_conninfo(d, "stranger"), server_shared()->port));
    struct outcome got = program_run("feed", "check", config);
    expect_line(got, "error    the role stranger can't stream changes: *It lacks "
                     "REPLICATION: see bulwark feed sql");
    expect_line(got, "error    the role stranger has no USAGE on the schema public*");
    expect_line(got, "error    the role may not read the column id*");
}

TEST(announce_wants_postgresql_17) {
    struct database *d = good_table();
    config_run_sql(d, config_of(d, ""));
    expect_error(config_of(d, "guarantee = announce\n"),
                 "PostgreSQL *guarantee = announce needs 17 or later");
}

/* ---- the trigger ---- */

static struct database *announced(const char **config) {
    struct database *d = database_shared_of(17);
    database_run(d, "CREATE TABLE t (id int, PRIMARY KEY (id)) PARTITION BY LIST (id);"
                    "CREATE TABLE t1 PARTITION OF t DEFAULT");
    *config = config_of(d, "guarantee = announce\n");
    config_run_sql(d, *config);
    return d;
}

TEST(a_trigger_without_a_slot_is_a_warning) {
    const char *config;
    announced(&config);
    expect_warning(config, "the trigger of announce is there, and no slot: each INSERT and "
                           "UPDATE waits for a lease, *");
}

TEST(a_trigger_that_is_in_place_is_good) {
    const char *config;
    struct database *d = announced(&config);
    database_run(d, "SELECT pg_create_logical_replication_slot('bulwark_k', 'pgoutput')");
    struct outcome got = program_run("feed", "check", config);
    database_drop_slots(d);
    expect_line(got, "ok       the trigger of announce is in place");
    CHECK_INT(got.code, 0);
}

TEST(a_trigger_that_is_not_there_is_an_error) {
    struct database *d = database_shared_of(17);
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    config_run_sql(d, config_of(d, ""));
    expect_error(config_of(d, "guarantee = announce\n"),
                 "there is no trigger of announce: *");
}

TEST(a_trigger_that_is_disabled_on_a_partition_is_an_error) {
    const char *config;
    struct database *d = announced(&config);
    database_run(d, "ALTER TABLE t1 DISABLE TRIGGER USER");
    expect_error(config, "the trigger of announce is missing or disabled on public.t1: *");
}

TEST(a_trigger_on_a_table_that_was_attached_later_is_missed) {
    const char *config;
    struct database *d = announced(&config);
    database_run(d, "CREATE TABLE t2 (id int PRIMARY KEY);"
                    "ALTER TABLE t ATTACH PARTITION t2 FOR VALUES IN (2)");
    expect_error(config, "the trigger of announce is missing or disabled on public.t2: *");
}

TEST(a_trigger_with_another_lease_is_an_error) {
    const char *config;
    struct database *d = announced(&config);
    expect_error(config_of(d, "guarantee = announce\nlease = 10s\n"),
                 "the trigger of announce was made for another item or lease: *");
}

TEST(a_trigger_that_nobody_wants_is_a_warning) {
    const char *config;
    struct database *d = announced(&config);
    expect_warning(config_of(d, ""),
                   "the trigger of announce is there, and guarantee is lag: *");
}

/* ---- the table ---- */

/* A table that is no table to follow; nobody has run any SQL. */
#define TABLE_ERROR(fact, sql, pattern)                                                    \
    TEST(fact) {                                                                           \
        struct database *d = database_shared();                                            \
        database_run(d, "%s", sql);                                                        \
        expect_error(config_of(d, ""), pattern);                                           \
    }

TABLE_ERROR(a_table_that_is_not_there_is_an_error, "", "there is no table t *")
TABLE_ERROR(capitals_count_in_a_tables_name, "CREATE TABLE \"T\" (id int PRIMARY KEY)",
            "there is no table t *")
TABLE_ERROR(a_view_is_an_error, "CREATE VIEW t AS SELECT 1 AS id", "t is a view: *")
TABLE_ERROR(a_materialized_view_is_an_error, "CREATE MATERIALIZED VIEW t AS SELECT 1 AS id",
            "t is a materialized view: *")
TABLE_ERROR(an_unlogged_table_is_an_error, "CREATE UNLOGGED TABLE t (id int PRIMARY KEY)",
            "no changes come from unlogged or temporary tables: public.t. *")
TABLE_ERROR(an_unlogged_partition_is_an_error,
            "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY LIST (id);"
            "CREATE UNLOGGED TABLE t1 PARTITION OF t DEFAULT",
            "no changes come from unlogged or temporary tables: public.t1. *")
TABLE_ERROR(a_foreign_partition_is_an_error,
            "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
            "CREATE TABLE t (id int) PARTITION BY LIST (id);"
            "CREATE FOREIGN TABLE t1 PARTITION OF t DEFAULT SERVER s;"
            "ALTER FOREIGN TABLE t1 OWNER TO postgres",
            "no changes come from foreign tables: public.t1")
TABLE_ERROR(a_table_that_others_inherit_from_is_an_error,
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE t1 () INHERITS (t)",
            "tables inherit from t: *")
TABLE_ERROR(
    a_table_whose_updates_would_fail_is_a_loud_error, "CREATE TABLE t (id int)",
    "no primary key and no replica identity: public.t. *REFUSES every UPDATE and DELETE")
TABLE_ERROR(a_partition_whose_updates_would_fail_is_named,
            "CREATE TABLE t (id int) PARTITION BY LIST (id);"
            "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);"
            "CREATE TABLE t2 PARTITION OF t (PRIMARY KEY (id)) DEFAULT",
            "no primary key and no replica identity: public.t1. *")
TABLE_ERROR(a_column_that_is_not_there_is_an_error, "CREATE TABLE t (idd int PRIMARY KEY)",
            "t has no column id: *")
TABLE_ERROR(
    a_generated_column_is_an_error,
    "CREATE TABLE t (no int PRIMARY KEY, id int GENERATED ALWAYS AS (no + 1) STORED)",
    "the column id is generated, *")
TABLE_ERROR(a_float_makes_no_item, "CREATE TABLE t (id float8 PRIMARY KEY)",
            "the column id is double precision, whose text depends *")
TABLE_ERROR(a_date_makes_no_item, "CREATE TABLE t (id date PRIMARY KEY)",
            "the column id is date, whose text depends *")
TABLE_ERROR(a_domain_is_what_it_is_made_of,
            "CREATE DOMAIN whenever AS timestamptz; CREATE DOMAIN later AS whenever;"
            "CREATE TABLE t (id later PRIMARY KEY)",
            "the column id is public.later, whose text depends *")

/* A table that may be followed, with care. */
#define TABLE_WARNING(fact, sql, pattern)                                                  \
    TEST(fact) {                                                                           \
        struct database *d = database_shared();                                            \
        database_run(d, "%s", sql);                                                        \
        const char *config = config_of(d, "");                                             \
        config_run_sql(d, config);                                                         \
        expect_warning(config, pattern);                                                   \
    }

TABLE_WARNING(a_column_that_may_be_null_is_a_warning,
              "CREATE TABLE t (no int PRIMARY KEY, id int)", "the column id may be NULL: *")
TABLE_WARNING(a_type_that_nobody_knows_is_a_warning,
              "CREATE TABLE t (id point NOT NULL);"
              "ALTER TABLE t REPLICA IDENTITY FULL",
              "the column id is point: look *")
TABLE_WARNING(a_padded_column_is_a_warning, "CREATE TABLE t (id char(8) PRIMARY KEY)",
              "the column id is character(8): its text has blanks *")

TEST(types_of_steady_text_are_good) {
    struct database *d = database_shared();
    database_run(d,
                 "CREATE TYPE mood AS ENUM ('good'); CREATE DOMAIN tag AS varchar(8);"
                 "CREATE TABLE t (id bigint PRIMARY KEY, a smallint NOT NULL, b text NOT "
                 "NULL, c uuid NOT NULL, d numeric NOT NULL, e mood NOT NULL, f tag NOT "
                 "NULL, g bool NOT NULL)");
    const char *config = config_file(
        text_of("database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = t\nitem = "
                "{id}{a}{b}{c}{d}{e}{f}{g}\n",
                config_conninfo(d, "feeder"), server_shared()->port));
    config_run_sql(d, config);
    struct outcome got = program_run("feed", "check", config);
    CHECK(!strstr(got.out, "warning  the column"));
    CHECK_INT(got.code, 0);
}

TEST(rows_that_the_role_may_not_see_are_an_error) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    database_run(d, "ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
                    "CREATE POLICY few ON t USING (id < 10)");
    expect_error(config, "row level security hides rows of t from the role feeder, *ALTER "
                         "ROLE feeder BYPASSRLS");

    database_run(d, "ALTER ROLE feeder BYPASSRLS");
    struct outcome got = program_run("feed", "check", config);
    database_run(d, "ALTER ROLE feeder NOBYPASSRLS");
    CHECK_INT(got.code, 0);
}

/* ---- the publication ---- */

/* After its SQL was run, and this. */
#define PUBLICATION_ERROR(fact, sql, pattern)                                              \
    TEST(fact) {                                                                           \
        struct database *d = good_table();                                                 \
        const char *config = config_of(d, "");                                             \
        config_run_sql(d, config);                                                         \
        database_run(d, "%s", sql);                                                        \
        expect_error(config, pattern);                                                     \
    }

PUBLICATION_ERROR(a_publication_that_is_not_there_is_an_error, "DROP PUBLICATION bulwark_k",
                  "there is no publication bulwark_k: *")
PUBLICATION_ERROR(a_publication_without_the_table_is_an_error,
                  "ALTER PUBLICATION bulwark_k DROP TABLE t",
                  "the publication bulwark_k lacks the table t: *")
PUBLICATION_ERROR(a_publication_without_all_changes_is_an_error,
                  "ALTER PUBLICATION bulwark_k SET (publish = 'insert, delete')",
                  "the publication bulwark_k leaves out: update, truncate. *")
PUBLICATION_ERROR(a_publication_without_the_items_column_is_an_error,
                  "ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD no serial;"
                  "ALTER TABLE t ADD PRIMARY KEY (no);"
                  "ALTER PUBLICATION bulwark_k SET TABLE t (no)",
                  "the publication bulwark_k leaves out what items are made of: id. *")
PUBLICATION_ERROR(a_publication_without_some_rows_is_an_error,
                  "ALTER PUBLICATION bulwark_k SET TABLE t WHERE (id > 5)",
                  "the publication bulwark_k leaves out rows, *id > 5")

TEST(changes_under_the_names_of_partitions_are_an_error) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY LIST (id);"
                    "CREATE TABLE t1 PARTITION OF t DEFAULT");
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    struct outcome got = program_run("feed", "check", config);
    CHECK_INT(got.code, 0);

    database_run(d, "ALTER PUBLICATION bulwark_k SET TABLE t;"
                    "ALTER PUBLICATION bulwark_k SET (publish_via_partition_root = false)");
    expect_error(config, "the publication bulwark_k has no publish_via_partition_root = "
                         "true: *");
}

TEST(other_tables_in_the_publication_are_a_warning) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    database_run(d, "CREATE TABLE others (id int PRIMARY KEY);"
                    "ALTER PUBLICATION bulwark_k ADD TABLE others");
    expect_warning(config, "the publication bulwark_k has other tables, *");
}

/* ---- the slot ---- */

static void drop_slot(void *d) {
    database_run(d, "SELECT pg_drop_replication_slot('bulwark_k')");
}

TEST(a_slot_of_somebody_else_is_an_error) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    database_run(d, "SELECT pg_create_physical_replication_slot('bulwark_k')");
    test_defer(drop_slot, d);
    expect_error(config, "the slot bulwark_k is another's (physical, *");
}

TEST(a_slot_that_waits_tells_how_much_it_holds) {
    struct database *d = good_table();
    const char *config = config_of(d, "");
    config_run_sql(d, config);
    database_run(d, "SELECT pg_create_logical_replication_slot('bulwark_k', 'pgoutput')");
    test_defer(drop_slot, d);
    struct outcome got = program_run("feed", "check", config);
    expect_line(got, "ok       the slot bulwark_k holds * of WAL; no feed is running");
}

/* ---- the server ---- */

static const char *config_at(struct database *d, const struct server *s,
                             const char *lines) {
    const char *config =
        config_file(text_of("database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = "
                            "t\nitem = {id}\n%s",
                            config_conninfo(d, "feeder"), s->port, lines));
    config_run_sql(d, config);
    return config;
}

TEST(a_server_without_bulwark_is_an_error) {
    struct server *s = server_start(.without_module = true);
    expect_only_error(config_at(good_table(), s, ""),
                      "the server at 127.0.0.1:* has no Bulwark: ");
}

TEST(a_server_that_wants_a_password_is_an_error) {
    struct server *s = server_start();
    expect(client(s), "OK", "CONFIG", "SET", "requirepass", "secret");
    expect_only_error(config_at(good_table(), s, ""),
                      "the server wants a password: server-password-file *");
}

TEST(what_is_no_server_is_an_error) {
    struct database *d = database_start(.tcp = true, .config = "wal_level = logical\n");
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    const struct server s = {.port = d->port};
    expect_only_error(config_at(d, &s, ""), "*");
}

TEST(a_replica_is_an_error) {
    struct server *s = server_start(.config = "replicaof 127.0.0.1 1");
    expect_error(config_at(good_table(), s, ""), "127.0.0.1:* is a replica: ");
}

TEST(a_server_without_an_aof_is_a_warning) {
    expect_warning(config_at(good_table(), server_shared(), "keep = 90s\n"),
                   "127.0.0.1:* has no AOF: after a restart it may lack more than the slot "
                   "keeps (keep is 1m30s)");
}

TEST(saves_within_keep_are_no_warning) {
    struct server *s = server_start(.config = "save 300 1\nsave 60 100");
    struct database *d = good_table();
    expect_warning(config_at(d, s, "keep = 299s\n"), "127.0.0.1:* has no AOF: ");

    struct outcome got = program_run("feed", "check", config_at(d, s, "keep = 5m\n"));
    CHECK(!strstr(got.out, "AOF"));
    CHECK_INT(got.code, 0);
}

TEST(a_server_with_an_aof_is_no_warning) {
    struct server *s = server_start(.config = "appendonly yes");
    struct outcome got = program_run("feed", "check", config_at(good_table(), s, ""));
    CHECK(!strstr(got.out, "AOF"));
    CHECK_INT(got.code, 0);
}

/* Whatever else is said of wait-aof: not every server has it. */
static void check_says_of_files(const char *server, const char *line) {
    struct server *s = server_start(.config = server);
    const char *config = config_at(good_table(), s, "lease = 5s\nwait-aof = 1\n");
    CHECK(text_matches(program_run("feed", "check", config).out, line));
}

TEST(waiting_for_files_that_are_written_each_second_is_a_warning) {
    check_says_of_files("appendonly yes\nappendfsync everysec",
                        "*warning  127.0.0.1:* has appendfsync everysec: with wait-aof, *");
}

TEST(waiting_for_files_that_there_are_not_is_an_error) {
    check_says_of_files("appendonly no",
                        "*error    127.0.0.1:* has no AOF, and wait-aof *");
}

TEST(a_policy_that_evicts_any_key_is_a_warning) {
    struct server *s =
        server_start(.config = "maxmemory 100mb\nmaxmemory-policy allkeys-lru");
    expect_warning(config_at(good_table(), s, ""), "127.0.0.1:* evicts any key ");
}

TEST(too_little_memory_for_a_rebuild_is_an_error) {
    struct server *s = server_start(.config = "maxmemory 20mb");
    struct database *d = good_table();
    expect_error(config_at(d, s, "capacity = 10M\nerror = 0.001\n"),
                 "127.0.0.1:* left below maxmemory, and filter and rebuild need ");

    struct outcome got =
        program_run("feed", "check", config_at(d, s, "capacity = 1M\nerror = 0.001\n"));
    CHECK(strstr(got.out, " has room for the filter and a rebuild: "));
    CHECK_INT(got.code, 0);
}

TEST(a_key_that_is_no_filter_is_an_error) {
    struct database *d = good_table();
    const char *config = config_at(d, server_shared(), "");
    call(client(server_shared()), "SET", "k", "v");
    expect_error(config, "BF.INFO of k is refused: WRONGTYPE*");
}

TEST(a_filter_of_another_products_kind_is_an_error) {
    struct database *d = good_table();
    const char *config = config_at(d, server_shared(), "");
    call(client(server_shared()), "BF.RESERVE", "k", "0.01", "100", "KIND", "redisbloom");
    expect_error(config, "k is a filter of kind redisbloom, *");
}

/* ---- the item ---- */

TEST(an_item_with_what_is_no_part_of_it_is_a_warning) {
    struct database *d = good_table();
    const char *config =
        config_file(text_of("database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = t\n"
                            "item = \"{id} # its id\"\n",
                            config_conninfo(d, "feeder"), server_shared()->port));
    config_run_sql(d, config);
    expect_warning(config, "item is in quotes, which are a part of each item: *");
    expect_warning(config, "item has a # in it, which is a part of each item: *");
}

/* ---- the server's user ---- */

static void delete_user(void *s) {
    call(client(s), "ACL", "DELUSER", "limited");
}

TEST(rights_that_are_missing_are_named_with_the_line_that_is_enough) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    const char *password = config_file("geheim\n");
    const char *config =
        config_at(good_table(), s,
                  text_of("server-user = limited\nserver-password-file = %s\n", password));
    test_defer(delete_user, s);
    call(c, "ACL", "SETUSER", "limited", "on", ">geheim", "~k*", "+@all", "-bf.ready",
         "-set");

    struct outcome got = program_run("feed", "check", config);
    expect_line(got, "error    the server's user may not, on k and what is beside it: "
                     "BF.READY, SET");
    expect_line(got, "           enough is: ACL SETUSER limited on >PASSWORD -@all ~k *");

    call(c, "ACL", "SETUSER", "limited", "resetkeys", "~k", "+@all");
    got = program_run("feed", "check", config);
    expect_line(got, "error    the server's user may not, on k and what is beside it: "
                     "*GET, SET, DEL");
    CHECK_INT(got.code, 1);
}

TEST(a_wrong_password_is_an_error) {
    struct server *s = server_shared();
    const char *config =
        config_at(good_table(), s,
                  text_of("server-user = nobody\nserver-password-file = %s\n",
                          config_file("wrong\n")));
    expect_error(config, "AUTH is refused: *");
}
