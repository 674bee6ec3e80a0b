/* SPDX-License-Identifier: BSD-3-Clause */

/* swap_test.c - replicas that keep their data until a full sync has come whole
 * (repl-diskless-load swapdb), and answer from it meanwhile, from Redis 7.0 on. */

#include "files.h"
#include "harness.h"
#include "master.h"
#include "states.h"

#define SWAPS "repl-diskless-load swapdb\n"
#define SENDS "repl-diskless-sync yes\nrepl-diskless-sync-delay 0\nrepl-backlog-size 16kb\n"
#define TRUST "bf-trust restart,failover,replica"

enum { FILLERS = 300 };

static void needs_swaps(void) {
    if (!server_swaps_databases()) SKIP("%s loads by disk", server_name());
}

/* The ready filter k, and others, each of which takes the next full sync ten
 * milliseconds. */
static struct pair start_pair(void) {
    needs_swaps();
    struct pair p = pair_of(server_start(.config = SENDS),
                            server_start(.config = SENDS SWAPS, .module_args = TRUST));
    make_ready(p.m, "k");
    for (int i = 0; i < FILLERS; i++)
        expectf(p.m, "OK", "BF.RESERVE filler:%d 0.01 20000", i);
    follow(p.r, p.master);
    wait_for_belief(p.r, "k");
    expect(p.m, "OK", "CONFIG", "SET", "rdb-key-save-delay", "10000");
    if (server_speaks(700)) /* else every 2 MB */
        expect(p.r, "OK", "CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
    return p;
}

static bool loads(const struct pair *p) {
    return info_int(p->r, "persistence", "async_loading") == 1;
}

/* The second sync; 6.0 answers nobody meanwhile. */
static bool receives(const struct pair *p) {
    static const char words[] = "with EOF to parser";
    const char *first = strstr(server_log(p->replica), words);
    return first && strstr(first + 1, words);
}

/* The link comes back, but "bob" and more than the backlog holds were missed. */
static void begin_sync(const struct pair *p) {
    static char bytes[64 << 10];
    memset(bytes, 'x', sizeof bytes);
    cut_link(p->m, p->r);
    expect(p->m, "1", "BF.ADD", "k", "bob");
    for (int i = 0; i < 20; i++)
        expectf(p->m, "OK", "SET other:%d %b", i, bytes, sizeof bytes);
    expect(p->r, "OK", "CONFIG", "SET", "masterauth", "secret");
}

TEST(a_replica_that_swaps_databases_answers_meanwhile_and_denies_nothing) {
    needs(700, "loading beside the data");
    struct pair p = start_pair();
    begin_sync(&p);
    WAIT_UNTIL(loads(&p));
    int looks = 0;
    for (; loads(&p); looks++) {
        expect(p.r, "1", "BF.EXISTS", "k", "anna");
        CHECK(strcmp(call_text(p.r, "BF.CHECK", "k", "bob"), "absent") != 0);
    }
    CHECK(looks > 3);
    wait_for_replica(p.m, p.r);
    check_digests(p.m, p.r);
    wait_for_belief(p.r, "k");
    expect(p.r, "maybe", "BF.CHECK", "k", "bob");
    CHECK_INT(counted(p.r, "ready_flushed"), 0);
    WAIT_UNTIL(counted(p.r, "filters") == counted(p.m, "filters"));
}

/* What is saved then knows nothing of what came since the link was lost. */
TEST(a_sync_that_breaks_before_the_swap_leaves_the_old_data_and_their_doubt) {
    struct pair p = start_pair();
    begin_sync(&p);
    WAIT_UNTIL(receives(&p));
    server_kill(p.master);
    WAIT_UNTIL(info_int(p.r, "replication", "master_sync_in_progress") == 0);
    CHECK_INT(call_int(p.r, "EXISTS", "k"), 1);
    CHECK_STR(said_of(p.r, "k"), "unknown");
    save(p.r);
    redisContext *r = restart_with(p.replica, TRUST);
    CHECK_STR(unknown_by(r, "k"), "restore");
}

/* Redis 6.0 looks at the mark behind the file when it has swapped. */
TEST(a_sync_that_breaks_behind_its_file_leaves_a_doubt) {
    needs_swaps();
    struct server *origin = server_start(.config = SENDS);
    make_ready(client(origin), "k");
    save(client(origin));
    struct file rdb = file_read(server_file(origin, "dump.rdb"));

    struct server *replica = server_start(.config = SWAPS, .module_args = TRUST);
    redisContext *r = client(replica);
    master_break(master_start(), r, rdb.bytes, rdb.length);
    CHECK(strstr(server_log(replica), "EOF marker is broken") != NULL);
    if (call_int(r, "EXISTS", "k") == 0)
        SKIP("%s looks at the mark before it swaps", server_name());
    CHECK_STR(said_of(r, "k"), "unknown");
    save(r);
    r = restart_with(replica, TRUST);
    CHECK_STR(unknown_by(r, "k"), "restore");
}
