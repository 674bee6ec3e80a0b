/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster_fill_test.c - bulwark fill over the six nodes of a cluster, while nothing bad
 * happens. */

#include "cluster.h"
#include "files.h"
#include "fill.h"
#include "harness.h"
#include "spread.h"

TEST(a_fill_over_three_masters_loses_no_item_and_no_add) {
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3);
    struct spread *k = spread_of(all, 128);
    const struct server *s = all->node[4];
    expect_filled(s, "-c", "--parts", "128", "--from", numbers_file(0, 50000));
    spread_check(k, 0, 50000);
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(call_int(cluster_link(all, i), "DBSIZE") / 2, 21);

    struct program *p =
        fill_start(s, "-c", "--parts", "128", "--from", "-", "--capacity", "100k");
    WAIT_UNTIL(is_rebuilding(spread_owner(k, 127), k->key[127]));
    CHECK(program_feed(p, "1\n2\n3\n", 6));
    spread_add(k, 70000, 72000);
    program_end_input(p);
    CHECK_INT(program_wait(p), EXIT_DONE);
    spread_check(k, 70000, 72000);
    CHECK_INT(spread_ask(k, 1, 4).maybe, 3);
    CHECK(spread_ask(k, 0, 50000).absent > 49000);
}

TEST(a_filter_of_one_key_is_filled_wherever_it_is) {
    struct cluster *all = cluster_start(.masters = 3);
    struct spread *k = spread_of(all, 0);
    for (size_t i = 0; i < 3; i++) {
        expect_filled(all->node[i], "-c", "--from", numbers_file(0, 1000 + (long)i));
        spread_check(k, 0, 1000 + (long)i);
    }
}

/* By addresses, by names that they don't have ("?"), by names, by ports alone. */
TEST(nodes_are_found_by_whatever_the_cluster_calls_them) {
    needs(700, "names of nodes");
    static const char *const called[] = {"ip", "hostname", "hostname", "unknown-endpoint"};
    struct cluster *all = cluster_start(.masters = 3);
    struct spread *k = spread_of(all, 6), *one = spread_of(all, 0);
    for (int i = 0; i < 4; i++) {
        test_case("%s %d", called[i], i);
        for (size_t n = 0; n < 3; n++) {
            redisContext *c = cluster_link(all, n);
            expect(c, "OK", "CONFIG", "SET", "cluster-announce-hostname",
                   i == 2 ? "localhost" : "");
            expect(c, "OK", "CONFIG", "SET", "cluster-preferred-endpoint-type", called[i]);
        }
        WAIT_UNTIL(i != 2 ||
                   !strstr(call_text(cluster_link(all, 0), "CLUSTER", "SLOTS"), "?"));
        expect_filled(all->node[0], "-c", "--parts", "6", "--from",
                      numbers_file(0, 1000 + i));
        expect_filled(all->node[0], "-c", "--from", numbers_file(0, 1000 + i));
        spread_check(k, 0, 1000 + i);
        spread_check(one, 0, 1000 + i);
    }
}

/* ---- rights ---- */

#define LOADER "+bf.rebuild +bf.info"

/* Servers before 7.0 know no rights for a subcommand that isn't named by +command first. */
static const char *may_map(void) {
    return server_speaks(700) ? "+cluster|slots" : "+cluster";
}

static void make_loader(redisContext *c, const char *rights) {
    expectf(c, "OK", text_of("ACL SETUSER loader reset on >secret ~k* %s", rights));
}

TEST(a_user_who_may_not_see_the_slots_is_told) {
    struct cluster *all = cluster_start(.masters = 1);
    make_loader(cluster_link(all, 0), LOADER);
    expect_unfilled(all->node[0], EXIT_REFUSED, "*the ACL user needs cluster|slots*", "-c",
                    "--user", "loader", "--pass", "secret", "--from", numbers_file(0, 9));
}

/* ---- slots that move ---- */

static int asks(redisContext *c) {
    int calls = 0;
    sscanf(info_text(c, "commandstats", "cmdstat_asking"), "calls=%d", &calls);
    return calls;
}

/* RESTORE interrupts the rebuild, so the part is begun again: first by ASK, since the slot
 * is half moved, then by MOVED. */
TEST(a_part_whose_slot_moves_is_filled_at_its_new_place) {
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3);
    struct spread *k = spread_of(all, 12);
    const char *key = k->key[0];
    for (size_t i = 0; i < 3; i++)
        make_loader(cluster_link(all, i), text_of(LOADER " %s +asking", may_map()));
    struct program *p = fill_start(all->node[0], "-c", "--parts", "12", "--settle", "3s",
                                   "--user", "loader", "--pass", "secret", "--json",
                                   "--from", numbers_file(0, 20000));
    WAIT_UNTIL(is_rebuilding(spread_owner(k, 11), k->key[11]));
    cluster_move_begin(all, key, 2);
    WAIT_UNTIL(strstr(program_errors(p), "begins again (1 of 12 keys)"));
    WAIT_UNTIL(asks(cluster_link(all, 2)) >= 2);
    cluster_move_end(all, key, 2);
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK(strstr(program_output(p), "\"passes\":2"));
    CHECK(!strstr(program_output(p), "\"redirections\":0,"));
    CHECK(cluster_owning_server(all, key) == all->node[2]);
    spread_check(k, 0, 20000);
}

/* Valkey hands the rebuild over, too. */
TEST(a_part_that_the_server_moves_by_itself_is_filled) {
    if (!hands_slots_over()) SKIP("%s moves no slots by itself", server_name());
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3);
    struct spread *k = spread_of(all, 12);
    struct program *p =
        fill_start(all->node[0], "-c", "--parts", "12", "--batch", "5", "--window", "1",
                   "--json", "--from", numbers_file(0, 300000));
    WAIT_UNTIL(received(spread_owner(k, 0), k->key[0]) > 0);
    redisContext *from = spread_owner(k, 0), *to = cluster_link(all, 2);
    hand_slot_over(from, to, slot_of(from, k->key[0]));
    CHECK(cluster_owning_server(all, k->key[0]) == all->node[2]);
    CHECK_INT(program_wait(p), EXIT_DONE);
    if (server_flavour() == VALKEY) CHECK(strstr(program_output(p), "\"passes\":1}"));
    spread_check(k, 0, 300000);
}

/* ---- mistakes ---- */

TEST(what_is_no_cluster_says_so) {
    expect_unfilled(server_shared(), EXIT_REFUSED,
                    "*is no node of a cluster: leave -c out*", "-c", "--from",
                    numbers_file(0, 9));
}

TEST(a_node_of_a_cluster_asks_for_the_option) {
    struct cluster *all = cluster_start(.masters = 2);
    struct spread *k = spread_of(all, 0);
    size_t other = cluster_owning_server(all, "k") == all->node[0];
    struct outcome got = fill(all->node[other], "--from", numbers_file(0, 9));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "is a node of a cluster: give -c"));
    CHECK_INT(call_int(spread_owner(k, 0), "EXISTS", "k"), 0);
    got = program_run("list", "k", "-p", program_port(all->node[other]));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "is a node of a cluster: give -c"));
}

TEST(a_cluster_that_is_not_complete_is_not_half_filled) {
    static const char *const coverage[] = {"yes", "no"};
    struct cluster *all = cluster_start(.masters = 3, .uncovered = true);
    for (int i = 0; i < 2; i++) {
        test_case("cluster-require-full-coverage %s", coverage[i]);
        for (size_t n = 0; n < 3; n++)
            expect(cluster_link(all, n), "OK", "CONFIG", "SET",
                   "cluster-require-full-coverage", coverage[i]);
        struct outcome got = fill(all->node[0], "-c", "--parts", "16", "--timeout", "2s",
                                  "--from", numbers_file(0, 1000));
        CHECK_INT(got.code, EXIT_SERVER);
        CHECK(strstr(got.err, "is the cluster complete?"));
        for (size_t n = 0; n < 3; n++)
            CHECK_INT(call_int(cluster_link(all, n), "DBSIZE"), 0);
    }
}
