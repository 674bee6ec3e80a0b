/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_view_test.c - rows may not come any more, and nothing in the stream says so: the
 * publication leaves them out, another table has the name. */

#include "scene.h"

static void run_sql(struct scene *s) {
    database_run(s->database, "%s", program_run("feed", "sql", s->feed->config).out);
}

SCENE_OF_LAG(no_row_is_denied_longer_than_promised_when_the_publication_leaves_it_out) {
    static const char *const changes[] = {
        "DROP TABLE users",
        "SET (publish = 'update, delete, truncate')",
        "SET TABLE users WHERE (id < 0)",
    };
    struct scene *s = scene_start(.mode = mode);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        test_case("%s", changes[i]);
        database_run(s->database, "ALTER PUBLICATION bulwark_k %s", changes[i]);
        scene_wait_for_unknown(s);
        run_sql(s);
        scene_wait_for_refill(s);
        scene_go_on(s);
    }
    scene_end(s);
}

/* Afterwards it looks as if nothing had happened. */
SCENE_ONCE(a_filter_is_filled_anew_when_a_publication_was_changed_and_changed_back) {
    struct scene *s = scene_start(.mode = WITH_OWN);
    int session = database_connect(s->database);
    database_say(session, "ALTER PUBLICATION bulwark_k SET (publish = 'delete')");
    database_say(session, "ALTER PUBLICATION bulwark_k SET (publish = "
                          "'insert, update, delete, truncate')");
    scene_wait_for_refill(s);
    scene_go_on(s);
    feed_end(s->feed);
    database_say(session, "ALTER PUBLICATION bulwark_k DROP TABLE users");
    judge_wait_for_rows(s->judge, 10);
    database_say(session, "ALTER PUBLICATION bulwark_k ADD TABLE users");
    feed_start_again(s->feed);
    scene_wait_for_refill(s);
    scene_end(s);
}

SCENE_ONCE(a_filter_is_filled_anew_when_another_table_takes_the_name) {
    struct scene *s = scene_start(.mode = WITH_OWN);
    database_run(s->database, "BEGIN; LOCK TABLE users; ALTER TABLE users RENAME TO before;"
                              "CREATE TABLE users (LIKE before INCLUDING ALL);"
                              "INSERT INTO users SELECT * FROM before; COMMIT");
    scene_wait_for_unknown(s);
    CHECK(feed_said(s->feed, "its publication lacks it"));
    database_run(s->database, "ALTER PUBLICATION bulwark_k SET TABLE users");
    run_sql(s);
    scene_wait_for_refill(s);
    scene_end(s);
}

SCENE_ONCE(a_dba_may_run_the_sql_again_and_nothing_is_filled_anew) {
    struct scene *s = scene_start(.mode = ANNOUNCED);
    run_sql(s);
    scene_end(s);
    CHECK(scene_replayed(s));
}

SCENE_ONCE(nobody_vouches_for_what_no_trigger_announces) {
    struct scene *s = scene_start(.mode = ANNOUNCED);
    judge_rest(s->judge);
    database_run(s->database, "ALTER TABLE users DISABLE TRIGGER ALL");
    WAIT_UNTIL(!feed_vouches(s->feed));
    CHECK(feed_said(s->feed, "the trigger of announce is missing or disabled"));
    judge_go_on(s->judge);
    judge_wait_for_rows(s->judge, 10);
    judge_rest(s->judge);
    database_run(s->database, "ALTER TABLE users ENABLE TRIGGER ALL");
    judge_go_on(s->judge);
    scene_end(s);
    CHECK(scene_replayed(s));
}
