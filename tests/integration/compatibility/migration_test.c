/* SPDX-License-Identifier: BSD-3-Clause */

/* migration_test.c - a server of ours follows a RedisBloom or a valkey-bloom master, is
 * promoted, and nothing is lost. */

#include "fixtures.h"
#include "harness.h"
#include "master.h"
#include "secrets.h"

/* What a replica would make by itself is not what it has to make. */
#define OTHER_SETTINGS "bf-error-rate 0.3 bf-initial-size 7 bf-expansion-factor 0"
/* No client could make anything under this limit. It isn't for what is followed. */
#define NO_ROOM        OTHER_SETTINGS " bf-max-filter-bytes 1"

struct move {
    const struct folder *folder;
    const struct json *filters;
    struct master *master;
    struct server *server;
    redisContext *c;
};

/* A replica in full sync with a master that has the folder's filters. */
static struct move begin_with(const struct folder *f, const char *settings,
                              const char *config) {
    struct move m = {.folder = f, .master = master_start()};
    m.server = server_start(.module_args = settings, .config = config);
    m.c = client(m.server);
    if (!takes_rdb_version(m.c, f->rdb_version))
        SKIP("%s takes no RDB of version %u", server_name(), f->rdb_version);
    m.filters = json_need(folder_manifest(f), "filters");
    struct file rdb = file_read(folder_file(f, "dump.rdb"));
    master_sync(m.master, m.c, rdb.bytes, rdb.length);
    master_send(m.master, "SELECT", "0");
    return m;
}

static struct move begin(const struct folder *f, const char *config) {
    return begin_with(f, NO_ROOM, config);
}

static void promote(struct move *m) {
    master_wait(m->master, m->c);
    expect(m->c, "OK", "REPLICAOF", "NO", "ONE");
    CHECK_STR(info_text(m->c, "stats", "unexpected_error_replies"), "0");
}

static void send_continuation(struct move *m) {
    for (int i = 0; i < 300; i++)
        JSON_EACH(filter, m->filters)
    master_send(m->master, "BF.ADD", json_text(filter, "key"), text_of("more:%d", i));
}

/* What a full filter of the master's refused is sent on all the same, and taken here:
 * whether the master had other settings can't be seen, and its items must not be denied. */
static void must_all_have_continued(struct move *m) {
    JSON_EACH(filter, m->filters) {
        const char *key = json_text(filter, "key");
        test_case("%s", key);
        if (!strstr(key, "nonscaling")) must_have_continued(m->c, key, m->folder, filter);
        for (int i = 0; i < 300; i += 7)
            expect(m->c, "1", "BF.EXISTS", key, text_of("more:%d", i));
    }
}

/* Verbatim adds, with those that change nothing and those that a full filter refuses. */
static void follows_adds(const struct folder *f) {
    struct move m = begin(f, NULL);
    send_continuation(&m);

    promote(&m);

    must_all_have_continued(&m);
}

TEST(adds_of_a_redisbloom_master_are_followed) {
    follows_adds(&folders[1]);
}

TEST(adds_of_a_valkeybloom_master_are_followed) {
    follows_adds(&folders[7]);
}

TEST(what_was_followed_is_in_the_aof) {
    struct move m = begin(&folders[1], "appendonly yes\naof-use-rdb-preamble no");
    send_continuation(&m);
    promote(&m);
    WAIT_UNTIL(info_int(m.c, "persistence", "aof_rewrite_in_progress") == 0);

    server_kill(m.server);
    server_start_again(m.server);
    m.c = client(m.server);

    must_all_have_continued(&m);
}

TEST(a_replica_of_the_replica_is_the_same) {
    struct move m = begin(&folders[1], NULL);
    redisContext *next = client(server_start());
    expectf(next, "OK", "REPLICAOF 127.0.0.1 %d", m.server->port);
    WAIT_UNTIL(strcmp(info_text(next, "replication", "master_link_status"), "up") == 0);
    send_continuation(&m);
    master_wait(m.master, m.c);
    master_wait(m.master, next);

    CHECK_STR(call_text(next, "DEBUG", "DIGEST"), call_text(m.c, "DEBUG", "DIGEST"));
}

TEST(what_was_migrated_survives_a_restart) {
    struct move m = begin(&folders[1], NULL);
    send_continuation(&m);
    promote(&m);
    expect(m.c, "OK", "SAVE");

    server_kill(m.server);
    server_start_again(m.server);
    m.c = client(m.server);

    must_all_have_continued(&m);
}

/* -------------------------------------------------------------------------
 * Creation in the stream
 * ---------------------------------------------------------------------- */

/* The filter is what this command makes on a server that is asked for it. */
static void must_be_like(struct move *m, const char *key, const char *error,
                         const char *capacity, const char *expansion) {
    test_case("%s", key);
    expect(m->c, "MBbloom--", "TYPE", key);
    call(m->c, "DEL", "model");
    expect(m->c, "OK", "BF.RESERVE", "model", error, capacity, "EXPANSION", expansion,
           "KIND", "redisbloom");
    const redisReply *a = call(m->c, "BF.DEBUG", key), *b = call(m->c, "BF.DEBUG", "model");
    const char *x = strstr(a->element[1]->str, " size:"),
               *y = strstr(b->element[1]->str, " size:");
    CHECK_MEM(a->element[1]->str, x - a->element[1]->str, b->element[1]->str,
              y - b->element[1]->str);
    CHECK_STR(strstr(x + 1, " ratio"), strstr(y + 1, " ratio"));
    CHECK_STR(call_text(m->c, "BF.INFO", key, "EXPANSION"),
              call_text(m->c, "BF.INFO", "model", "EXPANSION"));
}

/* RedisBloom reads options by their first letters, ignores what is left over, and sends
 * on what the client sent. */
static void send_creations(struct master *m) {
    master_send(m, "BF.RESERVE", "reserved", "0.001", "500");
    master_send(m, "bf.reserve", "grows by 4", "0.02", "25", "expansion", "4");
    master_send(m, "BF.Reserve", "nonscaling", "0.01", "3", "NonScaling");
    master_send(m, "BF.RESERVE", "left over", "0.01", "100", "EXPANSION", "3", "what",
                "ever");
    master_send(m, "BF.RESERVE", "capped", "0.9", "10", "EXPANSION", "2");
    master_send(m, "BF.ADD", "by add", "anna");
    master_send(m, "BF.MADD", "by madd", "anna", "bob", "anna");
    master_send(m, "BF.INSERT", "by insert", "CAPACITY", "300", "ERROR", "0.005",
                "EXPANSION", "3", "ITEMS", "anna", "bob");
    master_send(m, "bf.insert", "loose", "cap", "300", "err", "0.005", "exp", "3", "items",
                "anna", "bob");
    master_send(m, "BF.INSERT", "looser", "C", "300", "ER", "0.005", "E", "3", "I", "anna",
                "NOCREATE");
    master_send(m, "BF.INSERT", "loose nonscaling", "NONS", "CAPA", "300", "IT", "anna");
    master_send(m, "BF.INSERT", "never made", "NOCR", "ITEMS", "anna");
    master_send(m, "BF.MADD", "nonscaling", "1", "2", "3", "4", "5");
    master_send(m, "BF.ADD", "nonscaling", "6");
}

static void check_creations(struct move *m) {
    must_be_like(m, "reserved", "0.001", "500", "2");
    must_be_like(m, "grows by 4", "0.02", "25", "4");
    must_be_like(m, "nonscaling", "0.01", "3", "0");
    must_be_like(m, "left over", "0.01", "100", "3");
    must_be_like(m, "capped", "0.25", "10", "2");
    must_be_like(m, "by add", "0.01", "100", "2");
    must_be_like(m, "by madd", "0.01", "100", "2");
    must_be_like(m, "by insert", "0.005", "300", "3");
    must_be_like(m, "loose", "0.005", "300", "3");
    must_be_like(m, "looser", "0.005", "300", "3");
    must_be_like(m, "loose nonscaling", "0.01", "300", "0");

    expect(m->c, "0", "EXISTS", "never made");
    expect(m->c, "[1, 1]", "BF.MEXISTS", "by madd", "anna", "bob");
    expect(m->c, "[1, 1]", "BF.MEXISTS", "loose", "anna", "bob");
    expect(m->c, "[1, 1]", "BF.MEXISTS", "looser", "anna", "NOCREATE");
    /* The master may have taken what it has no room for here: it must not be denied. */
    expect(m->c, "[1, 1, 1, 1, 1, 1]", "BF.MEXISTS", "nonscaling", "1", "2", "3", "4", "5",
           "6");
}

TEST(filters_made_in_the_stream_are_redisblooms_whatever_the_settings) {
    struct move m = begin_with(&folders[1], OTHER_SETTINGS, NULL);
    send_creations(m.master);
    promote(&m);
    check_creations(&m);
}

TEST(they_grow_by_redisblooms_rule) {
    struct move m = begin(&folders[1], NULL);
    for (int i = 0; i < 4000; i++)
        master_send(m.master, "BF.ADD", "grown", text_of("item:%d", i));
    promote(&m);
    JSON_EACH(filter, m.filters)
    if (strcmp(json_text(filter, "name"), "default_grown") == 0)
        must_be_fixture(m.c, "grown", filter);
}

/* Afterwards clients are clients again: their filters are made to the settings. */
TEST(after_the_promotion_the_settings_count) {
    struct move m = begin_with(&folders[1], OTHER_SETTINGS, NULL);
    promote(&m);
    expect(m.c, "1", "BF.ADD", "new", "anna");
    expect(m.c, "bulwarkBF", "TYPE", "new");
    expect(m.c, "[7]", "BF.INFO", "new", "CAPACITY");
}

TEST(chunks_in_the_stream_make_the_filter) {
    struct move m = begin(&folders[1], NULL);
    const struct json *filter = m.filters->first;
    while (strcmp(json_text(filter, "name"), "default_grown") != 0)
        filter = filter->next;
    for (int round = 0; round < 2; round++) /* a client that tries again does no harm */
        JSON_EACH(piece, json_need(filter, "scandump")) {
            struct file bytes = file_read(folder_file(m.folder, json_text(piece, "file")));
            const char *iterator = text_of("%lld", json_int(piece, "returned_iterator"));
            if (round > 0 && strcmp(iterator, "1") == 0) continue;
            const char *argv[] = {"BF.LOADCHUNK", "chunks", iterator, bytes.bytes};
            const size_t lengths[] = {12, 6, strlen(iterator), bytes.length};
            master_sendv(m.master, 4, argv, lengths);
        }
    promote(&m);
    expect(m.c, "MBbloom--", "TYPE", "chunks");
    must_be_fixture(m.c, "chunks", filter);
}

/* -------------------------------------------------------------------------
 * valkey-bloom
 * ---------------------------------------------------------------------- */

TEST(creations_of_a_valkeybloom_master_are_followed) {
    struct move m = begin(&folders[8], NULL);
    struct file stream = file_read(folder_file(m.folder, "stream_after_creates.aof"));
    master_send_bytes(m.master, stream.bytes, stream.length);
    promote(&m);
    expect(m.c, "bloomfltr", "TYPE", "repl_a");
    expect(m.c, "[1, 1, 0]", "BF.MEXISTS", "repl_a", "item:0", "item:1", "item:2");
    expect(m.c, "[1, 1]", "BF.MEXISTS", "repl_d", "x", "y");
    expect(m.c, "1", "BF.CARD", "repl_b");
}

static const struct json *the_grown_one(const struct move *m) {
    const struct json *filter = m->filters->first;
    while (strcmp(json_text(filter, "name"), "default_grown") != 0)
        filter = filter->next;
    return filter;
}

enum { SEED_AT = 51 }; /* in the data: see the drawing in valkeybloom_codec.h */

/* A BF.INSERT as valkey-bloom sends one for a client's BF.LOAD of that filter. Without a
 * seed it has the filter's own. Returns the data. */
static struct file send_load(struct move *m, const struct json *filter, const char *seed) {
    struct file data =
        file_read(folder_file(m->folder, json_text(json_need(filter, "bf_load"), "file")));
    if (!seed) seed = data.bytes + SEED_AT;
    const char *argv[] = {"BF.INSERT", "loaded",     "CAPACITY", "6300",    "ERROR",
                          "0.01",      "TIGHTENING", "0.5",      "SEED",    seed,
                          "EXPANSION", "2",          "ITEMS",    data.bytes};
    const size_t lengths[] = {9, 6, 8, 4, 5, 4, 10, 3, 4, 32, 9, 1, 5, data.length};
    master_sendv(m->master, 14, argv, lengths);
    return data;
}

/* valkey-bloom's own replicas then have another filter. */
TEST(a_bf_load_in_disguise_is_seen_through) {
    struct move m = begin(&folders[8], NULL);
    send_load(&m, the_grown_one(&m), NULL);
    promote(&m);
    must_be_fixture(m.c, "loaded", the_grown_one(&m));
}

/* As the SEED of the command, and inside of the item. */
TEST(a_seed_in_a_valkeybloom_stream_is_hidden) {
    struct move m = begin(&folders[8], LOG_ALL);
    redisContext *monitor = monitor_of(m.server);
    struct file data = send_load(&m, the_grown_one(&m), NULL);
    master_send(m.master, "SET", "loaded", "a string");
    send_load(&m, the_grown_one(&m), NULL);
    promote(&m);
    check_hidden(m.server, monitor, data.bytes + SEED_AT);
}

/* A client of valkey-bloom's can choose an item that is a filter's data: it has to
 * have the seed of the filter that it goes into, which nobody knows beforehand. */
TEST(an_item_that_looks_like_a_filter_stays_an_item) {
    struct move m = begin(&folders[8], NULL);
    struct file data = send_load(&m, the_grown_one(&m), "0123456789abcdef0123456789ABCDEF");
    promote(&m);
    expect(m.c, "1", "BF.CARD", "loaded");
    expectf(m.c, "1", "BF.EXISTS loaded %b", data.bytes, data.length);
}

/* RedisBloom's INITIAL_SIZE is its own affair, and what it accepted is not denied here. */
TEST(a_master_with_other_settings_loses_no_item) {
    struct move m = begin(&folders[1], NULL);
    const char *argv[154] = {"BF.INSERT", "large there", "NONSCALING", "ITEMS"};
    char numbers[150][8];
    size_t lengths[154] = {9, 11, 10, 5};
    for (int i = 0; i < 150; i++) {
        lengths[i + 4] = (size_t)snprintf(numbers[i], sizeof numbers[i], "%d", i);
        argv[i + 4] = numbers[i];
    }
    master_sendv(m.master, 154, argv, lengths);
    promote(&m);
    CHECK_INT(count_missing(m.c, "large there", 0, 150), 0);
}
