/* SPDX-License-Identifier: BSD-3-Clause */

/* secret_test.c - a filter's secret is where it must be, and nowhere else.
 *
 * Who knows the secret can make up items that the filter wrongly claims to hold.
 * It is in dumps, files and the replication stream; it is in no other reply, and
 * where a command brings it the server is told not to write it down. */

#include "harness.h"
#include "secrets.h"
#include "states.h"

static const struct piece *header_of(redisContext *c, const char *key) {
    const struct piece *header = &dump_filter(c, key)->pieces[0];
    CHECK(header->len > SECRET_AT + SECRET_BYTES);
    return header;
}

TEST(every_filter_has_a_secret_of_its_own) {
    redisContext *c = client(server_shared());
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "100");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "100");
    CHECK(memcmp(header_of(c, "a")->bytes + SECRET_AT, header_of(c, "b")->bytes + SECRET_AT,
                 SECRET_BYTES) != 0);
}

TEST(the_secret_is_in_no_reply_but_a_dump) {
    redisContext *c = client(server_shared());
    expect(c, "[1, 1]", "BF.MADD", "k", "anna", "bob");
    const char *secret = header_of(c, "k")->bytes + SECRET_AT;
    CHECK(gives_away(call(c, "BF.SCANDUMP", "k", "0"), secret));

    CHECK(!gives_away(call(c, "BF.INFO", "k"), secret));
    CHECK(!gives_away(call(c, "BF.INFO", "k", "FULL"), secret));
    CHECK(!gives_away(call(c, "BF.REBUILD", "k", "START"), secret));
    CHECK(!gives_away(call(c, "BF.DEBUG", "k"), secret));
    CHECK(!gives_away(call(c, "INFO", "everything"), secret));
    CHECK(!gives_away(call(c, "DEBUG", "OBJECT", "k"), secret));
    CHECK(!gives_away(call(c, "CONFIG", "GET", "*"), secret));
    CHECK(strstr(server_log(server_shared()), "ecret") == NULL);
}

TEST(the_slow_log_does_not_hold_what_was_loaded) {
    needs(700, "redaction by modules");
    redisContext *c = client(server_start(.config = "slowlog-log-slower-than 0"));
    expect(c, "1", "BF.ADD", "k", "anna");
    const struct piece *header = header_of(c, "k");

    CHECK_STR(load_piece(c, "copy", header), "OK");

    const redisReply *log = call(c, "SLOWLOG", "GET", "100");
    CHECK(!gives_away(log, header->bytes + SECRET_AT));
    CHECK(strstr(call_text(c, "SLOWLOG", "GET", "100"), "\"(redacted)\"") != NULL);
}

/* A chunk that the parser refuses may hold a secret just as well. */
TEST(the_slow_log_does_not_hold_what_was_refused) {
    needs(700, "redaction by modules");
    redisContext *c = client(server_start(.config = "slowlog-log-slower-than 0"));
    expect(c, "1", "BF.ADD", "k", "anna");
    struct piece header = *header_of(c, "k");
    header.len--;

    CHECK_STR(load_piece(c, "copy", &header), "ERR received bad data");

    CHECK(!gives_away(call(c, "SLOWLOG", "GET", "100"), header.bytes + SECRET_AT));
}

/* Iterator 0 is an easy slip: it is the one that BF.SCANDUMP was called with. */
TEST(the_slow_log_does_not_hold_what_came_with_a_wrong_iterator) {
    needs(700, "redaction by modules");
    redisContext *c = client(server_start(.config = "slowlog-log-slower-than 0"));
    expect(c, "1", "BF.ADD", "k", "anna");
    const struct piece *header = header_of(c, "k");
    static const char *const iterators[] = {"0", "2", "one"};

    for (size_t i = 0; i < sizeof iterators / sizeof *iterators; i++)
        callf(c, "BF.LOADCHUNK copy %s %b", iterators[i], header->bytes, header->len);

    CHECK(!gives_away(call(c, "SLOWLOG", "GET", "100"), header->bytes + SECRET_AT));
}

TEST(a_monitor_does_not_see_what_was_loaded) {
    needs(700, "redaction by modules");
    struct server *s = server_start();
    redisContext *c = client(s), *monitor = client(s);
    expect(c, "1", "BF.ADD", "k", "anna");
    const struct piece *header = header_of(c, "k");
    expect(monitor, "OK", "MONITOR");

    CHECK_STR(load_piece(c, "copy", header), "OK");

    redisReply *line;
    CHECK(redisGetReply(monitor, (void **)&line) == REDIS_OK);
    bool loadchunk = strstr(line->str, "LOADCHUNK") != NULL;
    bool redacted =
        strstr(line->str, "(redacted)") != NULL && !strstr(line->str, "BULWARK");
    freeReplyObject(line);
    CHECK(loadchunk && redacted);
}

/* A replica gets it with the START of a rebuild. */
TEST(a_replicas_monitor_does_not_see_the_secret_of_a_rebuild) {
    needs(700, "redaction by modules");
    struct server *master = server_start(.config = "repl-ping-replica-period 3600");
    struct server *replica = server_start(.config = "slowlog-log-slower-than 0");
    redisContext *m = client(master), *r = client(replica), *monitor = client(replica);
    expect(m, "1", "BF.ADD", "k", "anna");
    follow(r, master);
    expect(monitor, "OK", "MONITOR");

    const char *token = start_rebuild(m, "k");
    expect(m, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    wait_for_replica(m, r);
    bool starts = false, redacted = false, shown = false;
    while (!starts) {
        redisReply *line;
        CHECK(redisGetReply(monitor, (void **)&line) == REDIS_OK);
        starts = strstr(line->str, "\"START\"") != NULL;
        redacted = strstr(line->str, "(redacted)") != NULL;
        shown = shown || strstr(line->str, "BULWARK") != NULL;
        freeReplyObject(line);
    }
    CHECK(redacted && !shown);
    const char *secret = header_of(m, "k")->bytes + SECRET_AT;
    CHECK(!gives_away(call(r, "SLOWLOG", "GET", "100"), secret));
}

/* ---- a replica that can't follow ---- */

/* A master, and a replica that takes writes of its own and tells of everything. */
struct watched {
    struct server *replica;
    redisContext *m, *r, *monitor;
};

static struct watched watched_pair(void) {
    struct server *master = server_start(.config = "repl-ping-replica-period 3600");
    struct watched p = {.replica = server_start(.config = LOG_ALL "replica-read-only no")};
    p.m = client(master);
    p.r = client(p.replica);
    follow(p.r, master);
    p.monitor = monitor_of(p.replica);
    return p;
}

/* The server itself logs an error to its master, with the end of the stream. */
static void check_nothing_shows(struct watched *p, const char *secret) {
    wait_for_replica(p->m, p->r);
    check_hidden(p->replica, p->monitor, secret);
    CHECK_STR(info_text(p->r, "stats", "unexpected_error_replies"), "0");
    CHECK(strstr(server_log(p->replica), "Latest backlog") == NULL);
}

/* BF.REBUILD from START to COMMIT, and adds; returns the secret of the generation. */
static const char *rebuild(redisContext *m, const char *key) {
    const char *token = start_rebuild(m, key);
    expect(m, "1", "BF.REBUILD", key, "LOAD", token, "anna");
    expect(m, "OK", "BF.REBUILD", key, "COMMIT", token, "1");
    return header_of(m, key)->bytes + SECRET_AT;
}

TEST(a_rebuild_of_what_a_replica_lacks_is_hidden) {
    struct watched p = watched_pair();
    make_ready(p.m, "k");
    wait_for_replica(p.m, p.r);
    expect(p.r, "1", "DEL", "k");
    check_nothing_shows(&p, rebuild(p.m, "k"));
    CHECK(strstr(server_log(p.replica), "ERR not found") != NULL);
}

TEST(a_rebuild_of_what_is_a_string_on_a_replica_is_hidden) {
    struct watched p = watched_pair();
    make_ready(p.m, "k");
    wait_for_replica(p.m, p.r);
    expect(p.r, "OK", "SET", "k", "x");
    check_nothing_shows(&p, rebuild(p.m, "k"));
    CHECK(strstr(server_log(p.replica),
                 "for k, sent by the master or the AOF: WRONGTYPE") != NULL);
    expect(p.r, "\"x\"", "GET", "k");
}

/* A filter that was made, its adds, its growth, a dump that was loaded, and merges. */
TEST(filters_that_come_to_a_replicas_strings_are_hidden) {
    struct watched p = watched_pair();
    expect(p.r, "OK", "MSET", "made", "x", "loaded", "x", "merged", "x");
    expect(p.m, "OK", "BF.RESERVE", "made", "0.01", "10");
    add_numbers(p.m, "made", 0, 100);
    expect(p.m, "OK", "BF.READY", "made");
    expect(p.m, "OK", "BF.LOADING", "made");
    load_filter(p.m, "loaded", dump_filter(p.m, "made"));
    expect(p.m, "1", "BF.MERGE", "merged", "made");
    expect(p.m, "1", "BF.ADD", "merged", "anna");
    expect(p.m, "1", "BF.MERGE", "made", "merged");
    check_nothing_shows(&p, header_of(p.m, "made")->bytes + SECRET_AT);
}

/* Chunks, growths and adds that belong to a filter which is gone, or is another. */
TEST(what_a_replica_refuses_to_load_is_hidden) {
    struct watched p = watched_pair();
    expect(p.m, "OK", "BF.RESERVE", "source", "0.01", "100000");
    add_numbers(p.m, "source", 0, 1000);
    const struct dump *d = dump_filter(p.m, "source");
    load_pieces(p.m, "gone", d, 0, 1);
    load_pieces(p.m, "other", d, 0, 1);
    wait_for_replica(p.m, p.r);
    expect(p.r, "2", "DEL", "gone", "other");
    expect(p.r, "1", "BF.ADD", "other", "anna");
    load_pieces(p.m, "gone", d, 1, d->npieces);
    load_pieces(p.m, "other", d, 1, d->npieces);
    expect(p.m, "OK", "BF.RESERVE", "other than here", "0.01", "10");
    check_nothing_shows(&p, header_of(p.m, "source")->bytes + SECRET_AT);
}
