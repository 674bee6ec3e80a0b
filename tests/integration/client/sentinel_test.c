/* SPDX-License-Identifier: BSD-3-Clause */

/* sentinel_test.c - the program asks sentinels who the master is, and follows them. */

#include "files.h"
#include "fill.h"
#include "harness.h"
#include "states.h"

#define SENTINELS 3

/* A master, its replica and those who watch them. */
struct watched {
    struct server *master, *replica, *sentinel[SENTINELS];
    const char *list; /* for --sentinel */
};

static bool is_known(struct watched *w, int i) {
    redisContext *c = client(w->sentinel[i]);
    const redisReply *r = call(c, "SENTINEL", "MASTERS");
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 1) return false;
    const redisReply *others = reply_field(r->element[0], "num-other-sentinels");
    const redisReply *slaves = reply_field(r->element[0], "num-slaves");
    return others && slaves && atoi(others->str) == SENTINELS - 1 && atoi(slaves->str) == 1;
}

static struct watched *start_watched(void) {
    struct watched *w = calloc(1, sizeof *w);
    test_defer(free, w);
    w->master = server_start(.config = "repl-ping-replica-period 1");
    w->replica = server_start();
    follow(client(w->replica), w->master);
    const char *config = text_of("sentinel monitor shop 127.0.0.1 %d 2\n"
                                 "sentinel down-after-milliseconds shop 1000\n"
                                 "sentinel failover-timeout shop 5000",
                                 w->master->port);
    for (int i = 0; i < SENTINELS; i++)
        w->sentinel[i] =
            server_start(.sentinel = true, .without_module = true, .config = config);
    w->list = text_of("127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", w->sentinel[0]->port,
                      w->sentinel[1]->port, w->sentinel[2]->port);
    for (int i = 0; i < SENTINELS; i++)
        WAIT_UNTIL(is_known(w, i));
    return w;
}

/* The old one comes back, and is a master until the sentinels see to it, after seconds. */
TEST(a_failover_during_a_fill_ends_right_in_the_same_run) {
    struct watched *w = start_watched();
    redisContext *m = client(w->master);
    struct program *p = program_start("fill", "k", "--sentinel", w->list, "--master",
                                      "shop", "--settle", "300ms", "--batch", "5",
                                      "--window", "1", "--from", numbers_file(0, 100000));
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
    struct watched *w = start_watched();
    redisContext *m = client(w->master);
    struct program *p =
        program_start("fill", "k", "--sentinel", w->list, "--master", "shop", "--settle",
                      "0", "--capacity", "1000", "--from", "-");
    WAIT_UNTIL(is_rebuilding(m, "k"));
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
    struct watched *w = start_watched();
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
    struct watched *w = start_watched();
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
