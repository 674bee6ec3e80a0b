/* SPDX-License-Identifier: BSD-3-Clause */
/* demo.c - the play: what requests for nothing do to a database, and what keeps them away.
 *
 *     three runs     the same reads, then the same attack of ids that don't exist, on
 *                    a cache; a cache that keeps nulls; Bulwark
 *     the rebuild    the filter is rebuilt under full traffic while rows come and go,
 *                    and no real row is refused
 *
 *     QUICK=1        a few seconds of each
 *     ATTACK=n       requests a second of the attack (else: what the database here can
 *                    just answer)
 *
 * Ends with 0 if the proof holds and the attack was kept away, else 1 (2: it could not
 * be played). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "child.h"
#include "postgres.h"
#include "rebuild.h"
#include "rows.h"
#include "run.h"
#include "screen.h"

#define RESULTS "build/demo"
#define MIB     1048576.0
#define WAYS    3

/* The cache holds the hot rows (about 9 MiB) and the filter (2 MiB) with some room. */
static const struct scale whole = {.rows = 1000000,
                                   .hot_rows = 40000,
                                   .memory_limit = 20 << 20,
                                   .quiet = 5,
                                   .attack = 15,
                                   .reads = 2000,
                                   .writes = 500,
                                   .rebuild = 15};
static const struct scale quick = {.rows = 100000,
                                   .hot_rows = 10000,
                                   .memory_limit = 8 << 20,
                                   .quiet = 1,
                                   .attack = 2,
                                   .reads = 2000,
                                   .writes = 500,
                                   .rebuild = 6};

static struct scale choose_scale(void) {
    const char *q = getenv("QUICK"), *attack = getenv("ATTACK");
    struct scale s = q && *q && strcmp(q, "0") != 0 ? quick : whole;
    if (attack && *attack) s.attacks = (unsigned)strtoul(attack, NULL, 10);
    return s;
}

static FILE *open_results(void) {
    if (mkdir(RESULTS, 0777) != 0 && errno != EEXIST) die("no " RESULTS);
    FILE *out = fopen(RESULTS "/runs.csv", "w");
    if (!out) die("can't write " RESULTS "/runs.csv");
    fprintf(out, "# way,second,queries,reads,attacks,hits,p50,p99,bytes,evicted\n");
    return out;
}

/* ---- the table ---- */

#define ROW(what, format, expression)                                                      \
    do {                                                                                   \
        printf("  %-34s", what);                                                           \
        for (size_t way = 0; way < WAYS; way++) {                                          \
            const struct run *r = &runs[way];                                              \
            printf(" " format, expression);                                                \
        }                                                                                  \
        putchar('\n');                                                                     \
    } while (0)

/* A reader that waits longer than PATIENCE has gone. */
static const char *milliseconds(const struct sum *s, double share) {
    static char text[32];
    double wait = sum_quantile(s, share);
    if (wait >= PATIENCE) return "1000 or more";
    snprintf(text, sizeof text, "%.2f", 1e3 * wait);
    return text;
}

static double attack_rate(const struct run *r, enum count what) {
    return rate(&r->seen.attack, what, r->seen.attack_seconds);
}

static double given_up(const struct sum *s) {
    uint64_t reads = s->counts[READS];
    return reads ? (double)s->counts[GIVEN_UP] / (double)reads : 0;
}

static void print_table(const struct run runs[WAYS]) {
    printf("  %-34s %19s %19s %19s\n", "", way_names[0], way_names[1], way_names[2]);
    printf("Before the attack\n");
    ROW("database queries/s", "%19.0f",
        rate(&r->seen.quiet, QUERIES, r->seen.quiet_seconds));
    ROW("reads answered by the cache, %", "%19.1f", 100 * hit_share(&r->seen.quiet));
    ROW("readers wait: p50, ms", "%19s", milliseconds(&r->seen.quiet, 0.5));
    ROW("              p99, ms", "%19s", milliseconds(&r->seen.quiet, 0.99));
    printf("Under attack\n");
    ROW("requests for nothing/s", "%19.0f", attack_rate(r, ATTACKS));
    ROW("  of them given up after 1 s", "%19.0f", attack_rate(r, ATTACKS_LOST));
    ROW("database queries/s", "%19.0f", attack_rate(r, QUERIES));
    ROW("reads answered by the cache, %", "%19.1f", 100 * hit_share(&r->seen.attack));
    ROW("readers wait: p50, ms", "%19s", milliseconds(&r->seen.attack, 0.5));
    ROW("              p99, ms", "%19s", milliseconds(&r->seen.attack, 0.99));
    ROW("reads given up after 1 s, %", "%19.1f", 100 * given_up(&r->seen.attack));
    ROW("keys in the cache at the end", "%19llu", (unsigned long long)r->seen.cache.keys);
    ROW("memory at the end, MiB", "%19.1f", r->seen.cache.memory / MIB);
    ROW("  of it the filter, MiB", "%19.1f", r->filter_bytes / MIB);
    ROW("rows and nulls evicted", "%19llu", (unsigned long long)r->seen.cache.evicted);
    putchar('\n');
}

/* ---- the judgement ---- */

/* Ten times fewer queries is far from what is expected (fifty) and far from none. */
static bool kept_away(const struct run runs[WAYS]) {
    double unshielded = attack_rate(&runs[CACHE_ONLY], QUERIES);
    double shielded = attack_rate(&runs[SHIELDED], QUERIES);
    uint64_t refused = runs[SHIELDED].seen.quiet.counts[REFUSED] +
                       runs[SHIELDED].seen.attack.counts[REFUSED];
    say("The database was asked %.0f times as often without Bulwark.\n",
        unshielded / (shielded > 0 ? shielded : 1));
    if (refused > 0) say("Run 3 refused %llu real rows.", (unsigned long long)refused);
    return refused == 0 && shielded * 10 < unshielded;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    children_prepare();
    struct scale scale = choose_scale();
    FILE *csv = open_results();
    double began = seconds(), load[1] = {0};
    if (getloadavg(load, 1) != 1) load[0] = -1;

    postgres_start(scale.rows);
    struct rows *rows = rows_read((size_t)(scale.writes * scale.rebuild * 2) + 1000);
    struct database *db = database_open();
    if (scale.attacks == 0) scale.attacks = run_measure_database(&scale);
    say("PostgreSQL %s: %zu rows. %s. Ready after %.1f s.\n"
        "%ld processors, load %.2f before it began: what others do here shows in the "
        "waits.\n"
        "Each run: %u reads a second; after %.0f s an attack joins them, %u requests a "
        "second\n"
        "for random ids. Memory of the cache: %.0f MiB.\n",
        database_version(db), scale.rows, cache_version(), seconds() - began,
        sysconf(_SC_NPROCESSORS_ONLN), load[0], scale.reads, scale.quiet, scale.attacks,
        (double)scale.memory_limit / MIB);
    database_close(db);

    struct offer offer = {&scale, rows};
    struct run runs[WAYS];
    for (int way = CACHE_ONLY; way < WAYS; way++) {
        runs[way] = run_play((enum way)way, &offer, csv);
        if (way != SHIELDED) cache_stop();
    }
    fclose(csv);
    print_table(runs);
    bool holds = kept_away(runs);
    holds &= rebuild_play(&scale, rows);
    say("%s The play took %.0f s.",
        holds ? "Not one real row was refused." : "THE PROOF FAILED.", seconds() - began);
    rows_free(rows);
    return holds ? 0 : 1;
}
