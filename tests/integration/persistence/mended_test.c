/* SPDX-License-Identifier: BSD-3-Clause */

/* mended_test.c - files that break off: an AOF in the middle of a rebuild, which the
 * server's own tool mends, and an RDB file. */

#include "files.h"
#include "harness.h"
#include "states.h"
#include "zoo.h"

#include <sys/wait.h>
#include <unistd.h>

/* A file that breaks off is refused unless it is mended. */
#define STRICT AOF_BY_COMMAND "aof-load-truncated no\n"

enum { FIRST = 100, BATCHES = 5, BATCH = FIRST / BATCHES, CUTS = 12, STAMPS = 3 * BATCHES };

/* The items that were acknowledged before each stamp are 0 ... known - 1. */
static long known[STAMPS + 1];

static void stamp(redisContext *c, int *n, long items) {
    known[++*n] = items;
    CHECK(*n <= STAMPS);
    expectf(c, "OK", "SET stamp %d", *n);
}

/* A ready filter is rebuilt while writers add. Returns the token. */
static const char *rebuild(redisContext *c) {
    int stamps = 0;
    long items = FIRST;
    add_numbers(c, "k", 0, FIRST);
    expect(c, "OK", "BF.READY", "k");
    stamp(c, &stamps, items);
    const char *token = start_rebuild(c, "k");
    for (int i = 0; i < BATCHES; i++) {
        load_numbers(c, "k", token, i * BATCH, (i + 1) * BATCH);
        stamp(c, &stamps, items);
        add_numbers(c, "k", items, items + 7);
        stamp(c, &stamps, items += 7);
    }
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, text_of("%d", FIRST));
    stamp(c, &stamps, items);
    add_numbers(c, "k", items, items + 50);
    stamp(c, &stamps, items += 50);
    return token;
}

/* It is beside the server. */
static const char *tool(const char *what) {
    char *path = (char *)text_of("%s", server_binary());
    char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *server = strstr(name, "server");
    CHECK(server != NULL);
    *server = '\0';
    return text_of("%s%s", path, what);
}

/* It asks before it cuts. */
static void mend(const struct server *s) {
    const char *file =
        server_speaks(700) ? "appendonlydir/appendonly.aof.manifest" : "appendonly.aof";
    const char *command = text_of("echo y | '%s' --fix '%s' > '%s' 2>&1", tool("check-aof"),
                                  server_file(s, file), server_file(s, "mending"));
    if (system(command) != 0) FAIL("%s", file_read(server_file(s, "mending")).bytes);
}

static long known_by(redisContext *c) {
    const redisReply *r = call(c, "GET", "stamp");
    return r->type == REDIS_REPLY_STRING ? known[atoi(r->str)] : 0;
}

/* The loader goes on where the server says, from the beginning if it says nothing. */
static void go_on(redisContext *c, const char *token) {
    const char *count = text_of("%d", FIRST);
    const redisReply *r = call(c, "BF.REBUILD", "k", "COMMIT", token, count);
    long received = 0;
    if (r->type != REDIS_REPLY_ERROR) return;
    if (strcmp(r->str, "ERR no such rebuild") == 0)
        token = start_rebuild(c, "k");
    else
        CHECK(sscanf(r->str, "ERR rebuild received %ld of 100 items", &received) == 1);
    load_numbers(c, "k", token, received, FIRST);
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, count);
}

TEST(an_aof_that_broke_off_within_a_rebuild_and_was_mended_denies_nothing_it_has) {
    struct server *s = server_start(.config = STRICT, .module_args = TRUST_ALL);
    const char *token = rebuild(client(s));
    server_kill(s);
    const char *path = server_aof(s);
    struct file whole = file_read(path);

    for (int i = 0; i < CUTS; i++) {
        size_t cut = whole.length / 8 + random_below(whole.length * 7 / 8);
        test_case("the first %zu of %zu bytes", cut, whole.length);
        file_write(path, whole.bytes, cut);
        mend(s);
        server_start_again(s);
        redisContext *c = client(s);
        long items = known_by(c);
        if (call_int(c, "EXISTS", "k")) {
            CHECK_INT(count_missing(c, "k", 0, items), 0);
            go_on(c, token);
            CHECK_INT(count_missing(c, "k", 0, items), 0);
            CHECK_STR(said_of(c, "k"), "absent");
        }
        server_kill(s);
    }
}

/* A server that can't load its file looks through it before it ends. Where the file breaks
 * off between two parts of a module's value, it looks for ever. */
static bool is_looked_through(const struct server *s, const char *path) {
    const char *command = text_of("timeout 5 '%s' '%s' > '%s' 2>&1", tool("check-rdb"),
                                  path, server_file(s, "looking"));
    int status = system(command);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 124;
}

TEST(a_server_does_not_start_from_an_rdb_file_that_breaks_off) {
    struct server *s = server_start();
    redisContext *c = client(s);
    zoo_fill(c);
    expect(c, "OK", "BF.READY", "grown");
    start_rebuild(c, "grown");
    save(c);
    server_kill(s);
    const char *path = server_file(s, "dump.rdb");
    struct file whole = file_read(path);

    for (int i = 0; i < CUTS; i++) {
        size_t cut = 1 + random_below(whole.length - 1);
        test_case("the first %zu of %zu bytes", cut, whole.length);
        file_write(path, whole.bytes, cut);
        if (!is_looked_through(s, path)) continue;
        server_refusal(.config = text_of("dir %s\n", s->directory));
    }
}
