/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <stdlib.h>
#include <unistd.h>

#define STILL_AFTER 2.0 /* seconds: by then rows have taken the old generation's room */
#define WARM_UP     0.1 /* of the run: until what a run has once, each buffer, is there */
#define KEPT        1024
#define ENOUGH      6 /* looks: two in each third */

#define FREED_WITHIN 30.0       /* seconds */
#define BUFFERS      (24 << 20) /* the backlog of 16 MiB, and what else isn't given back */

/* What is compared. */
enum { RESIDENT, ROW, PROGRAM, FIGURES };
static const struct {
    const char *name, *unit;
    double scale, bound; /* how much more is creeping: several times what runs scatter */
} figures[FIGURES] = {
    [RESIDENT] = {"resident memory of the server", "MiB", 1 << 20, 1.10},
    [ROW] = {"all but filters, of each row", "bytes", 1, 1.02},
    [PROGRAM] = {"peak of bulwark fill", "MiB", 1 << 20, 1.10},
};

struct look {
    double second, of[FIGURES];
};

static FILE *csv;
static struct look looks[KEPT]; /* at rest */
static size_t nlooks;
static unsigned long commits;
static double used_at_start;
static double committed; /* when the last fill was seen; 0: it has had its look */

void memory_before(const struct soak *s) {
    used_at_start = info_number(s->server.fd, "memory", "used_memory");
}

void memory_start(struct soak *s) {
    commits = atomic_load(&s->commits);
    csv = soak_file("memory.csv", "second,used,resident,fragmentation,filter_bytes,filters,"
                                  "rows,evicted,expired,program_peak,at_rest");
}

/* Once after each fill, a while later. */
static bool is_at_rest(struct soak *s) {
    unsigned long seen = atomic_load(&s->commits);
    if (seen != commits) {
        commits = seen;
        committed = seconds();
    }
    if (committed == 0 || seconds() - committed < STILL_AFTER) return false;
    committed = 0;
    return true;
}

void memory_look(struct soak *s) {
    int fd = s->server.fd;
    bool rest = is_at_rest(s);
    double used = info_number(fd, "memory", "used_memory");
    double resident = info_number(fd, "memory", "used_memory_rss");
    double bytes = info_number(fd, "bf", "bf_bytes");
    double n = info_number(fd, "bf", "bf_filters");
    double rows = strtod(ask_target(fd, "DBSIZE") + 1, NULL) - n;
    double peak = (double)atomic_load(&s->program_peak);
    double second = seconds() - s->began;
    fprintf(csv, "%.1f,%.0f,%.0f,%.3f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%d\n", second, used,
            resident, resident / used, bytes, n, rows,
            info_number(fd, "stats", "evicted_keys"),
            info_number(fd, "stats", "expired_keys"), peak, rest);
    fflush(csv);
    if (!rest || nlooks == KEPT || second < WARM_UP * s->length) return;
    looks[nlooks++] = (struct look){second, {resident, (used - bytes) / rows, peak}};
}

/* ---- the verdict ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(size_t from, size_t to, int figure) {
    double of[KEPT];
    for (size_t i = from; i < to; i++)
        of[i - from] = looks[i].of[figure];
    qsort(of, to - from, sizeof *of, compare);
    return of[(to - from) / 2];
}

bool memory_tell(bool *enough) {
    bool still = true;
    size_t third = nlooks / 3;
    *enough = nlooks >= ENOUGH;
    printf("\nMemory after fills: medians of %zu looks\n"
           "                                first third  last third  change\n",
           nlooks);
    for (int f = 0; *enough && f < FIGURES; f++) {
        double first = median(0, third, f), last = median(nlooks - third, nlooks, f);
        bool creeps = last > first * figures[f].bound;
        printf("  %-29s %9.1f %11.1f %+7.2f %% %s%s\n", figures[f].name,
               first / figures[f].scale, last / figures[f].scale, 100 * (last / first - 1),
               figures[f].unit, creeps ? "  CREEPS" : "");
        still &= !creeps;
    }
    return still;
}

/* What is large is given back in the background. */
bool memory_all_comes_back(const struct soak *s) {
    int fd = s->server.fd;
    double filters, bytes, more, end = seconds() + FREED_WITHIN;
    bool all;
    ask_target(fd, "FLUSHALL");
    do {
        usleep(100000);
        filters = info_number(fd, "bf", "bf_filters");
        bytes = info_number(fd, "bf", "bf_bytes");
        more = info_number(fd, "memory", "used_memory") - used_at_start;
        all = filters == 0 && bytes == 0 && more < BUFFERS;
    } while (!all && seconds() < end);
    printf("\nAfter FLUSHALL: %.0f filters of %.0f bytes, %.1f MiB more in use than at the "
           "start\n",
           filters, bytes, more / (1 << 20));
    return all;
}

struct turnover memory_turnover(const struct soak *s) {
    int fd = s->server.fd;
    return (struct turnover){.evicted = info_number(fd, "stats", "evicted_keys"),
                             .expired = info_number(fd, "stats", "expired_keys"),
                             .full_syncs = info_number(fd, "stats", "sync_full"),
                             .filters_evicted = info_number(fd, "bf", "bf_ready_evicted")};
}
