/* SPDX-License-Identifier: BSD-3-Clause */
/* fill_bench.c - bulwark fill beside other ways to send a table's ids.
 *
 *     SERVER=/path/to/redis-server MODULE=./bulwark.so PROGRAM=./bulwark
 *
 * All ways rebuild the same filter with the same decimal ids. `LOAD alone` is the measure:
 * LOADs that were written down before the clock starts, sent from the file by sendfile(),
 * so that the server is all that works. `COPY alone` is what PostgreSQL takes to write the
 * ids to /dev/null.
 *
 * bulwark does all of it: it counts the source, then START, LOAD, CHECK, COMMIT. For the
 * others START and COMMIT are outside of the clock. Each COMMIT names the number of ids: a
 * way that loses one ends the program. What is not to be had (PostgreSQL, redis-cli,
 * redis-py) is skipped by name.
 *
 * In each round all ways have their turn. Shown is the median of the rounds, and of their
 * ratios to LOAD alone in the same round; the file has every round. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "integration/harness/database.h"
#include "target.h"

#define ROUNDS_MAX 5

/* What a way needs, besides the server. */
enum { NOTHING = 0, DATABASE = 1, CLIENT = 2, PYTHON = 4 };

/* WHOLE and COPY need no START and COMMIT from us; ALONE and READY need LOADs in a file. */
enum sort { ALONE, COPY, WHOLE, READY, LOADS };

struct way {
    const char *name;
    enum sort sort;
    unsigned needs;
    const char *command; /* for the shell */
};

#define FILL "$PROGRAM fill users -p $PORT --settle 0 --json "

static const struct way ways[] = {
    {"LOAD alone", ALONE, NOTHING, NULL},
    {"bulwark fill --from FILE", WHOLE, NOTHING, FILL "--from $IDS"},
    {"redis-cli --pipe, ready file", READY, CLIENT, "$CLIENT -p $PORT --pipe <$READY"},
    {"redis-cli --pipe, from awk", LOADS, CLIENT,
     "awk -v token=$TOKEN -f tests/bench/loads.awk $IDS | $CLIENT -p $PORT --pipe"},
    {"redis-py, pipelines", LOADS, PYTHON,
     "$PYTHON tests/bench/loads.py $PORT $TOKEN <$IDS"},
    {"COPY alone", COPY, DATABASE, NULL},
    {"bulwark fill --pg --table", WHOLE, DATABASE, FILL "--pg \"$PG\" --table users"},
    {"bulwark fill --pg --query", WHOLE, DATABASE,
     FILL "--pg \"$PG\" --query 'SELECT id FROM users'"},
};
#define WAYS (sizeof ways / sizeof *ways)

struct figures {
    double seconds, ratio;
    double server, client, database; /* seconds that they computed */
    double peak;                     /* bytes: the client's, or its largest process's */
};

static struct figures seen[WAYS][ROUNDS_MAX];
static struct target target;
static struct database *database;
static char ids[128], ready[128];
static unsigned missing; /* of what ways need */

static long items(void) {
    return is_quick() ? 1000000 : 10000000;
}

static unsigned rounds(void) {
    return is_quick() ? 3 : ROUNDS_MAX;
}

/* ---- what is measured ---- */

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void add_client(struct figures *g, const struct rusage *use) {
    g->client = seconds_of(use->ru_utime) + seconds_of(use->ru_stime);
    g->peak = (double)use->ru_maxrss * 1024;
}

/* What its sessions computed, of those that have ended. */
static double database_cpu(void) {
    char path[64];
    double user, system;
    if (!database) return 0;
    usleep(100000); /* until the last one has ended */
    snprintf(path, sizeof path, "/proc/%d/stat", database->pid);
    FILE *in = fopen(path, "r");
    if (!in || fscanf(in,
                      "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                      "%*u %lf %lf",
                      &user, &system) != 2)
        die("can't read %s", path);
    fclose(in);
    return (user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- the ways ---- */

static void start_rebuild(void) {
    char token[17];
    const char *reply =
        ask_target(target.fd, "BF.REBUILD users START CAPACITY %ld", items() / 5 * 6);
    if (sscanf(reply, "$16\r\n%16s", token) != 1) die("no token: %s", reply);
    setenv("TOKEN", token, 1);
}

static void commit_rebuild(void) {
    ask_target(target.fd, "BF.REBUILD users COMMIT %s %ld", getenv("TOKEN"), items());
}

/* Ends the program unless the command ends well; what it prints goes to a log. */
static struct rusage run(const char *command) {
    struct rusage use;
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) die("can't fork");
    if (pid == 0) {
        int log = open("build/bench/fill.log", O_WRONLY | O_CREAT | O_APPEND, 0666);
        dup2(log, 1);
        dup2(log, 2);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (wait4(pid, &status, 0, &use) != pid || status != 0)
        die("failed: %s: see build/bench/fill.log", command);
    return use;
}

/* Reads what has come of the replies, one an integer, and returns how many they are. */
static size_t count_replies(void) {
    char replies[4096];
    size_t n = 0;
    ssize_t got = recv(target.fd, replies, sizeof replies, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) die("the server is gone");
    for (ssize_t i = 0; i < got; i++) {
        if (replies[i] == '-') die("LOAD is refused: %.80s", replies + i);
        n += replies[i] == '\n';
    }
    return n;
}

/* The server always has something to read. */
static void send_ready(void) {
    struct stat st;
    off_t at = 0;
    size_t wanted = ((size_t)items() + 999) / 1000, came = 0;
    int file = open(ready, O_RDONLY | O_CLOEXEC), flags = fcntl(target.fd, F_GETFL);
    if (file < 0 || fstat(file, &st) != 0) die("no %s", ready);
    fcntl(target.fd, F_SETFL, flags | O_NONBLOCK);
    while (came < wanted) {
        struct pollfd p = {.fd = target.fd, .events = POLLIN};
        if (at < st.st_size) p.events |= POLLOUT;
        poll(&p, 1, -1);
        if ((p.revents & POLLOUT) &&
            sendfile(target.fd, file, &at, (size_t)(st.st_size - at)) < 0 &&
            errno != EAGAIN)
            die("the server is gone");
        if (p.revents & ~POLLOUT) came += count_replies();
    }
    fcntl(target.fd, F_SETFL, flags);
    close(file);
}

static struct rusage run_alone(void) {
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    send_ready();
    getrusage(RUSAGE_SELF, &after);
    timersub(&after.ru_utime, &before.ru_utime, &after.ru_utime);
    timersub(&after.ru_stime, &before.ru_stime, &after.ru_stime);
    return after;
}

static struct rusage run_copy(void) {
    database_run(database, "COPY (SELECT id FROM users) TO '/dev/null'");
    return (struct rusage){.ru_maxrss = 0};
}

static void measure(const struct way *w, unsigned round) {
    struct figures *g = &seen[w - ways][round];
    bool rebuilds = w->sort != COPY && w->sort != WHOLE;
    if (rebuilds) start_rebuild();
    if (rebuilds && w->sort != LOADS)
        run("awk -v token=$TOKEN -f tests/bench/loads.awk $IDS >$READY");
    double server = target_cpu(&target), copied = database_cpu(), began = seconds();
    struct rusage use = w->sort == ALONE  ? run_alone()
                        : w->sort == COPY ? run_copy()
                                          : run(w->command);
    g->seconds = seconds() - began;
    g->server = target_cpu(&target) - server;
    g->database = database_cpu() - copied;
    g->ratio = g->seconds / seen[0][round].seconds;
    add_client(g, &use);
    if (rebuilds) commit_rebuild();
}

/* ---- showing ---- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of one field of all rounds. */
static double median(const struct figures *rows, size_t field) {
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < rounds(); i++)
        memcpy(&values[i], (const char *)&rows[i] + field, sizeof *values);
    qsort(values, rounds(), sizeof *values, by_size);
    return values[rounds() / 2];
}
#define MEDIAN(way, field) median(seen[way], offsetof(struct figures, field))

static void show(void) {
    printf("\n%s, %ld decimal ids, the medians of %u rounds\n", target.version, items(),
           rounds());
    printf("                                seconds  M ids/s  beside LOAD  cpu s: server  "
           "client  database  peak MiB\n");
    for (size_t w = 0; w < WAYS; w++) {
        if (ways[w].needs & missing) continue;
        double time = MEDIAN(w, seconds);
        printf("  %-29s %7.2f  %7.2f  %11.2f  %13.2f  %6.2f  %8.2f  %8.1f\n", ways[w].name,
               time, (double)items() / time / 1e6, MEDIAN(w, ratio), MEDIAN(w, server),
               MEDIAN(w, client), MEDIAN(w, database), MEDIAN(w, peak) / (1 << 20));
    }
}

static void write_rounds(FILE *out) {
    fprintf(out, "server,way,round,items,seconds,beside_load_alone,server_cpu_s,"
                 "client_cpu_s,database_cpu_s,client_peak_bytes\n");
    for (size_t w = 0; w < WAYS; w++) {
        if (ways[w].needs & missing) continue;
        for (unsigned i = 0; i < rounds(); i++) {
            const struct figures *g = &seen[w][i];
            fprintf(out, "%s,\"%s\",%u,%ld,%.3f,%.3f,%.3f,%.3f,%.2f,%.0f\n", target.version,
                    ways[w].name, i + 1, items(), g->seconds, g->ratio, g->server,
                    g->client, g->database, g->peak);
        }
    }
}

/* ---- preparing ---- */

static void lack(unsigned what, const char *name) {
    missing |= what;
    printf("skip: no %s to be had\n", name);
}

static void find_programs(void) {
    char client[512];
    const char *server = target.binary, *slash = strrchr(server, '/');
    snprintf(client, sizeof client, "%.*sredis-cli", slash ? (int)(slash - server) + 1 : 0,
             server);
    setenv("CLIENT", client, 1);
    setenv("PYTHON", "build/deps/redis-py/python3", 1);
    setenv("PROGRAM", variable("PROGRAM", "./bulwark"), 1);
    if (slash && access(client, X_OK) != 0) lack(CLIENT, "redis-cli beside the server");
    if (access(getenv("PYTHON"), X_OK) != 0) lack(PYTHON, "redis-py");
}

static void make_files(void) {
    char port[16];
    snprintf(port, sizeof port, "%d", target.port);
    snprintf(ids, sizeof ids, "%s/ids.txt", target.directory);
    snprintf(ready, sizeof ready, "%s/loads", target.directory);
    setenv("PORT", port, 1);
    setenv("IDS", ids, 1);
    setenv("READY", ready, 1);
    FILE *out = fopen(ids, "w");
    for (long i = 1; out && i <= items(); i++)
        fprintf(out, "%ld\n", i);
    if (!out || fclose(out) != 0) die("can't write %s", ids);
}

static void make_table(void) {
    if (access("build/deps/postgres/bin/postgres", X_OK) != 0) {
        lack(DATABASE, "PostgreSQL");
        return;
    }
    database = database_start(.config = "autovacuum = off\nmax_wal_size = 8GB\n");
    database_run(database,
                 "CREATE TABLE users AS SELECT id FROM generate_series(1, %ld) AS id",
                 items());
    database_run(database, "ALTER TABLE users ADD PRIMARY KEY (id)");
    database_run(database, "VACUUM ANALYZE users");
    setenv("PG", database->conninfo, 1);
}

int main(void) {
    refuse_slow_build();
    target.name = "bulwark";
    target.binary = variable("SERVER", "redis-server");
    target.module = module_path(variable("MODULE", "./bulwark.so"));
    target_start(&target, -1);
    find_programs();
    make_files();
    make_table();

    FILE *out = open_results("fill.csv");
    describe_build(stdout, "");
    describe_build(out, "# ");
    for (unsigned round = 0; round < rounds(); round++)
        for (size_t w = 0; w < WAYS; w++)
            if (!(ways[w].needs & missing)) measure(&ways[w], round);
    show();
    write_rounds(out);
    fclose(out);
    return 0;
}
