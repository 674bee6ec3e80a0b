/* SPDX-License-Identifier: BSD-3-Clause */

/* effect_test.c - what changes nothing has no effect anywhere: not in the stream,
 * nor on watching, tracking or listening clients. */

#include "events.h"
#include "harness.h"

/* -------------------------------------------------------------------------
 * The stream
 * ---------------------------------------------------------------------- */

struct pair {
    redisContext *m, *r;
};

/* Linked, with a stream that carries nothing but what clients do. */
static struct pair quiet_pair(void) {
    struct server *master = server_start(.config = "repl-ping-replica-period 3600");
    struct server *replica = server_start();
    struct pair p = {client(master), client(replica)};
    expectf(p.r, "OK", "REPLICAOF 127.0.0.1 %d", master->port);
    wait_for_replica(p.m, p.r);
    return p;
}

static long long offset(struct pair *p) {
    return info_int(p->m, "replication", "master_repl_offset");
}

/* How many commands of ours the replica has executed so far. */
static long long commands_seen(struct pair *p) {
    wait_for_replica(p->m, p->r);
    long long sum = 0;
    const redisReply *stats = call(p->r, "INFO", "commandstats");
    for (const char *at = stats->str; (at = strcasestr(at, "cmdstat_bf.")); at++)
        sum += strtoll(strstr(at, "calls=") + 6, NULL, 10);
    return sum;
}

TEST(an_add_that_changes_nothing_is_not_propagated) {
    struct pair p = quiet_pair();
    expect(p.m, "1", "BF.ADD", "k", "anna");
    expect(p.m, "[1]", "BF.MADD", "k", "bob");
    wait_for_replica(p.m, p.r);
    long long before = offset(&p);

    expect(p.m, "0", "BF.ADD", "k", "anna");
    expect(p.m, "[0, 0, 0]", "BF.MADD", "k", "bob", "anna", "bob");
    expect(p.m, "[0, 0]", "BF.INSERT", "k", "CAPACITY", "7", "ITEMS", "anna", "bob");

    CHECK_INT(offset(&p), before);
}

TEST(questions_and_refusals_are_not_propagated) {
    struct pair p = quiet_pair();
    expect(p.m, "OK", "BF.RESERVE", "k", "0.000001", "1", "NONSCALING");
    expect(p.m, "1", "BF.ADD", "k", "anna");
    wait_for_replica(p.m, p.r);
    long long before = offset(&p);

    call(p.m, "BF.EXISTS", "k", "anna");
    call(p.m, "BF.INFO", "k");
    call(p.m, "BF.SCANDUMP", "k", "0");
    expect(p.m, "(error) ERR non scaling filter is full", "BF.ADD", "k", "bob");
    expect(p.m, "[(error) ERR non scaling filter is full]", "BF.MADD", "k", "bob");
    expect(p.m, "(error) ERR item exists", "BF.RESERVE", "k", "0.01", "100");
    expect(p.m, "(error) ERR not found", "BF.INSERT", "none", "NOCREATE", "ITEMS", "x");
    expect(p.m, "(error) ERR received bad data", "BF.LOADCHUNK", "none", "1", "x");
    expect(p.m, "(error) ERR received bad data", "BF.LOADCHUNK", "k", "2", "x");

    CHECK_INT(offset(&p), before);
}

/* The items that did nothing would be most of the bytes. */
TEST(of_a_multi_add_only_what_changed_something_is_propagated) {
    struct pair p = quiet_pair();
    char filler[1000];
    memset(filler, 'x', sizeof filler);
    expectf(p.m, "[1]", "BF.MADD k %b", filler, sizeof filler);
    wait_for_replica(p.m, p.r);
    long long before = offset(&p);

    expectf(p.m, "[0, 1, 0, 0, 1]", "BF.MADD k %b anna %b %b bob", filler, sizeof filler,
            filler, sizeof filler, filler, sizeof filler);

    CHECK(offset(&p) - before < 200);
    wait_for_replica(p.m, p.r);
    expect(p.r, "[1, 1]", "BF.MEXISTS", "k", "anna", "bob");
    CHECK_STR(key_state(p.r, "k"), key_state(p.m, "k"));
}

TEST(what_a_multi_add_did_before_its_error_is_propagated) {
    struct pair p = quiet_pair();
    expect(p.m, "OK", "BF.RESERVE", "k", "0.000001", "2", "NONSCALING");
    expect_like(p.m, "[1, 1, (error) *]", "BF.MADD", "k", "anna", "bob", "carol");
    wait_for_replica(p.m, p.r);
    CHECK_STR(key_state(p.r, "k"), key_state(p.m, "k"));
    expect(p.r, "[1, 1]", "BF.MEXISTS", "k", "anna", "bob");
}

/* 20,000 adds, nine of ten of items that are there already. */
TEST(of_ten_adds_nine_of_which_are_repeated_one_is_propagated) {
    struct pair p = quiet_pair();
    enum { DISTINCT = 2000, ADDS = 20000 };
    expectf(p.m, "OK", "BF.RESERVE k 0.000001 %d", DISTINCT);
    long long before = commands_seen(&p);

    for (int i = 0; i < ADDS; i++)
        redisAppendCommand(p.m, "BF.ADD k %d", i % DISTINCT);
    for (int i = 0; i < ADDS; i++) {
        void *reply;
        CHECK(redisGetReply(p.m, &reply) == REDIS_OK);
        freeReplyObject(reply);
    }

    CHECK_INT(commands_seen(&p) - before, DISTINCT);
    CHECK_STR(key_state(p.r, "k"), key_state(p.m, "k"));
}

TEST(creation_by_a_multi_add_of_known_duplicates_is_propagated_once) {
    struct pair p = quiet_pair();
    expect(p.m, "[1, 0, 0]", "BF.MADD", "k", "anna", "anna", "anna");
    wait_for_replica(p.m, p.r);
    CHECK_STR(key_state(p.r, "k"), key_state(p.m, "k"));
}

TEST(one_command_is_one_transaction_for_the_replica) {
    struct pair p = quiet_pair();
    expect(p.m, "OK", "BF.RESERVE", "k", "0.000001", "1");
    add_numbers(p.m, "k", 0, 1000);
    wait_for_replica(p.m, p.r);
    CHECK_STR(key_state(p.r, "k"), key_state(p.m, "k"));
}

/* -------------------------------------------------------------------------
 * WATCH
 * ---------------------------------------------------------------------- */

TEST(only_a_change_aborts_a_watch) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "[1, 1]", "BF.MADD", "k", "anna", "bob");

    CHECK(survives_watch(s, "BF.ADD", "k", "anna"));
    CHECK(survives_watch(s, "BF.MADD", "k", "anna", "bob"));
    CHECK(survives_watch(s, "BF.INSERT", "k", "ITEMS", "bob"));
    CHECK(survives_watch(s, "BF.INSERT", "k", "ERROR", "7", "ITEMS", "carol"));
    CHECK(survives_watch(s, "BF.RESERVE", "k", "0.01", "100"));
    CHECK(survives_watch(s, "BF.LOADCHUNK", "k", "1", "x"));
    CHECK(survives_watch(s, "BF.EXISTS", "k", "anna"));
    CHECK(survives_watch(s, "BF.SCANDUMP", "k", "0"));

    CHECK(!survives_watch(s, "BF.ADD", "k", "carol"));
    CHECK(!survives_watch(s, "BF.MADD", "k", "anna", "dora"));
    CHECK(!survives_watch(s, "BF.INSERT", "k", "ITEMS", "bob", "emil"));
}

TEST(a_creation_aborts_a_watch) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    CHECK(!survives_watch(s, "BF.ADD", "k", "anna"));
    expect(c, "1", "DEL", "k");
    CHECK(!survives_watch(s, "BF.RESERVE", "k", "0.01", "100"));
}

TEST(a_chunk_that_brings_bits_aborts_a_watch) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "1", "BF.ADD", "original", "anna");
    const struct dump *d = dump_filter(c, "original");
    redisContext *watcher = client(s);

    for (size_t i = 0; i < d->npieces; i++) {
        expect(watcher, "OK", "WATCH", "k");
        CHECK_STR(load_piece(c, "k", &d->pieces[i]), "OK");
        expect(watcher, "OK", "MULTI");
        expect(watcher, "QUEUED", "PING");
        expect(watcher, "nil", "EXEC");
    }
}

/* -------------------------------------------------------------------------
 * Client-side caching
 * ---------------------------------------------------------------------- */

TEST(only_a_change_invalidates_what_a_client_caches) {
    struct server *s = server_shared();
    redisContext *writer = client(s), *reader = client_resp3(s);
    expect(writer, "1", "BF.ADD", "k", "anna");
    expect(reader, "OK", "CLIENT", "TRACKING", "ON");
    expect(reader, "#f", "BF.EXISTS", "k", "bob");

    expect(writer, "0", "BF.ADD", "k", "anna");
    expect(writer, "[0]", "BF.MADD", "k", "anna");
    expect(writer, "(error) ERR item exists", "BF.RESERVE", "k", "0.01", "100");
    post(reader, "PING");
    expect_next(reader, "PONG");

    expect(writer, "1", "BF.ADD", "k", "bob");
    expect_next(reader, ">[\"invalidate\", [\"k\"]]");
    expect(reader, "#t", "BF.EXISTS", "k", "bob");
}

/* -------------------------------------------------------------------------
 * Notifications
 * ---------------------------------------------------------------------- */

TEST(effects_are_notified_and_nothing_else) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);

    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2");
    CHECK_STR(events(l, c), "bf.reserve");
    expect(c, "1", "BF.ADD", "k", "anna");
    CHECK_STR(events(l, c), "bf.add");
    expect(c, "[0, 1]", "BF.MADD", "k", "anna", "bob");
    CHECK_STR(events(l, c), "bf.add");

    expect(c, "0", "BF.ADD", "k", "anna");
    expect(c, "[0, 0]", "BF.MADD", "k", "anna", "bob");
    expect(c, "[0]", "BF.INSERT", "k", "ITEMS", "bob");
    expect(c, "(error) ERR item exists", "BF.RESERVE", "k", "0.01", "100");
    call(c, "BF.EXISTS", "k", "anna");
    CHECK_STR(events(l, c), "");

    expect(c, "1", "BF.ADD", "k", "carol");
    const char *grown = events(l, c);
    CHECK(strstr(grown, "bf.grow") != NULL && strstr(grown, "bf.add") != NULL);
}

TEST(creation_by_an_add_is_notified_as_both) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    expect(c, "1", "BF.ADD", "k", "anna");
    CHECK_STR(events(l, c), "bf.reserve bf.add");
}

TEST(chunks_are_notified) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    expect(c, "1", "BF.ADD", "original", "anna");
    const struct dump *d = dump_filter(c, "original");
    load_filter(c, "k", d);
    CHECK(strstr(events(l, c), "bf.loadchunk") != NULL);
    load_piece(c, "k", &d->pieces[1]);
    CHECK_STR(events(l, c), "");
}

TEST(a_replica_notifies_too) {
    struct server *master = server_start(), *replica = server_start();
    redisContext *m = client(master), *r = client(replica);
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", master->port);
    wait_for_replica(m, r);
    redisContext *l = listener(replica);

    expect(m, "OK", "BF.RESERVE", "k", "0.01", "100");
    expect(m, "1", "BF.ADD", "k", "anna");
    wait_for_replica(m, r);

    CHECK(strstr(events(l, r), "bf.add") != NULL);
}
