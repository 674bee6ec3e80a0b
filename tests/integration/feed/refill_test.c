/* SPDX-License-Identifier: BSD-3-Clause */

/* refill_test.c - a feed fills its filter by itself, and goes on after a kill. */

#include "feeds.h"
#include "integration/client/fill.h"
#include "files.h"
#include "harness.h"

#include <signal.h>

/* A fill that takes a few seconds. */
#define SLOW      "batch = 2\nwindow = 1\n"
#define SLOW_ROWS 20000

static struct database *table_with(long rows) {
    struct database *d = feed_table(database_shared());
    database_run(d, "INSERT INTO users SELECT generate_series(1, %ld)", rows);
    return d;
}

static const char *check(struct feed *f, const char *item) {
    return call_text(f->link, "BF.CHECK", "k", item);
}

static bool is(struct feed *f, const char *item, const char *word) {
    return strcmp(check(f, item), word) == 0;
}

/* Each line of the text is an item that is there. */
static void check_items(struct feed *f, const char *items) {
    size_t sent = 0;
    for (size_t length; *items; items += length + (items[length] == '\n'), sent++) {
        length = strcspn(items, "\n");
        redisAppendCommand(f->link, "BF.CHECK k %b", items, length);
    }
    CHECK(sent > 0);
    for (size_t i = 0; i < sent; i++) {
        redisReply *r = NULL;
        CHECK(redisGetReply(f->link, (void **)&r) == REDIS_OK);
        test_case("row %zu", i);
        CHECK_STR(r->str, "maybe");
        freeReplyObject(r);
    }
}

static void check_rows(struct feed *f) {
    check_items(f, database_run(f->rules.database, "SELECT id FROM users ORDER BY id"));
}

/* ---- the loader ---- */

static pid_t loader_of(struct feed *f) {
    const char *path =
        text_of("/proc/%d/task/%d/children", f->program->pid, f->program->pid);
    FILE *children = fopen(path, "r");
    int pid = 0;
    if (children && fscanf(children, "%d", &pid) != 1) pid = 0;
    if (children) fclose(children);
    return pid;
}

/* "" if there is none, or it has no key. */
static const char *record(redisContext *c) {
    const redisReply *r = call(c, "GET", "k:feed:fill");
    return r->str && strstr(r->str, " key=") ? text_of("%s", r->str) : "";
}

static const char *wait_for_record(redisContext *c) {
    const char *text = "";
    WAIT_UNTIL(*(text = record(c)));
    return text;
}

static const char *token_in(const char *text) {
    const char *at = strstr(text, " parts=0:");
    return at ? text_of("%.16s", at + 9) : "none";
}

static long read_in(const char *text) {
    const char *at = strstr(text, " read=");
    return at ? atol(at + 6) : 0;
}

/* A loader has gone on with what was begun. */
static void wait_until_further(redisContext *c, const char *left) {
    const char *text = "";
    WAIT_UNTIL(read_in(text = record(c)) > read_in(left));
    CHECK_STR(token_in(text), token_in(left));
}

/* A loader has begun anew. */
static void wait_for_another(redisContext *c, const char *left) {
    const char *text = "";
    WAIT_UNTIL(*(text = record(c)) && strcmp(token_in(text), token_in(left)) != 0);
}

/* ---- what is there ---- */

TEST(a_table_that_is_empty_is_vouched_for) {
    struct feed *f =
        feed_start(.database = feed_table(database_shared()), .server = server_shared());
    feed_wait(f);
    WAIT_UNTIL(is(f, "1", "absent"));
}

TEST(a_table_that_is_empty_is_vouched_for_again_when_the_feed_comes_back) {
    struct feed *f =
        feed_start(.database = feed_table(database_shared()), .server = server_shared());
    feed_wait(f);
    feed_kill(f);
    WAIT_UNTIL(!feed_vouches(f));
    feed_start_again(f);
    feed_wait(f);
}

TEST(a_table_that_is_empty_is_vouched_for_again_after_an_alarm) {
    struct feed *f =
        feed_start(.database = feed_table(database_shared()), .server = server_shared());
    feed_wait(f);
    expect(f->link, "OK", "BF.LOADING", "k");
    feed_wait(f);
}

TEST(rows_that_were_there_before_the_feed_are_found) {
    struct feed *f = feed_start(.database = table_with(20000), .server = server_shared());
    feed_wait(f);
    check_rows(f);
    WAIT_UNTIL(is(f, "20001", "absent"));
}

TEST(rows_that_were_there_in_partitions_are_found) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE users (id bigint PRIMARY KEY) PARTITION BY LIST (id);"
                    "CREATE TABLE one PARTITION OF users FOR VALUES IN (1);"
                    "CREATE TABLE others PARTITION OF users DEFAULT;"
                    "INSERT INTO users SELECT generate_series(1, 3000)");
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_wait(f);
    check_rows(f);
}

TEST(rows_that_were_there_are_spread_over_the_parts_on_a_cluster) {
    struct cluster *all = cluster_start(.masters = 3);
    struct spread *spread = spread_of(all, 4);
    struct feed *f =
        feed_start(.database = table_with(3000), .server = all->node[0], .spread = spread,
                   .address = text_of("server = 127.0.0.1:%d\ncluster = yes\n"
                                      "parts = 4\n",
                                      all->node[0]->port));
    feed_wait(f);
    spread_check(spread, 1, 3000);
}

/* A row's item stands in it. */
TEST(what_a_fill_has_written_down_goes_when_it_is_done) {
    struct feed *f = feed_start(.database = table_with(SLOW_ROWS),
                                .server = server_shared(), .lines = SLOW);
    redisContext *c = client(server_shared());
    WAIT_UNTIL(call(c, "EXISTS", "k:feed:fill")->integer == 1);
    feed_wait(f);
    WAIT_UNTIL(call(c, "EXISTS", "k:feed:fill")->integer == 0);
}

TEST(rows_that_come_go_and_change_while_the_filter_is_filled_are_found) {
    struct database *d = table_with(SLOW_ROWS);
    struct feed *f = feed_start(.database = d, .server = server_shared(), .lines = SLOW);
    redisContext *c = client(f->rules.server);
    wait_for_record(c);

    int session = database_connect(d);
    long changes = 0;
    for (; changes < 1000 && !feed_vouches(f); changes++)
        database_say(session,
                     "INSERT INTO users VALUES (-%ld); DELETE FROM users WHERE id = %ld;"
                     "UPDATE users SET id = %ld WHERE id = %ld",
                     changes + 1, changes + 1, 1000000 + changes, SLOW_ROWS - changes);
    CHECK(changes > 10);
    const char *last = text_of("%ld", 1000000 + changes - 1);
    WAIT_UNTIL(strcmp(check(f, last), "maybe") == 0);
    feed_wait(f);
    check_rows(f);
}

/* From behind the place that the loader has come to, to before it. */
static struct feed *fill_while_a_long_item_moves(const char *key, const char *identity) {
    struct database *d = database_shared();
    redisContext *c = client(server_shared());
    database_run(d,
                 "CREATE TABLE users (id bigint NOT NULL UNIQUE, name text NOT NULL,"
                 " day date DEFAULT 'today', PRIMARY KEY (%s));"
                 "ALTER TABLE users ALTER name SET STORAGE EXTERNAL, REPLICA IDENTITY %s;"
                 "INSERT INTO users SELECT n, 'n' || n, date 'today' + n"
                 " FROM generate_series(1, %d) n;"
                 "INSERT INTO users VALUES (1000000, repeat('q', 20000))",
                 key, identity, SLOW_ROWS);
    struct feed *f = feed_start(.database = d, .server = server_shared(), .lines = SLOW,
                                .item = "{name}");
    WAIT_UNTIL(received(c, "k") > 0);
    database_run(d, "UPDATE users SET id = 0 WHERE id = 1000000");
    feed_wait(f);
    check_items(f, database_run(d, "SELECT name FROM users"));
    return f;
}

TEST(a_row_that_moves_during_a_fill_is_found_although_its_long_item_is_not_sent_again) {
    struct feed *f = fill_while_a_long_item_moves("id", "DEFAULT");
    CHECK(feed_said(f, "a row's key was changed during a fill"));
}

TEST(a_row_that_moves_during_a_fill_is_found_by_what_it_was_if_that_is_sent) {
    struct feed *f = fill_while_a_long_item_moves("id", "FULL");
    CHECK(!feed_said(f, "lost: a row"));
}

/* The table is not read by such a key, since nobody would know that the row has moved. */
TEST(a_row_that_moves_during_a_fill_by_a_key_that_is_not_sent_is_found) {
    struct feed *f = fill_while_a_long_item_moves("day", "DEFAULT");
    CHECK(!feed_said(f, "lost: a row"));
}

/* Nobody knows of its row before it is committed; the loader waits for it. */
TEST(a_transaction_that_is_under_way_when_a_fill_begins_is_waited_for) {
    struct database *d = table_with(10);
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_wait(f);
    int session = database_connect(d);
    database_say(session, "BEGIN; INSERT INTO users VALUES (77)");
    call(f->link, "DEL", "k");
    WAIT_UNTIL(feed_said(f, "waiting for a transaction"));
    CHECK_STR(check(f, "77"), "unknown");

    database_say(session, "COMMIT");
    feed_wait(f);
    check_rows(f);
}

TEST(a_filter_that_somebody_deletes_is_filled_again) {
    struct feed *f = feed_start(.database = table_with(1000), .server = server_shared());
    feed_wait(f);
    post(f->link, "DEL", "k");
    post(f->link, "BF.CHECK", "k", "1");
    expect_next(f->link, "1");
    expect_next(f->link, "unknown");
    feed_wait(f);
    check_rows(f);
}

/* The next beat is twenty minutes away. */
TEST(a_filter_is_vouched_for_as_soon_as_it_is_filled_whatever_the_lease_is) {
    struct feed *f =
        feed_start(.database = table_with(1000), .server = server_shared(), .lease = "1h");
    feed_wait(f);
    check_rows(f);
}

/* ---- kills ---- */

TEST(a_loader_that_is_killed_is_followed_by_one_that_goes_on) {
    struct feed *f = feed_start(.database = table_with(SLOW_ROWS),
                                .server = server_shared(), .lines = SLOW);
    redisContext *c = client(f->rules.server);
    const char *before = wait_for_record(c);
    kill(loader_of(f), SIGKILL);

    WAIT_UNTIL(feed_said(f, "killed by signal 9"));
    wait_until_further(c, before);
    feed_wait(f);
    check_rows(f);
}

static int begun(struct feed *f) {
    static const char line[] = "the loader fills the filter";
    int n = 0;
    for (const char *at = program_errors(f->program); (at = strstr(at, line)); at++)
        n++;
    return n;
}

/* Half a second, one, two: a table isn't read over and over. */
TEST(loaders_that_fail_soon_are_followed_later_and_later) {
    struct feed *f = feed_start(.database = table_with(SLOW_ROWS),
                                .server = server_shared(), .lines = SLOW);
    WAIT_UNTIL(begun(f) == 1);
    double first = seconds_now();
    for (int loader = 1; loader < 4; loader++) {
        kill(loader_of(f), SIGKILL);
        WAIT_UNTIL(begun(f) == loader + 1);
    }
    CHECK(seconds_now() - first >= 3.5);
    feed_wait(f);
}

TEST(a_feed_that_is_killed_while_it_fills_goes_on_where_it_was) {
    struct database *d = table_with(SLOW_ROWS);
    struct feed *f = feed_start(.database = d, .server = server_shared(), .lines = SLOW);
    redisContext *c = client(f->rules.server);
    const char *before = wait_for_record(c);
    pid_t loader = loader_of(f);
    feed_kill(f);
    WAIT_UNTIL(kill(loader, 0) != 0);
    database_run(d, "INSERT INTO users VALUES (-1), (-2), (1000000)");
    database_run(d, "UPDATE users SET id = -3 WHERE id = %d", SLOW_ROWS);
    const char *left = record(c);
    CHECK_STR(token_in(left), token_in(before));

    feed_start_again(f);
    wait_until_further(c, left);
    feed_wait(f);
    check_rows(f);
}

/* The slot has gone on: what was streamed meanwhile can't be had again. */
TEST(a_fill_whose_changes_were_lost_begins_anew) {
    struct database *d = table_with(SLOW_ROWS);
    struct feed *f = feed_start(.database = d, .server = server_shared(), .lines = SLOW);
    redisContext *c = client(f->rules.server);
    const char *before = wait_for_record(c);
    feed_kill(f);
    database_run(d, "INSERT INTO users VALUES (-1), (-2), (1000000)");
    WAIT_UNTIL(*database_run(d, "SELECT active FROM pg_replication_slots") == 'f');
    database_run(d, "SELECT pg_replication_slot_advance(slot_name, pg_current_wal_lsn())"
                    " FROM pg_replication_slots");

    feed_start_again(f);
    wait_for_another(c, before);
    feed_wait(f);
    check_rows(f);
}

TEST(a_server_that_restarts_while_it_is_filled_is_filled_anew) {
    struct server *s = server_start(.config = "appendonly yes");
    struct feed *f =
        feed_start(.database = table_with(SLOW_ROWS), .server = s, .lines = SLOW);
    redisContext *c = client(s);
    const char *before = wait_for_record(c);
    server_kill(s);
    server_start_again(s);

    wait_for_another(client(s), before);
    feed_wait(f);
    check_rows(f);
}

/* ---- once more ---- */

static const char *state_of(struct feed *f) {
    return call_text(f->link, "GET", "k:feed");
}

/* Also more than half of them, which whoever fills by hand is asked about. */
TEST(rows_that_were_deleted_become_absent_again) {
    struct database *d = table_with(1000);
    struct feed *f = feed_start(.database = d, .server = server_shared(),
                                .lines = "deleted-share = 0.1\n");
    feed_wait(f);
    database_run(d, "DELETE FROM users WHERE id > 100");
    WAIT_UNTIL(is(f, "700", "absent"));
    CHECK(feed_said(f, "many rows were deleted"));
    check_rows(f);
}

/* The publication may have other tables. */
TEST(a_truncate_counts_all_rows_of_the_table_and_no_others) {
    struct database *d = table_with(1000);
    struct feed *f = feed_start(.database = d, .server = server_shared(),
                                .lines = "deleted-share = 0\n");
    feed_wait(f);
    database_run(d,
                 "CREATE TABLE other (id int PRIMARY KEY); INSERT INTO other VALUES (1)");
    database_run(d, "ALTER PUBLICATION bulwark_k ADD TABLE other");
    database_run(d, "INSERT INTO users VALUES (-1); DELETE FROM users WHERE id = -1;");
    database_run(d, "TRUNCATE other; INSERT INTO users VALUES (1001)");
    WAIT_UNTIL(is(f, "1001", "maybe"));
    WAIT_UNTIL(strstr(state_of(f), " deleted=1 ") != NULL);
    database_run(d, "TRUNCATE users");
    WAIT_UNTIL(strstr(state_of(f), " deleted=1002 ") != NULL);
    database_run(d, "INSERT INTO users VALUES (1002)");
    WAIT_UNTIL(is(f, "1002", "maybe"));
}

TEST(a_filter_is_filled_anew_when_somebody_asks_for_it) {
    struct database *d = table_with(1000);
    struct feed *f = feed_start(.database = d, .server = server_shared(),
                                .lines = "deleted-share = 0\n");
    feed_wait(f);
    database_run(d, "DELETE FROM users WHERE id = 7");
    CHECK_INT(program_run("feed", "refill", f->config).code, 0);
    WAIT_UNTIL(is(f, "7", "absent"));
    check_rows(f);

    feed_end(f);
    WAIT_UNTIL(!feed_walsender(f));
    CHECK_INT(program_run("feed", "refill", f->config).code, 1);
}

/* Nothing is wrong with the filter meanwhile: it goes on being vouched for. */
TEST(a_feed_that_is_killed_while_it_fills_anew_goes_on_where_it_was) {
    struct database *d = table_with(SLOW_ROWS);
    struct feed *f = feed_start(.database = d, .server = server_shared(),
                                .lines = SLOW "deleted-share = 0.1\n");
    feed_wait(f);
    redisContext *c = client(f->rules.server);
    WAIT_UNTIL(!*record(c));
    database_run(d, "DELETE FROM users WHERE id <= %d", SLOW_ROWS / 2);
    wait_for_record(c);
    feed_kill(f);
    const char *left = record(c);
    database_run(d, "INSERT INTO users VALUES (-1), (1000000)");

    feed_start_again(f);
    wait_until_further(c, left);
    WAIT_UNTIL(is(f, "7", "absent"));
    check_rows(f);
}

TEST(a_filter_that_has_become_too_small_is_filled_into_a_larger_one) {
    struct database *d = table_with(10);
    struct feed *f = feed_start(.database = d, .server = server_shared(), .sized = true);
    feed_wait(f);
    database_run(d, "INSERT INTO users SELECT generate_series(11, 5000)");
    WAIT_UNTIL(feed_said(f, "more items than room"));
    WAIT_UNTIL(call(f->link, "BF.INFO", "k", "CAPACITY")->element[0]->integer == 6000);
    check_rows(f);
}

/* ---- items ---- */

/* The loader reads the first rows, the stream gives the others; both are asked for as
 * `expected` says. */
static struct feed *check_both_ways(const char *columns, const char *values,
                                    const char *item, const char *expected) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE users (%s); ALTER TABLE users REPLICA IDENTITY %s",
                 columns, strstr(columns, "KEY") ? "DEFAULT" : "FULL");
    database_run(d, "INSERT INTO users SELECT %s FROM generate_series(1, 3000) i", values);
    struct feed *f = feed_start(.database = d, .server = server_shared(), .item = item);
    feed_wait(f);
    database_run(d, "INSERT INTO users SELECT %s FROM generate_series(3001, 3500) i",
                 values);
    const char *items = database_run(d, "SELECT %s FROM users", expected);
    redisContext *c = f->link;
    const char *last = strrchr(items, '\n') + 1;
    WAIT_UNTIL(strcmp(call_text(c, "BF.CHECK", "k", last), "maybe") == 0);
    check_items(f, items);
    return f;
}

TEST(items_of_several_columns_are_the_same_from_loader_and_stream) {
    check_both_ways(
        "a int, b char(5), c numeric(8, 3), d bool, e float8, PRIMARY KEY (a, b)",
        "i, 'q' || i % 7, i / 8.0, i % 2 = 0, i / 7.0::float8",
        "x:{a}:{b}:{c}:{d}:{e}%{{%s}}",
        "'x:' || a || ':' || rpad('q' || a % 7, 5) || ':' ||"
        " trim(to_char(a / 8.0, '9990.000')) || ':' ||"
        " CASE WHEN a % 2 = 0 THEN 't' ELSE 'f' END || ':' || e || '%{%s}'");
}

TEST(items_of_a_column_that_is_no_key_are_found) {
    check_both_ways("name text, id uuid PRIMARY KEY",
                    "E'o''\\\\\t%\\u20ac' || i, gen_random_uuid()", "{name}", "name");
}

TEST(items_of_a_table_without_a_key_are_found) {
    check_both_ways("name text, other int", "'n' || i, i % 3", "n:{name}:{other}",
                    "'n:' || name || ':' || other");
}

/* bulwark fill takes them for mistakes. */
TEST(items_of_more_than_64_KiB_are_found) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE users (id int PRIMARY KEY, name text);"
                    "INSERT INTO users SELECT i, repeat('x', 65536 + i)"
                    " FROM generate_series(1, 3) i");
    struct feed *f =
        feed_start(.database = d, .server = server_shared(), .item = "u:{name}");
    feed_wait(f);
    database_run(d, "INSERT INTO users VALUES (4, repeat('y', 200000))");
    const char *items = database_run(d, "SELECT 'u:' || name FROM users ORDER BY id");
    WAIT_UNTIL(is(f, strrchr(items, '\n') + 1, "maybe"));
    check_items(f, items);
}

TEST(items_are_the_same_whatever_a_database_has_set) {
    database_run(database_shared(), "ALTER DATABASE postgres SET DateStyle = German");
    struct feed *f = check_both_ways("day date PRIMARY KEY", "date '1990-01-01' + i",
                                     "{day}", "to_char(day, 'YYYY-MM-DD')");
    database_run(f->rules.database, "ALTER DATABASE postgres RESET DateStyle");
}

/* Its key would be passed over. */
TEST(a_row_without_an_item_is_left_out) {
    struct feed *f =
        check_both_ways("a int UNIQUE, b int", "CASE WHEN i % 3 > 0 THEN i END, i", "{a}",
                        "coalesce(a, 1)");
    WAIT_UNTIL(is(f, "", "absent"));
}
