/* SPDX-License-Identifier: BSD-3-Clause */
/* writer_bench.c - what a writer pays for a feed: INSERTs of a row each, committed to the
 * disk, by one client and by eight.
 *
 *     SERVER=/path/to/redis-server MODULE=./bulwark.so PROGRAM=./bulwark
 *
 *     no feed     nothing but the table
 *     lag         a feed follows it
 *     announce    ... and each statement waits until the feed has it
 *
 * Each way has a table of its own, and its feed runs only while it is measured. In each
 * round all ways have their turn; a ratio is of the same round, and the median of the
 * rounds is shown. Without PostgreSQL 17 it is skipped. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "integration/harness/database.h"
#include "target.h"

#define CLIENTS_MAX 8
#define ROUNDS_MAX  5
#define SAMPLES_MAX 400000 /* of a client, in one turn */

static const char *const ways[] = {"no feed", "lag", "announce"};
enum { NO_FEED, LAG, ANNOUNCE, WAYS };

static const unsigned crowds[] = {1, CLIENTS_MAX};
enum { CROWDS = sizeof(crowds) / sizeof(*crowds) };

struct figures {
    double a_second, ratio, median, late, longest; /* ms; late: 99 of 100 are earlier */
};

struct client {
    pthread_t thread;
    int session;
    const char *sql;
    double *took; /* s */
    size_t n;
};

static struct figures seen[CROWDS][WAYS][ROUNDS_MAX];
static struct target target;
static struct database *database;
static char directory[] = "/tmp/bulwark-writers-XXXXXX";
static atomic_bool ends;

static unsigned rounds(void) {
    return is_quick() ? 1 : ROUNDS_MAX;
}

/* ---- the feed ---- */

static void write_config(int way) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%d.conf", directory, way);
    FILE *out = fopen(path, "w");
    if (!out) die("can't write %s", path);
    fprintf(out,
            "database = %s\nserver = 127.0.0.1:%d\nfilter = f%d\ntable = t%d\n"
            "item = user:{id}\nerror = 0.001\ncapacity = 10M\nguarantee = %s\n",
            database->conninfo, target.port, way, way, ways[way]);
    fclose(out);
}

static void install(int way) {
    char command[300], *sql = NULL;
    size_t length;
    snprintf(command, sizeof(command), "%s feed sql %s/%d.conf",
             variable("PROGRAM", "./bulwark"), directory, way);
    FILE *in = popen(command, "r"), *out = open_memstream(&sql, &length);
    if (!in) die("can't run %s", command);
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(out);
    if (pclose(in) != 0) die("%s fails", command);
    database_run(database, "%s", sql);
    free(sql);
}

static pid_t start_feed(int way) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%d.conf", directory, way);
    pid_t pid = fork();
    if (pid < 0) die("can't fork");
    if (pid == 0) {
        const char *program = variable("PROGRAM", "./bulwark");
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* die() leaves nobody behind */
        freopen("build/bench/writer.log", "a", stderr);
        execl(program, program, "feed", "run", path, (char *)NULL);
        _exit(127);
    }
    while (strncmp(ask_target(target.fd, "BF.CHECK f%d never", way), "+absent", 7) != 0 &&
           strncmp(ask_target(target.fd, "BF.CHECK f%d never", way), "$6", 2) != 0) {
        if (waitpid(pid, NULL, WNOHANG) != 0) die("no feed: see build/bench/writer.log");
        usleep(10000);
    }
    return pid;
}

static void end_feed(pid_t pid) {
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

/* ---- writers ---- */

static void *write_rows(void *what) {
    struct client *c = what;
    while (!ends && c->n < SAMPLES_MAX) {
        double began = seconds();
        char *answer = database_try(c->session, "%s", c->sql);
        if (!answer) die("an INSERT is refused");
        free(answer);
        c->took[c->n++] = seconds() - began;
    }
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static struct figures summary(struct client *clients, unsigned n, double took) {
    double *all = malloc(n * SAMPLES_MAX * sizeof(*all));
    size_t count = 0;
    if (!all) die("no memory");
    for (unsigned i = 0; i < n; i++) {
        memcpy(all + count, clients[i].took, clients[i].n * sizeof(*all));
        count += clients[i].n;
    }
    if (count == 0) die("no INSERT has ended");
    qsort(all, count, sizeof(*all), by_size);
    struct figures g = {.a_second = (double)count / took,
                        .median = 1000 * all[count / 2],
                        .late = 1000 * all[count * 99 / 100],
                        .longest = 1000 * all[count - 1]};
    free(all);
    return g;
}

static struct figures write_for_a_while(int way, unsigned n) {
    static struct client clients[CLIENTS_MAX];
    char sql[64];
    snprintf(sql, sizeof(sql), "INSERT INTO t%d DEFAULT VALUES", way);
    ends = false;
    double began = seconds();
    for (unsigned i = 0; i < n; i++) {
        struct client *c = &clients[i];
        *c = (struct client){.sql = sql, .session = database_connect(database)};
        c->took = malloc(SAMPLES_MAX * sizeof(double));
        if (!c->took || pthread_create(&c->thread, NULL, write_rows, c) != 0)
            die("no thread");
    }
    usleep(is_quick() ? 1000000 : 4000000);
    ends = true;
    for (unsigned i = 0; i < n; i++)
        pthread_join(clients[i].thread, NULL);
    struct figures g = summary(clients, n, seconds() - began);
    for (unsigned i = 0; i < n; i++) {
        close(clients[i].session);
        free(clients[i].took);
    }
    return g;
}

static void measure(unsigned crowd, int way, unsigned round) {
    struct figures *g = &seen[crowd][way][round];
    pid_t feed = way == NO_FEED ? 0 : start_feed(way);
    *g = write_for_a_while(way, crowds[crowd]);
    if (feed) end_feed(feed);
    g->ratio = g->a_second / seen[crowd][NO_FEED][round].a_second;
}

/* ---- figures ---- */

static double median_of(unsigned crowd, int way, size_t offset) {
    double values[ROUNDS_MAX];
    for (unsigned r = 0; r < rounds(); r++)
        values[r] = *(const double *)((const char *)&seen[crowd][way][r] + offset);
    qsort(values, rounds(), sizeof(*values), by_size);
    return values[rounds() / 2];
}

#define MEDIAN(member) median_of(crowd, way, offsetof(struct figures, member))

static void show(void) {
    printf("\nINSERTs, PostgreSQL %d\n%-8s %-10s %9s %7s %9s %9s %9s\n", database->version,
           "clients", "feed", "a second", "ratio", "median ms", "99% ms", "longest");
    for (unsigned crowd = 0; crowd < CROWDS; crowd++)
        for (int way = 0; way < WAYS; way++)
            printf("%-8u %-10s %9.0f %7.2f %9.2f %9.2f %9.2f\n", crowds[crowd], ways[way],
                   MEDIAN(a_second), MEDIAN(ratio), MEDIAN(median), MEDIAN(late),
                   MEDIAN(longest));
}

static void write_rounds(FILE *out) {
    fputs("clients,feed,round,a_second,ratio,median_ms,late_ms,longest_ms\n", out);
    for (unsigned crowd = 0; crowd < CROWDS; crowd++)
        for (int way = 0; way < WAYS; way++)
            for (unsigned r = 0; r < rounds(); r++) {
                const struct figures *g = &seen[crowd][way][r];
                fprintf(out, "%u,%s,%u,%.1f,%.4f,%.4f,%.4f,%.4f\n", crowds[crowd],
                        ways[way], r, g->a_second, g->ratio, g->median, g->late,
                        g->longest);
            }
}

/* Commits reach the disk: that is what a wait is to be compared with. */
static void make_tables(void) {
    database =
        database_start(.version = 17, .config = "wal_level = logical\nfsync = on\n"
                                                "max_wal_size = 4GB\nautovacuum = off\n");
    for (int way = 0; way < WAYS; way++) {
        database_run(database, "CREATE TABLE t%d (id bigserial PRIMARY KEY)", way);
        if (way == NO_FEED) continue;
        write_config(way);
        install(way);
    }
}

int main(void) {
    refuse_slow_build();
    if (access("build/deps/postgres-17/bin/postgres", X_OK) != 0) {
        puts("\nskipped: writers beside a feed (no PostgreSQL 17 here)");
        return 0;
    }
    setenv("TMPDIR", "/var/tmp", false); /* a disk: /tmp may be in memory */
    target.name = "bulwark";
    target.binary = variable("SERVER", "redis-server");
    target.module = module_path(variable("MODULE", "./bulwark.so"));
    target_start(&target, -1);
    if (!mkdtemp(directory)) die("no directory");
    make_tables();

    FILE *out = open_results("writer.csv");
    describe_build(stdout, "");
    describe_build(out, "# ");
    for (unsigned round = 0; round < rounds(); round++)
        for (unsigned crowd = 0; crowd < CROWDS; crowd++)
            for (int way = 0; way < WAYS; way++)
                measure(crowd, way, round);
    show();
    write_rounds(out);
    fclose(out);
    for (int way = LAG; way < WAYS; way++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%d.conf", directory, way);
        unlink(path);
    }
    rmdir(directory);
    return 0;
}
