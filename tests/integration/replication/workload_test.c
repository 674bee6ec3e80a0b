/* SPDX-License-Identifier: BSD-3-Clause */

/* workload_test.c - thousands of random writes of every sort, judged by a model.
 *
 * The model knows which of 500 items each of ten keys has accepted. After the
 * workload no server may deny one of them, and everything that lives off the
 * master's effects (a replica with other settings, a replay of the AOF, an RDB
 * file) must be its equal, byte by byte. */

#include "harness.h"
#include "zoo.h"

#include <stdarg.h>

enum { KEYS = 10, ITEMS = 500, STEPS = 4000, MOST_AT_ONCE = 60 };

struct model {
    bool exists;
    bool has[ITEMS];
};

static struct model models[KEYS];
static redisContext *master;

static int any(int limit) {
    return (int)random_below((uint64_t)limit);
}

/* hiredis reads "key:3" from a format; this is for calls with C strings. Valid for
 * three more calls. */
static const char *key_name(int key) {
    static char names[4][16];
    static int next;
    char *name = names[next++ % 4];
    snprintf(name, sizeof names[0], "key:%d", key);
    return name;
}

/* Like callf(), but the reply is the caller's: thousands need not be kept. */
static redisReply *ask(const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(master, format, args);
    va_end(args);
    if (!reply) FAIL("connection lost: %s", master->errstr);
    return reply;
}

static void forget(int key) {
    memset(&models[key], 0, sizeof models[key]);
}

/* An add was answered: unless with an error, the item is in. */
static void note_answer(int key, int item, const redisReply *answer) {
    if (answer->type == REDIS_REPLY_ERROR) return;
    if (models[key].has[item]) CHECK_INT(answer->integer, 0);
    models[key].exists = models[key].has[item] = true;
}

/* -------------------------------------------------------------------------
 * The steps
 * ---------------------------------------------------------------------- */

static void step_reserve(int key) {
    static const char *const rates[] = {"0.9", "0.3", "0.1", "0.01", "0.001", "0.0000001"};
    redisReply *r = ask("BF.RESERVE key:%d %s %d EXPANSION %d", key, rates[any(6)],
                        1 + any(200), any(5));
    CHECK_STR(r->str, models[key].exists ? "ERR item exists" : "OK");
    models[key].exists = true;
    freeReplyObject(r);
}

static void step_add(int key) {
    int item = any(ITEMS);
    redisReply *r = ask("BF.ADD key:%d %d", key, item);
    note_answer(key, item, r);
    freeReplyObject(r);
}

/* Send the words and then random items; an array comes back. */
static void add_many(int key, const char **words, int nwords) {
    static char numbers[ITEMS][8];
    const char *argv[8 + MOST_AT_ONCE];
    int items[MOST_AT_ONCE], count = 1 + any(MOST_AT_ONCE);
    for (int i = 0; i < nwords; i++)
        argv[i] = words[i];
    for (int i = 0; i < count; i++) {
        items[i] = any(ITEMS);
        snprintf(numbers[items[i]], sizeof numbers[0], "%d", items[i]);
        argv[nwords + i] = numbers[items[i]];
    }

    redisReply *r = redisCommandArgv(master, nwords + count, argv, NULL);
    CHECK(r != NULL && r->elements <= (size_t)count);
    for (size_t i = 0; i < r->elements; i++)
        note_answer(key, items[i], r->element[i]);
    freeReplyObject(r);
}

static void step_madd(int key) {
    add_many(key, (const char *[]){"BF.MADD", key_name(key)}, 2);
}

static void step_insert(int key) {
    static const char *const options[][2] = {
        {"CAPACITY", "30"}, {"ERROR", "0.2"}, {"EXPANSION", "0"}, {"EXPANSION", "3"}};
    const char *const *option = options[any(4)];
    add_many(key,
             (const char *[]){"BF.INSERT", key_name(key), option[0], option[1], "ITEMS"},
             5);
}

static void step_insert_nocreate(int key) {
    if (!models[key].exists) return;
    add_many(key, (const char *[]){"BF.INSERT", key_name(key), "NOCREATE", "ITEMS"}, 4);
}

static void step_script(int key) {
    int first = any(ITEMS - 20);
    redisReply *r = ask("EVAL %s 1 key:%d %d",
                        "local all = {} for i = 0, 19 do all[i + 1] ="
                        " redis.pcall('BF.ADD', KEYS[1], ARGV[1] + i) end return all",
                        key, first);
    for (int i = 0; i < (int)r->elements; i++)
        note_answer(key, first + i, r->element[i]);
    freeReplyObject(r);
}

static void step_transaction(int key) {
    int other = any(KEYS), item = any(ITEMS);
    freeReplyObject(ask("MULTI"));
    freeReplyObject(ask("BF.ADD key:%d %d", key, item));
    freeReplyObject(ask("BF.ADD key:%d %d", key, item));
    freeReplyObject(ask("BF.ADD key:%d %d", other, item));
    redisReply *r = ask("EXEC");
    note_answer(key, item, r->element[0]);
    note_answer(key, item, r->element[1]);
    note_answer(other, item, r->element[2]);
    freeReplyObject(r);
}

static void step_delete(int key) {
    freeReplyObject(any(2) ? ask("DEL key:%d", key) : ask("UNLINK key:%d", key));
    forget(key);
}

static void step_overwrite(int key) {
    freeReplyObject(ask("SET key:%d x", key));
    freeReplyObject(ask("BF.ADD key:%d 1", key)); /* WRONGTYPE */
    freeReplyObject(ask("DEL key:%d", key));
    forget(key);
}

static void step_rename(int key) {
    int to = any(KEYS);
    if (!models[key].exists || to == key) return;
    freeReplyObject(ask("RENAME key:%d key:%d", key, to));
    models[to] = models[key];
    forget(key);
}

static void step_copy(int key) {
    int to = any(KEYS);
    if (!models[key].exists || to == key || !server_speaks(602)) return;
    freeReplyObject(ask("COPY key:%d key:%d REPLACE", key, to));
    models[to] = models[key];
}

static void step_restore(int key) {
    int to = any(KEYS);
    if (!models[key].exists || to == key) return;
    redisReply *payload = ask("DUMP key:%d", key);
    redisReply *r = ask("RESTORE key:%d 0 %b REPLACE", to, payload->str, payload->len);
    CHECK_STR(r->str, "OK");
    models[to] = models[key];
    freeReplyObject(payload);
    freeReplyObject(r);
}

/* Through chunks; in the middle of it the filter refuses items. */
static void step_transfer(int key) {
    int to = any(KEYS);
    if (!models[key].exists || to == key) return;
    step_delete(to);
    const struct dump *d = dump_filter(master, key_name(key));
    load_pieces(master, key_name(to), d, 0, 1);
    redisReply *r = ask("BF.ADD key:%d 1", to);
    CHECK_STR(r->str, "ERR filter is partially loaded");
    load_pieces(master, key_name(to), d, 1, d->npieces);
    models[to] = models[key];
    freeReplyObject(r);
}

/* ---- other libraries' filters, and several in one ---- */

/* Some of these sizes, some kinds have no filter for. */
static void step_reserve_kind(int key) {
    static const char *const kinds[] = {"redisbloom", "valkeybloom", "leveldb",
                                        "clickhouse", "guava",       "crc32"};
    static const char *const encodings[] = {"raw", "int32", "int64", "utf16"};
    const char *kind = kinds[any(6)];
    redisReply *r = any(2)
                        ? ask("BF.RESERVE key:%d 0.01 %d KIND %s", key, 1 + any(200), kind)
                        : ask("BF.RESERVE key:%d 0.01 %d KIND %s ENCODE %s", key,
                              1 + any(200), kind, encodings[any(4)]);
    if (models[key].exists) CHECK_INT(r->type, REDIS_REPLY_ERROR);
    if (r->type == REDIS_REPLY_STATUS) models[key].exists = true;
    freeReplyObject(r);
}

/* Its own numbers are in BF.INFO. */
static void step_reserve_like(int key) {
    int like = any(KEYS);
    if (!models[like].exists || models[key].exists) return;
    redisReply *info = ask("BF.INFO key:%d FULL", like);
    redisReply *r = ask("BF.RESERVE key:%d %s %lld LIKE key:%d", key,
                        reply_field(info, "Error rate")->str,
                        reply_field(info, "Capacity")->integer, like);
    if (r->type == REDIS_REPLY_STATUS) models[key].exists = true;
    freeReplyObject(info);
    freeReplyObject(r);
}

static void step_export(int key) {
    int to = any(KEYS);
    if (!models[key].exists || to == key) return;
    redisReply *info = ask("BF.INFO key:%d FULL", key), *r = NULL;
    const char *kind = reply_field(info, "Kind")->str;
    const char *encoding = reply_field(info, "Encoding")->str;
    redisReply *data = ask("BF.EXPORT key:%d", key);
    if (data->type == REDIS_REPLY_STRING) step_delete(to);
    if (strcmp(kind, "guava") == 0 || strcmp(kind, "leveldb") == 0)
        r = ask("BF.IMPORT key:%d %s %b ENCODE %s", to, kind, data->str, data->len,
                encoding);
    else if (strcmp(kind, "clickhouse") == 0)
        r = ask("BF.IMPORT key:%d %s %b SEED 0 HASHES 5 ENCODE %s", to, kind, data->str,
                data->len, encoding);
    if (r) CHECK_STR(r->str, "OK");
    if (r) models[to] = models[key];
    freeReplyObject(info);
    freeReplyObject(data);
    freeReplyObject(r);
}

static long merges;

static void step_merge(int key) {
    int from = any(KEYS);
    if (!models[from].exists) return;
    redisReply *r = ask("BF.MERGE key:%d key:%d", key, from);
    if (r->type != REDIS_REPLY_ERROR) {
        models[key].exists = true;
        for (int i = 0; i < ITEMS; i++)
            models[key].has[i] = models[key].has[i] || models[from].has[i];
        merges += r->integer;
    }
    freeReplyObject(r);
}

static void step_covers(int key) {
    int other = any(KEYS);
    if (!models[key].exists || !models[other].exists) return;
    redisReply *r = ask("BF.COVERS key:%d key:%d", key, other);
    if (key == other) CHECK_INT(r->integer, 1);
    freeReplyObject(r);
}

static void step_expire(int key) {
    freeReplyObject(any(2) ? ask("EXPIRE key:%d 1000", key) : ask("PERSIST key:%d", key));
}

/* Adds are most of it: filters must get the time to grow. */
static void (*const steps[])(int key) = {
    step_add,     step_add,          step_add,         step_add,
    step_add,     step_add,          step_madd,        step_madd,
    step_madd,    step_madd,         step_insert,      step_insert_nocreate,
    step_script,  step_script,       step_transaction, step_reserve,
    step_reserve, step_delete,       step_rename,      step_copy,
    step_restore, step_transfer,     step_expire,      step_overwrite,
    step_merge,   step_merge,        step_covers,      step_reserve_kind,
    step_export,  step_reserve_like,
};

static void run_workload(redisContext *c) {
    master = c;
    memset(models, 0, sizeof models);
    merges = 0;
    for (int i = 0; i < STEPS; i++)
        steps[any(sizeof steps / sizeof *steps)](any(KEYS));
    CHECK(merges > 10);
}

/* -------------------------------------------------------------------------
 * The judgement
 * ---------------------------------------------------------------------- */

static void check_members(redisContext *c) {
    for (int key = 0; key < KEYS; key++)
        for (int item = 0; item < ITEMS; item++)
            if (models[key].has[item]) expectf(c, "1", "BF.EXISTS key:%d %d", key, item);
}

#define OTHER_SETTINGS                                                                     \
    "bf-error-rate 0.3 bf-initial-size 7 bf-expansion-factor 0 bf-max-filter-bytes 1"

static const char *digest(redisContext *c) {
    return call_text(c, "DEBUG", "DIGEST");
}

TEST(after_a_random_workload_a_replica_is_its_master) {
    struct server *m = server_start(.module_args = "bf-initial-size 30");
    struct server *r = server_start(.module_args = OTHER_SETTINGS);
    redisContext *c = client(m), *replica = client(r);
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", m->port);
    wait_for_replica(c, replica);

    run_workload(c);

    wait_for_replica(c, replica);
    CHECK_STR(zoo_state(replica), zoo_state(c));
    CHECK_STR(digest(replica), digest(c));
    check_members(c);
    check_members(replica);
}

static void replays_to_the_same(const char *config) {
    struct server *s = server_start(.config = config, .module_args = "bf-initial-size 30");
    redisContext *c = client(s);
    run_workload(c);
    const char *state = zoo_state(c), *content = digest(c);

    server_kill(s);
    s->options.module_args = OTHER_SETTINGS;
    server_start_again(s);

    c = client(s);
    CHECK_STR(zoo_state(c), state);
    CHECK_STR(digest(c), content);
    check_members(c);
}

TEST(after_a_random_workload_the_aof_replays_to_the_same) {
    replays_to_the_same("appendonly yes\naof-use-rdb-preamble no");
}

TEST(after_a_random_workload_and_rewrites_the_aof_replays_to_the_same) {
    replays_to_the_same("appendonly yes\naof-use-rdb-preamble no\n"
                        "auto-aof-rewrite-percentage 1\nauto-aof-rewrite-min-size 1");
}

TEST(after_a_random_workload_rdb_and_rewritten_aof_hold_the_same) {
    struct server *s = server_start(.config = "aof-use-rdb-preamble no");
    redisContext *c = client(s);
    run_workload(c);
    const char *state = zoo_state(c), *content = digest(c);

    expect(c, "OK", "DEBUG", "RELOAD");
    CHECK_STR(zoo_state(c), state);
    CHECK_STR(digest(c), content);

    expect(c, "OK", "CONFIG", "SET", "appendonly", "yes");
    wait_for_rewrite(c);
    expect(c, "OK", "DEBUG", "LOADAOF");
    CHECK_STR(zoo_state(c), state);
    CHECK_STR(digest(c), content);
    check_members(c);
}
