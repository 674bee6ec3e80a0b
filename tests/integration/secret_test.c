/* SPDX-License-Identifier: BSD-3-Clause */

/* secret_test.c - a filter's secret is where it must be, and nowhere else.
 *
 * Who knows the secret can make up items that the filter wrongly claims to hold.
 * It is in dumps, files and the replication stream; it is in no other reply, and
 * where a command brings it the server is told not to write it down. */

#include "harness.h"
#include "states.h"

/* As codec.h has it: the first chain record begins at 64, its secret 16 later. */
enum { SECRET_AT = 80, SECRET_BYTES = 16 };

static const struct piece *header_of(redisContext *c, const char *key) {
    const struct piece *header = &dump_filter(c, key)->pieces[0];
    CHECK(header->len > SECRET_AT + SECRET_BYTES);
    return header;
}

/* Any four bytes of it, raw or in hex, in a row. */
static bool gives_away(const redisReply *reply, const char *secret) {
    for (size_t i = 0; i < reply->elements; i++)
        if (gives_away(reply->element[i], secret)) return true;
    for (int at = 0; reply->str && at + 4 <= SECRET_BYTES; at++) {
        const unsigned char *s = (const unsigned char *)secret + at;
        char lower[9], upper[9];
        snprintf(lower, sizeof lower, "%02x%02x%02x%02x", s[0], s[1], s[2], s[3]);
        snprintf(upper, sizeof upper, "%02X%02X%02X%02X", s[0], s[1], s[2], s[3]);
        if (memmem(reply->str, reply->len, secret + at, 4)) return true;
        if (strstr(reply->str, lower) || strstr(reply->str, upper)) return true;
    }
    return false;
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
