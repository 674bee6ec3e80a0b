/* SPDX-License-Identifier: BSD-3-Clause */

/* beat_test.c - when a replica believes itself: not by its link, but by its master's
 * word. */

#include "harness.h"
#include "proxy.h"
#include "states.h"

#define TRUST_REPLICAS "bf-trust replica,failover"

/* The master's backlog has room for all that a test sends. */
#define MASTER "repl-backlog-size 256mb\nsave ''\nrepl-ping-replica-period 3600"

enum { FEW = 1000, MANY = 400000 };

/* Of the numbers from ... to - 1, how many the server denies. */
static int denied(redisContext *c, long from, long to) {
    char items[FEW][24];
    const char *argv[FEW + 2] = {"BF.MCHECK", "k"};
    int n = 0;
    for (; from < to; from++, n++) {
        snprintf(items[n], sizeof items[n], "%ld", from);
        argv[n + 2] = items[n];
    }
    const redisReply *r = callv(c, n + 2, argv, NULL);
    int absent = 0;
    for (size_t i = 0; r->type == REDIS_REPLY_ARRAY && i < r->elements; i++)
        absent += strcmp(r->element[i]->str, "absent") == 0;
    return absent;
}

/* Asks for the last ones, again and again, until it denies a stranger. */
static void denies_none_until_it_believes_itself(redisContext *r, long last) {
    double limit = wait_deadline();
    for (;;) {
        CHECK_INT(denied(r, last - FEW, last), 0);
        if (strcmp(said_of(r, "k"), "absent") == 0) break;
        wait_a_little(limit, __FILE__, __LINE__, "the replica believes itself");
    }
    CHECK_INT(denied(r, last - FEW, last), 0);
}

static redisContext *restart_as_replica(struct server *s, int master_port) {
    char config[64];
    snprintf(config, sizeof config, "save ''\nreplicaof 127.0.0.1 %d", master_port);
    s->options.config = config;
    server_kill(s);
    server_start_again(s);
    s->options.config = NULL;
    return client(s);
}

static struct pair start_pair(void) {
    struct pair p =
        pair_of(server_start(.config = MASTER),
                server_start(.config = "save ''", .module_args = TRUST_REPLICAS));
    expect(p.m, "OK", "BF.RESERVE", "k", "0.01", "1000000");
    make_ready(p.m, "k");
    follow(p.r, p.master);
    return p;
}

/* Acknowledges items, and starts again from a file that lacks them. */
static redisContext *forget_and_restart(const struct pair *p, long items, int master_port) {
    expect(p->r, "OK", "SAVE");
    add_numbers(p->m, "k", 0, items);
    const char *all = info_text(p->m, "replication", "connected_slaves");
    expect(p->m, all, "WAIT", all, "20000");
    return restart_as_replica(p->replica, master_port);
}

TEST(a_replica_that_starts_from_an_older_file_denies_nothing_that_it_had_acknowledged) {
    struct pair p = start_pair();
    redisContext *r = forget_and_restart(&p, MANY, p.master->port);
    denies_none_until_it_believes_itself(r, MANY);
    CHECK_INT(info_int(p.m, "stats", "sync_full"), 1);
}

/* Beats for others are in the backlog, too, and come for seconds. */
TEST(a_slow_line_brings_no_belief_before_it_brings_the_items) {
    struct pair p = start_pair();
    redisContext *other = client(server_start());
    follow(other, p.master);
    struct proxy *line = proxy_start_transparent(p.master->port);
    proxy_slow(line, 100000);
    redisContext *r = forget_and_restart(&p, MANY / 20, proxy_port(line));
    denies_none_until_it_believes_itself(r, MANY / 20);
    CHECK(proxy_is_transparent(line));
    CHECK_INT(info_int(p.m, "stats", "sync_full"), 2);
}

/* Promoted while it catches up, it lacks the rest for good. */
TEST(a_replica_that_is_promoted_before_a_beat_counts_as_restarted) {
    struct pair p = start_pair();
    redisContext *r = forget_and_restart(&p, MANY, p.master->port);
    WAIT_UNTIL(strcmp(info_text(r, "replication", "master_link_status"), "up") == 0);
    expect(r, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_INT(denied(r, MANY - FEW, MANY), 0);
    CHECK_STR(unknown_by(r, "k"), "restart");
}

/* What is added while a file is under way waits behind it. */
TEST(a_new_replica_denies_nothing_that_came_during_its_full_sync) {
    struct server *master = server_start(.config = MASTER);
    struct server *replica = server_start(.module_args = TRUST_REPLICAS);
    redisContext *m = client(master), *r = client(replica);
    expect(m, "OK", "BF.RESERVE", "k", "0.01", "1000000");
    make_ready(m, "k");
    for (int i = 0; i < 100; i++)
        expectf(m, "OK", "SET filler:%d x", i);
    expect(m, "OK", "CONFIG", "SET", "client-output-buffer-limit", "replica 0 0 0");
    expect(m, "OK", "CONFIG", "SET", "rdb-key-save-delay", "40000");
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", master->port);
    WAIT_UNTIL(info_int(r, "replication", "master_sync_in_progress") == 1);
    add_numbers(m, "k", 0, MANY);
    WAIT_UNTIL(strcmp(info_text(r, "replication", "master_link_status"), "up") == 0);
    denies_none_until_it_believes_itself(r, MANY);
}

/* ---- chains ---- */

static redisContext *chained(const char *module_args, const struct server *middle) {
    redisContext *last = client(server_start(.module_args = module_args));
    follow(last, middle);
    return last;
}

static bool is_warned_as_unnamed(redisContext *c) {
    return strstr(info_text(c, "bf", "bf_trust_warnings"), "replica_unnamed");
}

/* Only who trusts replicas, and isn't named, is warned. */
TEST(a_replica_of_a_replica_is_not_believed_unless_its_lag_is_bounded) {
    struct pair p = start_pair();
    redisContext *wary = chained(TRUST_REPLICAS, p.replica);
    redisContext *wordless = chained("bf-trust failover", p.replica);
    redisContext *bounded = chained(TRUST_REPLICAS " bf-max-lag 5", p.replica);
    wait_for_belief(p.r, "k");
    wait_for_belief(bounded, "k");
    wait_for_beat(wary, "k");
    CHECK_STR(said_of(wary, "k"), "unknown");
    CHECK_STR(unknown_by(wary, "k"), "replica");
    WAIT_UNTIL(is_warned_as_unnamed(wary));

    server_pause(p.master);
    WAIT_UNTIL(strcmp(said_of(bounded, "k"), "unknown") == 0);
    CHECK_STR(unknown_by(bounded, "k"), "link_down");
    CHECK(!is_warned_as_unnamed(wordless) && !is_warned_as_unnamed(p.r));
    server_resume(p.master);
    wait_for_belief(bounded, "k");
}

/* ---- the bound ---- */

TEST(a_replica_that_hears_nothing_for_longer_than_bf_max_lag_denies_nobody) {
    struct server *master = server_start(.module_args = "bf-max-lag 2");
    struct server *replica = server_start(.module_args = "bf-trust replica bf-max-lag 2");
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_belief(r, "k");
    server_pause(master);
    double start = seconds_now();
    WAIT_UNTIL(strcmp(said_of(r, "k"), "unknown") == 0);
    CHECK(seconds_now() - start < 30); /* half of repl-timeout */
    CHECK_STR(unknown_by(r, "k"), "link_down");
    expect(r, "1", "BF.EXISTS", "k", "never added");
    server_resume(master);
    wait_for_belief(r, "k");
}

TEST(a_bound_on_lag_holds_when_the_masters_clock_jumps) {
    struct server *master = server_start(.module_args = "bf-max-lag 2", .preload = "clock");
    redisContext *m = client(master);
    redisContext *r = client(server_start(.module_args = "bf-trust replica bf-max-lag 2"));
    make_ready(m, "k");
    follow(r, master);
    wait_for_belief(r, "k");
    server_set_clock(master, -3600); /* Each beat looks old. */
    WAIT_UNTIL(strcmp(said_of(r, "k"), "unknown") == 0);
    server_set_clock(master, 3600); /* None does, though nothing is heard any more. */
    wait_for_belief(r, "k");
    server_pause(master);
    WAIT_UNTIL(strcmp(said_of(r, "k"), "unknown") == 0);
    CHECK_STR(unknown_by(r, "k"), "link_down");
    server_resume(master);
    wait_for_belief(r, "k");
}

/* ---- the word itself ---- */

TEST(only_a_master_sends_beats) {
    redisContext *c = client(server_shared());
    expect(c, "(error) ERR only a master or an append-only file may send this", "BF.BEAT",
           "1", "127.0.0.1:1");
    expect(c, WRONG_ARITY("bf.beat"), "bf.beat", "1");
}

TEST(beats_are_sent_while_there_is_something_to_believe_and_not_into_the_aof) {
    struct server *s = server_start();
    struct server *master =
        server_start(.config = AOF_BY_COMMAND "repl-ping-replica-period 3600");
    redisContext *m = client(master), *r = client(s);
    expect(m, "1", "BF.ADD", "k", "anna");
    follow(r, master);
    long long before = info_int(m, "replication", "master_repl_offset");
    double until = seconds_now() + 2;
    WAIT_UNTIL(seconds_now() > until);
    CHECK_INT(info_int(m, "replication", "master_repl_offset"), before);

    expect(m, "OK", "BF.READY", "k");
    wait_for_beat(r, "k");
    long long file = info_int(m, "persistence", "aof_current_size");
    WAIT_UNTIL(info_int(m, "replication", "master_repl_offset") > before + 200);
    CHECK_INT(info_int(m, "persistence", "aof_current_size"), file);
}

/* A server that saves after 100 changes in 300 seconds isn't to save because of beats. */
TEST(beats_are_rare_where_nothing_else_is_written) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    make_ready(m, "k");
    follow(r, master);
    wait_for_beat(r, "k");
    double until = seconds_now() + 2.5; /* the first ones come soon one after the other */
    WAIT_UNTIL(seconds_now() > until);
    double start = seconds_now();
    long long before = info_int(m, "persistence", "rdb_changes_since_last_save");
    WAIT_UNTIL(seconds_now() > start + 5);
    long long beats = info_int(m, "persistence", "rdb_changes_since_last_save") - before;
    CHECK((double)beats <= 1 + (seconds_now() - start) / 4);
    WAIT_UNTIL(info_int(m, "persistence", "rdb_changes_since_last_save") > before);
}
