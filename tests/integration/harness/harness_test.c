/* SPDX-License-Identifier: BSD-3-Clause */

/* harness_test.c - the harness itself, on servers without the module. */

#include "database.h"
#include "harness.h"

#include <signal.h>
#include <unistd.h>

static struct server *bare(void) {
    return server_start(.without_module = true);
}

TEST_OF_OTHERS(every_reply_type_has_its_text) {
    struct server *s = bare();
    redisContext *c = client(s);

    expect(c, "PONG", "PING");
    expectf(c, "OK", "SET %s %b", "k", "a\0\"b\\\xff", (size_t)6);
    expect(c, "\"a\\x00\\\"b\\\\\\xff\"", "GET", "k");
    expect(c, "nil", "GET", "none");
    expect(c, "1", "EXISTS", "k");
    expect(c, "[\"a\", 2, [], nil]", "EVAL", "return {'a', 2, {}, false}", "0");
    expect(c, "(error) ERR unknown thing", "EVAL", "return {err='ERR unknown thing'}", "0");
    expect_like(c, "(error) ERR wrong number of arguments*", "GET");
}

TEST_OF_OTHERS(resp3_types_have_their_text) {
    struct server *s = bare();
    redisContext *c = client_resp3(s);

    expect(c, "nil", "GET", "none");
    expect(c, "[true, 0.5, {1: 2}]", "EVAL",
           "redis.setresp(3); return {true, {double=0.5}, {map={[1]=2}}}", "0");
    expect(c, "1", "SADD", "set", "x");
    expect(c, "[\"x\"]", "SMEMBERS", "set");
}

TEST_OF_OTHERS(a_push_arrives_as_a_reply) {
    struct server *s = bare();
    redisContext *reader = client_resp3(s), *writer = client(s);
    expect(reader, "OK", "CLIENT", "TRACKING", "ON");
    expect(reader, "nil", "GET", "k");

    expect(writer, "OK", "SET", "k", "1");

    expect_next(reader, ">[\"invalidate\", [\"k\"]]");
    post(reader, "PING");
    expect_next(reader, "PONG");
}

TEST_OF_OTHERS(a_restarted_server_keeps_port_and_directory) {
    struct server *s = bare();
    redisContext *c = client(s);
    int port = s->port;
    expect(c, "OK", "SET", "k", "v");
    expect(c, "OK", "SAVE");

    server_kill(s);
    s->options.config = "maxmemory-policy allkeys-lru";
    server_start_again(s);

    c = client(s);
    CHECK_INT(s->port, port);
    expect(c, "\"v\"", "GET", "k");
    expect(c, "[\"maxmemory-policy\", \"allkeys-lru\"]", "CONFIG", "GET",
           "maxmemory-policy");
    CHECK(access(server_file(s, "dump.rdb"), R_OK) == 0);
}

TEST_OF_OTHERS(a_server_shuts_down_in_order) {
    struct server *s = server_start(.without_module = true, .config = "save 900 1");
    expect(client(s), "OK", "SET", "k", "v");

    server_shutdown(s);

    CHECK(strstr(server_log(s), "DB saved on disk") != NULL);
}

TEST_OF_OTHERS(a_replica_catches_up_after_a_pause) {
    struct server *a = bare(), *b = bare();
    redisContext *master = client(a), *replica = client(b);
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", a->port);
    expect(master, "OK", "SET", "k", "v");
    wait_for_replica(master, replica);

    server_pause(b);
    expect(master, "OK", "SET", "k", "w");
    server_resume(b);

    wait_for_replica(master, replica);
    expect(replica, "\"w\"", "GET", "k");
}

TEST_OF_OTHERS(a_server_that_gives_up_says_why) {
    const char *log = server_refusal(.without_module = true, .config = "no-such-setting 1");
    CHECK(strstr(log, "no-such-setting") != NULL);
}

TEST_OF_OTHERS(info_fields_are_found_by_name) {
    struct server *s = bare();
    redisContext *c = client(s);
    CHECK_INT(info_int(c, "server", "tcp_port"), s->port);
    CHECK_STR(info_text(c, "server", "no_such_field"), "");
}

TEST_OF_OTHERS(a_killed_database_comes_back_with_its_rows) {
    struct database *d = database_start();
    database_run(d, "CREATE TABLE t AS SELECT generate_series(1, %d) AS id", 3);
    int open = database_connect(d);
    database_say(open, "BEGIN; INSERT INTO t VALUES (4)");
    database_kill(d);
    database_start_again(d);

    CHECK_STR(database_run(d, "SELECT id FROM t ORDER BY id"), "1\n2\n3");
}

static void check_version(int version) {
    struct database *d = database_shared_of(version);
    CHECK_INT(atoi(database_run(d, "SHOW server_version_num")) / 10000, version);
    CHECK_STR(database_run(d, "SELECT slot_name FROM pg_create_logical_replication_slot("
                              "'s', 'pgoutput')"),
              "s");
}

TEST_OF_OTHERS(a_database_is_of_the_version_that_is_asked_for) {
    check_version(17);
    check_version(17);
    CHECK(database_shared_of(17) == database_shared_of(17));
}

TEST_OF_OTHERS(a_promoted_database_is_on_another_timeline) {
    struct database *d = database_start();
    const char *timeline = "SELECT timeline_id FROM pg_control_checkpoint()";
    CHECK_STR(database_run(d, "%s", timeline), "1");
    database_stop(d);
    database_promote(d);

    database_run(d, "CHECKPOINT");
    CHECK_STR(database_run(d, "%s", timeline), "2");
}

TEST_OF_OTHERS(a_database_that_is_paused_says_nothing) {
    struct database *d = database_start();
    int session = database_connect(d);
    database_pause(d);
    CHECK(database_send(session, "SELECT 7"));
    usleep(1000);
    CHECK(!database_answers_within(session, 0));
    database_resume(d);

    char *text = database_receive(session);
    test_defer(free, text);
    CHECK_STR(text, "7");
}

TEST_OF_OTHERS(a_standby_recovers_for_ever) {
    struct database *d = database_start(.standby = true);

    CHECK_STR(database_run(d, "SELECT pg_is_in_recovery()"), "t");
}
