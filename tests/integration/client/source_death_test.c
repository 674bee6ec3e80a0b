/* SPDX-License-Identifier: BSD-3-Clause */

/* source_death_test.c - bulwark fill --pg whose database dies, hangs or changes under it,
 * and which is told to stop while the database works. */

#include "fill.h"

#include "database.h"
#include "files.h"
#include "harness.h"

#include <signal.h>
#include <unistd.h>

/* Chunks of 1000 and 4000, of values so long that three batches end in the second, and that
 * what is left of it doesn't fit between PostgreSQL and a program that reads no more. */
#define ROWS  "5000"
#define VALUE "n || repeat('x', 500)"

static struct database *with_rows(struct database *d) {
    database_run(d, "CREATE TABLE t (id text PRIMARY KEY, again text);"
                    "INSERT INTO t SELECT " VALUE ", " VALUE
                    " FROM generate_series(1, " ROWS ") AS n");
    return d;
}

/* The fill's, as another session sees them. */
static const char *sessions(int session, const char *which) {
    return database_say(session,
                        "SELECT pid FROM pg_stat_activity"
                        " WHERE application_name = 'bulwark' AND %s",
                        which);
}

/* A fill that is in the middle of a COPY, the second of a table: it waits for its server,
 * which hangs, and PostgreSQL for it. */
static struct program *fill_in_the_middle(struct server *s, struct database *d,
                                          const char *how, const char *what) {
    int writer = database_connect(d);
    make_old(client(s));
    database_say(writer, "BEGIN; SELECT txid_current()");
    struct program *p =
        fill_start(s, "--pg", d->conninfo, how, what, "--window", "3", "--binary");
    WAIT_UNTIL(strstr(program_errors(p), "waiting for a transaction"));
    server_pause(s);
    database_say(writer, "COMMIT");
    WAIT_UNTIL(*sessions(writer, "wait_event = 'ClientWrite'"));
    return p;
}

static void check_all_rows(redisContext *c) {
    char *item = malloc(600);
    test_defer(free, item);
    for (int n = 1; n <= atoi(ROWS); n++) {
        int digits = sprintf(item, "%d", n);
        memset(item + digits, 'x', 500);
        expectf(c, "maybe", "BF.CHECK k %b", item, (size_t)digits + 500);
    }
    CHECK(count_missing(c, "k", 0, 100) > 90); /* What was there before is not. */
}

/* ---- how it dies ---- */

static void kill_server(struct database *d) {
    database_kill(d);
    database_start_again(d);
}

static void terminate_session(struct database *d) {
    database_run(d, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'bulwark'");
}

/* Without a word to whom it serves; the server ends all others, and recovers. */
static void kill_session(struct database *d) {
    pid_t session = atoi(sessions(database_connect(d), "true"));
    CHECK(session > 1 && kill(session, SIGKILL) == 0);
}

static void (*const deaths[])(struct database *) = {kill_server, terminate_session,
                                                    kill_session};

TEST(a_table_in_chunks_is_taken_up_where_the_database_died) {
    struct server *s = server_start();
    struct database *d = with_rows(database_start());
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        test_case("death %zu", i);
        struct program *p = fill_in_the_middle(s, d, "--table", "t");
        deaths[i](d);
        server_resume(s);
        CHECK_INT(program_wait(p), EXIT_DONE);
        CHECK(strstr(program_errors(p), ": connecting again\n"));
        check_all_rows(client(s));
        call(client(s), "DEL", "k");
        database_start_again(d);
    }
}

TEST(a_single_copy_whose_database_dies_ends_the_fill) {
    struct server *s = server_start();
    struct database *d = with_rows(database_start());
    redisContext *c = client(s);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        test_case("death %zu", i);
        struct program *p = fill_in_the_middle(s, d, "--query", "SELECT again FROM t");
        deaths[i](d);
        server_resume(s);
        CHECK_INT(program_wait(p), EXIT_SOURCE);
        CHECK(strstr(program_errors(p), "PostgreSQL"));
        CHECK(!is_rebuilding(c, "k"));
        expect(c, "[maybe, absent]", "BF.MCHECK", "k", "99", "101");
        call(c, "DEL", "k");
        database_start_again(d);
    }
}

TEST(a_database_that_stays_away_ends_the_fill_after_a_while) {
    struct server *s = server_start();
    struct database *d = with_rows(database_start());
    redisContext *c = client(s);
    make_old(c);
    struct program *p = fill_start(s, "--pg", d->conninfo, "--table", "t", "--batch", "1",
                                   "--window", "1", "--timeout", "2s");
    WAIT_UNTIL(received(c, "k") > 1200);
    database_kill(d);
    CHECK_INT(program_wait(p), EXIT_SOURCE);
    CHECK(strstr(program_errors(p), "no connection to PostgreSQL"));
    CHECK(!is_rebuilding(c, "k"));
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "99", "101");
}

/* Longer than a server may be away, which has answered meanwhile what was on its way when
 * the next chunk was to begin. */
TEST(a_lock_on_the_table_is_waited_for) {
    struct server *s = server_start();
    struct database *d = database_shared();
    redisContext *c = client(s);
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY);"
                    "INSERT INTO t SELECT generate_series(1, 100000)");
    struct program *p = fill_start(s, "--pg", d->conninfo, "--table", "t", "--batch", "1",
                                   "--timeout", "2s");
    WAIT_UNTIL(received(c, "k") > 100);
    int locker = database_connect(d);
    database_say(locker, "BEGIN; LOCK TABLE t");
    WAIT_UNTIL(*sessions(locker, "wait_event_type = 'Lock'"));
    usleep(2500000);
    database_say(locker, "COMMIT");
    CHECK_INT(program_wait(p), EXIT_DONE);
    check_holds(c, "k", 1, 100001);
}

TEST(a_table_that_takes_the_place_of_the_one_that_is_read_is_refused) {
    struct server *s = server_start();
    struct database *d = with_rows(database_shared());
    redisContext *c = client(s);
    database_run(d, "CREATE TABLE u (id text PRIMARY KEY); INSERT INTO u VALUES ('z')");
    struct program *p =
        fill_start(s, "--pg", d->conninfo, "--table", "t", "--batch", "1", "--window", "1");
    WAIT_UNTIL(received(c, "k") > 100);
    database_run(d, "ALTER TABLE t RENAME TO old; ALTER TABLE u RENAME TO t");
    CHECK_INT(program_wait(p), EXIT_SOURCE);
    CHECK(strstr(program_errors(p), "another table became t while it was read"));
    CHECK(!is_rebuilding(c, "k"));
}

/* The server has lost the rebuild; the rest of the pass is left unread. */
TEST(a_rebuild_that_is_lost_begins_again_with_the_first_row) {
    static const char *const sources[][2] = {{"--table", "t"},
                                             {"--query", "SELECT again FROM t"}};
    struct server *s = server_start();
    struct database *d = with_rows(database_shared());
    redisContext *c = client(s);
    for (int i = 0; i < 2; i++) {
        test_case("%s", sources[i][0]);
        struct program *p = fill_in_the_middle(s, d, sources[i][0], sources[i][1]);
        post(c, "BF.LOADING", "k");
        server_resume(s);
        expect_next(c, "OK");
        CHECK_INT(program_wait(p), EXIT_DONE);
        CHECK(strstr(program_errors(p), "begins again (1 of 1 keys)"));
        CHECK(!strstr(program_errors(p), "PostgreSQL"));
        check_all_rows(c);
        call(c, "DEL", "k");
    }
}

/* ---- signals ---- */

/* PostgreSQL itself would not notice that nobody listens: it sleeps. */
static void interrupt_while_it_works(struct server *s, struct database *d,
                                     const char *query, bool copying) {
    redisContext *c = client(s);
    int look = database_connect(d);
    struct program *p =
        fill_start(s, "--pg", d->conninfo, "--query", query, "--batch", "1");
    WAIT_UNTIL(*sessions(look, "wait_event = 'PgSleep'") &&
               (!copying || received(c, "k") > 100));
    program_signal(p, SIGINT);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    WAIT_UNTIL(!*sessions(look, "true"));
    CHECK(!is_rebuilding(c, "k"));
}

TEST(an_interrupted_fill_ends_its_query_at_the_server) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    database_run(d,
                 "CREATE FUNCTION slow(n int) RETURNS int STABLE LANGUAGE plpgsql AS"
                 " 'BEGIN IF n > 9000 THEN PERFORM pg_sleep(600); END IF; RETURN n; END'");
    make_old(client(s));
    test_case("while it counts");
    interrupt_while_it_works(s, d, "SELECT 1 FROM pg_sleep(600)", false);
    test_case("while it copies");
    interrupt_while_it_works(s, d, "SELECT slow(n) FROM generate_series(1, 10000) AS n",
                             true);
}

/* ---- a database that hangs ---- */

/* The server and the session that copies stop, and go on when the test ends. */
struct stopped {
    pid_t server, session;
};

static void go_on(void *what) {
    struct stopped *s = what;
    kill(s->session, SIGCONT);
    kill(s->server, SIGCONT);
    free(s);
}

static void stop(struct database *d) {
    static const char copies[] = "SELECT pid FROM pg_stat_activity WHERE state = 'active'"
                                 " AND query LIKE 'COPY%%'";
    struct stopped *s = malloc(sizeof *s);
    WAIT_UNTIL(*database_run(d, copies));
    *s = (struct stopped){d->pid, atoi(database_run(d, copies))};
    CHECK_INT(kill(s->server, SIGSTOP), 0);
    CHECK_INT(kill(s->session, SIGSTOP), 0);
    test_defer(go_on, s);
}

static struct program *start_of_silent_copy(struct server *s, struct database *d,
                                            const char *timeout) {
    return fill_start(s, "--pg", text_of("%s connect_timeout=2", d->conninfo), "--query",
                      "SELECT 7 FROM pg_sleep(3600)", "--capacity", "9", "--timeout",
                      timeout);
}

TEST(a_database_that_hangs_is_given_up) {
    struct server *s = server_shared();
    struct database *d = database_start();
    struct program *p = start_of_silent_copy(s, d, "1s");
    stop(d);
    CHECK_INT(program_wait(p), EXIT_SOURCE);
    CHECK(strstr(program_errors(p), "PostgreSQL does not answer"));
}

TEST(a_signal_is_heard_while_the_database_hangs) {
    struct server *s = server_shared();
    struct database *d = database_start();
    struct program *p = start_of_silent_copy(s, d, "1h");
    stop(d);
    program_signal(p, SIGTERM);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
}

TEST(a_query_may_be_silent_for_longer_than_the_time_out) {
    struct server *s = server_shared();
    struct database *d = database_shared();
    expect_filled(s, "--pg", d->conninfo, "--query", "SELECT 7 FROM pg_sleep(5)",
                  "--timeout", "2s");
}
