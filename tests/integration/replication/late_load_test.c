/* SPDX-License-Identifier: BSD-3-Clause */

/* late_load_test.c - MODULE LOAD on servers that follow each other already. */

#include "files.h"
#include "harness.h"
#include "states.h"

static struct server *start_bare(void) {
    const char *may = server_speaks(700) ? "enable-module-command yes" : NULL;
    return server_start(.without_module = true, .config = may);
}

static void load_module(redisContext *c) {
    const char *path = getenv("MODULE");
    char *absolute = realpath(path && *path ? path : "./bulwark.so", NULL);
    CHECK(absolute != NULL);
    test_defer(free, absolute);
    expect(c, "OK", "MODULE", "LOAD", absolute, "bf-trust", "failover,replica");
}

static struct pair start_pair(void) {
    return pair_linked(start_bare(), start_bare());
}

/* The order that the manual gives. */
TEST(a_pair_gets_the_module_while_it_runs_the_replica_first) {
    struct pair p = start_pair();
    load_module(p.r);
    load_module(p.m);
    make_ready(p.m, "k");
    add_numbers(p.m, "k", 0, 1000);
    check_pair(&p);
    CHECK_INT(count_missing(p.r, "k", 0, 1000), 0);
    wait_for_belief(p.r, "k");
}

/* What came before was refused there, and nobody says so to the master. */
static struct pair load_late(void) {
    struct pair p = start_pair();
    load_module(p.m);
    make_ready(p.m, "k");
    add_numbers(p.m, "k", 0, 100);
    expect(p.m, "OK", "BF.RESERVE", "loading", "0.01", "100", "LOADING");
    wait_for_replica(p.m, p.r);
    expect(p.r, "0", "EXISTS", "k");
    load_module(p.r);
    return p;
}

static void check_nobody_is_denied(redisContext *c) {
    for (int i = 0; i < 200; i++) {
        const char *said = call_text(c, "BF.CHECK", "k", text_of("%d", i));
        CHECK(strcmp(said, "absent") != 0);
    }
}

TEST(a_replica_that_gets_the_module_late_denies_nothing_that_it_missed) {
    struct pair p = load_late();
    add_numbers(p.m, "k", 100, 200);
    add_numbers(p.m, "loading", 100, 200);
    expect(p.m, "OK", "BF.READY", "k", "EX", "1000");
    wait_for_replica(p.m, p.r);
    make_ready(p.m, "whole");
    wait_for_belief(p.r, "whole");
    check_nobody_is_denied(p.r);
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    check_nobody_is_denied(p.r);
}

TEST(a_full_sync_gives_a_replica_that_got_the_module_late_what_it_missed) {
    struct pair p = load_late();
    add_numbers(p.m, "k", 100, 200);
    expect(p.r, "OK", "REPLICAOF", "NO", "ONE");
    expect(p.m, "OK", "DEBUG", "CHANGE-REPL-ID");
    follow(p.r, p.master);
    check_pair(&p);
    wait_for_belief(p.r, "k");
    CHECK_INT(count_missing(p.r, "k", 0, 200), 0);
}
