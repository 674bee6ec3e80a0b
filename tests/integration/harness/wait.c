/* SPDX-License-Identifier: BSD-3-Clause */

/* wait.c - waiting with a limit; see wait.h. */

#include "wait.h"

#include "check.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT = 60,   /* seconds: only what is broken takes as long */
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

void wait_for_rewrite(redisContext *c) {
    WAIT_UNTIL(!rewrites(c));
    CHECK_STR(info_text(c, "persistence", "aof_last_bgrewrite_status"), "ok");
}

void rewrite_aof(redisContext *c) {
    expect_like(c, "Background *", "BGREWRITEAOF");
    wait_for_rewrite(c);
}
