/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_lost_test.c - answers that get lost during a fill, sessions of the database, and the
 * program's own output. Random moments are fill_torture_test.c's. */

#include "fill.h"

#include "database.h"
#include "files.h"
#include "harness.h"
#include "states.h"

#include <fcntl.h>
#include <signal.h>

/* -------------------------------------------------------------------------
 * Answers of the server
 * ---------------------------------------------------------------------- */

/* What the server answers from here on gets stuck. */
static void hold_answers(struct proxy *line) {
    proxy_slow(line, 1);
}

static void lose_answers(struct proxy *line) {
    proxy_cut(line);
    proxy_slow(line, 0);
}

#define ON(line) "-p", text_of("%d", proxy_port(line))

/* Nobody has the token of the rebuild that it began; it doesn't wait ten minutes for it. */
TEST(a_start_whose_answer_is_lost_is_replaced_at_once) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    struct proxy *line = proxy_start(s->port);
    const char *token = start_rebuild(c, "k");
    struct program *p = fill_start(s, ON(line), "--from", numbers_file(0, 100));
    WAIT_UNTIL(strstr(program_errors(p), "another loader"));
    hold_answers(line);
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
    WAIT_UNTIL(is_rebuilding(c, "k"));
    double began = seconds_now();
    lose_answers(line);
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(seconds_now() - began < patient(60));
    check_holds(c, "k", 0, 100);
}

/* The server knows the COMMIT when it is sent again, but vouches for nothing any more. */
TEST(a_fill_that_was_committed_and_doubted_before_it_heard_of_it_begins_again) {
    struct server *s = server_start();
    redisContext *c = client(s);
    struct proxy *line = proxy_start(s->port);
    struct program *p =
        fill_start(s, ON(line), "--from", numbers_file(0, 0), "--empty", "--settle", "3s");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    hold_answers(line);
    WAIT_UNTIL(!is_rebuilding(c, "k"));
    expect(c, "OK", "DEBUG", "RELOAD");
    CHECK_STR(unknown_by(c, "k"), "restart");
    lose_answers(line);
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK_STR(unknown_by(c, "k"), "");
}

TEST(a_signal_does_not_wait_for_a_server_that_hangs) {
    struct server *s = server_start();
    redisContext *c = client(s);
    struct program *p = fill_start(s, "--from", "-", "--capacity", "1000", "--batch", "1",
                                   "--timeout", "1h");
    CHECK(program_feed(p, "half\n", 5));
    WAIT_UNTIL(received(c, "k") == 1); /* So it knows of its rebuild. */
    server_pause(s);
    program_signal(p, SIGTERM);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    CHECK(strstr(program_errors(p), "could not be undone"));
    server_resume(s);
}

/* -------------------------------------------------------------------------
 * The database
 * ---------------------------------------------------------------------- */

#define TABLE(d) "--pg", (d)->conninfo, "--table", "items"

static struct database *with_items(struct database *d, int count) {
    database_run(d,
                 "CREATE TABLE items (id bigint PRIMARY KEY);"
                 "INSERT INTO items SELECT generate_series(1, %d)",
                 count);
    return d;
}

/* The first add is in the old generation only, and the second comes too late. */
TEST(a_transaction_that_begins_while_a_fill_settles_is_waited_for) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    struct database *d = with_items(database_shared(), 9);
    make_old(c);
    expect(c, "[#t]", "BF.INSERT", "k", "NOCREATE", "ITEMS", "1000");
    struct program *p = fill_start(s, TABLE(d), "--settle", "3s");
    WAIT_UNTIL(is_rebuilding(c, "k"));
    int writer = database_connect(d);
    database_say(writer, "BEGIN; INSERT INTO items VALUES (1000)");
    WAIT_UNTIL(!program_is_running(p) || strstr(program_errors(p), "waiting for"));
    database_say(writer, "COMMIT");
    CHECK_INT(program_wait(p), EXIT_DONE);
    expect(c, "maybe", "BF.CHECK", "k", "1000");
}

/* It gives ids again that were not yet written, the fill's mark among them. */
TEST(a_database_that_crashes_while_writers_are_waited_for_holds_up_no_fill) {
    struct server *s = server_shared();
    struct database *d =
        with_items(database_start(.config = "wal_writer_delay = 10s\n"), 9);
    int writer = database_connect(d);
    database_say(writer, "BEGIN; INSERT INTO items VALUES (1000)");
    struct program *p = fill_start(s, TABLE(d));
    WAIT_UNTIL(strstr(program_errors(p), "waiting for"));
    database_kill(d);
    database_start_again(d);
    CHECK_INT(program_wait(p), EXIT_DONE);
    check_holds(client(s), "k", 1, 10);
}

/* The session is in the middle of a COPY then. */
TEST(a_table_is_read_again_when_the_rebuild_was_interrupted) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    struct database *d = with_items(database_shared(), 300000);
    struct program *p = fill_start(s, TABLE(d), "--batch", "20", "--window", "1");
    WAIT_UNTIL(received(c, "k") > 0);
    expect(c, "OK", "BF.LOADING", "k");
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(strstr(program_errors(p), "begins again"));
    CHECK(!strstr(program_errors(p), "no connection"));
    CHECK_INT(count_missing(c, "k", 1, 300001), 0);
}

/* -------------------------------------------------------------------------
 * The program's own files
 * ---------------------------------------------------------------------- */

/* A fill by a shell, with redirections. */
static int fill_by_shell(const struct server *s, const char *rest) {
    const char *named = getenv("PROGRAM");
    int status = system(text_of("exec %s fill k -p %d --settle 0 --stale 1s %s",
                                named && *named ? named : "./bulwark", s->port, rest));
    return WEXITSTATUS(status);
}

/* How many commands the server has not understood. */
static long long misunderstood(redisContext *c) {
    const char *calls = strstr(call(c, "INFO", "errorstats")->str, "ERR:count=");
    return calls ? atoll(calls + strlen("ERR:count=")) : 0;
}

/* A socket that is given the descriptor of the standard error would get its sentences. */
TEST(a_fill_without_standard_files_sends_the_server_no_sentences) {
    needs(602, "INFO errorstats");
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "CONFIG", "RESETSTAT");
    const char *from = text_of("--from %s <&- 2>&-", bytes_file("\t\n\t\n", 4));
    CHECK_INT(fill_by_shell(s, from), EXIT_ITEMS);
    CHECK_INT(misunderstood(c), 1); /* BF.INFO of a filter that isn't there */
}

TEST(a_fill_that_cannot_print_says_so_and_is_done) {
    struct server *s = server_shared();
    const char *from = text_of("--from %s >/dev/full 2>/dev/null", numbers_file(0, 100));
    CHECK_INT(fill_by_shell(s, from), EXIT_REFUSED);
    check_holds(client(s), "k", 0, 100);
}
