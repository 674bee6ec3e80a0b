/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_database_test.c - the database crashes, hangs, loses the slot, becomes another:
 * a row is denied for a lease at most. */

#include "scene.h"

#include "files.h"

#include <signal.h>

SCENE(no_row_is_denied_longer_than_promised_when_the_database_crashes) {
    struct scene *s = scene_start(.mode = mode, .database = feed_database(mode.version));
    database_kill(s->database);
    database_start_again(s->database);
    scene_end(s);
    CHECK(scene_replayed(s));
}

static bool slot_is_past(struct database *d, const char *lsn) {
    return *database_run(d, "SELECT confirmed_flush_lsn > '%s' FROM pg_replication_slots",
                         lsn) == 't';
}

static void wait_for_slot(struct scene *s) {
    const char *lsn = database_run(s->database, "SELECT pg_current_wal_lsn()");
    WAIT_UNTIL(slot_is_past(s->database, lsn));
}

/* A server that is shut down waits for those who follow it, until they have all. Of what
 * the slot keeps for a while they don't say that they have it. */
SCENE(a_database_that_is_shut_down_does_not_wait_for_the_feed) {
    struct scene *s = scene_start(.mode = mode, .database = feed_database(mode.version),
                                  .keep = FEED_KEEP_TEXT);
    wait_for_slot(s);
    double began = seconds_now();
    database_stop(s->database);
    CHECK(seconds_now() - began < patient(5));
    database_start_again(s->database);
    scene_end(s);
}

SCENE(no_row_is_denied_longer_than_promised_when_the_database_hangs) {
    struct scene *s = scene_start(.mode = mode, .database = feed_database(mode.version));
    database_pause(s->database);
    WAIT_UNTIL(!feed_vouches(s->feed));
    database_resume(s->database);
    scene_end(s);
}

/* While a feed connects, the filter is vouched for already. */
static pid_t wait_for_sender(struct scene *s) {
    pid_t sender = 0;
    WAIT_UNTIL((sender = feed_walsender(s->feed)) != 0);
    return sender;
}

SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_when_its_sender_hangs_or_is_killed) {
    struct scene *s = scene_start(.mode = mode);
    pid_t sender = wait_for_sender(s);
    kill(sender, SIGSTOP);
    scene_wait_for_unknown(s);
    kill(sender, SIGCONT);
    scene_go_on(s);
    database_run(s->database, "SELECT pg_terminate_backend(%d)", wait_for_sender(s));
    scene_go_on(s);
    database_run(s->database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                              " WHERE application_name = 'bulwark feed'");
    scene_end(s);
}

SCENE(a_filter_is_filled_anew_when_its_slot_is_gone) {
    struct scene *s = scene_start(.mode = mode);
    program_signal(s->feed->program, SIGSTOP);
    database_drop_slots(s->database);
    scene_wait_for_rows(s);
    program_signal(s->feed->program, SIGCONT);
    scene_wait_for_refill(s);
    scene_end(s);
}

static bool slot_is_lost(struct database *d) {
    database_run(d, "CREATE TABLE filler (n int); DROP TABLE filler");
    database_run(d, "SELECT pg_switch_wal()");
    database_run(d, "CHECKPOINT");
    return strcmp(database_run(d, "SELECT wal_status FROM pg_replication_slots"), "lost") ==
           0;
}

SCENE(a_filter_is_filled_anew_when_its_slot_has_lost_what_it_needs) {
    struct database *d =
        database_start(.version = mode.version, .config = "wal_level = logical\n"
                                                          "max_slot_wal_keep_size = 32MB\n"
                                                          "min_wal_size = 32MB\n"
                                                          "max_wal_size = 64MB\n");
    struct scene *s = scene_start(.mode = mode, .database = d);
    feed_kill(s->feed);
    WAIT_UNTIL(slot_is_lost(d));
    feed_start_again(s->feed);
    scene_wait_for_refill(s);
    scene_end(s);
}

SCENE(a_filter_is_filled_anew_on_another_timeline) {
    struct scene *s = scene_start(.mode = mode, .database = feed_database(mode.version));
    database_stop(s->database);
    database_promote(s->database);
    scene_wait_for_refill(s);
    scene_end(s);
}

/* What is not acknowledged by a server that is away is kept, up to a limit. */
static bool holds_little(struct scene *s) {
    return atol(database_run(s->database,
                             "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)"
                             " / 1048576 FROM pg_replication_slots")) < 60;
}

SCENE_OF_LAG(no_more_wal_is_held_for_a_server_that_is_away_than_may_be) {
    struct scene *s =
        scene_start(.mode = mode, .database = feed_database(mode.version), .proxies = true,
                    .keep = FEED_KEEP_TEXT, .lines = "max-slot-wal = 20M\n");
    judge_rest(s->judge);
    proxy_stop(s->to_server);
    for (int i = 0; i < 100; i++)
        database_run(s->database, "SELECT pg_logical_emit_message(true, 'x',"
                                  " repeat('x', 1000000))");
    WAIT_UNTIL(feed_said(s->feed, "more WAL for it than max-slot-wal"));
    WAIT_UNTIL(holds_little(s));
    judge_go_on(s->judge);
    scene_wait_for_rows(s);
    proxy_resume(s->to_server);
    scene_wait_for_refill(s);
    scene_end(s);
}

/* The same address, the same names, far fewer rows, and a WAL that is much shorter: a slot
 * that was told where the feed is in the first one's would give nothing for long. */
SCENE(a_filter_is_filled_anew_from_another_database_system) {
    struct database *other =
        database_start(.version = mode.version, .tcp = true, .other_system = true,
                       .config = "wal_level = logical\n");
    database_run(other, "CREATE TABLE users (id bigint PRIMARY KEY);"
                        "INSERT INTO users SELECT generate_series(1, 10)");
    struct scene *s = scene_start(.mode = mode, .database = feed_database(mode.version),
                                  .proxies = true, .keep = FEED_KEEP_TEXT);
    for (int i = 0; i < 3; i++)
        database_run(s->database, "SELECT pg_logical_emit_message(false, 'x', 'x'),"
                                  " pg_switch_wal()");
    wait_for_slot(s);
    database_run(other, "%s", program_run("feed", "sql", s->feed->config).out);
    database_run(other,
                 "SELECT pg_create_logical_replication_slot('bulwark_k', 'pgoutput')");
    judge_rest(s->judge);
    judge_forget(s->judge);
    proxy_stop(s->to_server);
    database_become(s->database, other);
    WAIT_UNTIL(atol(database_run(s->database, "SELECT count(reply_time)"
                                              " FROM pg_stat_replication")) > 0);
    proxy_resume(s->to_server);
    scene_wait_for_refill(s);
    CHECK_INT(count_missing(client(s->server), "k", 1, 11), 0);
    judge_go_on(s->judge);
    scene_go_on(s);
    CHECK_STR(database_run(s->database, "SELECT confirmed_flush_lsn <= pg_current_wal_lsn()"
                                        " FROM pg_replication_slots"),
              "t");
    database_run(s->database, "SELECT pg_terminate_backend(%d)", wait_for_sender(s));
    scene_end(s);
}

static void refill(struct scene *s) {
    wait_for_sender(s);
    CHECK_INT(program_run("feed", "refill", s->feed->config).code, 0);
    scene_wait_for_refill(s);
    scene_go_on(s);
}

/* To a copy of its disk: the same system, the same timeline, and less in its WAL than the
 * filter has. What is written there next would never come, nor would a wish to refill. */
SCENE(a_filter_is_filled_anew_when_the_database_is_put_back) {
    struct scene *s = scene_start(.mode = mode, .database = feed_database(mode.version));
    judge_rest(s->judge);
    database_stop(s->database);
    struct database *before = database_copy(s->database);
    database_start_again(s->database);
    judge_go_on(s->judge);
    scene_go_on(s);
    database_run(s->database, "SELECT pg_logical_emit_message(false, 'x', 'x'),"
                              " pg_switch_wal()");
    scene_go_on(s);
    refill(s);
    judge_rest(s->judge);
    judge_forget(s->judge);
    database_become(s->database, before);
    scene_wait_for_refill(s);
    judge_go_on(s->judge);
    scene_go_on(s);
    refill(s);
    scene_end(s);
}

/* Somebody has written it, or the database was put back while the feed was away. */
SCENE_ONCE(a_state_that_lies_beyond_the_databases_end_is_not_believed) {
    struct scene *s = scene_start(.mode = WITH_OWN);
    redisContext *c = client(s->server);
    feed_end(s->feed);
    const char *state = call(c, "GET", "k:feed")->str, *at = strstr(state, " lsn=");
    const char *rest = strchr(at + 1, ' ');
    call(c, "SET", "k:feed",
         text_of("%.*s lsn=FFFFFFFF/FFFFFFFF%s", (int)(at - state), state, rest));
    scene_wait_for_unknown(s);
    feed_start_again(s->feed);
    scene_wait_for_refill(s);
    scene_end(s);
}

/* Seconds that a large transaction may take to come. */
#define LATE 120

/* With LONG=1 of a million rows. */
SCENE(other_rows_wait_for_a_long_transaction_and_are_never_denied_meanwhile) {
    int rows = getenv("LONG") ? 1000000 : 100000;
    struct scene *s = scene_start(.mode = mode);
    int session = database_connect(s->database);
    database_say(session, "BEGIN");
    for (int at = 0; at < rows; at += 50000)
        database_say(session, "INSERT INTO users SELECT generate_series(%d, %d)", at + 1,
                     at + 50000);
    database_say(session, "COMMIT");
    double visible = seconds_now();
    WAIT_UNTIL(seconds_now() > visible + FEED_LEASE);
    CHECK_INT(count_missing(client(s->server), "k", 1, rows + 1), 0);
    double limit = visible + patient(LATE);
    while (!feed_vouches(s->feed))
        wait_a_little(limit, __FILE__, __LINE__, "the feed has come to the end of it");
    scene_end(s);
}
