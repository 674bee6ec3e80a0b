/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster_failover_test.c - bulwark fill while masters of a cluster die, hang and are
 * replaced. The fill ends right in the same run, and whoever asks in between is never told
 * that a row is absent which was there before START. */

#include "cluster.h"
#include "files.h"
#include "fill.h"
#include "harness.h"
#include "spread.h"
#include "states.h"

#include <signal.h>

#define PARTS "24"
#define ROWS  100000

/* The filter is ready and has the rows; a fill of the same rows is under way, and slow. */
static struct program *start_fill(struct cluster *all, struct spread *k, const char *file) {
    const struct server *seed = all->node[0];
    expect_filled(seed, "-c", "--parts", PARTS, "--from", file);
    struct program *p = fill_start(seed, "-c", "--parts", PARTS, "--batch", "5", "--window",
                                   "1", "--settle", "300ms", "--from", file);
    WAIT_UNTIL(received(spread_owner(k, 0), k->key[0]) > 0);
    return p;
}

/* Reads on until the fill has ended. */
static void read_until_end(struct spread *k, struct program *p) {
    long denied = 0;
    for (long item = 0; program_is_running(p); item = (item + 1) % ROWS)
        denied += spread_denies(k, item);
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK_INT(denied, 0);
}

TEST(a_master_that_is_killed_during_a_fill_costs_no_row_and_no_second_run) {
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3, .timeout_ms = 1500);
    struct spread *k = spread_of(all, 24);
    struct program *p = start_fill(all, k, numbers_file(0, ROWS));
    server_kill(all->node[0]);
    read_until_end(k, p);
    CHECK(strstr(program_errors(p), "begins again (8 of 24 keys)"));
    CHECK(cluster_owning_server(all, k->key[0]) == all->node[3]);
    spread_check(k, 0, ROWS);
}

/* A connection to a node that hangs is soon made, but where there is a password, it has to
 * answer: nobody else is filled meanwhile. */
TEST(a_master_that_hangs_and_comes_back_as_a_replica_costs_no_row) {
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3, .timeout_ms = 1500);
    struct spread *k = spread_of(all, 6);
    redisContext *replica = cluster_link(all, 3);
    for (size_t i = 0; i < all->n; i++) {
        redisContext *c = cluster_link(all, i);
        expect(c, "OK", "CONFIG", "SET", "masterauth", "secret");
        expect(c, "OK", "CONFIG", "SET", "requirepass", "secret");
    }
    struct program *p =
        fill_start(all->node[0], "-c", "--parts", "6", "--settle", "2s", "--timeout", "8s",
                   "--pass", "secret", "--from", numbers_file(0, 1000));
    WAIT_UNTIL(is_rebuilding(spread_owner(k, 5), k->key[5]));
    server_pause(all->node[0]);
    expect(replica, "OK", "CLUSTER", "FAILOVER", "FORCE");
    CHECK_INT(program_wait(p), EXIT_DONE);
    server_resume(all->node[0]);
    redisContext *old = cluster_link(all, 0);
    WAIT_UNTIL(strcmp(info_text(old, "replication", "role"), "slave") == 0);
    spread_check(k, 0, 1000);
}

/* The only node that the fill was told of is dead, and the only other one was a replica. */
TEST(a_replica_is_found_although_no_master_is_left_to_name_it) {
    struct cluster *all = cluster_start(.masters = 1, .replicas = 1);
    struct spread *k = spread_of(all, 0);
    struct program *p =
        fill_start(all->node[0], "-c", "--settle", "3s", "--from", numbers_file(0, 1000));
    WAIT_UNTIL(is_rebuilding(cluster_link(all, 0), "k"));
    server_kill(all->node[0]);
    expect(cluster_link(all, 1), "OK", "CLUSTER", "FAILOVER", "TAKEOVER");
    CHECK_INT(program_wait(p), EXIT_DONE);
    spread_check(k, 0, 1000);
}

/* The first pass commits all parts but one; while the second reads for that one, a master
 * of others fails over, and believes in nothing. */
TEST(a_part_that_fails_over_after_its_commit_is_filled_again) {
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3, .timeout_ms = 1500);
    struct spread *k = spread_of(all, 6);
    struct program *p = fill_start(all->node[0], "-c", "--parts", "6", "--settle", "2s",
                                   "--from", numbers_file(0, 1000));
    WAIT_UNTIL(is_rebuilding(spread_owner(k, 5), k->key[5]));
    expect(cluster_link(all, 0), "OK", "BF.LOADING", k->key[0]);
    WAIT_UNTIL(strstr(program_errors(p), "begins again (1 of 6 keys)"));
    WAIT_UNTIL(is_rebuilding(cluster_link(all, 0), k->key[0]));
    wait_for_replica(cluster_link(all, 2), cluster_link(all, 5));
    server_kill(all->node[2]);
    expect(cluster_link(all, 5), "OK", "CLUSTER", "FAILOVER", "TAKEOVER");
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(strstr(program_errors(p), "begins again (2 of 6 keys)"));
    spread_check(k, 0, 1000);
}

/* All batches were acknowledged, and the promoted replica, which is believed, has half. */
TEST(batches_that_a_failover_lost_are_not_taken_for_wrong_items) {
    needs(602, "lines between nodes");
    struct cluster *all = cluster_start(.masters = 1, .replicas = 1, .lines = true,
                                        .module_args = "bf-trust failover");
    redisContext *m = cluster_link(all, 0), *r = cluster_link(all, 1);
    expect_filled(all->node[0], "-c", "--from", numbers_file(0, 10));
    expect(r, "OK", "READONLY");
    wait_for_beat(r, "k");
    struct program *p =
        fill_start(all->node[0], "-c", "--batch", "5", "--capacity", "100", "--from", "-");
    CHECK(program_feed(p, "1\n2\n3\n4\n5\n", 10));
    WAIT_UNTIL(is_rebuilding(m, "k") && received(m, "k") == 5);
    wait_for_replica(m, r);
    cluster_hold_back(all, 0, 1);
    CHECK(program_feed(p, "6\n7\n8\n9\n0\n", 10));
    WAIT_UNTIL(received(m, "k") == 10);
    expect(r, "OK", "CLUSTER", "FAILOVER", "TAKEOVER");
    WAIT_UNTIL(strcmp(info_text(m, "replication", "role"), "slave") == 0);
    proxy_bar(all->front[0], NULL); /* Who was behind it has hung up. */
    WAIT_UNTIL(cluster_is_up(all));
    CHECK_INT(received(r, "k"), 5);
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_SERVER);
    CHECK(strstr(program_errors(p), "can't be read again: run this once more"));
}

/* That there may be none was told to the old master, and to nobody else. */
TEST(a_fill_without_rows_outlasts_a_failover) {
    struct cluster *all =
        cluster_start(.masters = 1, .replicas = 1, .module_args = "bf-trust failover");
    redisContext *r = cluster_link(all, 1);
    expect_filled(all->node[0], "-c", "--from", numbers_file(0, 10));
    expect(r, "OK", "READONLY");
    wait_for_beat(r, "k");
    struct program *p = fill_start(all->node[0], "-c", "--empty", "--settle", "2s",
                                   "--from", numbers_file(0, 0));
    WAIT_UNTIL(is_rebuilding(r, "k"));
    expect(r, "OK", "CLUSTER", "FAILOVER", "TAKEOVER");
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(strstr(program_errors(p), "begins again (1 of 1 keys)"));
}

TEST(a_master_that_nobody_replaces_ends_the_fill_and_the_others_are_undone) {
    struct cluster *all = cluster_start(.masters = 3);
    struct spread *k = spread_of(all, 6);
    for (size_t i = 0; i < 3; i++)
        expect(cluster_link(all, i), "OK", "CONFIG", "SET", "cluster-require-full-coverage",
               "no");
    struct program *p = fill_start(all->node[0], "-c", "--parts", "6", "--settle", "2s",
                                   "--timeout", "3s", "--from", numbers_file(0, 1000));
    WAIT_UNTIL(is_rebuilding(spread_owner(k, 5), k->key[5]));
    server_kill(all->node[1]);
    CHECK_INT(program_wait(p), EXIT_SERVER);
    CHECK(strstr(program_errors(p), "; 2 rebuilds that were begun could not be undone"));
    for (unsigned part = 0; part < 6; part++)
        if (part / 2 != 1) CHECK(!is_rebuilding(spread_owner(k, part), k->key[part]));
}
