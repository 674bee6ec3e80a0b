/* SPDX-License-Identifier: BSD-3-Clause */

/* key_test.c - filters as keys like any other: DUMP, RESTORE, COPY, RENAME, MOVE,
 * MIGRATE, EXPIRE, and the ways to delete. */

#include "harness.h"
#include "zoo.h"

static void grown_filter(redisContext *c, const char *key) {
    expect(c, "OK", "BF.RESERVE", key, "0.01", "20");
    add_numbers(c, key, 0, 1000);
}

/* DUMP's payload, owned by the test. */
static const redisReply *payload_of(redisContext *c, const char *key) {
    const redisReply *payload = call(c, "DUMP", key);
    CHECK_INT(payload->type, REDIS_REPLY_STRING);
    return payload;
}

static void restore(redisContext *c, const char *key, const redisReply *payload,
                    const char *wanted) {
    expectf(c, wanted, "RESTORE %s 0 %b", key, payload->str, payload->len);
}

TEST(a_restored_filter_is_the_same_filter) {
    redisContext *c = client(server_shared());
    zoo_fill(c);
    const redisReply *keys = call(c, "KEYS", "*");
    for (size_t i = 0; i < keys->elements; i++) {
        const char *key = keys->element[i]->str, *state = key_state(c, key);
        test_case("%s", key);
        const redisReply *payload = payload_of(c, key);
        expect(c, "1", "DEL", key);
        restore(c, key, payload, "OK");
        CHECK_STR(key_state(c, key), state);
    }
    zoo_check_members(c);
    zoo_check_partial(c);
    zoo_complete_partial(c);
}

TEST(restore_replaces_a_filter) {
    redisContext *c = client(server_shared());
    grown_filter(c, "k");
    const char *state = key_state(c, "k");
    const redisReply *payload = payload_of(c, "k");
    add_numbers(c, "k", 1000, 5000);

    restore(c, "k", payload, "(error) BUSYKEY Target key name already exists.");
    expectf(c, "OK", "RESTORE k 0 %b REPLACE", payload->str, payload->len);

    CHECK_STR(key_state(c, "k"), state);
}

TEST(a_dump_goes_to_another_server) {
    redisContext *from = client(server_start());
    redisContext *to =
        client(server_start(.module_args = "bf-error-rate 0.3 bf-initial-size 7"));
    grown_filter(from, "k");
    const redisReply *payload = payload_of(from, "k");

    restore(to, "k", payload, "OK");

    CHECK_STR(key_state(to, "k"), key_state(from, "k"));
    add_numbers(to, "k", 1000, 2000);
    CHECK_INT(count_missing(to, "k", 0, 2000), 0);
}

TEST(chunks_go_to_another_server) {
    redisContext *from = client(server_start());
    redisContext *to =
        client(server_start(.module_args = "bf-error-rate 0.3 bf-initial-size 7"));
    zoo_fill(from);
    static const char *const keys[] = {"empty", "full", "grown", "several chunks", "fine"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        test_case("%s", keys[i]);
        load_filter(to, keys[i], dump_filter(from, keys[i]));
        CHECK_STR(key_state(to, keys[i]), key_state(from, keys[i]));
    }
}

TEST(migrate_moves_filters) {
    struct server *a = server_start(), *b = server_start();
    redisContext *from = client(a), *to = client(b);
    grown_filter(from, "k");
    expect(from, "1", "BF.ADD", "l", "anna");
    const char *k = key_state(from, "k"), *l = key_state(from, "l");

    expectf(from, "OK", "MIGRATE 127.0.0.1 %d %s 0 10000 KEYS k l", b->port, "");

    expect(from, "0", "EXISTS", "k", "l");
    CHECK_STR(key_state(to, "k"), k);
    CHECK_STR(key_state(to, "l"), l);
}

/* -------------------------------------------------------------------------
 * COPY, RENAME, MOVE, SWAPDB
 * ---------------------------------------------------------------------- */

TEST(a_copy_has_the_items_and_a_life_of_its_own) {
    needs(602, "COPY");
    redisContext *c = client(server_shared());
    grown_filter(c, "k");
    const char *state = key_state(c, "k");

    expect(c, "1", "COPY", "k", "copy");

    CHECK_STR(call_text(c, "BF.INFO", "copy"), call_text(c, "BF.INFO", "k"));
    add_numbers(c, "copy", 1000, 5000);
    CHECK_STR(key_state(c, "k"), state);
    expect(c, "1", "DEL", "k");
    CHECK_INT(count_missing(c, "copy", 0, 5000), 0);
}

TEST(the_whole_zoo_is_copied) {
    needs(602, "COPY");
    redisContext *c = client(server_shared());
    zoo_fill(c);
    const char *state = zoo_state(c);
    const redisReply *keys = call(c, "KEYS", "*");
    for (size_t i = 0; i < keys->elements; i++) {
        test_case("%s", keys->element[i]->str);
        expect(c, "1", "COPY", keys->element[i]->str, "copy");
        CHECK_STR(call_text(c, "BF.INFO", "copy"),
                  call_text(c, "BF.INFO", keys->element[i]->str));
        expect(c, "1", "DEL", keys->element[i]->str);
        expect(c, "OK", "RENAME", "copy", keys->element[i]->str);
    }
    zoo_check_members(c);
    zoo_check_partial(c);
    CHECK_INT(strlen(zoo_state(c)), strlen(state));
}

TEST(copy_replaces_a_filter) {
    needs(602, "COPY");
    redisContext *c = client(server_shared());
    grown_filter(c, "k");
    expect(c, "1", "BF.ADD", "other", "anna");
    expect(c, "0", "COPY", "k", "other");
    expect(c, "1", "COPY", "k", "other", "REPLACE");
    CHECK_INT(count_missing(c, "other", 0, 1000), 0);
}

TEST(rename_and_move_change_no_bit) {
    redisContext *c = client(server_shared());
    grown_filter(c, "k");
    const char *state = key_state(c, "k");

    expect(c, "1", "BF.ADD", "taken", "anna");
    expect(c, "OK", "RENAME", "k", "taken");
    CHECK_STR(key_state(c, "taken"), state);

    expect(c, "1", "MOVE", "taken", "3");
    expect(c, "#f", "BF.EXISTS", "taken", "1");
    expect(c, "OK", "SWAPDB", "0", "3");
    CHECK_STR(key_state(c, "taken"), state);
}

/* -------------------------------------------------------------------------
 * The ways to go
 * ---------------------------------------------------------------------- */

TEST(a_filter_expires) {
    redisContext *c = client(server_start());
    grown_filter(c, "k");
    CHECK_INT(info_int(c, "bf", "bf_filters"), 1);
    expect(c, "1", "PEXPIRE", "k", "30");

    WAIT_UNTIL(call_int(c, "EXISTS", "k") == 0);
    expect(c, "#f", "BF.EXISTS", "k", "1");
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == 0);
}

TEST(an_add_does_not_touch_the_time_to_live) {
    redisContext *c = client(server_shared());
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "1", "EXPIRE", "k", "1000");
    add_numbers(c, "k", 0, 1000);
    long long ttl = call_int(c, "TTL", "k");
    CHECK(ttl > 900 && ttl <= 1000);
}

TEST(a_time_to_live_survives_restart_and_restore) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "1", "EXPIRE", "k", "1000");
    const redisReply *payload = payload_of(c, "k");
    expect(c, "OK", "SAVE");

    server_kill(s);
    server_start_again(s);
    c = client(s);

    CHECK(call_int(c, "TTL", "k") > 900);
    expectf(c, "OK", "RESTORE restored 5000000 %b", payload->str, payload->len);
    CHECK(call_int(c, "PTTL", "restored") > 4000000);
    expect(c, "1", "BF.EXISTS", "restored", "anna");
}

TEST(every_way_to_delete_frees_the_filter) {
    redisContext *c = client(server_start());
    static const char *const ways[][4] = {
        {"DEL", "k"},         {"UNLINK", "k"},       {"SET", "k", "x"},
        {"FLUSHDB"},          {"FLUSHDB", "ASYNC"},  {"FLUSHALL"},
        {"RENAME", "x", "k"}, {"PEXPIRE", "k", "0"}, {"SUNIONSTORE", "k", "none"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        test_case("%s", ways[i][0]);
        call(c, "DEL", "k");
        expect(c, "OK", "SET", "x", "x");
        expectf(c, "OK", "BF.RESERVE k 0.01 3000000");
        add_numbers(c, "k", 0, 1000);

        call(c, ways[i][0], ways[i][1], ways[i][2], ways[i][3]);

        WAIT_UNTIL(info_int(c, "bf", "bf_filters") == 0);
        CHECK_INT(info_int(c, "bf", "bf_bytes"), 0);
    }
}

TEST(an_evicted_filter_is_gone) {
    redisContext *c = client(server_start(.config = "maxmemory-policy allkeys-random"));
    grown_filter(c, "k");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    WAIT_UNTIL(strncmp(call_text(c, "SET", "x", "y"), "(error) OOM", 11) == 0);
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");

    expect(c, "0", "EXISTS", "k");
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == 0);
}

TEST(object_commands_know_filters) {
    redisContext *c = client(server_shared());
    grown_filter(c, "k");
    expect(c, "\"raw\"", "OBJECT", "ENCODING", "k");
    expect(c, "1", "OBJECT", "REFCOUNT", "k");
    expect(c, "[\"0\", [\"k\"]]", "SCAN", "0", "COUNT", "100", "TYPE", "bulwarkBF");
    CHECK_STR(call_text(c, "DEBUG", "DIGEST-VALUE", "k"),
              call_text(c, "DEBUG", "DIGEST-VALUE", "k"));
}

/* A restart whose memory is handed out at other addresses, other filters beside it:
 * the digest is of the content alone. */
TEST(the_digest_is_of_the_content) {
    redisContext *c = client(server_shared());
    grown_filter(c, "a");
    load_filter(c, "b", dump_filter(c, "a"));
    CHECK_STR(call_text(c, "DEBUG", "DIGEST-VALUE", "b"),
              call_text(c, "DEBUG", "DIGEST-VALUE", "a"));

    expect(c, "#t", "BF.ADD", "b", "one more");
    CHECK(strcmp(call_text(c, "DEBUG", "DIGEST-VALUE", "b"),
                 call_text(c, "DEBUG", "DIGEST-VALUE", "a")) != 0);
}
