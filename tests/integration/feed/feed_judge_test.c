/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_judge_test.c - the judge can tell: feeds that are none, and what it finds. */

#include "harness.h"
#include "judge.h"

#define LEASE 0.2

static struct database *with_table(struct database *d) {
    database_run(d, "CREATE TABLE users (id bigint PRIMARY KEY)");
    return d;
}

static void reserve(redisContext *c, const char *state) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "100000", state);
}

static bool is_late(struct judge *j) {
    return judge_so_far(j).late > 0;
}

TEST_OF_OTHERS(who_vouches_and_follows_nothing_is_found_out) {
    struct server *s = server_shared();
    reserve(client(s), "READY");
    struct judge *j = judge_start(.database = with_table(database_shared()), .servers = {s},
                                  .lease = LEASE, .may_fault = true);
    WAIT_UNTIL(is_late(j));

    struct verdict v = judge_end(j);
    CHECK_INT(v.absent, v.rows);
    CHECK(v.at_least > LEASE && v.at_most > v.at_least);
}

TEST_OF_OTHERS(a_row_that_is_denied_within_its_lease_is_counted_and_not_late) {
    struct server *s = server_shared();
    reserve(client(s), "READY");
    struct judge *j = judge_start(.database = with_table(database_shared()), .servers = {s},
                                  .lease = 600);
    judge_wait_for_rows(j, 20);

    struct verdict v = judge_end(j);
    CHECK_INT(v.absent, v.rows);
    CHECK_INT(v.late, 0);
    CHECK(v.denials > v.rows && v.at_least > 0);
}

TEST_OF_OTHERS(a_row_is_found_that_is_denied_again_long_after_it_was_there) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    reserve(c, "LOADING");
    struct judge *j = judge_start(.database = with_table(database_shared()), .servers = {s},
                                  .lease = LEASE, .may_fault = true);
    judge_wait_for_rows(j, 20);
    judge_rest(j);
    CHECK_INT(judge_so_far(j).unknown, judge_so_far(j).rows);
    expect(c, "#t", "BF.ADD", "k", "another");
    expect(c, "OK", "BF.READY", "k");

    WAIT_UNTIL(is_late(j));
    judge_end(j);
}

TEST_OF_OTHERS(a_row_that_is_not_there_is_not_asked_for) {
    struct server *s = server_shared();
    reserve(client(s), "READY");
    struct database *d = with_table(database_shared());
    struct judge *j = judge_start(.database = d, .servers = {s}, .lease = LEASE,
                                  .write = "BEGIN; INSERT INTO users VALUES (%1$ld);"
                                           " SELECT 1 / 0");
    WAIT_UNTIL(judge_so_far(j).refused > 20);

    struct verdict v = judge_end(j);
    CHECK_INT(v.rows, 0);
    CHECK_INT(v.denials, 0);
}
