/* SPDX-License-Identifier: BSD-3-Clause */
/* soak.c - a long run of what a server sees, and the verdict.
 *
 *     SERVER=/path/to/redis-server PROGRAM=./bulwark MINUTES=60
 *     MODULE=build/plain/soak/bulwark.so ROUNDS=build/plain/preload/rounds.so
 *
 * This MODULE says when it is at work, and ROUNDS notes it: see pauses.h. Exit status 1: a
 * member was denied, a request refused, a fill failed, a pause of ours was too long, memory
 * creeps, or the run had nothing of what it is to prove. */
#include "soak.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chores.h"
#include "memory.h"
#include "mix.h"
#include "pauses.h"
#include "prober.h"
#include "wire.h"

#define WINDOW      10.0  /* seconds */
#define LOOK_EVERY  1.0   /* at memory */
#define PAUSE_BOUND 0.005 /* seconds: what is promised */
#define ROW_ROOM    "800mb"

/* ---- what the parts share ---- */

FILE *soak_file(const char *name, const char *head) {
    char path[256];
    snprintf(path, sizeof path, "build/soak/%s", name);
    if (mkdir("build/soak", 0777) != 0 && errno != EEXIST) die("no build/soak");
    FILE *out = fopen(path, "w");
    if (!out) die("can't write %s", path);
    describe_build(out, "# ");
    fprintf(out, "%s\n", head);
    return out;
}

/* In short sleeps, so that the end isn't waited for. */
bool soak_wait_until(struct soak *s, double moment) {
    for (;;) {
        double left = moment - seconds();
        if (atomic_load(&s->over)) return false;
        if (left <= 0) return true;
        if (left > 0.2) left = 0.2;
        struct timespec t = {0, (long)(left * 1e9)};
        nanosleep(&t, NULL);
    }
}

/* ---- servers ---- */

/* When a large filter is made in a full server, that evicts rows before each command until
 * there is room: for half a millisecond, unless it is told otherwise. A client who has sent
 * twenty commands would be ahead of others by ten milliseconds. Redis 6.0 can't be told. */
static void evict_gently(const struct target *t) {
    redisContext *c = wire_open(t);
    freeReplyObject(redisCommand(c, "CONFIG SET maxmemory-eviction-tenacity 1"));
    redisFree(c);
}

/* The allocator's own thread, above all, which the server doesn't know of. */
static void move_other_threads(const struct target *t) {
    char path[64];
    cpu_set_t others;
    CPU_ZERO(&others);
    CPU_SET(OF_OTHERS, &others);
    snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid);
    DIR *all = opendir(path);
    for (struct dirent *one; all && (one = readdir(all));) {
        pid_t thread = (pid_t)strtol(one->d_name, NULL, 10);
        if (thread > 0 && thread != t->pid)
            sched_setaffinity(thread, sizeof others, &others);
    }
    if (all) closedir(all);
}

/* Other processors than the main thread's are for whoever works beside it. What a lost
 * filter is asked, BF.EXISTS answers with 1, as the shield needs it. */
static void start_servers(struct soak *s) {
    static const char *const words[] = {
        "bf-missing-key", "maybe", "--maxmemory", ROW_ROOM, "--maxmemory-policy",
        "allkeys-lru", "--appendonly", "yes", "--auto-aof-rewrite-percentage", "0",
        "--repl-backlog-size", "16mb",
        /* OF_OTHERS */
        "--bio_cpulist", "1", "--bgsave_cpulist", "1", "--aof_rewrite_cpulist", "1", NULL};
    const char *binary = variable("SERVER", "redis-server");
    const char *module = module_path(variable("MODULE", "build/plain/soak/bulwark.so"));
    s->server = (struct target){
        .name = "server", .binary = binary, .module = module, .words = words};
    s->replica = (struct target){.name = "replica", .binary = binary, .module = module};
    pauses_before_server();
    target_start(&s->server, OF_SERVER);
    pauses_after_server(&s->server);
    evict_gently(&s->server);
    pin_to(OF_OTHERS);
    target_start(&s->replica, OF_OTHERS);
    ask_target(s->replica.fd, "REPLICAOF 127.0.0.1 %d", s->server.port);
}

/* ---- windows ---- */

struct waits {
    uint64_t counts[WAIT_STEPS];
};

/* What came since the last call, in ms: p50, p99, p99.9, longest. */
static void look_at(struct gauge *g, struct waits *before, double of[4], double *longest) {
    static const double shares[] = {0.5, 0.99, 0.999};
    static struct waits now, passed;
    gauge_read(g, now.counts);
    for (size_t i = 0; i < WAIT_STEPS; i++)
        passed.counts[i] = now.counts[i] - before->counts[i];
    *before = now;
    for (size_t i = 0; i < 3; i++)
        of[i] = wait_quantile(passed.counts, shares[i]) * 1e3;
    of[3] = atomic_exchange(&g->longest, 0) * 1e3;
    if (of[3] > *longest) *longest = of[3];
}

static unsigned long denied(const struct soak *s) {
    unsigned long n = 0;
    for (size_t i = 0; i < SUBJECTS; i++)
        n += atomic_load(&s->subjects[i].denied);
    return n;
}

/* Of the whole run, in ms. */
struct longest {
    double probe, mix;
};

/* A line a minute, so that whoever waits sees something. */
static void show_progress(double second, const double probe[4], const double mix[4]) {
    if ((long)(second + WINDOW / 2) % 60 >= (long)WINDOW) return;
    printf(
        "  %3.0f min   another client, ms: p50 %.3f, p99 %.3f, longest %.1f   the mix: p50 "
        "%.3f, p99 %.3f\n",
        second / 60, probe[0], probe[1], probe[3], mix[0], mix[1]);
    fflush(stdout);
}

static void end_window(struct soak *s, FILE *csv, struct longest *run) {
    static struct waits mix_before, probe_before;
    static unsigned long requests_before;
    double mix[4], probe[4], second = seconds() - s->began;
    unsigned long requests = atomic_load(&s->requests);
    look_at(&s->mix, &mix_before, mix, &run->mix);
    look_at(&s->probe, &probe_before, probe, &run->probe);
    fprintf(csv, "%.1f", second);
    const double *all[] = {probe, mix};
    for (size_t i = 0; i < 8; i++)
        fprintf(csv, ",%.3f", all[i / 4][i % 4]);
    struct longest_pause pause = pauses_take_longest();
    fprintf(csv, ",%.3f,%.3f,%.0f,%lu\n", pause.server * 1e3, pause.ours * 1e3,
            (double)(requests - requests_before) / WINDOW, denied(s));
    fflush(csv);
    show_progress(second, probe, mix);
    requests_before = requests;
}

/* ---- the end ---- */

static void tell_waits(const char *name, struct gauge *g, double longest) {
    struct waits none = {{0}};
    double of[4];
    look_at(g, &none, of, &longest);
    printf("  %-20s %9.3f %9.3f %9.3f %9.1f\n", name, of[0], of[1], of[2], longest);
}

static void tell_subjects(const struct soak *s) {
    printf(
        "\nFilter      questions about members: denied  unknown   about strangers: passed  "
        "asked for\n");
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *of = &s->subjects[i];
        double strangers = (double)atomic_load(&of->strangers);
        printf("  %-10s %22lu %7lu %8lu %17.0f %8.5f %9g\n", of->name,
               atomic_load(&of->members), atomic_load(&of->denied),
               atomic_load(&of->unsure), strangers,
               strangers > 0 ? (double)atomic_load(&of->passed) / strangers : 0, of->error);
    }
}

static bool fact(bool good, const char *words) {
    printf("  %s  %s\n", good ? "yes" : "NO ", words);
    return good;
}

/* Whether everybody had as many turns as was meant, and every filter has answered well. */
static bool was_asked(const struct soak *s) {
    bool all = (double)atomic_load(&s->requests) > 0.95 * mix_rate() * s->length;
    for (size_t i = 0; i < SUBJECTS; i++)
        all &= subject_was_useful(&s->subjects[i]);
    return all;
}

static bool verdict(struct soak *s, const struct longest *run) {
    printf("\nWaits, ms                    p50       p99     p99.9   longest\n");
    tell_waits("another client", &s->probe, run->probe);
    tell_waits("the mix", &s->mix, run->mix);
    double pause = pauses_tell();
    bool done = chores_tell();
    tell_subjects(s);
    bool enough, still = memory_tell(&enough);
    struct turnover t = memory_turnover(s);
    struct wire_errors errors = wire_errors();
    printf("\nRequests: %lu, refused: %lu, for a filter that was lost: %lu; rebuilds: %lu, "
           "failed: %lu; keys evicted: %.0f, expired: %.0f; ready filters evicted: %.0f; "
           "full syncs: %.0f\n\n",
           atomic_load(&s->requests), errors.refused, errors.lost,
           atomic_load(&s->rebuilds), atomic_load(&s->failed_fills), t.evicted, t.expired,
           t.filters_evicted, t.full_syncs);
    bool good = fact(denied(s) == 0, "no member was denied");
    good &= fact(was_asked(s), "strangers were, and everybody had each turn that was due");
    good &= fact(errors.refused == 0 && 100 * errors.lost < atomic_load(&s->requests) &&
                     atomic_load(&s->failed_fills) == 0,
                 "no request was refused, no fill failed");
    good &= fact(pause < PAUSE_BOUND,
                 "no pause of ours reached 5 ms, after the first two minutes");
    good &= fact(still && memory_all_comes_back(s), "nothing creeps, nothing is left over");
    bool lost = t.evicted > 0 && t.expired > 0 &&
                (t.filters_evicted > 0 || strstr(s->server.version, "v=6."));
    good &= fact(enough && lost && done,
                 "chores were done, rows and filters were evicted, others expired");
    return good;
}

int main(void) {
    static struct soak s;
    struct longest run = {0, 0};
    double minutes = strtod(variable("MINUTES", "60"), NULL);
    refuse_slow_build();
    signal(SIGPIPE, SIG_IGN);
    s.program = module_path(variable("PROGRAM", "./bulwark"));
    s.length = minutes * 60;
    subjects_prepare(s.subjects);
    start_servers(&s);
    printf("%s, %g minutes: preparing\n", s.server.version, minutes);
    fflush(stdout);
    memory_before(&s);
    mix_prepare(&s);
    chores_prepare(&s);
    move_other_threads(&s.server);

    FILE *csv =
        soak_file("windows.csv", "second,probe_p50,probe_p99,probe_p999,probe_longest,"
                                 "mix_p50,mix_p99,mix_p999,mix_longest,"
                                 "server_longest,ours_longest,requests_a_second,denied");
    s.began = seconds();
    memory_start(&s);
    pauses_start(&s);
    prober_start(&s);
    mix_start(&s);
    chores_start(&s);
    for (double at = LOOK_EVERY; at <= s.length; at += LOOK_EVERY) {
        soak_wait_until(&s, s.began + at);
        memory_look(&s);
        if ((long)at % (long)WINDOW == 0) end_window(&s, csv, &run);
    }
    atomic_store(&s.over, true);
    chores_end();
    sleep(1); /* who asks often has noticed by then */
    bool good = verdict(&s, &run);
    wire_end();
    fflush(NULL);
    return good ? 0 : 1;
}
