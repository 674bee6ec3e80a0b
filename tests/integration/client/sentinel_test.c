/* SPDX-License-Identifier: BSD-3-Clause */

/* sentinel_test.c - the program asks sentinels who the master is, and follows them. */

#include "files.h"
#include "fill.h"
#include "harness.h"
#include "sentinels.h"
#include "states.h"

/* Sentinels that were held up for two seconds do nothing for half a minute. */
#define PATIENT "--timeout", "2m"

/* The old one comes back, and is a master until the sentinels see to it, after seconds. */
TEST(a_failover_during_a_fill_ends_right_in_the_same_run) {
    struct watched *w = sentinels_start();
    redisContext *m = client(w->master);
    struct program *p = program_start(
        "fill", "k", "--sentinel", w->list, "--master", "shop", "--settle", "300ms",
        "--batch", "5", "--window", "1", PATIENT, "--from", numbers_file(0, 100000));
    WAIT_UNTIL(received(m, "k") > 0);
    server_kill(w->master);
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(strstr(program_errors(p), "begins again"));
    redisContext *r = client(w->replica); /* a promotion ends connections */
    CHECK_STR(info_text(r, "replication", "role"), "master");
    check_holds(r, "k", 0, 100000);

    server_start_again(w->master);
    struct outcome got =
        program_run("fill", "k", "--fewer", "--sentinel", w->list, "--master", "shop",
                    "--settle", "0", "--from", numbers_file(5, 500));
    CHECK_INT(got.code, EXIT_DONE);
    check_holds(r, "k", 5, 500);
    CHECK_INT(call_int(client(w->master), "EXISTS", "k"), 0);
}

/* A pipe can't be read twice, whoever is the master by then. */
TEST(a_failover_during_a_fill_from_a_pipe_is_told) {
    struct watched *w = sentinels_start();
    redisContext *m = client(w->master);
    struct program *p =
        program_start("fill", "k", "--sentinel", w->list, "--master", "shop", "--settle",
                      "0", "--capacity", "1000", "--batch", "1", PATIENT, "--from", "-");
    CHECK(program_feed(p, "half\n", 5));
    WAIT_UNTIL(received(m, "k") == 1); /* So it knows of its rebuild. */
    wait_for_replica(m, client(w->replica));
    server_pause(w->master);
    CHECK(program_feed(p, "1\n", 2));
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_SERVER);
    CHECK(strstr(program_errors(p), "can't be read again: run this once more"));
    CHECK_STR(unknown_by(client(w->replica), "k"), "loading");
    server_resume(w->master);
}

/* The last one wants a password, which is taken for the server's. */
TEST(sentinels_that_are_away_or_hang_are_passed_over) {
    needs(700, "ACL users of sentinels");
    struct watched *w = sentinels_start();
    expect(client(w->sentinel[2]), "OK", "ACL", "SETUSER", "default", "resetpass",
           ">secret");
    expect(client(w->master), "OK", "ACL", "SETUSER", "shop", "on", ">secret", "~*",
           "+@all");
    server_kill(w->sentinel[0]);
    server_pause(w->sentinel[1]);
    const char *file = numbers_file(0, 9);
    struct outcome got =
        program_run("fill", "k", "--sentinel", w->list, "--master", "shop", "--user",
                    "shop", "--pass", "secret", "--settle", "0", "--from", file);
    CHECK_INT(got.code, EXIT_DONE);
    check_holds(client(w->master), "k", 0, 9);
    server_resume(w->sentinel[1]);
}

TEST(a_master_that_no_sentinel_knows_is_told) {
    struct watched *w = sentinels_start();
    struct outcome got = program_run("fill", "k", "--sentinel", w->list, "--master", "none",
                                     "--settle", "0", "--from", numbers_file(0, 9));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "knows no master 'none': see --master"));
}

TEST(sentinels_without_any_master_are_told_apart_from_no_sentinels) {
    struct server *s = server_shared();
    struct outcome got =
        program_run("list", "--sentinel", text_of("127.0.0.1:%d", s->port));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "is no sentinel"));
}
