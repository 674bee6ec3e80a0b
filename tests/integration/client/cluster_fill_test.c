/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster_fill_test.c - bulwark fill over the six nodes of a cluster, while nothing bad
 * happens. */

#include "cluster.h"
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
