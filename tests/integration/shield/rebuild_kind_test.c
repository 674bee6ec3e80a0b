/* SPDX-License-Identifier: BSD-3-Clause */

/* rebuild_kind_test.c - a rebuild keeps a foreign filter's kind, and what is rebuilt can be
 * carried elsewhere.
 *
 * The identity of a foreign generation isn't free: RedisBloom has none, valkey-bloom's
 * follows from the seed. With any other the file, the AOF and the replica's stream held
 * what no server would load. */

#include "harness.h"

static const char *start(redisContext *c, const char *kind) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "KIND", kind);
    expect(c, "1", "BF.ADD", "k", "anna");
    const redisReply *token = call(c, "BF.REBUILD", "k", "START");
    CHECK(token->type == REDIS_REPLY_STRING);
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token->str, "anna");
    return token->str;
}

static void survives_a_file(const char *kind) {
    redisContext *c = client(server_start());
    const char *token = start(c, kind);
    expect(c, "OK", "DEBUG", "RELOAD");
    call(c, "BF.REBUILD", "k", "ABORT");
    call(c, "DEL", "k");

    token = start(c, kind);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    expect(c, "OK", "DEBUG", "RELOAD");
    expect(c, "1", "BF.EXISTS", "k", "anna");
}

static void survives_an_aof(const char *kind) {
    struct server *s = server_start(.config = "appendonly yes\naof-use-rdb-preamble no",
                                    .module_args = "bf-trust restart");
    redisContext *c = client(s);
    const char *token = start(c, kind);
    server_kill(s);
    server_start_again(s);

    c = client(s);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    rewrite_aof(c);
    server_kill(s);
    server_start_again(s);

    expect(client(s), "1", "BF.EXISTS", "k", "anna");
    expect(client(s), "absent", "BF.CHECK", "k", "bob");
}

static void survives_replication(const char *kind) {
    struct server *master = server_start(), *s = server_start();
    redisContext *c = client(master), *replica = client(s);
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", master->port);
    wait_for_replica(c, replica);
    const char *token = start(c, kind);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    wait_for_replica(c, replica);
    CHECK_DUMP(dump_filter(replica, "k"), dump_filter(c, "k"));
}

TEST(a_rebuild_of_redisblooms_kind_survives_a_file) {
    survives_a_file("redisbloom");
}

TEST(a_rebuild_of_valkeyblooms_kind_survives_a_file) {
    survives_a_file("valkeybloom");
}

TEST(a_rebuild_of_redisblooms_kind_survives_an_aof) {
    survives_an_aof("redisbloom");
}

TEST(a_rebuild_of_valkeyblooms_kind_survives_an_aof) {
    survives_an_aof("valkeybloom");
}

TEST(a_rebuild_of_redisblooms_kind_is_replicated) {
    survives_replication("redisbloom");
}

TEST(a_rebuild_of_valkeyblooms_kind_is_replicated) {
    survives_replication("valkeybloom");
}
