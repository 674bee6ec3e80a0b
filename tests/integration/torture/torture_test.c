/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_test.c - never `absent` for an item whose add was acknowledged.
 *
 * Thousands of random steps in each mode, judged by the rule that
 * torture.h gives. A run is a few thousand steps that follow from its seed, on
 * fresh servers. The ordinary test is one run a mode; with LONG=1 there are as many
 * as fit into TORTURE_SECONDS (120), with the seeds that follow, and the counts are
 * printed. SEED= that of the failed run repeats it, as far as servers repeat
 * themselves: leases and background saves go by the clock. */

#include "torture.h"

#include "random.h"

#include <stdarg.h>
#include <time.h>

enum {
    STEPS = 2000,
    SLOW_STEPS = 300,      /* where events take seconds: in a pair, and for the disk */
    DEFAULT_SECONDS = 120, /* a mode, with LONG=1 */
    MOST_RUNS = 10,
    ENOUGH_DENIED = 100,
    ENOUGH_OF_A_REPLICA = 50, /* It is asked most while it can't believe itself. */
};

/* -------------------------------------------------------------------------
 * What a run is
 * ---------------------------------------------------------------------- */

/* Not random_u64(): each run has a seed of its own. */
int any(struct run *run, int limit) {
    return (int)(random_next(&run->random) % (uint64_t)limit);
}

bool once_in(struct run *run, int n) {
    return any(run, n) == 0;
}

struct place any_place(struct run *run) {
    int db = once_in(run, 3), name = any(run, NAMES);
    return (struct place){db, name};
}

const char *key_of(struct place at) {
    static const char *const keys[NAMES] = {"t:0", "t:1", "t:2"};
    return keys[at.name];
}

struct node *master_of(struct run *run) {
    return &run->nodes[run->master];
}

struct node *replica_of(struct run *run) {
    return &run->nodes[!run->master];
}

struct object *object_at(struct run *run, struct place at) {
    return &run->now.objects[at.db][at.name];
}

struct table *table_at(struct run *run, struct place at) {
    return &run->tables[at.db][at.name];
}

bool trusts(const struct run *run, const char *word) {
    return run->mode->trust && strcmp(run->mode->trust, word) == 0;
}

/* Is all that is lost also doubted? */
bool is_strict(const struct run *run) {
    if (run->mode->trusts_too_much) return true;
    if (trusts(run, "restart")) return run->mode->restarts_lose_nothing;
    return !trusts(run, "failover");
}

int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void violation(struct run *run, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    journal("!! %s", text);
    run->caught = true;
    bool expected = run->mode->vouches_without_replaying || run->mode->trusts_too_much;
    if (!expected) FAIL("%s", text);
}

/* -------------------------------------------------------------------------
 * Steps
 * ---------------------------------------------------------------------- */

static void ask_master(struct run *run, struct place at) {
    ask_about(run, AT_MASTER, master_of(run), at, NULL);
}

static void ask_replica(struct run *run, struct place at) {
    ask_about(run, AT_REPLICA, replica_of(run), at, NULL);
}

enum only {
    ALWAYS,
    IN_A_PAIR,
    ALONE,
    EVICTING,
    PROMISING,
    PROMISING_ALONE,
    TRUSTING_REPLICAS
};

static const struct step {
    const char *name;
    step_function *run;
    int weight;
    enum only only;
} steps[] = {
    {"add", step_add, 100, ALWAYS},
    {"madd", step_madd, 60, ALWAYS},
    {"insert", step_insert, 60, ALWAYS},
    {"merge", step_merge, 30, ALWAYS},
    {"import", step_import, 6, ALWAYS},
    {"add and wait", step_commit, 40, PROMISING},
    {"try again", step_try_again, 20, PROMISING},
    {"red button", step_red_button, 2, PROMISING},
    {"question", ask_master, 400, ALWAYS},
    {"question to replica", ask_replica, 200, IN_A_PAIR},
    {"reserve", step_reserve, 20, ALWAYS},
    {"vouch", step_vouch, 40, ALWAYS},
    {"renew", step_renew, 40, ALWAYS},
    {"loading", step_loading, 2, ALWAYS},
    {"rebuild start", step_rebuild_start, 20, ALWAYS},
    {"rebuild load", step_rebuild_load, 120, ALWAYS},
    {"rebuild check", step_rebuild_check, 30, ALWAYS},
    {"rebuild commit", step_rebuild_commit, 50, ALWAYS},
    {"rebuild abort", step_rebuild_abort, 3, ALWAYS},
    {"delete", step_delete, 2, ALWAYS},
    {"drop table", step_drop, 2, ALWAYS},
    {"rename", step_rename, 3, ALWAYS},
    {"move", step_move, 5, ALWAYS},
    {"swapdb", step_swap, 3, ALWAYS},
    {"copy", step_copy, 3, ALWAYS},
    {"flush", step_flush, 1, ALWAYS},
    {"dump", step_dump, 20, ALWAYS},
    {"restore", step_restore, 6, ALWAYS},
    {"expire", step_expire, 2, ALWAYS},
    {"bypass", step_bypass, 1, ALWAYS},
    {"squeeze", step_squeeze, 3, ALWAYS},
    {"fill memory", step_fill_memory, 100, EVICTING},
    {"bgsave", step_bgsave, 10, ALWAYS},
    {"bgrewriteaof", step_rewrite, 5, ALWAYS},
    {"waitaof", step_waitaof, 2, ALWAYS},
    {"reload", step_reload, 2, ALONE},
    {"kill -9", step_kill, 3, ALONE},
    {"power cut", step_power_cut, 2, ALONE},
    {"set a clock", step_set_clock, 1, ALONE},
    {"set a node's clock", step_set_clock, 2, IN_A_PAIR},
    {"hang the disk", step_hang_disk, 8, PROMISING_ALONE},
    {"shutdown", step_shutdown, 1, ALONE},
    {"wait", step_wait, 20, IN_A_PAIR},
    {"kill -9 the replica", step_kill_replica, 2, IN_A_PAIR},
    {"cut the link", step_cut_replica, 2, IN_A_PAIR},
    {"hang the replica", step_lag, 4, IN_A_PAIR},
    {"kill -9 the master", step_kill, 2, IN_A_PAIR},
    {"fail over", step_fail_over, 5, IN_A_PAIR},
    {"isolate the master", step_isolate, 2, IN_A_PAIR},
    {"bad line", step_bad_line, 20, IN_A_PAIR},
    {"restart the replica", step_restart_replica, 8, IN_A_PAIR},
    {"shutdown of the master", step_shutdown, 2, IN_A_PAIR},
    {"reload the master", step_reload, 2, IN_A_PAIR},
    {"reload the replica", step_reload_replica, 2, IN_A_PAIR},
    {"full sync", step_full_sync, 4, IN_A_PAIR},
    {"see-saw", step_see_saw, 4, IN_A_PAIR},
    {"turn a chain", step_turn_chain, 4, IN_A_PAIR},
    {"chain", step_chain, 3, TRUSTING_REPLICAS},
};

enum { NSTEPS = sizeof steps / sizeof *steps };

static int weight_of(const struct run *run, const struct step *s) {
    const struct mode *mode = run->mode;
    bool fits[] = {
        [ALWAYS] = true,
        [IN_A_PAIR] = mode->pair,
        [ALONE] = !mode->pair,
        [EVICTING] = mode->evicting,
        [PROMISING] = promise_of(run) != NO_PROMISE,
        [PROMISING_ALONE] = promise_of(run) != NO_PROMISE && !mode->pair,
        [TRUSTING_REPLICAS] = trusts(run, "replica"),
    };
    return fits[s->only] ? s->weight : 0;
}

static const struct step *any_step(struct run *run) {
    int sum = 0;
    for (int i = 0; i < NSTEPS; i++)
        sum += weight_of(run, &steps[i]);
    int left = any(run, sum);
    const struct step *s = steps;
    while ((left -= weight_of(run, s)) >= 0)
        s++;
    return s;
}

/* -------------------------------------------------------------------------
 * Runs
 * ---------------------------------------------------------------------- */

static void take_steps(struct run *run) {
    bool slow = run->mode->pair || promise_of(run) == BY_WAITAOF;
    int count = slow ? SLOW_STEPS : STEPS;
    for (int i = 0; i < count && !run->caught; i++) {
        const struct step *s = any_step(run);
        tally_event(s->name);
        s->run(run, any_place(run));
        if (run->mode->evicting && once_in(run, 4)) look_who_is_there(run);
    }
}

static void forget_run(struct run *run) {
    for (int i = 0; i < OLD_DUMPS; i++)
        free(run->dumps[i].bytes);
    memset(run->dumps, 0, sizeof run->dumps);
}

static void end_run(void *what) {
    struct run *run = what;
    if (test_failed())
        test_print("the run that failed: SEED=%llu repeats it alone",
                   (unsigned long long)run->seed);
    forget_run(run);
    for (int i = 0; i < NODES; i++)
        node_disconnect(&run->nodes[i]);
    free(run);
}

static void begin_run(struct run *run, uint64_t seed) {
    forget_run(run);
    memset(&run->now, 0, sizeof run->now);
    memset(run->tables, 0, sizeof run->tables);
    run->seed = run->random = seed;
    run->stamp = run->acknowledged = run->durable = 0;
    run->followers = 1;
    run->caught = run->bypassed = false;
    run->nagain = 0;
    run->resp3 = once_in(run, 2);
    run->missing = (enum missing)any(run, 3);
    if (run->mode->evicting && run->missing == MISSING_ABSENT) run->missing = MISSING_MAYBE;
    history_clear();
    nodes_begin(run);
}

static double torture_seconds(void) {
    const char *wanted = getenv("TORTURE_SECONDS");
    if (wanted && *wanted) return atof(wanted);
    return getenv("LONG") ? DEFAULT_SECONDS : 0;
}

static struct run *new_run(const struct mode *mode) {
    struct run *run = calloc(1, sizeof *run);
    CHECK(run != NULL);
    run->mode = mode;
    test_defer(end_run, run);
    journal_start();
    tally_clear();
    return run;
}

/* Work in which hardly anything is denied would prove nothing. */
static bool is_enough(enum where where) {
    int enough = where == AT_REPLICA ? ENOUGH_OF_A_REPLICA : ENOUGH_DENIED;
    return tally_denied_strangers(where) >= enough;
}

/* Nor would work without what its name says. */
static bool has_happened(const struct run *run) {
    if (run->mode->pair && tally_times(EVENT_PROMOTED) == 0) return false;
    return promise_of(run) == NO_PROMISE || tally_times(EVENT_PROMISED) > 0;
}

static void check_that_much_was_denied(enum where where) {
    long asked = tally_vouched_strangers(where), denied = tally_denied_strangers(where);
    test_case("%ld of %ld strangers were denied", denied, asked);
    CHECK(is_enough(where));
    /* Usually more than half; a short run may spend most of its time in doubt. */
    CHECK(where == AT_REPLICA || denied >= asked / 4);
}

static void torture(const struct mode *mode) {
    double start = seconds_now(), seconds = torture_seconds();
    test_time_limit((unsigned)(patient(300) + seconds));
    struct run *run = new_run(mode);
    enum where where = trusts(run, "replica") ? AT_REPLICA : AT_MASTER;
    uint64_t seed = test_seed();
    int runs = 0;
    do {
        begin_run(run, seed + (uint64_t)runs++);
        take_steps(run);
    } while (seconds_now() - start < seconds ||
             (!(is_enough(where) && has_happened(run)) && runs < MOST_RUNS));

    if (getenv("LONG")) {
        printf("\n  %s: %d runs from seed %llu on, %.0f s on %s\n", mode->name, runs,
               (unsigned long long)seed, seconds_now() - start, server_name());
        tally_print();
    }
    check_that_much_was_denied(where);
    CHECK(has_happened(run));
}

/* The driver is at fault: it has to be noticed, soon. */
static void must_be_caught(const struct mode *mode) {
    struct run *run = new_run(mode);
    for (int i = 0; i < MOST_RUNS && !run->caught; i++) {
        begin_run(run, test_seed() + (uint64_t)i);
        take_steps(run);
    }
    CHECK(run->caught);
}

/* -------------------------------------------------------------------------
 * Modes
 * ---------------------------------------------------------------------- */

#define TORTURE(...)        torture(&(struct mode){.name = __func__, __VA_ARGS__})
#define MUST_BE_CAUGHT(...) must_be_caught(&(struct mode){.name = __func__, __VA_ARGS__})

#define NO_FILES "save \"\""
#define RDB      "save 3600 1000000" /* Saved on request and on shutdown only. */
#define EVERYSEC "appendonly yes\nappendfsync everysec"
#define FSYNC    "appendonly yes\nappendfsync always"
#define REWRITTEN                                                                          \
    "appendonly yes\nappendfsync everysec\naof-use-rdb-preamble no\n"                      \
    "auto-aof-rewrite-percentage 1\nauto-aof-rewrite-min-size 1"
#define EVICTED RDB "\nmaxmemory-policy allkeys-lru"

TEST(without_files_no_acknowledged_item_is_denied) {
    TORTURE(.config = NO_FILES);
}

TEST(with_rdb_files_no_acknowledged_item_is_denied) {
    TORTURE(.config = RDB);
}

TEST(with_an_aof_fsynced_now_and_then_no_acknowledged_item_is_denied) {
    TORTURE(.config = EVERYSEC);
}

TEST(with_an_aof_fsynced_always_no_acknowledged_item_is_denied) {
    TORTURE(.config = FSYNC, .restarts_lose_nothing = true);
}

TEST(with_a_rewritten_aof_no_acknowledged_item_is_denied) {
    TORTURE(.config = REWRITTEN);
}

TEST(under_eviction_no_acknowledged_item_is_denied) {
    TORTURE(.config = EVICTED, .evicting = true);
}

TEST(through_failovers_no_acknowledged_item_is_denied) {
    TORTURE(.config = RDB, .pair = true);
}

TEST(trusting_restarts_with_an_aof_fsynced_always_no_item_is_denied) {
    TORTURE(.config = FSYNC, .trust = "restart", .restarts_lose_nothing = true);
}

TEST(trusting_restarts_no_item_is_denied_that_waitaof_has_promised) {
    if (!server_waits_for_its_disk())
        SKIP("%s has no WAITAOF that can be believed", server_name());
    TORTURE(.config = EVERYSEC, .trust = "restart");
}

TEST(trusting_restarts_with_rdb_files_no_saved_item_is_denied) {
    TORTURE(.config = RDB, .trust = "restart");
}

TEST(trusting_failovers_no_item_is_denied_that_the_replica_had) {
    TORTURE(.config = RDB, .trust = "failover", .pair = true);
}

TEST(trusting_replicas_no_item_is_denied_that_the_replica_had) {
    TORTURE(.config = RDB, .trust = "replica", .pair = true);
}

/* -------------------------------------------------------------------------
 * The driver can fail
 * ---------------------------------------------------------------------- */

TEST(vouching_without_replaying_is_caught) {
    MUST_BE_CAUGHT(.config = RDB, .vouches_without_replaying = true);
}

/* It takes minutes. */
TEST_IF(getenv("LONG"), trusting_what_a_replica_may_lack_is_caught) {
    MUST_BE_CAUGHT(.config = RDB, .trust = "failover", .pair = true,
                   .trusts_too_much = true);
}

TEST(trusting_what_is_not_durable_is_caught) {
    MUST_BE_CAUGHT(.config = RDB, .trust = "restart", .trusts_too_much = true);
}
