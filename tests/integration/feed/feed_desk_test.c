/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_desk_test.c - a filter that is to be vouched for anew, and what comes meanwhile.
 *
 *     feed                   filter's server      PostgreSQL
 *      |-- row 1 ------------->|                    |          the server hangs
 *      |<========= row 1, beat =====================|          vouches when 1 is in
 *      |                       |      row 2, beat --|          the sender hangs
 *      |                                            |
 *      |<- 1 is in ------------|                    |          the feed hangs, and is
 *      |<========= row 2, beat, the end ============|          told all of this at once
 *
 * It vouches with the first beat, and row 2 waits for that: the second beat, which it has
 * by then, is of no use, since row 2 is in front of it and not in the filter. */

#include "check.h"
#define LONG_SCENES
#include "scene.h"

#include <signal.h>
#include <stdlib.h>

/* Three beats come within a lease, and two of them while the server may hang. */
#define LEASE "5s"

static long readies(struct server *s) {
    const char *at =
        strstr(call_text(client(s), "INFO", "commandstats"), "cmdstat_bf.ready:calls=");
    return at ? atol(at + strlen("cmdstat_bf.ready:calls=")) : 0;
}

/* Its next beat finds that its lease has ended; the one after that would vouch anew. */
static void end_lease(struct feed *f) {
    struct server *s = f->rules.server;
    expect(client(s), "OK", "BF.READY", "k", "PXAT", "1");
    long before = readies(s);
    WAIT_UNTIL(readies(s) > before);
}

/* Everything that was written before a beat that has been sent since. */
static void write_row_and_wait_for_beat(struct database *d, long item) {
    database_run(d, "INSERT INTO users VALUES (%ld)", item);
    const char *now = database_run(d, "SELECT clock_timestamp()");
    WAIT_UNTIL(*database_run(d,
                             "SELECT 1 FROM pg_stat_activity"
                             " WHERE query LIKE '%%pg_logical_emit_message%%beat%%'"
                             " AND pid <> pg_backend_pid()"
                             " AND state = 'idle' AND query_start > '%s'",
                             now));
}

static bool is_sent(struct database *d, const char *lsn) {
    return *database_run(d, "SELECT 1 FROM pg_stat_replication WHERE sent_lsn >= '%s'",
                         lsn);
}

static void wait_until_sent(struct database *d) {
    const char *lsn = database_run(d, "SELECT pg_current_wal_lsn()");
    WAIT_UNTIL(is_sent(d, lsn));
}

static bool is_in(struct server *s, const char *item) {
    return call_int(client(s), "BF.EXISTS", "k", item) == 1;
}

/* The stream ends behind all that was sent, and no other begins. */
static void end_stream(struct feed *f, struct proxy *line, pid_t sender) {
    struct database *d = f->rules.database;
    kill(sender, SIGCONT);
    wait_until_sent(d);
    proxy_aim(line, server_free_port());
    database_run(d, "SELECT pg_terminate_backend(%d)", sender);
    WAIT_UNTIL(feed_walsender(f) == 0);
}

/* Two connections of it are there, and go on. */
static bool reaches_no_database(struct feed *f) {
    return feed_said(f, "server closed the connection unexpectedly");
}

/* False: the second row has come in after all, since its beat was quicker than we are. */
static bool is_left_waiting(void) {
    struct database *d = feed_table(feed_database(17));
    struct server *s = server_start();
    struct proxy *line = proxy_start(d->port);
    struct feed *f =
        feed_start(.database = d, .server = s, .to_database = line, .lease = LEASE);
    database_run(d, "INSERT INTO users VALUES (0)");
    feed_wait(f);
    end_lease(f);

    server_pause(s);
    write_row_and_wait_for_beat(d, 1);
    wait_until_sent(d);
    pid_t sender = feed_walsender(f);
    kill(sender, SIGSTOP);
    write_row_and_wait_for_beat(d, 2);
    program_signal(f->program, SIGSTOP);
    server_resume(s);
    WAIT_UNTIL(is_in(s, "1"));
    end_stream(f, line, sender);
    program_signal(f->program, SIGCONT);
    WAIT_UNTIL(reaches_no_database(f));
    bool is_so = feed_vouches(f) && !is_in(s, "2");
    feed_kill(f);

    proxy_aim(line, d->port);
    feed_start_again(f);
    WAIT_UNTIL(is_in(s, "2"));
    feed_kill(f);
    return is_so;
}

TEST(a_beat_vouches_for_no_row_that_waits_until_its_filter_is_vouched_for_anew) {
    int tries = 1;
    if (!getenv("LONG")) SKIP("takes an idle machine: LONG=1 runs it");
    while (!is_left_waiting())
        CHECK(++tries <= 6);
}
