/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster_storm_test.c - whatever happens to clusters, and under sentinels: no committed
 * row is denied; see storm.h.
 *
 * An ordinary run is a few seconds of the first; with LONG=1, or TORTURE_SECONDS, each
 * lasts that long (120), and with LONG=1 the counts are printed. SEED= that of a failed run
 * repeats its choices, not its timing. */

#include "storm.h"

#include "files.h"

#include "random.h"

enum {
    SHORT_SECONDS = 3,
    A_MINUTE = 60,
    LONG_SECONDS = 120,
    PARTS = 128,
    TIMEOUT_MS = 1000,
};

#define QUIET  "save ''\nrepl-ping-replica-period 1\nrepl-diskless-sync-delay 0\n"
#define ALWAYS "appendonly yes\nappendfsync always\nno-appendfsync-on-rewrite no\n" QUIET

long storm_below(struct storm *s, long limit) {
    return (long)(random_next(&s->random) % (uint64_t)limit);
}

double storm_seconds(struct storm *s, double from, double to) {
    return from + (to - from) * (double)storm_below(s, 1000) / 1e3;
}

/* -------------------------------------------------------------------------
 * A storm
 * ---------------------------------------------------------------------- */

static void end_storm(void *what) {
    struct storm *s = what;
    for (int i = 0; i < STORM_WRITERS; i++)
        visitor_leave(&s->writers[i].visitor);
    visitor_leave(&s->reader);
    visitor_leave(&s->stray);
    free(s->rows);
    free(s->ordinal);
    free(s->added);
    free(s);
}

static struct storm *new_storm(const struct storm_mode *mode) {
    struct storm *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    test_defer(end_storm, s);
    s->mode = mode;
    s->random = test_seed();
    s->rows = calloc(ITEMS_MAX, sizeof *s->rows);
    s->ordinal = calloc(ITEMS_MAX, sizeof *s->ordinal);
    s->added = calloc(ITEMS_MAX, sizeof *s->added);
    s->stray.direct = true;
    s->database = database_shared();
    for (int i = 0; i < STORM_NODES; i++)
        s->cut_at[i] = -1;
    for (int i = 0; i < STORM_WRITERS; i++)
        s->writers[i].session = database_connect(s->database);
    rows_before(s);
    faults_begin();
    story_begin();
    return s;
}

static void begin(struct storm *s) {
    for (int i = 0; i < STORM_WRITERS; i++)
        visitor_refresh(s, &s->writers[i].visitor);
    visitor_refresh(s, &s->reader);
    fill_to_the_end(s);
    s->at = seconds_now();
}

static struct storm *storm_over_cluster(const struct storm_mode *mode) {
    needs(602, "addresses of what a server sends");
    struct storm *s = new_storm(mode);
    const char *config = text_of("%scluster-allow-replica-migration no\n"
                                 "cluster-replica-validity-factor 0\n",
                                 mode->config);
    s->all =
        cluster_start(.masters = 3, .replicas = 3, .config = config,
                      .module_args = mode->trust, .timeout_ms = TIMEOUT_MS, .lines = true);
    s->n = s->all->n;
    memcpy(s->node, s->all->node, sizeof s->node);
    s->spread = spread_of(s->all, PARTS);
    for (unsigned part = 0; part < PARTS; part++)
        s->slot[part] = slot_of(cluster_link(s->all, 0), s->spread->key[part]);
    begin(s);
    return s;
}

static struct storm *storm_under_sentinels(const struct storm_mode *mode) {
    struct storm *s = new_storm(mode);
    s->watched = sentinels_start_with(mode->config, mode->trust);
    s->n = 2;
    s->node[0] = s->watched->master;
    s->node[1] = s->watched->replica;
    s->spread = spread_of(NULL, 0);
    begin(s);
    return s;
}

/* -------------------------------------------------------------------------
 * How it goes
 * ---------------------------------------------------------------------- */

static double seconds_wanted(void) {
    const char *wanted = getenv("TORTURE_SECONDS");
    if (wanted && *wanted) return atof(wanted);
    return getenv("LONG") ? LONG_SECONDS : SHORT_SECONDS;
}

static void print_counts(const struct storm *s) {
    const struct storm_counts *n = &s->counts;
    printf("\n  %s, %s, seed %llu\n", s->mode->name, server_name(),
           (unsigned long long)test_seed());
    faults_print();
    printf("  questions about rows %ld: maybe %ld, unknown %ld, errors %ld, denied %ld; "
           "by masters that were cut off %ld\n",
           n->asked, n->maybe, n->unknown, n->errors, n->wrong, n->gap);
    printf("  of %ld strangers %ld denied; %ld answers of any node, %ld of them maybe\n",
           n->strangers, n->strangers_denied, n->strays, n->strays_maybe);
    printf("  rows written %ld, given up %ld, WAIT said too few %ld\n", n->writes,
           n->given_up, n->short_waits);
    printf("  fills %ld: ended with 0 %ld, 3 %ld, 4 %ld, 6 %ld; parts moved %ld, broken "
           "off %ld\n",
           n->fills, n->codes[0], n->codes[3], n->codes[4], n->codes[6], n->moved,
           n->broken);
}

/* Filters that are in doubt all the time would prove nothing, nor masters that stay. */
static void check_that_it_was_one(const struct storm *s) {
    const struct storm_counts *n = &s->counts;
    struct storm_faults faults = faults_so_far();
    test_case("%ld of %ld strangers denied, %ld faults, %ld masters replaced",
              n->strangers_denied, n->strangers, faults.struck, faults.replaced);
    CHECK(n->strangers_denied > n->strangers / 10);
    CHECK(faults.struck > 0);
    CHECK(faults.replaced > 0 || seconds_wanted() < A_MINUTE);
}

static void rage(struct storm *s) {
    double until = seconds_now() + (s->mode->careless ? LONG_SECONDS : seconds_wanted());
    while (seconds_now() < until && !s->caught) {
        storm_fault(s);
        storm_move(s);
        storm_fill(s);
        storm_write(s, &s->writers[storm_below(s, STORM_WRITERS)]);
        for (int i = 0; i < 3; i++)
            storm_read(s);
        storm_stray(s);
    }
}

static void weather(struct storm *s) {
    test_time_limit((unsigned)(patient(400) + seconds_wanted()));
    rage(s);
    if (!s->caught) {
        story("the storm is over");
        moves_end(s);
        storm_heal(s);
        check_that_it_was_one(s);
        fill_to_the_end(s);
        storm_check_rows(s);
    }
    if (getenv("LONG")) print_counts(s);
}

static bool is_long(void) {
    return getenv("LONG") || getenv("TORTURE_SECONDS");
}

#define LONG_TEST(fact) TEST_IF(is_long(), fact)

TEST_OF_OTHERS(in_a_cluster_that_trusts_nothing_no_committed_row_is_denied) {
    static const struct storm_mode mode = {
        .name = "a cluster, nothing trusted", .config = QUIET, .moves = MOVES};
    weather(storm_over_cluster(&mode));
}

LONG_TEST(in_a_cluster_that_trusts_failovers_no_row_is_denied_that_wait_has_promised) {
    static const struct storm_mode mode = {.name = "a cluster, failovers and replicas",
                                           .config = QUIET,
                                           .trust = "bf-trust failover,replica",
                                           .waits = true};
    weather(storm_over_cluster(&mode));
}

LONG_TEST(in_a_cluster_that_trusts_restarts_no_row_is_denied_that_wait_has_promised) {
    static const struct storm_mode mode = {
        .name = "a cluster, restarts, failovers and replicas",
        .config = ALWAYS,
        .trust = "bf-trust restart,failover,replica",
        .waits = true};
    weather(storm_over_cluster(&mode));
}

LONG_TEST(in_a_cluster_that_trusts_moves_no_row_is_denied_that_wait_has_promised) {
    static const struct storm_mode mode = {.name = "a cluster, failovers and moves",
                                           .config = QUIET,
                                           .trust = "bf-trust failover,restore",
                                           .waits = true,
                                           .moves = MOVES_ALONE};
    weather(storm_over_cluster(&mode));
}

LONG_TEST(under_sentinels_that_trust_nothing_no_row_is_denied_that_wait_has_promised) {
    static const struct storm_mode mode = {
        .name = "sentinels, nothing trusted", .config = QUIET, .waits = true};
    weather(storm_under_sentinels(&mode));
}

LONG_TEST(under_sentinels_that_trust_failovers_no_row_is_denied_that_wait_has_promised) {
    static const struct storm_mode mode = {.name = "sentinels, failovers and replicas",
                                           .config = QUIET,
                                           .trust = "bf-trust failover,replica",
                                           .waits = true};
    weather(storm_under_sentinels(&mode));
}

/* The judge can fail. */
LONG_TEST(in_a_cluster_failovers_that_are_trusted_without_wait_are_caught) {
    static const struct storm_mode mode = {.name = "a cluster, no WAIT",
                                           .config = QUIET,
                                           .trust = "bf-trust failover",
                                           .careless = true};
    struct storm *s = storm_over_cluster(&mode);
    weather(s);
    CHECK(s->caught);
}
