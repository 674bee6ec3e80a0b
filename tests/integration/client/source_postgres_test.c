/* SPDX-License-Identifier: BSD-3-Clause */

/* source_postgres_test.c - bulwark fill --pg: which items a table or a query gives, in
 * chunks by key or by one COPY. */

#include "fill.h"

#include "database.h"
#include "files.h"
#include "harness.h"
#include "items.h"

/* Two chunks, of which the first has a thousand. */
#define ROWS "1500"

/* The program's statements go to the log. */
static const char *logged(const struct database *d) {
    return text_of("%s options='-c log_statement=all'", d->conninfo);
}

static struct file log_of(const struct database *d) {
    return file_read(text_of("%s/log", d->directory));
}

/* Those in the log behind that many bytes. */
static int count_copies(const struct database *d, size_t from) {
    static const char words[] = "execute <unnamed>: COPY (SELECT";
    int n = 0;
    for (const char *at = log_of(d).bytes + from; (at = strstr(at, words)); at++)
        n++;
    return n;
}

/* The filter holds the values as PostgreSQL writes them, and no other. */
static void check_rows(redisContext *c, struct database *d, const char *column,
                       const char *table) {
    const char *at = database_run(d, "SELECT string_agg(format('%%s', %s), chr(1)) FROM %s",
                                  column, table);
    struct items items = {0};
    for (size_t length; *at; at += length + (at[length] == 1)) {
        length = strcspn(at, "\1");
        items_add(&items, at, length);
    }
    test_defer(free, items.at);
    CHECK(items.n > 0);
    check_exactly(c, &items);
}

/* Fills from the column id of the table t, and says by how many COPYs. */
static int fill_by_copies(struct server *s, struct database *d) {
    size_t before = log_of(d).length;
    expect_filled(s, "--pg", logged(d), "--table", "t", "--error", EXACT, "--binary");
    check_rows(client(s), d, "id", "t");
    return count_copies(d, before);
}

/* ---- tables ---- */

TEST(a_table_is_read_in_chunks_by_its_key) {
    static const struct {
        const char *type, *value; /* of the row n */
    } cases[] = {
        {"int", "n - 700"},
        {"smallint", "n"},
        {"bigint", "n * 1000003000000 - 3000000000000000"},
        {"text", "'user-' || n"},
        {"text", "chr(n + 1)"},
        {"text", "E'\\\\' || chr(9) || n || E'\\n''\\\\N'"},
        {"varchar(20)", "'it''s \xc3\xa9 ' || n"},
        {"char(12)", "n"},
        {"uuid", "md5(n::text)::uuid"},
        {"numeric", "n * 1.10 - 100"},
        {"numeric", "CASE n WHEN 1 THEN 'NaN' WHEN 2 THEN '-0.50' ELSE n / 7.0 END"},
        {"whole", "n"},
        {"word", "'user-' || n"},
        {"text COLLATE \"POSIX\"", "chr(97 + n % 26) || chr(228) || n"},
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    database_run(d, "CREATE DOMAIN whole AS int CHECK (VALUE > 0);"
                    "CREATE DOMAIN word AS text");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("%s: %s", cases[i].type, cases[i].value);
        database_run(d,
                     "DROP TABLE IF EXISTS t; CREATE TABLE t (id %s PRIMARY KEY);"
                     "INSERT INTO t SELECT %s FROM generate_series(1, " ROWS ") AS n"
                     " ORDER BY md5(n::text)",
                     cases[i].type, cases[i].value);
        CHECK(fill_by_copies(s, d) >= 2);
    }
}

TEST(tables_of_some_shapes_are_read_in_chunks_too) {
    static const struct {
        const char *shape, *definition;
    } cases[] = {
        {"an index the other way round",
         "CREATE TABLE t (id int); CREATE UNIQUE INDEX ON t (id DESC)"},
        {"a constraint that is checked late",
         "CREATE TABLE t (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)"},
        {"partitions by range",
         "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id);"
         "CREATE TABLE p1 PARTITION OF t FOR VALUES FROM (0) TO (2000);"
         "CREATE TABLE p2 PARTITION OF t DEFAULT"},
        {"partitions by hash",
         "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY HASH (id);"
         "CREATE TABLE p1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);"
         "CREATE TABLE p2 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)"},
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("%s", cases[i].shape);
        database_run(d,
                     "DROP TABLE IF EXISTS t; %s;"
                     "INSERT INTO t SELECT generate_series(1, " ROWS ")",
                     cases[i].definition);
        CHECK(fill_by_copies(s, d) >= 2);
    }
}

/* Chunks by key would pass over rows that are equal, or that the index doesn't have. */
TEST(a_table_without_a_key_is_read_by_one_copy) {
    static const struct {
        const char *why, *definition, *value;
    } cases[] = {
        {"no index", "CREATE TABLE t (id int)", "n / 3"},
        {"one that is not unique", "CREATE TABLE t (id int); CREATE INDEX ON t (id)",
         "n / 3"},
        {"one of some rows",
         "CREATE TABLE t (id int); CREATE UNIQUE INDEX ON t (id) WHERE id > 500", "n"},
        {"one of an expression",
         "CREATE TABLE t (id int); CREATE UNIQUE INDEX ON t ((-id))", "n"},
        {"one of two columns", "CREATE TABLE t (id int, at int, PRIMARY KEY (id, at))",
         "n / 3, n"},
        {"one in another order",
         "CREATE TABLE t (id text COLLATE \"C\");"
         "CREATE UNIQUE INDEX ON t (id COLLATE \"de-x-icu\")",
         "n"},
        {"an order that an upgrade may change",
         "CREATE TABLE t (id text COLLATE \"de-x-icu\" PRIMARY KEY)", "n"},
        {"an order of the operator's own",
         "CREATE COLLATION own (provider = libc, locale = 'C');"
         "CREATE TABLE t (id text COLLATE own PRIMARY KEY)",
         "n"},
        {"an order in which what differs is equal",
         "CREATE COLLATION nocase (provider = icu, deterministic = false,"
         " locale = 'und-u-ks-level2');"
         "CREATE TABLE t (id text COLLATE nocase PRIMARY KEY)",
         "chr(65 + n % 2 * 32) || n"},
        {"a hash", "CREATE TABLE t (id int, EXCLUDE USING hash (id WITH =))", "n"},
        {"a type of another sort", "CREATE TABLE t (id timestamp PRIMARY KEY)",
         "'2000-01-01'::timestamp + n * interval '1.5 s'"},
        {"a type that is equal where it differs",
         "CREATE TABLE t (id interval PRIMARY KEY)", "n * interval '1 hour'"},
        {"children that have the same keys",
         "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE child () INHERITS (t);"
         "INSERT INTO child SELECT generate_series(5000, 7000)",
         "n"},
        {"a view", "CREATE TABLE u (id int PRIMARY KEY); CREATE VIEW t AS SELECT * FROM u",
         "n"},
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("%s", cases[i].why);
        database_run(d,
                     "DROP SCHEMA public CASCADE; CREATE SCHEMA public; %s;"
                     "INSERT INTO t SELECT %s FROM generate_series(1, 2000) AS n",
                     cases[i].definition, cases[i].value);
        CHECK_INT(fill_by_copies(s, d), 1);
    }
}

/* In SQL_ASCII a text may be any bytes. */
TEST(bytes_of_no_encoding_are_read_if_that_is_said) {
    struct server *s = server_shared();
    struct database *d = database_start(.encoding = "SQL_ASCII");
    make_old(client(s));
    database_run(d, "CREATE TABLE t (id text PRIMARY KEY);"
                    "INSERT INTO t SELECT 'a' || n || E'\\xff'"
                    " FROM generate_series(1, " ROWS ") AS n");
    expect_unfilled(s, EXIT_SOURCE,
                    "PostgreSQL refuses the table t: invalid byte sequence*", "--pg",
                    d->conninfo, "--table", "t");
    strcat(d->conninfo, " client_encoding=SQL_ASCII");
    CHECK(fill_by_copies(s, d) >= 2);
}

TEST(what_a_view_says_is_shown_as_text) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    database_run(d, "CREATE FUNCTION say() RETURNS int LANGUAGE plpgsql AS"
                    " $$ BEGIN RAISE WARNING E'loud \\x1b[2J'; RETURN 7; END $$;"
                    "CREATE VIEW t AS SELECT say() AS id");
    struct outcome got = fill(s, "--pg", d->conninfo, "--table", "t");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.err, "PostgreSQL says: WARNING: loud ?[2J\n"));
}

TEST(names_are_taken_as_they_are_written) {
    static const char *const good[][2] = {
        {"users", "id"},        {"public.users", "id"},     {"Users", "Id"},
        {"shop.Users", "a\"b"}, {"\"Users\"", "Id"},        {"public.\"Users\"", "Id"},
        {"SHOP.\"a.b\"", "id"}, {"\"shop\".\"a.b\"", "id"}, {"\"\"\"quoted\"\"\"", "id"},
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    database_run(d, "DROP SCHEMA IF EXISTS shop CASCADE; CREATE SCHEMA shop;"
                    "CREATE TABLE users AS SELECT 1 AS id;"
                    "CREATE TABLE \"Users\" AS SELECT 1 AS \"Id\";"
                    "CREATE TABLE shop.\"Users\" AS SELECT 1 AS \"a\"\"b\";"
                    "CREATE TABLE shop.\"a.b\" AS SELECT 1 AS id;"
                    "CREATE TABLE \"\"\"quoted\"\"\" AS SELECT 1 AS id");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        test_case("%s %s", good[i][0], good[i][1]);
        call(client(s), "DEL", "k");
        expect_filled(s, "--pg", d->conninfo, "--table", good[i][0], "--column",
                      good[i][1]);
        expect(client(s), "maybe", "BF.CHECK", "k", "1");
    }
}

TEST(a_name_of_nothing_is_refused) {
    static const struct {
        const char *table, *column, *pattern;
    } cases[] = {
        {"Users", "id", "PostgreSQL has no table Users for this user*"},
        {"shop.users", "id", "PostgreSQL has no table shop.users*"},
        {"nowhere.users", "id", "PostgreSQL has no table nowhere.users*"},
        {"", "id", "PostgreSQL*"},
        {"users; DROP TABLE users", "id", "PostgreSQL has no table users; DROP*"},
        {"\"users\"; DROP TABLE users", "id", "PostgreSQL refuses the table*invalid name*"},
        {"\"users", "id", "PostgreSQL refuses the table*invalid name*"},
        {"users", "ID", "the table users has no column ID: --column*"},
        {"users", "\"id\"", "the table users has no column \"id\"*"},
        {"users", "ctid", "the table users has no column ctid*"},
        {"users_key", "id", "PostgreSQL refuses the table users_key:*"},
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    database_run(d, "DROP SCHEMA IF EXISTS shop CASCADE; CREATE SCHEMA shop;"
                    "CREATE TABLE users (id int CONSTRAINT users_key PRIMARY KEY);"
                    "INSERT INTO users VALUES (1)");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("%s %s", cases[i].table, cases[i].column);
        expect_unfilled(s, EXIT_SOURCE, cases[i].pattern, "--pg", d->conninfo, "--table",
                        cases[i].table, "--column", cases[i].column);
    }
    CHECK_STR(database_run(d, "SELECT id FROM users"), "1");
}

TEST(a_null_is_refused_with_what_leaves_it_out) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    database_run(d, "CREATE TABLE t (id int UNIQUE, again int);"
                    "INSERT INTO t SELECT n, n FROM generate_series(1, 3000) AS n;"
                    "INSERT INTO t VALUES (NULL, NULL)");
    expect_unfilled(s, EXIT_SOURCE,
                    "the column id of the table t has NULLs*WHERE \"id\" IS NOT NULL*",
                    "--pg", d->conninfo, "--table", "t");
    expect_unfilled(s, EXIT_SOURCE, "row 3001 of the table t is NULL*", "--pg", d->conninfo,
                    "--table", "t", "--column", "again", "--binary");
    expect_unfilled(s, EXIT_SOURCE, "row 3 of the query is NULL*", "--pg", d->conninfo,
                    "-q", "SELECT NULLIF(n, 3) FROM generate_series(1, 9) AS n");
    expect_filled(s, "--pg", d->conninfo, "-q", "SELECT id FROM t WHERE id IS NOT NULL");
    check_holds(client(s), "k", 1, 3001);
}

/* Values that are no NULL, however they look. */
TEST(texts_that_look_like_copy_s_escapes_are_items) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    expect_filled(s, "--pg", d->conninfo, "--error", EXACT, "-q",
                  "VALUES ('\\N'), ('\\.'), ('NULL'), ('a\\b'), ('\\101')");
    check_bars(client(s), "\\N|\\.|NULL|a\\b|\\101");
}

TEST(a_bad_value_is_counted_and_stops_the_fill) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    const char *before = filter_text(client(s), "k");
    struct outcome got =
        fill(s, "--pg", d->conninfo, "-q",
             "VALUES ('1'), (''), (E'a\\nb'), (E'\\t'), (repeat('x', 65537)), ('2')");
    CHECK_INT(got.code, EXIT_ITEMS);
    CHECK(text_matches(got.err,
                       "row 2: \"\" is empty\nrow 3: \"a\\x0ab\" has a newline\n"
                       "row 4: \"\\x09\" has a tab\nrow 5: * is longer than 64 KiB\n"
                       "bulwark: 4 values of the query can't be items*"));
    CHECK_STR(filter_text(client(s), "k"), before);
}

/* ---- queries ---- */

TEST(a_query_may_end_as_people_write_them) {
    static const char *const queries[] = {
        "SELECT id FROM t",
        "SELECT id FROM t;",
        "SELECT id FROM t ; \n",
        "SELECT id FROM t -- all",
        "TABLE t",
        "VALUES (1), (2)",
        "WITH x AS (SELECT * FROM t) SELECT * FROM x ORDER BY 1",
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, 2) AS id");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        test_case("%s", queries[i]);
        call(client(s), "DEL", "k");
        expect_filled(s, "--pg", d->conninfo, "--query", queries[i]);
        expect(client(s), "[maybe, maybe, absent]", "BF.MCHECK", "k", "1", "2", "3");
    }
}

TEST(a_query_that_fails_or_writes_is_refused) {
    static const struct {
        const char *query, *pattern;
    } cases[] = {
        {"SELEC 1", "PostgreSQL refuses the query: syntax error*"},
        {"", "PostgreSQL refuses the query: syntax error at end of input*"},
        {"select id from t where;",
         "PostgreSQL refuses the query: syntax error at end of input*"},
        {"SELECT id FROM nowhere", "PostgreSQL refuses the query: *\"nowhere\"*not exist*"},
        {"SELECT id, id FROM t", "the query gives 2 columns: it must give one*"},
        {"SELECT FROM t", "the query gives 0 columns: it must give one*"},
        {"SELECT 1; SELECT 2", "PostgreSQL refuses the query: *multiple commands*"},
        {"SELECT 1) TO PROGRAM 'false' --", "PostgreSQL refuses the query: *"},
        {"SELECT 1500 / (1490 - id) FROM t",
         "PostgreSQL refuses the query: division by zero*"},
        {"INSERT INTO t VALUES (0) RETURNING id", "PostgreSQL refuses the query: *"},
        {"SELECT writes(id) FROM t", "PostgreSQL refuses the query: *read-only*"},
        {"SELECT nextval('numbers')", "PostgreSQL refuses the query: *read-only*"},
        {"SELECT id FROM t WHERE false", "the query has no items*--empty*"},
    };
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, " ROWS ") AS id;"
                    "CREATE SEQUENCE numbers;"
                    "CREATE FUNCTION writes(int) RETURNS int LANGUAGE sql AS"
                    " 'INSERT INTO t VALUES (0) RETURNING id'");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("%s", cases[i].query);
        expect_unfilled(s, EXIT_SOURCE, cases[i].pattern, "--pg", d->conninfo, "--query",
                        cases[i].query);
    }
    CHECK_STR(database_run(d, "SELECT count(*) FROM t"), ROWS);
}

/* What a role has set for an application's statements would end a long COPY, or lock out
 * writers while it lasts. */
TEST(a_role_s_settings_do_not_hold_for_a_fill) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    database_run(d, "DROP ROLE IF EXISTS hurried; CREATE ROLE hurried LOGIN;"
                    "ALTER ROLE hurried SET statement_timeout = '2s';"
                    "ALTER ROLE hurried SET idle_in_transaction_session_timeout = '3s';"
                    "ALTER ROLE hurried SET default_transaction_isolation = 'serializable';"
                    "ALTER ROLE hurried SET default_transaction_read_only = on;"
                    "ALTER ROLE hurried SET client_encoding = 'LATIN1';"
                    "ALTER ROLE hurried SET standard_conforming_strings = off");
    expect_filled(s, "--pg", text_of("%s user=hurried", d->conninfo), "--error", EXACT,
                  "-q",
                  "SELECT name || '=' || current_setting(name) FROM unnest('{"
                  "statement_timeout, idle_in_transaction_session_timeout,"
                  "transaction_isolation, transaction_read_only, client_encoding,"
                  "row_security}'::text[]) AS name");
    check_bars(client(s), "statement_timeout=0|idle_in_transaction_session_timeout=0|"
                          "transaction_isolation=read committed|transaction_read_only=on|"
                          "client_encoding=UTF8|row_security=off");
}

/* ---- how many ---- */

/* What the planner thinks of a table that was analyzed before it changed. */
TEST(an_estimate_that_is_far_off_is_corrected) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    struct database *d = database_shared();
    database_run(d, "CREATE UNLOGGED TABLE t WITH (autovacuum_enabled = off) AS"
                    " SELECT generate_series(0, 1299999) AS id; ANALYZE t;"
                    "UPDATE pg_class SET reltuples = reltuples * 0.79 WHERE relname = 't'");
    struct outcome got = fill(s, "--pg", d->conninfo, "--table", "t");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(text_matches(
        got.err, "*the table t has 1300000 items, not about 10*: the fill begins again "
                 "with room for 1560000*"));
    CHECK_INT(reply_field(call(c, "BF.INFO", "k", "FULL"), "Capacity")->integer, 1560000);
    CHECK_INT(count_missing(c, "k", 1299000, 1300000), 0);

    database_run(d, "DELETE FROM t WHERE id >= 2000");
    got = fill(s, "--pg", d->conninfo, "--table", "t");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.err, "has 2000 items, not about 10"));
    CHECK_INT(reply_field(call(c, "BF.INFO", "k", "FULL"), "Capacity")->integer, 2400);
    check_holds(c, "k", 0, 2000);
}

TEST(an_item_of_a_table_that_is_expected_and_missing_stops_the_fill) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    make_old(client(s));
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, 9) AS id");
    expect_unfilled(s, EXIT_ITEMS, "'7' is not among the items*", "--pg", d->conninfo,
                    "--table", "t", "--item", "user:{}", "--expect", "7");
    expect_filled(s, "--pg", d->conninfo, "--table", "t", "--item", "user:{}", "--expect",
                  "user:7");
}
