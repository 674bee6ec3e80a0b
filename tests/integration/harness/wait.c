/* SPDX-License-Identifier: BSD-3-Clause */

/* wait.c - waiting with a limit; see wait.h. */

#include "wait.h"

#include "check.h"
#include "client.h"
#include "files.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT = 60,   /* seconds: only what is broken takes as long */
    HANGS = 20,   /* seconds: a child that takes as long never ends */
    PAUSE = 2000, /* microseconds between two looks */
};

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double patient(double seconds) {
    const char *factor = getenv("PATIENCE");
    return factor && *factor ? seconds * atof(factor) : seconds;
}

double wait_deadline(void) {
    return seconds_now() + patient(LIMIT);
}

void wait_a_little(double deadline, const char *file, int line, const char *condition) {
    if (seconds_now() > deadline) test_fail(file, line, "waited in vain for %s", condition);
    usleep(PAUSE);
}

/* -------------------------------------------------------------------------
 * What servers do in the background
 * ---------------------------------------------------------------------- */

static bool has_caught_up(redisContext *master, redisContext *replica) {
    return strcmp(info_text(replica, "replication", "master_link_status"), "up") == 0 &&
           info_int(replica, "replication", "slave_repl_offset") ==
               info_int(master, "replication", "master_repl_offset");
}

void wait_for_replica(redisContext *master, redisContext *replica) {
    WAIT_UNTIL(has_caught_up(master, replica));
}

void wait_for_bgsave(redisContext *c) {
    WAIT_UNTIL(info_int(c, "persistence", "rdb_bgsave_in_progress") == 0);
    CHECK_STR(info_text(c, "persistence", "rdb_last_bgsave_status"), "ok");
}

/* "Scheduled" is not begun: it waits for another child to end. */
static bool rewrites(redisContext *c) {
    return info_int(c, "persistence", "aof_rewrite_in_progress") != 0 ||
           info_int(c, "persistence", "aof_rewrite_scheduled") != 0;
}

/* The server takes that signal for no failure. */
static void end_child(redisContext *c) {
    long long server = info_int(c, "server", "process_id");
    const char *path = text_of("/proc/%lld/task/%lld/children", server, server);
    int child = atoi(file_read(path).bytes);
    if (child > 1) kill(child, SIGUSR1);
    WAIT_UNTIL(info_int(c, "persistence", "aof_rewrite_in_progress") == 0);
}

/* False: its child hung, and is ended. A sanitizer's runtime waits there for ever for a
 * lock that another thread had when it was forked, as it may while a file is closed. */
static bool rewrite_ends(redisContext *c) {
    double hangs_at = seconds_now() + patient(HANGS);
    bool may_hang = getenv("SERVER_PRELOAD") != NULL;
    WAIT_UNTIL(!rewrites(c) || (may_hang && seconds_now() > hangs_at));
    if (!rewrites(c)) return true;
    end_child(c);
    return false;
}

static void check_rewrite(redisContext *c) {
    CHECK_STR(info_text(c, "persistence", "aof_last_bgrewrite_status"), "ok");
}

void wait_for_rewrite(redisContext *c) {
    while (!rewrite_ends(c))
        ;
    check_rewrite(c);
}

void rewrite_aof(redisContext *c) {
    do
        expect_like(c, "Background *", "BGREWRITEAOF");
    while (!rewrite_ends(c));
    check_rewrite(c);
}
