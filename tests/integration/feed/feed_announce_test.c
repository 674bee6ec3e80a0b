/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_announce_test.c - who writes waits until the filter has it, for a lease at
 * most: no row is denied, ever. */

#include "scene.h"

#include <signal.h>

/* A writer that waits for a feed that hangs. */
static int start_to_wait(struct scene *s) {
    judge_rest(s->judge);
    program_signal(s->feed->program, SIGSTOP);
    int session = database_connect(s->database);
    CHECK(database_send(session, "INSERT INTO users VALUES (7)"));
    return session;
}

static bool somebody_waits(struct scene *s) {
    return *database_run(s->database,
                         "SELECT pid FROM pg_stat_activity"
                         " WHERE query LIKE '%%VALUES (7)' AND state = 'active'"
                         " AND wait_event = 'PgSleep'") != 0;
}

static bool is_there(struct scene *s) {
    return *database_run(s->database, "SELECT 1 FROM users WHERE id = 7") != 0;
}

TEST_OF_OTHERS(a_row_never_was_whose_writer_is_cancelled_while_it_waits) {
    struct scene *s = scene_start(.mode = ANNOUNCED);
    int session = start_to_wait(s);
    WAIT_UNTIL(somebody_waits(s));
    database_run(s->database, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
                              " WHERE query LIKE '%%VALUES (7)' AND state = 'active'");
    CHECK(database_receive(session) == NULL);
    CHECK(!is_there(s));
    program_signal(s->feed->program, SIGCONT);
    judge_go_on(s->judge);
    scene_end(s);
}

TEST_OF_OTHERS(a_row_never_was_whose_database_crashes_while_it_waits) {
    struct scene *s = scene_start(.mode = ANNOUNCED, .database = feed_database(17));
    start_to_wait(s);
    WAIT_UNTIL(somebody_waits(s));
    database_kill(s->database);
    program_signal(s->feed->program, SIGCONT);
    database_start_again(s->database);
    CHECK(!is_there(s));
    judge_go_on(s->judge);
    scene_end(s);
}

static double seconds_of(struct scene *s, long item) {
    double began = seconds_now();
    database_run(s->database, "INSERT INTO users VALUES (%ld)", item);
    return seconds_now() - began;
}

/* False also if the machine is slow; not each time. */
static bool waits_for_a_lease_and_then_not_at_all(struct scene *s, long item) {
    feed_kill(s->feed);
    double died = seconds_now();
    bool does = seconds_of(s, item) < 2 * FEED_LEASE;
    WAIT_UNTIL(seconds_now() > died + 1.2 * FEED_LEASE);
    does = does && seconds_of(s, item + 1) < FEED_LEASE;
    feed_start_again(s->feed);
    WAIT_UNTIL(feed_walsender(s->feed));
    return does;
}

TEST_OF_OTHERS(a_writer_waits_for_a_dead_feed_a_lease_at_most_and_then_not_at_all) {
    struct scene *s = scene_start(.mode = ANNOUNCED);
    judge_rest(s->judge);
    int tries = 0;
    while (!waits_for_a_lease_and_then_not_at_all(s, 2 * tries))
        CHECK(++tries < 5);
    judge_go_on(s->judge);
    scene_end(s);
}

TEST_OF_OTHERS(a_row_is_announced_whatever_its_session_says_of_its_commit) {
    struct scene *s =
        scene_start(.mode = ANNOUNCED, .write = "SET synchronous_commit = off;"
                                                "INSERT INTO users VALUES (%1$ld)");
    judge_wait_for_rows(s->judge, 500);
    scene_end(s);
}

TEST(a_row_is_announced_among_thousands) {
    struct scene *s =
        scene_start(.mode = ANNOUNCED,
                    .write = "INSERT INTO users SELECT -%1$ld::bigint * 10000 - n"
                             " FROM generate_series(1, 3000) AS n"
                             " UNION ALL SELECT %1$ld");
    scene_end(s);
}
