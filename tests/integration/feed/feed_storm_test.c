/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_storm_test.c - everything fails at random, more than one thing at a time; the
 * judge finds nothing.
 *
 * * Now and then all is well again: then the feed must vouch, hold back no more WAL
 * than it may, and take no more memory than it did. The ordinary test is some seconds
 * long; with LONG=1 it takes TORTURE_SECONDS (120), and prints what happened. */

#include "files.h"
#define LONG_SCENES
#include "scene.h"
#include "states.h"

#include <signal.h>

enum {
    SECONDS = 8,
    LONG_SECONDS = 120,
    CALM_EVERY = 6,  /* events */
    HANGS_MS = 1800, /* at most: lease, and more */
    HELD_MB = 64,    /* WAL: keep = 2s, and a segment or two */
    GROWTH_KB = 8192 /* of the feed's memory */
};

struct storm {
    struct scene *scene;
    double until;
    long happened[16];
    pid_t feed;     /* the process that was measured ... */
    long memory_kb; /* ... and how large it was when first seen calm */
};

/* A little while, in which rows come. */
static void wait_some(void) {
    usleep((useconds_t)(random_below(HANGS_MS) * 1000));
}

/* ---- events ---- */

static void kill_feed(struct scene *s) {
    feed_kill(s->feed);
    wait_some();
    feed_start_again(s->feed);
}

static void hang_feed(struct scene *s) {
    program_signal(s->feed->program, SIGSTOP);
    wait_some();
    program_signal(s->feed->program, SIGCONT);
}

static void hang_line(struct proxy *p) {
    proxy_stop(p);
    wait_some();
    proxy_resume(p);
}

static void hang_database_line(struct scene *s) {
    hang_line(s->to_database);
}

static void hang_server_line(struct scene *s) {
    hang_line(s->to_server);
}

static void cut_lines(struct scene *s) {
    proxy_cut(s->to_database);
    proxy_cut(s->to_server);
}

static void restart_server(struct scene *s) {
    server_kill(s->server);
    server_start_again(s->server);
}

static void save_server(struct scene *s) {
    save(client(s->server));
}

static void cut_power(struct scene *s) {
    server_power_cut(s->server);
    server_start_again(s->server);
}

static void hang_server(struct scene *s) {
    server_pause(s->server);
    wait_some();
    server_resume(s->server);
}

static void set_clock(struct scene *s) {
    server_set_clock(s->server, (long long)random_below(21) - 10);
}

static void raise_alarm(struct scene *s) {
    callf(client(s->server), random_below(2) ? "BF.LOADING k" : "FLUSHALL");
}

static void crash_database(struct scene *s) {
    database_kill(s->database);
    wait_some();
    database_start_again(s->database);
}

static void hang_database(struct scene *s) {
    database_pause(s->database);
    wait_some();
    database_resume(s->database);
}

static void kill_sender(struct scene *s) {
    database_run(s->database,
                 "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                 " WHERE active");
}

static void write_many(struct scene *s) {
    static long next = 1;
    long many = (long)random_below(20000);
    database_run(s->database, "INSERT INTO users SELECT generate_series(-%ld, -%ld)",
                 next + many, next);
    next += many + 1;
}

static const struct event {
    const char *name;
    void (*happens)(struct scene *s);
    unsigned weight;
    bool feed_dies;
} events[] = {
    {"feed killed", kill_feed, 10, true},
    {"feed stopped", hang_feed, 10, false},
    {"line to the database hangs", hang_database_line, 8, false},
    {"line to the server hangs", hang_server_line, 8, false},
    {"lines cut", cut_lines, 8, false},
    {"server killed", restart_server, 6, false},
    {"server saved", save_server, 6, false},
    {"server's power cut", cut_power, 3, false},
    {"server stopped", hang_server, 8, false},
    {"server's clock set", set_clock, 6, false},
    {"alarm or FLUSHALL", raise_alarm, 2, false},
    {"database killed", crash_database, 3, false},
    {"database stopped", hang_database, 6, false},
    {"sender killed", kill_sender, 8, false},
    {"many rows at once", write_many, 6, false},
};

enum { EVENTS = sizeof events / sizeof *events };

static size_t any_event(bool feed_lives) {
    for (;;) {
        size_t i = random_below(EVENTS);
        bool wanted = !(feed_lives && events[i].feed_dies);
        if (wanted && random_below(10) < events[i].weight) return i;
    }
}

/* ---- calm ---- */

static long memory_of(pid_t pid) {
    struct file status = file_read(text_of("/proc/%d/status", (int)pid));
    const char *at = strstr(status.bytes, "VmRSS:");
    if (!at) FAIL("process %d has no memory", (int)pid);
    return atol(at + strlen("VmRSS:"));
}

static bool holds_little(struct scene *s) {
    return atol(database_run(s->database,
                             "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)"
                             " / 1048576 FROM pg_replication_slots")) < HELD_MB;
}

static void check_memory(struct storm *w) {
    struct program *p = w->scene->feed->program;
    long kb = memory_of(p->pid);
    if (w->feed != p->pid) w->memory_kb = kb;
    w->feed = p->pid;
    if (kb > w->memory_kb + GROWTH_KB)
        FAIL("the feed grew from %ld to %ld kB", w->memory_kb, kb);
}

static void calm(struct storm *w) {
    struct scene *s = w->scene;
    double limit = seconds_now() + patient(60);
    while (!feed_vouches(s->feed))
        wait_a_little(limit, __FILE__, __LINE__, "the feed vouches after the storm");
    judge_wait_for_rows(s->judge, 50);
    WAIT_UNTIL(holds_little(s));
    check_memory(w);
}

static void show(struct storm *w, const struct verdict *v) {
    if (!getenv("LONG")) return;
    for (size_t i = 0; i < EVENTS; i++)
        printf("    %6ld  %s\n", w->happened[i], events[i].name);
    printf("    %ld rows; first answers: %ld maybe, %ld unknown, %ld absent, %ld none;"
           " the longest wrong for %.3f to %.3f s; the feed's memory: %ld kB at first,"
           " %ld kB at last\n",
           v->rows, v->maybe, v->unknown, v->absent, v->speechless, v->at_least, v->at_most,
           w->memory_kb, memory_of(w->scene->feed->program->pid));
}

static void rage(struct mode mode, bool feed_lives) {
    const char *given = getenv("TORTURE_SECONDS");
    unsigned seconds = !getenv("LONG") ? SECONDS
                       : given         ? (unsigned)atoi(given)
                                       : LONG_SECONDS;
    test_time_limit(seconds + 300);
    test_seed();
    struct scene *s =
        scene_start(.mode = mode, .database = feed_database(mode.version),
                    .server = server_start(.preload = "disk,clock",
                                           .config = AOF "appendfsync everysec"),
                    .proxies = true, .lines = "max-slot-wal = 200M\n");
    struct storm w = {.scene = s, .until = seconds_now() + seconds};
    for (long i = 1; seconds_now() < w.until; i++) {
        size_t event = any_event(feed_lives);
        w.happened[event]++;
        test_case("event %ld: %s", i, events[event].name);
        events[event].happens(s);
        if (random_below(2)) wait_some();
        if (i % CALM_EVERY == 0) calm(&w);
    }
    calm(&w);
    struct verdict v = scene_end(s);
    show(&w, &v);
}

SCENE(no_row_is_denied_longer_than_promised_in_a_storm) {
    rage(mode, false);
}

SCENE_OF_LAG(a_feed_that_lives_through_a_storm_grows_not_and_holds_little_back) {
    rage(mode, true);
}
