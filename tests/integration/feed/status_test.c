/* SPDX-License-Identifier: BSD-3-Clause */

/* status_test.c - feed status and feed verify: whether a filter is kept, and tells the
 * truth. */

#include "feeds.h"
#include "harness.h"

#include <signal.h>

static struct database *database(void) {
    return feed_table(database_start(.config = "wal_level = logical\n"));
}

static struct feed *followed(void) {
    struct database *d = database();
    database_run(d, "INSERT INTO users SELECT generate_series(1, 3000)");
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_wait(f);
    return f;
}

static bool follows(struct feed *f) {
    return program_run("feed", "status", f->config).code == 0;
}

TEST(status_says_that_a_feed_follows_and_that_it_is_gone) {
    struct feed *f = followed();
    WAIT_UNTIL(follows(f));
    struct outcome got = program_run("feed", "status", f->config);
    CHECK(text_matches(got.out, "The slot * is read by a feed, and holds * of WAL.\n*"
                                "FILTER *k *following *1*3.00 k*"));

    feed_kill(f);
    WAIT_UNTIL(!follows(f) && !feed_walsender(f));
    got = program_run("feed", "status", f->config);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.out, "read by nobody"));
    CHECK(strstr(got.err, "no feed follows"));
}

TEST(status_in_json_is_an_object_for_the_slot_and_one_for_each_part) {
    struct feed *f = followed();
    WAIT_UNTIL(follows(f));
    struct outcome got = program_run("feed", "status", f->config, "--json");
    CHECK(text_matches(got.out, "{\"slot\":\"bulwark_k\",*\"active\":true,*}\n"
                                "{\"filter\":\"k\",\"state\":\"following\",*}\n"));
}

TEST(status_before_the_first_run_finds_no_slot_and_no_filter) {
    struct database *d = database();
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_kill(f);
    database_run(d, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                    " WHERE NOT active");
    expect(client(server_shared()), "OK", "FLUSHALL");
    struct outcome got = program_run("feed", "status", f->config);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.out, "There is no slot") && strstr(got.out, "no filter"));
}

TEST(verify_finds_no_row_denied_by_a_filter_that_is_kept) {
    struct feed *f = followed();
    struct outcome got = program_run("feed", "verify", f->config);
    CHECK_INT(got.code, 0);
    CHECK(text_matches(got.out, "1.00 k rows of public.users were asked for: 0 denied, *"));
}

TEST(verify_names_rows_that_are_denied) {
    struct feed *f = followed();
    database_run(f->rules.database, "DELETE FROM users");
    program_signal(f->program, SIGSTOP);
    redisContext *c = client(server_shared());
    expect(c, "1", "DEL", "k");
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "1000", "READY");
    database_run(f->rules.database, "INSERT INTO users VALUES (77)");
    struct outcome got = program_run("feed", "verify", f->config);
    program_signal(f->program, SIGCONT);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.out, "denied: 77\n"));
}
