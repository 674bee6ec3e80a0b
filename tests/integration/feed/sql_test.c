/* SPDX-License-Identifier: BSD-3-Clause */

/* sql_test.c - bulwark feed sql: what it prints does in PostgreSQL what a feed needs, and
 * harms nobody. */

#include "cluster.h"
#include "config_file.h"
#include "files.h"
#include "harness.h"
#include "integration/client/spread.h"

#include <signal.h>

/* A feed of the table, as the role feeder. */
static const char *config_of(const struct database *d, const char *table,
                             const char *item) {
    return config_file(text_of("database = %s\nfilter = k\ntable = %s\nitem = %s\n",
                               config_conninfo(d, "feeder"), table, item));
}

/* False: PostgreSQL refused it, and so has done nothing of it. */
static bool runs(struct database *d, const char *config) {
    struct outcome sql = program_run("feed", "sql", config);
    CHECK_STR(sql.err, "");
    CHECK_INT(sql.code, 0);
    int session = database_connect(d);
    char *said = database_try(session, "%s", sql.out);
    free(said);
    return said != NULL;
}

static void expect_published(struct database *d, const char *columns) {
    CHECK_STR(database_run(d, "SELECT attnames FROM pg_publication_tables"), columns);
    CHECK_STR(database_run(d, "SELECT concat(pubinsert, pubupdate, pubdelete, pubtruncate, "
                              "pubviaroot) FROM pg_publication"),
              "ttttt");
}

/* Of every row: what a missing identity forbids. */
static void expect_writes_work(struct database *d, const char *table) {
    database_run(d, "UPDATE %s SET note = 'changed'; DELETE FROM %s", table, table);
}

/* ---- the table ---- */

TEST(the_sql_makes_role_grants_and_publication) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE users (id int PRIMARY KEY, note text)");

    CHECK(runs(d, config_of(d, "users", "user:{id}")));
    expect_published(d, "{id}");
    CHECK_STR(database_run(d, "SELECT concat(rolcanlogin, rolreplication, rolsuper, "
                              "rolcreatedb, rolbypassrls) FROM pg_roles "
                              "WHERE rolname = 'feeder'"),
              "ttfff");
    CHECK_STR(database_run(d,
                           "SELECT concat(has_column_privilege('feeder', 'users', 'id', "
                           "'SELECT'), has_column_privilege('feeder', 'users', 'note', "
                           "'SELECT'), has_table_privilege('feeder', 'users', 'INSERT'))"),
              "tff");
}

TEST(the_sql_may_run_again) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE users (id int PRIMARY KEY, note text)");
    const char *config = config_of(d, "users", "user:{id}");

    CHECK(runs(d, config));
    CHECK(runs(d, config));
    expect_published(d, "{id}");
}

TEST(the_sql_mends_what_differs) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE users (id int PRIMARY KEY, note text);"
                    "CREATE PUBLICATION bulwark_k WITH (publish = 'insert')");

    CHECK(runs(d, config_of(d, "users", "{id}")));
    expect_published(d, "{id}");
    CHECK(runs(d, config_of(d, "users", "{id}:{note}")));
    expect_published(d, "{id,note}");
}

#define WRITES_GO_ON(fact, table, row, columns)                                            \
    TEST(fact) {                                                                           \
        struct database *d = database_shared();                                            \
        database_run(d, "%s; INSERT INTO t %s", table, row);                               \
        CHECK(runs(d, config_of(d, "t", "{id}")));                                         \
        expect_published(d, columns);                                                      \
        expect_writes_work(d, "t");                                                        \
    }

WRITES_GO_ON(writes_go_on_with_another_primary_key,
             "CREATE TABLE t (id int, no int PRIMARY KEY, note text)", "VALUES (1, 1)",
             "{id,no}")
WRITES_GO_ON(
    writes_go_on_with_an_index_as_identity,
    "CREATE TABLE t (id int, a int NOT NULL, b int NOT NULL, note text, UNIQUE (b, "
    "a)); ALTER TABLE t REPLICA IDENTITY USING INDEX t_b_a_key",
    "VALUES (1, 1, 1)", "{id,a,b}")
WRITES_GO_ON(writes_go_on_with_a_whole_row_as_identity,
             "CREATE TABLE t (id int, note text); ALTER TABLE t REPLICA IDENTITY FULL",
             "VALUES (1)", "{id,note}")
WRITES_GO_ON(writes_go_on_in_partitions,
             "CREATE TABLE t (note text, id int, at int, PRIMARY KEY (id, at))"
             " PARTITION BY RANGE (at);"
             "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);"
             "CREATE TABLE t2 (at int NOT NULL, id int NOT NULL, note text);"
             "ALTER TABLE t2 ADD PRIMARY KEY (id, at);"
             "ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (10) TO (20)",
             "VALUES ('', 1, 1), ('', 2, 11)", "{id,at}")

#define WRITES_WOULD_FAIL(fact, table)                                                     \
    TEST(fact) {                                                                           \
        struct database *d = database_shared();                                            \
        database_run(d, "%s; INSERT INTO t VALUES (1)", table);                            \
        CHECK(!runs(d, config_of(d, "t", "{id}")));                                        \
        CHECK_STR(database_run(d, "SELECT count(*) FROM pg_publication"), "0");            \
        expect_writes_work(d, "t");                                                        \
    }

WRITES_WOULD_FAIL(a_table_without_a_key_is_refused, "CREATE TABLE t (id int, note text)")
WRITES_WOULD_FAIL(a_table_without_an_identity_is_refused,
                  "CREATE TABLE t (id int PRIMARY KEY, note text);"
                  "ALTER TABLE t REPLICA IDENTITY NOTHING")
WRITES_WOULD_FAIL(a_partition_without_a_key_is_refused,
                  "CREATE TABLE t (id int, note text) PARTITION BY LIST (id);"
                  "CREATE TABLE t1 PARTITION OF t DEFAULT")

TEST(a_table_or_column_that_is_not_there_is_refused) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    CHECK(!runs(d, config_of(d, "tt", "{id}")));
    CHECK(!runs(d, config_of(d, "t", "{idd}")));
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_publication"), "0");
}

TEST(a_publication_of_other_tables_is_left_alone) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY);"
                    "CREATE TABLE others (id int PRIMARY KEY);"
                    "CREATE PUBLICATION bulwark_k FOR TABLE others");
    CHECK(!runs(d, config_of(d, "t", "{id}")));
    CHECK_STR(database_run(d, "SELECT tablename FROM pg_publication_tables"), "others");
}

/* ---- names ---- */

TEST(names_are_quoted) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE \"Say \"\"hi\"\", $bulwark$ o'neill\\\" "
                    "(\"the \"\"id\"\", {1}\\\" int PRIMARY KEY)");
    const char *config =
        config_file(text_of("database = %s\nfilter = k\n"
                            "table = \"Say \"\"hi\"\", $bulwark$ o'neill\\\"\n"
                            "item = {the \"id\", {1\\}\n"
                            "publication = p'); DROP TABLE x; --\n",
                            config_conninfo(d, "'fee\"der\\'s'")));
    database_run(d, "ALTER TABLE \"Say \"\"hi\"\", $bulwark$ o'neill\\\" "
                    "RENAME \"the \"\"id\"\", {1}\\\" TO \"the \"\"id\"\", {1\\\"");

    CHECK(runs(d, config));
    CHECK_STR(database_run(d, "SELECT pubname FROM pg_publication_tables"),
              "p'); DROP TABLE x; --");
    CHECK_STR(database_run(d, "SELECT rolreplication FROM pg_roles WHERE rolname = "
                              "'fee\"der''s'"),
              "t");
}

TEST(without_a_user_there_is_no_role_to_make) {
    const char *config =
        config_file("database = host=db\nfilter = k\ntable = t\nitem = {id}\n");
    struct outcome got = program_run("feed", "sql", config);
    CHECK_STR(got.err, text_of("bulwark: %s: database names no user: the role of user=NAME "
                               "is made\n",
                               config));
    CHECK_INT(got.code, 2);
}

/* ---- rights ---- */

/* The line that the SQL ends with, as redis-cli would send it. */
static void make_user(redisContext *c, const char *config) {
    const char *sql = program_run("feed", "sql", config).out;
    const char *line = strstr(sql, "ACL SETUSER ");
    CHECK(line != NULL);
    const char *words[64];
    size_t n = 0;
    char *text = strndup(line, strcspn(line, "\n")), *rest;
    test_defer(free, text);
    for (char *word = strtok_r(text, " ", &rest); word && n < 64;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = strcmp(word, ">PASSWORD") == 0 ? ">geheim" : word;
    redisReply *r = callv(c, n, words, NULL);
    CHECK_STR(r->str, "OK");
}

static void delete_user(void *c) {
    call(c, "ACL", "DELUSER", "bulwark_feed");
}

static bool denies(redisContext *c, const char *key, const char *item) {
    return strcmp(call_text(c, "BF.CHECK", key, item), "absent") == 0;
}

/* Everything at once: filling, following, vouching, a rebuild, by a role and a user that
 * have no other rights than those that were printed. */
static void expect_enough(const char *number) {
    struct database *d = database_shared();
    struct server *s = server_shared();
    redisContext *c = client(s);
    database_run(d, "DROP SCHEMA IF EXISTS shop CASCADE; CREATE SCHEMA shop; CREATE TABLE "
                    "shop.users (id int PRIMARY KEY, note "
                    "text); INSERT INTO shop.users SELECT generate_series(1, 2000)");
    const char *base =
        text_of("database = %s\nserver = redis://127.0.0.1:%d/%s\nfilter = k\n"
                "table = shop.users\nitem = user:{id}\nlease = 1s\nerror = 0.000001\n",
                config_conninfo(d, "feeder"), s->port, number);
    const char *password = config_file("geheim\n");
    const char *config = config_file(text_of(
        "%sserver-user = bulwark_feed\nserver-password-file = %s\n", base, password));
    CHECK(runs(d, config));
    make_user(c, config);
    test_defer(delete_user, c);
    expect(c, "OK", "SELECT", number);

    struct outcome check = program_run("feed", "check", config);
    CHECK_INT(check.code, 0);
    struct program *feed = program_start("feed", "run", config);
    WAIT_UNTIL(denies(c, "k", "never"));
    CHECK_STR(call_text(c, "BF.CHECK", "k", "user:2000"), "maybe");
    database_run(d, "INSERT INTO shop.users VALUES (3000)");
    WAIT_UNTIL(strcmp(call_text(c, "BF.CHECK", "k", "user:3000"), "maybe") == 0);

    WAIT_UNTIL(program_run("feed", "status", config).code == 0);
    CHECK_INT(program_run("feed", "verify", config).code, 0);

    call(c, "DEL", "k");
    WAIT_UNTIL(denies(c, "k", "never"));
    CHECK_STR(call_text(c, "BF.CHECK", "k", "user:3000"), "maybe");
    program_signal(feed, SIGTERM);
    program_wait(feed);
    WAIT_UNTIL(!*database_run(d, "SELECT 1 FROM pg_replication_slots WHERE active"));
    CHECK_INT(program_run("feed", "drop", config).code, 0);
    database_run(d, "DROP SCHEMA shop CASCADE");
}

TEST(the_rights_that_are_printed_are_enough) {
    expect_enough("0");
}

TEST(the_rights_that_are_printed_are_enough_in_another_database) {
    expect_enough("3");
}

/* The same in a cluster; the numbers 1 to 100 are there, and then 101. */
static void expect_enough_in_cluster(unsigned parts) {
    struct database *d = database_shared();
    struct cluster *all = cluster_start(.masters = 3);
    struct spread *spread = spread_of(all, parts);
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY);"
                    "INSERT INTO t SELECT generate_series(1, 100)");
    const char *config = config_file(text_of(
        "database = %s\nserver = 127.0.0.1:%d\ncluster = yes\nfilter = k\ntable = t\n"
        "item = {id}\nlease = 1s\nparts = %u\nserver-user = bulwark_feed\n"
        "server-password-file = %s\ncapacity = 10k\nerror = 0.000001\n",
        config_conninfo(d, "feeder"), all->node[0]->port, parts, config_file("geheim\n")));
    CHECK(runs(d, config));
    for (size_t i = 0; i < all->n; i++)
        make_user(client(all->node[i]), config);

    CHECK_INT(program_run("feed", "check", config).code, 0);
    struct program *feed = program_start("feed", "run", config);
    WAIT_UNTIL(spread_denies(spread, 100000));
    spread_check(spread, 1, 100);
    database_run(d, "INSERT INTO t VALUES (101)");
    WAIT_UNTIL(!spread_denies(spread, 101));
    WAIT_UNTIL(program_run("feed", "status", config).code == 0);
    CHECK_INT(program_run("feed", "verify", config).code, 0);
    program_signal(feed, SIGTERM);
    program_wait(feed);
    WAIT_UNTIL(!*database_run(d, "SELECT 1 FROM pg_replication_slots WHERE active"));
    CHECK_INT(program_run("feed", "drop", config).code, 0);
}

TEST(the_rights_that_are_printed_are_enough_in_a_cluster) {
    expect_enough_in_cluster(0);
}

TEST(the_rights_that_are_printed_are_enough_for_parts) {
    expect_enough_in_cluster(7);
}

TEST(what_drop_prints_removes_what_sql_has_made) {
    struct database *d = database_shared();
    struct server *s = server_shared();
    database_run(d, "CREATE TABLE users (id int PRIMARY KEY)");
    const char *config = config_file(text_of(
        "database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = users\nitem = {id}\n",
        config_conninfo(d, "leaver"), s->port));
    CHECK(runs(d, config));

    struct outcome drop = program_run("feed", "drop", config);
    CHECK_INT(drop.code, 0);
    const char *sql = strstr(drop.out, "DROP "), *rest = strstr(drop.out, "-- DROP OWNED");
    CHECK(sql && rest);
    database_run(d, "%s", sql);
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_publication"), "0");
    CHECK_STR(database_run(d, "SELECT has_column_privilege('leaver', 'users', 'id', "
                              "'SELECT')"),
              "f");
    database_run(d, "%s", rest + strlen("-- "));
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_roles WHERE rolname = 'leaver'"),
              "0");
}

/* ---- later versions ---- */

static void expect_good_on(int version) {
    struct database *d = database_shared_of(version);
    struct server *s = server_shared();
    database_run(d, "CREATE TABLE t (id int, at int, note text, PRIMARY KEY (id, at))"
                    " PARTITION BY RANGE (at);"
                    "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);"
                    "INSERT INTO t VALUES (1, 1), (2, 2)");
    const char *config = config_file(
        text_of("database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = t\nitem = {id}\n"
                "guarantee = announce\n",
                config_conninfo(d, "feeder"), s->port));
    CHECK(runs(d, config));
    CHECK(runs(d, config));
    expect_published(d, "{id,at}");
    struct outcome check = program_run("feed", "check", config);
    CHECK(!strstr(check.out, "error "));
    CHECK_INT(check.code, 0);
}

TEST(the_sql_is_good_on_postgresql_17) {
    expect_good_on(17);
}

TEST(the_sql_is_good_on_postgresql_18) {
    expect_good_on(18);
}

/* ---- a superuser runs it ---- */

/* A function that fits better than PostgreSQL's own would be called in its place. */
TEST(no_function_of_somebody_else_is_called) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY);"
                    "CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE sql "
                    "AS $$SELECT 'SELECT 1/0'$$");
    CHECK(runs(d, config_of(d, "t", "{id}")));
    expect_published(d, "{id}");
}
