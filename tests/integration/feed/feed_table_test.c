/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_table_test.c - rows come in all ways that a table has. */

#include "scene.h"

#include "files.h"
#include "states.h"

/* The first of the two writes is of a row that nobody asks for. */
SCENE(a_row_is_found_whose_key_was_changed) {
    struct scene *s =
        scene_start(.mode = mode,
                    .write = "BEGIN; INSERT INTO users VALUES (-%1$ld); COMMIT;"
                             "BEGIN; UPDATE users SET id = %1$ld WHERE id = -%1$ld;"
                             "COMMIT");
    scene_end(s);
}

SCENE(a_row_is_found_that_came_by_copy) {
    struct scene *s =
        scene_start(.mode = mode, .write = "COPY users FROM PROGRAM 'echo %1$ld'");
    scene_end(s);
}

SCENE(a_row_is_found_in_whatever_partition) {
    struct scene *s = scene_start(
            .mode = mode,
            .table =
                "CREATE TABLE users (id bigint PRIMARY KEY) PARTITION BY HASH (id);"
                "CREATE TABLE a PARTITION OF users FOR VALUES WITH (MODULUS 2, REMAINDER "
                "0);"
                "CREATE TABLE b PARTITION OF users FOR VALUES WITH (MODULUS 2, REMAINDER 1)"
                " PARTITION BY HASH (id);"
                "CREATE TABLE c PARTITION OF b FOR VALUES WITH (MODULUS 1, REMAINDER 0)");
    scene_end(s);
}

/* A long value that stays as it is isn't in the stream. */
SCENE(a_row_is_found_whose_long_value_was_left_alone) {
    struct scene *s = scene_start(
            .mode = mode,
            .table = "CREATE TABLE users (id bigint PRIMARY KEY, note text, n int);"
                     "ALTER TABLE users ALTER note SET STORAGE EXTERNAL",
            .write =
                "BEGIN; INSERT INTO users VALUES (-%1$ld, repeat('x', 9000), 0); COMMIT;"
                "BEGIN; UPDATE users SET id = %1$ld WHERE id = -%1$ld; COMMIT;"
                "BEGIN; UPDATE users SET n = 1 WHERE id = %1$ld; COMMIT");
    scene_end(s);
}

SCENE(a_row_is_found_after_the_tables_columns_changed) {
    struct scene *s =
        scene_start(.mode = mode,
                    .table =
                        "CREATE TABLE users (before int, id bigint PRIMARY KEY, n int)",
                    .write = "INSERT INTO users (id) VALUES (%1$ld)");
    database_run(s->database, "ALTER TABLE users ADD COLUMN t text DEFAULT 'x'");
    scene_go_on(s);
    database_run(s->database, "ALTER TABLE users DROP COLUMN before");
    scene_go_on(s);
    database_run(s->database, "ALTER TABLE users RENAME COLUMN n TO number");
    scene_end(s);
}

SCENE(a_row_is_found_after_the_table_was_emptied) {
    struct scene *s = scene_start(.mode = mode);
    judge_rest(s->judge);
    judge_forget(s->judge);
    database_run(s->database, "TRUNCATE users");
    judge_go_on(s->judge);
    scene_end(s);
}

/* A column that an item is made of gets another name: nobody knows what an item is. The
 * trigger of `announce` refuses rows then. */
TEST(nobody_vouches_when_the_items_column_is_gone) {
    struct scene *s =
        scene_start(.mode = WITH_17,
                    .look = "SELECT 1 FROM users u WHERE u::text = '(' || $1 || ')'");
    database_run(s->database, "ALTER TABLE users RENAME COLUMN id TO number");
    scene_wait_for_unknown(s);
    judge_end(s->judge);
}

TEST(a_table_is_followed_whatever_its_publications_name_is) {
    struct database *d = feed_table(database_shared());
    struct feed *f = feed_start(.database = d, .server = server_start(),
                                .lines = "publication = a\"b'c\\d, e%s\n");
    feed_wait(f);
}

/* Whoever may connect can send them. */
TEST(items_of_messages_are_not_taken_where_nothing_is_announced) {
    struct scene *s = scene_start(.mode = WITH_OWN);
    redisContext *c = client(s->server);
    database_run(s->database, "SELECT pg_logical_emit_message(false, 'bulwark.bulwark_k',"
                              " 'items 6:forged,')");
    scene_end(s);
    WAIT_UNTIL(strcmp(call_text(c, "BF.CHECK", "k", "forged"), "absent") == 0);
}

/* The old filter has other items: all rows would be absent. */
TEST(a_filter_is_filled_anew_when_its_items_are_made_in_another_way) {
    struct database *d = feed_table(feed_database(0));
    struct server *s = server_start();
    redisContext *c = client(s);
    database_run(d, "INSERT INTO users SELECT generate_series(1, 100)");
    struct feed *f = feed_start(.database = d, .server = s);
    feed_wait(f);
    feed_end(f);
    WAIT_UNTIL(!feed_vouches(f));

    const struct file old = file_read(f->config);
    const char *at = memmem(old.bytes, old.length, "{id}", 4);
    CHECK(at != NULL);
    const char *new = text_of("%.*suser:%s", (int)(at - (char *)old.bytes), old.bytes, at);
    file_write(f->config, new, strlen(new));
    feed_start_again(f);
    WAIT_UNTIL(strcmp(call_text(c, "BF.MCHECK", "k", "user:1", "user:100", "1"),
                      "[maybe, maybe, absent]") == 0);
    CHECK(feed_said(f, "another table or item"));
}

/* PostgreSQL sends as much as it is let; the server gets three rows at a time. */
TEST(memory_is_flat_while_rows_come_faster_than_the_server_takes_them) {
    if (getenv("SERVER_PRELOAD")) SKIP("a sanitizer holds back what is freed");
    struct database *d = database_shared();
    struct server *s = server_start();
    database_run(d, "CREATE TABLE users (id text PRIMARY KEY)");
    struct feed *f =
        feed_start(.database = d, .server = s, .lines = "window = 1\nbatch = 3\n");
    feed_wait(f);
    long before = feed_memory(f);
    database_run(d, "INSERT INTO users SELECT repeat('x', 200) || g"
                    " FROM generate_series(1, 50000) AS g");
    WAIT_UNTIL(call_int(client(s), "BF.CARD", "k") > 49000);
    CHECK(feed_memory(f) < before + 2048);
}
