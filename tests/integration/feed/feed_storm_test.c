/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_storm_test.c - everything fails at random, more than one thing at a time; the
 * judge finds nothing.
 *
 * Now and then all is well again: then the feed must vouch, hold back no more WAL than
 * it may, and take no more memory than it did. Each storm takes TORTURE_SECONDS, and
 * prints what happened; with the default, those of all modes are an hour. */

#include "files.h"
#define LONG_SCENES
#include "scene.h"
#include "states.h"

#include <signal.h>

enum {
    SECONDS = 720,
    CALM_EVERY = 6,       /* events */
    HANGS_MS = 1800,      /* at most: lease, and more; ... */
    SHORT_HANGS_MS = 300, /* ... every other time less than it */
    MOST_WAL_MB = 200,    /* for a server that is away: max-slot-wal */
    HELD_MB = 64,         /* WAL in a calm: keep = 5s, and a segment or two */
    GROWTH_KB = 8192,     /* of the feed's memory */
};

struct storm {
    struct scene *scene;
    double until;
    long happened[16];
    double longest_wait; /* seconds, until the feed vouched */
    pid_t feed;          /* the process that was measured, and in a calm: ... */
    long first_kb, last_kb, highest_kb;
    long held_mb, held_calm_mb; /* WAL, the highest */
};

/* A little while, in which rows come. */
static void wait_some(void) {
    unsigned most = random_below(2) ? HANGS_MS : SHORT_HANGS_MS;
    usleep((useconds_t)(random_below(most) * 1000));
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

/* MB; 0: it doesn't say. */
static long held_by(struct storm *w) {
    int session = database_try_to_connect(w->scene->database);
    if (session < 0) return 0;
    char *text = database_try(session, "SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(),"
                                       " restart_lsn)) / 1000000"
                                       " FROM pg_replication_slots");
    long mb = text ? atol(text) : 0;
    free(text);
    close(session);
    if (mb > w->held_mb) w->held_mb = mb;
    return mb;
}

static void check_held(struct storm *w) {
    WAIT_UNTIL(held_by(w) < HELD_MB);
    long mb = held_by(w);
    if (mb > w->held_calm_mb) w->held_calm_mb = mb;
}

static void check_memory(struct storm *w) {
    struct program *p = w->scene->feed->program;
    w->last_kb = feed_memory(w->scene->feed);
    if (w->feed != p->pid) w->first_kb = w->last_kb;
    if (w->last_kb > w->highest_kb) w->highest_kb = w->last_kb;
    w->feed = p->pid;
    if (w->last_kb > w->first_kb + GROWTH_KB)
        FAIL("the feed grew from %ld to %ld kB", w->first_kb, w->last_kb);
}

static void wait_until_it_vouches(struct storm *w) {
    double began = seconds_now(), limit = began + patient(60);
    while (!feed_vouches(w->scene->feed))
        wait_a_little(limit, __FILE__, __LINE__, "the feed vouches after the storm");
    double took = seconds_now() - began;
    if (took > w->longest_wait) w->longest_wait = took;
}

static void calm(struct storm *w) {
    wait_until_it_vouches(w);
    judge_wait_for_rows(w->scene->judge, 50);
    check_held(w);
    check_memory(w);
}

static void show(const struct storm *w, const struct verdict *v, unsigned seconds) {
    for (size_t i = 0; i < EVENTS; i++)
        test_print("%6ld  %s", w->happened[i], events[i].name);
    test_print("%6u  seconds; %.1f until the feed vouched again, at most", seconds,
               w->longest_wait);
    test_print("%6ld  rows; first answers: %ld maybe, %ld unknown, %ld absent, %ld none",
               v->rows, v->maybe, v->unknown, v->absent, v->speechless);
    test_print("%6ld  denials, the longest for %.3f to %.3f s; %ld rows late", v->denials,
               v->at_least, v->at_most, v->late);
    test_print("%6ld  kB: the feed's memory at first; %ld at last; %ld at most",
               w->first_kb, w->last_kb, w->highest_kb);
    test_print("%6ld  MB of WAL held at most of %d (max-slot-wal); in a calm %ld of %d",
               w->held_mb, MOST_WAL_MB, w->held_calm_mb, HELD_MB);
}

static void rage(struct mode mode, bool feed_lives) {
    const char *given = getenv("TORTURE_SECONDS");
    unsigned seconds = given ? (unsigned)atoi(given) : SECONDS;
    test_time_limit(seconds + 300);
    test_seed();
    struct scene *s =
        scene_start(.mode = mode, .database = feed_database(mode.version),
                    .server = server_start(.preload = "disk,clock",
                                           .config = AOF "appendfsync everysec"),
                    .proxies = true, .keep = FEED_KEEP_TEXT,
                    .lines = text_of("max-slot-wal = %dM\n", MOST_WAL_MB));
    struct storm w = {.scene = s, .until = seconds_now() + seconds};
    for (long i = 1; seconds_now() < w.until; i++) {
        size_t event = any_event(feed_lives);
        w.happened[event]++;
        test_case("event %ld: %s", i, events[event].name);
        events[event].happens(s);
        unsigned waits = random_below(3);
        if (waits == 1) wait_some();
        if (waits == 2) wait_until_it_vouches(&w);
        held_by(&w);
        if (i % CALM_EVERY == 0) calm(&w);
    }
    calm(&w);
    struct verdict v = scene_end(s);
    show(&w, &v, seconds);
    CHECK(w.held_mb < MOST_WAL_MB + HELD_MB);
}

SCENE(no_row_is_denied_longer_than_promised_in_a_storm) {
    rage(mode, false);
}

SCENE_OF_LAG(a_feed_that_lives_through_a_storm_grows_not_and_holds_little_back) {
    rage(mode, true);
}
