/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - a database behind BF.GUARD: reads and writes, with hiredis.
 *
 * run.sh starts it with the port of a server of its own, which this ends. Prints a line
 * for each step and fails on a wrong answer. The database is a stand-in that counts
 * questions. The documentation shows the parts between [name] and [/name]. */
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static redisContext *cache;

/* ---- the database: row i is of user number i; "" is one that was deleted ---- */

#define USERS 10000
static char rows[USERS][32];
static int asked, limited;

static const char *database_find(const char *id) {
    char *end;
    unsigned long i = strtoul(id, &end, 10);
    asked++;
    return *end == '\0' && end != id && i < USERS && rows[i][0] ? rows[i] : NULL;
}

static bool database_commit(const char *id, const char *row) {
    snprintf(rows[strtoul(id, NULL, 10) % USERS], sizeof *rows, "%s", row);
    return true;
}

/* As many questions a second as the database can bear; the others wait. */
static void limiter_wait(void) {
    static const struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
    limited++;
}

/* The reply, or NULL: then the connection is made anew before the next question. */
static redisReply *ask(const char *format, ...) {
    if (cache->err && redisReconnect(cache) != REDIS_OK) return NULL;
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(cache, format, arguments);
    va_end(arguments);
    return reply;
}

/* Is there no error in it? */
static bool went_well(redisReply *reply) {
    bool well = reply && reply->type != REDIS_REPLY_ERROR;
    if (well && reply->type == REDIS_REPLY_ARRAY)
        for (size_t i = 0; i < reply->elements; i++)
            well = well && reply->element[i]->type != REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    return well;
}

/* [read] */
/* The row of a user, for free(); NULL if there is none. */
static char *read_user(const char *id) {
    redisReply *reply = ask("BF.GUARD users user:%s %s", id, id);
    bool told = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
    const char *word = told ? reply->element[0]->str : "unknown", *row = NULL;
    if (strcmp(word, "hit") == 0) {
        row = reply->element[1]->str;
        if (strcmp(row, "-") == 0) row = NULL;
    } else if (strcmp(word, "absent") != 0) {
        if (strcmp(word, "unknown") == 0) limiter_wait();
        row = database_find(id);
        freeReplyObject(ask("SET user:%s %s NX EX %d", id, row ? row : "-", row ? 60 : 3));
    }
    char *copy = row ? strdup(row) : NULL;
    freeReplyObject(reply);
    return copy;
}
/* [/read] */

/* [write] */
/* False: nothing was committed. */
static bool write_user(const char *id, const char *row) {
    if (!went_well(ask("BF.INSERT users NOCREATE ITEMS %s", id))) return false;
    if (!database_commit(id, row)) return false; /* one item too many does no harm */
    if (!went_well(ask("BF.INSERT users NOCREATE ITEMS %s", id)))
        fprintf(stderr, "added once only: %s\n", id); /* nobody is refused */
    freeReplyObject(ask("SET user:%s %s EX 60", id, row));
    return true;
}
/* [/write] */

/* ---- the rebuild ---- */

static void must(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void rebuild(const char *options) {
    char start[128], id[16], token[32];
    int sent = 0;
    snprintf(start, sizeof start, "BF.REBUILD users START %s", options);
    redisReply *reply = ask(start);
    must(reply && reply->type == REDIS_REPLY_STRING, "START");
    snprintf(token, sizeof token, "%s", reply->str);
    freeReplyObject(reply);

    for (int i = 0; i < USERS; i++) {
        if (!rows[i][0]) continue;
        snprintf(id, sizeof id, "%d", i);
        must(went_well(ask("BF.REBUILD users LOAD %s AT %d %s", token, sent, id)), "LOAD");
        sent++;
    }
    must(went_well(ask("BF.REBUILD users COMMIT %s %d", token, sent)), "COMMIT");
}

/* ---- the steps ---- */

static void expect_read(const char *what, const char *id, const char *wanted,
                        int wanted_asked, int wanted_limited) {
    asked = limited = 0;
    char *row = read_user(id);
    bool same = wanted ? row && strcmp(row, wanted) == 0 : !row;
    bool ok = same && asked == wanted_asked && limited == wanted_limited;
    printf("  %s %s: %s, asked %d, limited %d\n", ok ? "ok " : "NOT", what,
           row ? row : "(none)", asked, limited);
    free(row);
    if (!ok) exit(1);
}

static void expect(const char *what, bool ok) {
    printf("  %s %s\n", ok ? "ok " : "NOT", what);
    if (!ok) exit(1);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    cache = redisConnect("127.0.0.1", atoi(argv[1]));
    if (!cache || cache->err) return 1;
    redisSetTimeout(cache, (struct timeval){.tv_sec = 5});
    for (int i = 0; i < USERS / 2; i++)
        snprintf(rows[i], sizeof *rows, "row %d", i);

    expect_read("no filter: the database is asked, through the limiter", "7", "row 7", 1,
                1);
    freeReplyObject(ask("FLUSHALL"));
    expect("a write without a filter is refused", !write_user("9001", "nobody"));
    expect("... and not committed", !database_find("9001"));

    /* With so small an error rate no step below meets a false "maybe". */
    rebuild("CAPACITY 10000 ERROR 0.0000001");
    expect_read("a row: the database is asked", "7", "row 7", 1, 0);
    expect_read("... once", "7", "row 7", 0, 0);
    expect_read("no such row: the database is not asked", "nobody", NULL, 0, 0);

    expect("a write", write_user("9001", "new"));
    expect_read("a row that was just written", "9001", "new", 0, 0);
    freeReplyObject(ask("DEL user:9001"));
    expect_read("... and is no longer cached", "9001", "new", 1, 0);

    rows[7][0] = '\0';
    freeReplyObject(ask("DEL user:7"));
    expect_read("a row that was deleted: the filter still knows it", "7", NULL, 1, 0);
    expect_read("... and the cache knows better, for 3 s", "7", NULL, 0, 0);
    expect("the row again", write_user("7", "back"));
    expect_read("a writer's value replaces the sentinel", "7", "back", 0, 0);

    freeReplyObject(ask("BF.LOADING users"));
    expect_read("after BF.LOADING nothing is absent", "nobody", NULL, 1, 1);
    rebuild("");
    expect_read("... until the next rebuild", "nobody at all", NULL, 0, 0);

    freeReplyObject(ask("SHUTDOWN NOSAVE"));
    expect_read("without a server the database is asked", "8", "row 8", 1, 1);
    redisFree(cache);
    return 0;
}
