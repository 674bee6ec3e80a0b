/* SPDX-License-Identifier: BSD-3-Clause */

/* drop_test.c - bulwark feed drop: slot and state go, in this order, and nothing else. */

#include "config_file.h"
#include "files.h"
#include "harness.h"

#include <signal.h>

#define STATE(slot)                                                                        \
    "bulwark-feed 1 slot=" slot " lsn=0/16B3748 system=7345001 timeline=1 "                \
    "of=cbf29ce484222325 view=9ae16a3b2f90404f generation=6fbcf822b9e19b6b items=12345 "   \
    "deleted=17 filled=0 "                                                                 \
    "write=80"

static struct database *table(void) {
    struct database *d = database_shared();
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    return d;
}

static const char *config_of(const struct database *d, int port, const char *lines) {
    return config_file(text_of(
        "database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = t\nitem = {id}\n%s",
        d->conninfo, port, lines));
}

static void make_slot(struct database *d) {
    database_run(d, "SELECT pg_create_logical_replication_slot('bulwark_k', 'pgoutput')");
}

static int count_slots(struct database *d) {
    return atoi(database_run(d, "SELECT count(*) FROM pg_replication_slots"));
}

TEST(slot_and_state_go_and_the_filter_stays) {
    struct database *d = table();
    redisContext *c = client(server_shared());
    make_slot(d);
    call(c, "BF.RESERVE", "k", "0.01", "100", "READY");
    call(c, "SET", "k:feed", STATE("bulwark_k"));
    call(c, "SET", "k:feed:fill", "bulwark-fill 1");

    struct outcome got =
        program_run("feed", "drop", config_of(d, server_shared()->port, ""));
    CHECK_STR(got.err, "");
    CHECK_INT(got.code, 0);
    CHECK(
        strstr(got.out, "The slot bulwark_k is dropped.\nThe feed's state is deleted.\n"));
    CHECK(strstr(got.out, "\nDROP PUBLICATION IF EXISTS \"bulwark_k\";\n"));
    CHECK_INT(count_slots(d), 0);
    expect(c, "[\"k\"]", "KEYS", "*");
}

TEST(what_is_gone_already_is_no_failure) {
    struct database *d = table();
    struct outcome got =
        program_run("feed", "drop", config_of(d, server_shared()->port, ""));
    CHECK(strstr(got.out, "There is no slot bulwark_k.\n"
                          "There is no state of the feed.\n"));
    CHECK_INT(got.code, 0);
}

TEST(a_fill_that_was_broken_off_is_undone) {
    struct database *d = table();
    redisContext *c = client(server_shared());
    const char *token = call(c, "BF.REBUILD", "k", "START", "CAPACITY", "100")->str;
    call(c, "SET", "k:feed", STATE("bulwark_k"));
    call(c, "SET", "k:feed:fill",
         text_of("bulwark-fill 1 rows=8c14a9b2d3e4f506 capacity=100 read=0 parts=0:%s",
                 token));
    struct outcome got =
        program_run("feed", "drop", config_of(d, server_shared()->port, ""));
    CHECK_INT(got.code, 0);
    expect(c, "[\"k\"]", "KEYS", "*");
    expect(c, "(error) ERR no such rebuild", "BF.REBUILD", "k", "ABORT");
}

TEST(each_parts_state_goes) {
    struct database *d = table();
    redisContext *c = client(server_shared());
    const char *config = config_of(d, server_shared()->port, "parts = 3\n");
    struct outcome parts = program_run("parts", "3", "--format", "text");
    int n = 0;
    for (const char *at = parts.out; (at = strchr(at, '\n')); at++) {
        unsigned part, tag;
        if (sscanf(at, "\n%u %u", &part, &tag) != 2) continue;
        call(c, "SET", text_of("k:{%u}:feed", tag), STATE("bulwark_k"));
        n++;
    }
    CHECK(n >= 2);

    struct outcome got = program_run("feed", "drop", config);
    CHECK_INT(got.code, 0);
    expect(c, "[]", "KEYS", "*");
}

TEST(the_state_of_another_feed_stays) {
    struct database *d = table();
    redisContext *c = client(server_shared());
    call(c, "SET", "k:feed", STATE("another"));
    call(c, "SET", "k:feed:fill", "bulwark-fill 1");
    struct outcome got =
        program_run("feed", "drop", config_of(d, server_shared()->port, ""));
    CHECK(strstr(got.out, "k:feed is another feed's, and stays.\n"));
    CHECK_INT(got.code, 0);
    expect(c, "2", "EXISTS", "k:feed", "k:feed:fill");
}

TEST(while_a_feed_runs_nothing_is_dropped) {
    struct database *d = table();
    redisContext *c = client(server_shared());
    const char *config = config_of(d, server_shared()->port, "lease = 1s\n");
    config_run_sql(d, config);
    struct program *feed = program_start("feed", "run", config);
    WAIT_UNTIL(*database_run(d, "SELECT 1 FROM pg_replication_slots WHERE active"));
    call(c, "SET", "k:feed", STATE("bulwark_k"));

    struct outcome got = program_run("feed", "drop", config);
    CHECK_STR(got.err, "bulwark: a feed is running, and has the slot bulwark_k: stop it "
                       "first\n");
    CHECK_INT(got.code, 6);
    expect(c, "1", "EXISTS", "k:feed");

    program_signal(feed, SIGTERM);
    program_wait(feed);
    WAIT_UNTIL(!*database_run(d, "SELECT 1 FROM pg_replication_slots WHERE active"));
    CHECK_INT(program_run("feed", "drop", config).code, 0);
    CHECK_INT(count_slots(d), 0);
}

TEST(while_statements_are_announced_nothing_is_dropped) {
    struct database *d = database_shared_of(17);
    redisContext *c = client(server_shared());
    database_run(d, "CREATE TABLE t (id int PRIMARY KEY)");
    const char *config = config_of(d, server_shared()->port, "guarantee = announce\n");
    config_run_sql(d, config);
    make_slot(d);
    call(c, "SET", "k:feed", STATE("bulwark_k"));

    struct outcome got = program_run("feed", "drop", config);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.err, "the triggers of announce are there"));
    CHECK_INT(count_slots(d), 1);
    expect(c, "1", "EXISTS", "k:feed");

    database_run(d, "%s", got.out);
    CHECK_INT(program_run("feed", "drop", config).code, 0);
    CHECK_INT(count_slots(d), 0);
}

TEST(without_the_database_the_state_stays) {
    redisContext *c = client(server_shared());
    call(c, "SET", "k:feed", STATE("bulwark_k"));
    const char *config = config_file(text_of(
        "database = host=/nonexistent user=f\nserver = 127.0.0.1:%d\nfilter = k\ntable = "
        "t\nitem = {id}\n",
        server_shared()->port));
    CHECK_INT(program_run("feed", "drop", config).code, 4);
    expect(c, "1", "EXISTS", "k:feed");
}

TEST(without_the_server_the_slot_goes_and_the_rest_is_for_the_next_run) {
    struct database *d = table();
    make_slot(d);
    struct outcome got = program_run("feed", "drop", config_of(d, 1, ""));
    CHECK(strstr(got.err, "bulwark: the slot is gone, but the feed's state isn't; run it "
                          "again: can't reach the server"));
    CHECK_INT(got.code, 3);
    CHECK_INT(count_slots(d), 0);
}
